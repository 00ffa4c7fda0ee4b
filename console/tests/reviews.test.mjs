// Reviews: what waits is shown beside what it rests on, decided once and for exactly what is shown.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, answered, axe, browse, cap, enter, press, vlp } from "./house.mjs";

let house, browser, observer, rita;
const EVIL = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e`;

/** A claim that is held; its review's id. */
async function held(words, more = {}) {
  const { status, body } = await house.send(observer, vlp("observer", "archivist", words, { confidence: 0.99, provenance: [], ...more }));
  assert.equal(status, 202, JSON.stringify(body));
  return String(body.position);
}

const word = async (id, decision, token, reason) => {
  const { body } = await house.ask("GET", `/v1/reviews/${id}`);
  return house.ask("POST", `/v1/reviews/${id}`, { decision, digest: body.digest, ...(reason ? { reason } : {}) }, token);
};

before(async () => {
  house = await House.open();
  browser = await browse();
  observer = await house.agent("observer");
  await house.agent("archivist");
  rita = await house.person("rita", "reviewer");
});
after(async () => {
  await browser.close();
  await house.end();
});

const line = (page, id) => page.locator(`#row-${id}`);

test("a claim lies beside its evidence, with why it is held and how it was judged, all as text", async () => {
  await house.send(observer, vlp("observer", "archivist", `Five stations. ${EVIL}`, { id: "CLM-abc-0001" }));
  const id = await held(`All are open. ${EVIL}`, { type: "evidence", refers_to: "CLM-abc-0001", provenance: [EVIL.slice(0, -1), { ref: "CLM-abc-0001", kind: "snapshot", hash: `sha256:${"0".repeat(64)}` }], topic: "<b>topic", keywords: ["<i>word"] });
  const page = await enter(browser, house, { at: `reviews/${id}` });
  await page.getByText("this browser computed its digest").waitFor();
  const evidence = page.getByRole("region", { name: "What it rests on" });
  await evidence.getByText("Five stations.").waitFor();
  assert.match(await page.getByRole("region", { name: "Why it is held" }).innerText(), /evidence_unverified[\s\S]*review[\s\S]*of 6 layers/);
  assert.match(await page.getByRole("region", { name: "What it says" }).innerText(), /All are open\. <img src=x onerror="alert\(1\)"><script>alert\(2\)<\/script>U\+202E/);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await word(id, "approve", house.operator);
});

test("a reviewer refuses by keyboard alone, with a reason that the sender is told, and goes on to the next", async () => {
  const [first, second] = [await held("It never rains."), await held("It never snows.")];
  const page = await enter(browser, house, { token: rita, at: "reviews" });
  await line(page, first).focus();
  await page.keyboard.press("Enter");
  await page.locator("#opened-head:focus").waitFor();
  await page.getByText("this browser computed its digest").waitFor();
  await press(page, page.getByRole("button", { name: "Refuse" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByText("observer is told why").waitFor();
  assert.deepEqual(await axe(page), []);
  await press(page, dialog.getByRole("button", { name: "Refuse" }));
  // The browser asks for what is missing.
  await dialog.locator("textarea:focus").waitFor();
  assert.equal(await dialog.count(), 1, "without a reason it is not said");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // The focus is back.
  await page.locator(":focus", { hasText: /^Refuse$/ }).waitFor();
  await page.keyboard.press("Enter");
  await press(page, dialog.getByLabel("Reason"), "no source");
  await press(page, dialog.getByRole("button", { name: "Refuse" }));
  await page.getByText("You refused it.").waitFor();
  await line(page, first).waitFor({ state: "detached" });
  await page.locator("[data-over] a:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`reviews/${second}`));
  const { body } = await house.ask("GET", `/v1/messages/${first}/explain`);
  assert.ok(body.steps.some(({ says }) => says.includes("reviewer rita refused it: no source")));
  const { body: inbox } = await house.ask("GET", "/v1/agents/observer/inbox", undefined, observer);
  assert.ok(JSON.stringify(inbox).includes("no source"), "the sender is told");
  await page.context().close();
  await word(second, "refuse", house.operator, "done");
});

test("a reviewer sees the evidence beside the claim, hears what comes, and is shown what was decided", async () => {
  await house.send(observer, vlp("observer", "archivist", "Six stations report.", { id: "CLM-abc-0002" }));
  const page = await enter(browser, house, { token: rita, at: "reviews" });
  await page.locator(".flowing-live").waitFor();
  const id = await held("All six are open.", { type: "evidence", refers_to: "CLM-abc-0002", provenance: [{ ref: "CLM-abc-0002", kind: "snapshot", hash: `sha256:${"0".repeat(64)}` }] });
  await line(page, id).waitFor();
  await page.getByRole("link", { name: "Reviews 1 waiting" }).waitFor();
  await line(page, id).click();
  await page.getByRole("region", { name: "What it rests on" }).getByText("Six stations report.").waitFor();
  assert.equal(await page.locator("main a[href^='#/messages']").count(), 0, "a reviewer is led nowhere they may not go");
  await word(id, "refuse", house.operator, "the sixth is closed");
  await page.getByText("operator refused it: the sixth is closed").first().waitFor();
  await page.getByRole("button", { name: "Decided" }).click();
  await line(page, id).getByText("refused").waitFor();
  assert.match(await line(page, id).innerText(), /operator: the sixth is closed/);
  assert.deepEqual(await axe(page), []);
  // Opened from there, long after.
  await page.reload();
  await line(page, id).click();
  await page.getByRole("region", { name: "What it says" }).getByText("All six are open.", { exact: true }).waitFor();
  await page.getByRole("region", { name: "What it rests on" }).getByText("Six stations report.").waitFor();
  await page.getByRole("region", { name: "What was said of it" }).getByText("operator refused it: the sixth is closed").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("404")), []);
  await page.context().close();
});

test("an approval goes to the recipient, bound to the digest that was shown", async () => {
  const id = await held("The sea is wet.");
  const page = await enter(browser, house, { at: `reviews/${id}` });
  const { body: shown } = await house.ask("GET", `/v1/reviews/${id}`);
  const posted = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith(`/v1/reviews/${id}`));
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("dialog").getByText("archivist").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  assert.deepEqual((await posted).postDataJSON(), { decision: "approve", digest: shown.digest });
  await page.getByText("You approved it.").waitFor();
  await page.getByText("Nothing waits for a person.").waitFor();
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("404")), []);
  await page.context().close();
});

test("nothing can be decided on what is not what the digest says", async () => {
  const id = await held("It is what it is.");
  const page = await enter(browser, house);
  await page.route(`**/v1/reviews/${id}`, async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    await route.fulfill({ response, json: { ...told, message: { ...told.message, content: "It is something else." } } });
  });
  await page.goto(`${house.url}/#/reviews/${id}`);
  await page.getByText("nothing can be decided on it").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).isDisabled(), true);
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
  await word(id, "refuse", house.operator, "done");
});

test("one decision counts: whoever is second is shown who was first, and what they said", async () => {
  const id = await held("Twice is too much.");
  const page = await enter(browser, house, { token: rita, at: `reviews/${id}` });
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await word(id, "refuse", house.operator, "I was first");
  // Whether the page hears of it before or after this, it says so.
  await dialog.getByRole("button", { name: "Approve" }).click({ timeout: 3000 }).catch(() => undefined);
  await page.getByText("It does not wait any more.").waitFor();
  assert.match(await page.locator("[data-over]").innerText(), /operator refused it: I was first|it was refused already, by operator|Somebody decided on it/);
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  await page.context().close();

  const other = await held("Somebody else decides.");
  const live = await enter(browser, house, { at: `reviews/${other}` });
  await live.getByRole("button", { name: "Approve" }).waitFor();
  await word(other, "refuse", rita, "not this one");
  await live.locator("[data-over]").getByText("reviewer rita refused it: not this one").waitFor();
  await live.context().close();
});

test("a claim keeps other reviewers off, and shows to all", async () => {
  const id = await held("Mine to look at.");
  const page = await enter(browser, house, { token: rita, at: `reviews/${id}` });
  await page.getByRole("button", { name: "Claim for ten minutes" }).click();
  await page.getByText("you claimed it").waitFor();
  await page.getByText(/^until \d\d:\d\d/).waitFor();
  await line(page, id).getByText("yours").waitFor();
  const other = await enter(browser, house, { token: await house.person("sam", "reviewer"), at: `reviews/${id}` });
  await other.getByText("reviewer rita claimed it").waitFor();
  await other.getByRole("button", { name: "Approve" }).click();
  await other.getByRole("dialog").getByText("reviewer rita is looking at it too.").waitFor();
  await other.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await other.getByRole("dialog").getByText("review_conflict").waitFor();
  assert.deepEqual(await axe(other), []);
  await page.context().close();
  await other.context().close();
  await word(id, "refuse", house.operator, "done");
});

test("an auditor looks and decides nothing; work is shown beside what was asked for", async () => {
  const scribe = await house.agent("scribe", { manifest: { id: "scribe", system_prompt: "You write.", allowed_agents: [], delegate_rules: {}, overseer: "nobody-here", mcp_bindings: [] } });
  await house.send(house.operator, { type: "delegation_notice", task_id: "W1", sender_id: "orchestrator", recipient_id: "scribe", context_summary: "Write the summary." });
  const { body } = await house.send(scribe, { ...cap("scribe", "orchestrator", "Here it is."), task_id: "W1", final: true });
  const page = await enter(browser, house, { token: await house.person("ada", "auditor"), at: `reviews/${body.position}` });
  await page.getByText("Write the summary.").waitFor();
  await page.getByText("Reviewers and operators decide on this.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("names are text too, whatever they are", async () => {
  const name = `<b onclick="alert(3)">سارة</b> 😀 ${"long ".repeat(30)}`.trim();
  const token = await house.agent(name);
  const { body } = await house.send(token, vlp(name, "archivist", "Who am I?", { confidence: 0.99, provenance: [] }));
  const page = await enter(browser, house, { at: `reviews/${body.position}`, viewport: { width: 390, height: 844 } });
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByRole("dialog").getByText(name).waitFor();
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector("dialog").scrollWidth - document.querySelector("dialog").clientWidth]);
  assert.deepEqual(wide, [390, 0], "nothing is pushed out of the page");
  assert.equal(await page.locator("main b[onclick]").count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await word(String(body.position), "refuse", house.operator, "done");
});

test("the list follows by itself, in the order that is asked for", async () => {
  const page = await enter(browser, house, { at: "reviews" });
  const [older, newer] = [await held("Older."), await held("Newer.")];
  await line(page, newer).waitFor();
  await page.getByLabel("Order").selectOption("newest");
  await page.waitForFunction((id) => document.querySelector(".rows .line")?.id === `row-${id}`, newer);
  await page.getByLabel("Order").selectOption("oldest");
  await page.waitForFunction((id) => ![undefined, `row-${id}`].includes(document.querySelector(".rows .line")?.id), newer);
  await line(page, older).waitFor();
  await word(older, "refuse", house.operator, "done");
  await line(page, older).waitFor({ state: "detached" });
  await page.context().close();
});

test("a computer with a wrong clock shows the exchange's time, and says so", async () => {
  const id = await held("What time is it?");
  await word(id, "claim", rita);
  const page = await enter(browser, house, { at: `reviews/${id}` });
  await page.clock.install({ time: new Date(Date.now() + 20 * 60_000) });
  await page.reload();
  await page.getByText("reviewer rita claimed it").waitFor();
  await page.getByText(/^This computer’s clock is (19|20) min ahead of the exchange’s/).waitFor();
  assert.match(await page.locator(".letter-head").getByText(/^came/).innerText(), /came (now|(in )?\d+ s)/);
  assert.deepEqual(await axe(page), []);
  await page.context().close();
  await word(id, "refuse", house.operator, "done");
});

test("however many wait, the newest are found, and nothing is asked for while nothing changes", async () => {
  const own = await House.open();
  const names = ["ann", "bea", "cat"];
  const tokens = [];
  for (const name of names) tokens.push(await own.agent(name));
  await own.agent("archivist");
  const lines = (name) => Array.from({ length: name === "cat" ? 1 : 500 }, (_, n) => JSON.stringify(vlp(name, "archivist", `${name} ${n}`, { confidence: 0.99, provenance: [] }))).join("\n");
  for (const [n, name] of names.entries()) {
    const told = await fetch(`${own.url}/v1/messages`, { method: "POST", headers: { authorization: `Bearer ${tokens[n]}`, "content-type": "application/x-ndjson" }, body: lines(name) });
    await told.text();
  }
  const page = await enter(browser, own, { token: await own.person("rita", "reviewer") });
  await page.clock.install();
  await page.goto(`${own.url}/#/reviews?order=newest`);
  await page.reload();
  await page.getByRole("button", { name: "Waiting 1001" }).waitFor();
  const rows = page.locator(".rows .line");
  await rows.first().getByText("cat 0").waitFor();
  await page.getByText("100 of 1001").waitFor();
  const box = page.locator(".rows");
  for (let n = 200; n <= 1000; n += 100) {
    await box.evaluate((at) => (at.scrollTop = at.scrollHeight));
    await page.getByText(`${n} of 1001`).waitFor();
  }
  await page.locator(".flowing-live").waitFor();
  let asked = 0;
  page.on("request", (request) => { if (new URL(request.url()).pathname === "/v1/reviews") asked++; });
  // What is asked for last of all tells that all before it is counted.
  const later = async () => {
    asked = 0;
    await page.clock.runFor(20_000);
    await answered(page, "/v1/session", () => page.evaluate(() => void fetch("/v1/session")));
    return asked;
  };
  // The stream's first word may still have been waiting for its turn.
  await later();
  assert.equal(await later(), 0);
  await own.send(tokens[2], vlp("cat", "archivist", "cat 1", { confidence: 0.99, provenance: [] }));
  await page.getByText("1000 of 1002").waitFor();
  await page.getByLabel("Order").selectOption("oldest");
  await rows.first().getByText("ann 0").waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await own.end();
});
