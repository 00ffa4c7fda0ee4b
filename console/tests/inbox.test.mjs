// Inbox of people: questions to the user, answered in their task, taken out once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, axe, browse, cap, enter, press } from "./house.mjs";

let house, browser, pm, rita;
const EVIL = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e`;

async function asks(task, words) {
  const { status, body } = await house.send(pm, { ...cap("pm", "user", words), task_id: task });
  assert.ok(status < 300, JSON.stringify(body));
  return body.position;
}

before(async () => {
  house = await House.open();
  browser = await browse();
  pm = await house.agent("pm");
  rita = await house.person("rita", "reviewer");
  await house.send(house.operator, { type: "delegation_notice", task_id: "U1", sender_id: "user", recipient_id: "pm", context_summary: `Clean the archive. ${EVIL}` });
});
after(async () => {
  await browser.close();
  await house.end();
});

const line = (page, position) => page.locator(`#row-${position}`);
const inbox = async (token, who) => (await house.ask("GET", `/v1/agents/${who}/inbox`, undefined, token)).body.messages;

test("a reviewer answers by keyboard alone: the agent gets it in the task, and the question is out of the mailbox", async () => {
  const position = await asks("U1", `Which half first? ${EVIL}`);
  assert.equal((await house.ask("GET", "/v1/tasks/U1")).body.state, "waits_for_user");
  const page = await enter(browser, house, { token: rita, at: "inbox" });
  await line(page, position).focus();
  await page.keyboard.press("Enter");
  await page.locator("#opened-head:focus").waitFor();
  await page.getByRole("region", { name: "Its task" }).getByText("waits for user").waitFor();
  assert.match(await page.getByRole("region", { name: "What it says" }).innerText(), /Which half first\? <img src=x onerror="alert\(1\)"><script>alert\(2\)<\/script>U\+202E/);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(await axe(page), []);
  await press(page, page.getByLabel("Your answer, as user"), "The old one. العربية 🗂️");
  await press(page, page.getByRole("button", { name: "Answer", exact: true }));
  await page.getByText("Answered.", { exact: true }).waitFor();
  await line(page, position).waitFor({ state: "detached" });
  await page.locator("[data-over] a:focus").waitFor();
  const got = (await inbox(pm, "pm")).at(-1).message;
  assert.deepEqual([got.task_id, got.sender_id, got.content], ["U1", "user", "The old one. العربية 🗂️"]);
  assert.deepEqual(await inbox(rita, "user"), []);
  assert.equal((await house.ask("GET", "/v1/tasks/U1")).body.state, "open");
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("404")), []);
  await page.context().close();
});

test("a letter is taken out without an answer after a question back", async () => {
  const position = await asks("U1", "No answer needed.");
  const page = await enter(browser, house, { at: `inbox/${position}` });
  await page.getByRole("button", { name: "Done without an answer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("pm gets no answer by this.").waitFor();
  assert.deepEqual(await axe(page), []);
  await dialog.getByRole("button", { name: "Take it out" }).click();
  await page.getByText("It is out of the mailbox.").waitFor();
  assert.deepEqual(await inbox(rita, "user"), []);
  await page.context().close();
});

test("when somebody else takes it out, that is said, and what was written stays", async () => {
  const position = await asks("U1", "Who is first?");
  const page = await enter(browser, house, { at: `inbox/${position}` });
  await page.getByLabel("Your answer, as user").fill("I am");
  await house.ask("POST", "/v1/agents/user/ack", { positions: [position] }, rita);
  await page.getByText("while you looked at it").waitFor();
  assert.equal(await page.getByLabel("Your answer, as user").inputValue(), "I am");
  await page.context().close();
});

test("what the exchange refuses is shown, and nothing is lost", async () => {
  const gone = await house.agent("gone");
  const { body } = await house.send(gone, { ...cap("gone", "user", "Are you there?"), task_id: "G1" });
  await house.ask("DELETE", "/v1/agents/gone");
  const page = await enter(browser, house, { at: `inbox/${body.position}` });
  await page.getByLabel("Your answer, as user").fill("Yes");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByRole("alert").getByText("unknown_recipient").waitFor();
  assert.equal(await page.getByLabel("Your answer, as user").inputValue(), "Yes");
  assert.equal((await inbox(rita, "user")).length, 1, "it still waits");
  await page.context().close();
  await house.ask("POST", "/v1/agents/user/ack", { positions: [body.position] }, rita);
});

test("the list follows by itself, the orchestrator has a box of its own, and an auditor only looks", async () => {
  const page = await enter(browser, house, { at: "inbox" });
  await page.getByText("Nothing waits here.").waitFor();
  const position = await asks("U1", "Fresh.");
  await line(page, position).waitFor();
  await page.getByRole("button", { name: "To the orchestrator" }).click();
  await page.getByText("What agents send to “orchestrator” comes here.").waitFor();
  const { body } = await house.send(pm, { ...cap("pm", "orchestrator", "A word."), task_id: "X1" });
  await line(page, body.position).waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  const auditor = await enter(browser, house, { token: await house.person("ada", "auditor"), at: `inbox/${position}` });
  await auditor.getByText("Reviewers and operators answer as the user.").waitFor();
  assert.equal(await auditor.getByRole("button", { name: "Answer" }).count(), 0);
  await auditor.context().close();
});
