// Tasks: trees and time, what a task shows, and what can be done about one, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, axe, browse, cap, enter, press, settled } from "./house.mjs";

let house, browser, tokens;
const EVIL = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e`;

const manifest = (id, to, overseer = null) => ({
  manifest: { id, system_prompt: "You work.", allowed_agents: to, overseer, mcp_bindings: [{ server_id: "Data", scopes: ["read:data"], allowed_tools: ["query"] }], delegate_rules: Object.fromEntries(to.map((one) => [one, { when_to_delegate: "When needed." }])) },
});
const hand = (task, from, to, words, more = {}) => ({ type: "delegation_notice", task_id: task, sender_id: from, recipient_id: to, context_summary: words, ...more });

async function taken(token, message) {
  const { status, body } = await house.send(token, message);
  assert.ok(status < 300, JSON.stringify(body));
  return body;
}

before(async () => {
  house = await House.open();
  browser = await browse();
  tokens = {};
  for (const [id, more] of [["qa", {}], ["worker", manifest("worker", [], "qa")], ["spare", {}], ["pm", manifest("pm", ["worker", "spare"])]]) tokens[id] = await house.agent(id, more);
  await taken(house.operator, hand("T1", "orchestrator", "pm", `The sales. ${EVIL}`));
  await taken(tokens.pm, hand("T1.1", "pm", "worker", "The figures.", { grants: { tools: ["query"] } }));
  await taken(tokens.pm, hand("T1.2", "pm", "worker", "The year before."));
  await taken(tokens.worker, { ...cap("worker", "pm", EVIL), task_id: "T1.1", attachments: [{ type: "tool_call_result", server_id: "Data", tool: "query", result: EVIL }] });
  await taken(tokens.worker, { type: "error_response", task_id: "T1.2", sender_id: "worker", recipient_id: "pm", error_code: 504, error_message: EVIL });
});
after(async () => {
  await browser.close();
  await house.end();
});

const line = (page, id) => page.locator(".rows .line", { hasText: new RegExp(`${id.replaceAll(".", "\\.")}(?![.\\d])`) });

test("a tree shows who waits for whom, and what went wrong", async () => {
  const page = await enter(browser, house, { at: "tasks" });
  await line(page, "T1.2").waitFor();
  assert.match(await line(page, "T1").first().innerText(), /orchestrator\s*waits for\s*pm/);
  assert.match(await line(page, "T1.1").innerText(), /pm\s*waits for\s*worker[\s\S]*open/);
  assert.match(await line(page, "T1.2").innerText(), /failed/);
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Timeline" }).click();
  await page.locator(".bar-bad").waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("filters are in the address and narrow the list", async () => {
  const page = await enter(browser, house, { at: "tasks" });
  await line(page, "T1.2").waitFor();
  await page.getByLabel("State").selectOption("failed");
  await line(page, "T1.1").waitFor({ state: "detached" });
  await page.waitForURL(/state=failed/);
  await line(page, "T1.2").waitFor();
  assert.equal(await line(page, "T1.1").count(), 0);
  await page.getByLabel("State").selectOption("all");
  await line(page, "T1.1").waitFor();
  await page.getByLabel("Words in its id or parties").fill("t1.1");
  await line(page, "T1.2").waitFor({ state: "detached" });
  await line(page, "T1.1").waitFor();
  await settled(page, () => page.locator(".rows .line").count(), 2, "what it is a part of stays above it");
  await page.context().close();
});

test("what is being typed stays while the list follows what happens", async () => {
  const page = await enter(browser, house, { at: "tasks" });
  await page.locator(".flowing-live").waitFor();
  const agent = page.getByLabel("Agent");
  await agent.pressSequentially("wor");
  await house.send(house.operator, { type: "delegation_notice", task_id: "T-typed", sender_id: "orchestrator", recipient_id: "pm", context_summary: "Meanwhile." });
  await line(page, "T-typed").waitFor();
  assert.equal(await agent.inputValue(), "wor");
  await agent.press("Enter");
  await page.waitForURL(/agent=wor/);
  await page.goto(`${house.url}/#/tasks`);
  await settled(page, () => agent.inputValue(), "", "and follows the address");
  await page.context().close();
});

test("a task shows its parties, rights, messages and attachments, all as text", async () => {
  const page = await enter(browser, house, { at: "tasks/T1.1?opener=orchestrator" });
  const card = page.locator(".card", { has: page.locator("#opened-head") });
  await card.getByText("What was said in it").waitFor();
  const text = await card.innerText();
  for (const part of ["pm", "worker", "qa", "query", "tool call result · Data · query", "unreviewed"]) assert.ok(text.includes(part), part);
  await page.goto(`${house.url}/#/tasks/T1?opener=orchestrator`);
  await card.locator("#opened-head", { hasText: /^T1$/ }).waitFor();
  await card.getByText("<script>alert(2)</script>").first().waitFor();
  await card.locator(".lines-said .gist").getByText("<script>alert(2)</script>").waitFor();
  assert.ok((await card.innerText()).includes("U+202E"), "what cannot be seen is named");
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a failed task is tried again and reassigned by keyboard alone; refusals are shown as the exchange says them", async () => {
  const page = await enter(browser, house, { at: "tasks" });
  await line(page, "T1.2").focus();
  await page.keyboard.press("Enter");
  await page.locator("#opened-head:focus").waitFor();
  const retry = page.getByRole("button", { name: "Try again" });
  await retry.waitFor();
  await press(page, retry);
  await page.getByRole("dialog").getByText("gets the delegation once more").waitFor();
  await press(page, page.getByRole("dialog").getByRole("button", { name: "Try again" }));
  await page.getByText("T1.2 was handed to worker again.").waitFor();
  await line(page, "T1.2").getByText("open").waitFor();
  // The focus is back.
  await page.locator("button:focus", { hasText: /^Try again/ }).waitFor();

  await press(page, page.getByRole("button", { name: "Reassign" }));
  await page.getByLabel("To which agent").waitFor();
  await press(page, page.getByLabel("To which agent"), "qa");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("delegation_denied").waitFor();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("spare");
  await page.keyboard.press("Enter");
  await page.getByText("T1.2 was handed to spare.").waitFor();
  await line(page, "T1.2").getByText("spare").waitFor();
  const { body } = await house.ask("GET", "/v1/tasks/T1.2");
  assert.deepEqual([body.assignee, body.former, body.tries], ["spare", ["worker"], 3]);

  await press(page, page.getByRole("button", { name: "Escalate" }));
  await press(page, page.getByRole("dialog").getByRole("button", { name: "Escalate" }));
  await page.locator("dt", { hasText: "Escalated to" }).waitFor();
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("403")), []);
  await page.context().close();
});

test("an auditor sees tasks and can do nothing about them; a reviewer sees those of the user", async () => {
  const auditor = await enter(browser, house, { token: await house.person("ada", "auditor"), at: "tasks/T1.1?opener=orchestrator" });
  await auditor.getByText("What was said in it").waitFor();
  assert.equal(await auditor.getByRole("button", { name: "Escalate" }).count(), 0);
  await auditor.context().close();
  const reviewer = await enter(browser, house, { token: await house.person("rob", "reviewer"), at: "tasks" });
  await reviewer.getByText("Nothing is open, and nothing went wrong.").waitFor();
  await reviewer.context().close();
});

test("a thousand tasks are listed, few of them at once, and the list changes by itself", async () => {
  for (let n = 0; n < 1000; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, m) => taken(house.operator, hand(`M${n + m}`, "orchestrator", "spare", "One of many."))));
  }
  const page = await enter(browser, house, { at: "tasks?state=open&agent=spare" });
  await page.getByText(/100\d in all/).waitFor();
  assert.ok((await page.locator(".rows li").count()) < 60);
  await taken(house.operator, hand("ZZ1", "orchestrator", "spare", "One more."));
  await line(page, "ZZ1").waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
