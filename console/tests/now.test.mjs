// Now: what happens is seen as it happens, can be stopped and narrowed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, Wire, acl, axe, browse, cap, enter, press, settled, vcp, vlp } from "./house.mjs";

let browser, house, ann;
before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  ann = await house.agent("ann");
  await house.agent("bob");
});
after(async () => {
  await browser.close();
  await house.end();
});

const lines = (page) => page.locator(".live li");
const listed = (page, n) => settled(page, () => lines(page).count(), n);

test("messages of every dialect and every verdict appear as they come", async () => {
  const page = await enter(browser, house);
  await page.getByRole("heading", { name: "Now", exact: true }).waitFor();
  for (const message of [cap("ann", "bob", "one"), acl("ann", "bob", "two"), vcp("ann", "bob")]) {
    assert.equal((await house.send(ann, message)).status, 200);
  }
  assert.equal((await house.send(ann, vlp("ann", "bob", "three", { safety: { level: "review" } }))).status, 202);
  assert.notEqual((await house.send(ann, cap("ann", "nobody", "four"))).status, 200);
  for (const dialect of ["cap", "acl", "vcp", "vlp"]) await lines(page).locator(`.dialect-${dialect}`).first().waitFor();
  for (const verdict of ["accepted", "held", "refused"]) await lines(page).getByText(verdict).first().waitFor();
  await page.getByRole("region", { name: "Alarms" }).getByText("review waiting").waitFor();
  await page.getByRole("img", { name: /2 agents in \d conversations/ }).waitFor();
  // What they say follows, also of what is held; of what was refused it is why.
  for (const words of ["one", "two", "three", "⏰🌅|📍🏡"]) await lines(page).getByText(words, { exact: true }).waitFor();
  await lines(page).filter({ hasText: "unknown_recipient" }).locator(".gist").waitFor();
  await page.getByRole("region", { name: "What waits for people" }).getByRole("link", { name: "1 message waits for a decision" }).waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("it can be paused and goes on, and words and toggles narrow it", async () => {
  const page = await enter(browser, house);
  // Once the last is listed, all are that came before.
  const { body } = await house.send(ann, cap("ann", "bob", "the last"));
  await lines(page).locator(`[href="#/messages/${body.position}"]`).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Go on" }).waitFor();
  const before = await lines(page).count();
  await house.send(ann, cap("ann", "bob", "while paused", { task_id: "T-paused" }));
  await page.getByText("paused, 1 since").waitFor();
  assert.equal(await lines(page).count(), before);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.waitForFunction((n) => document.querySelectorAll(".live li").length > n, before);
  await page.getByPlaceholder("agent, kind, task…").fill("t-paused");
  await page.waitForFunction(() => document.querySelectorAll(".live li").length === 1);
  await page.getByPlaceholder("agent, kind, task…").fill("");
  for (const name of ["cap", "vcp", "acl"]) await page.getByRole("group", { name: "Dialects" }).getByRole("button", { name }).click();
  await page.getByRole("group", { name: "Verdicts" }).getByRole("button", { name: "refused" }).click();
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll(".live li")];
    return all.length > 0 && all.every((line) => line.querySelector(".dialect-vlp"));
  });
  await page.context().close();
});

test("what came all at once says what it says, once it is calm", async () => {
  const page = await enter(browser, house);
  await lines(page).first().waitFor();
  const burst = Array.from({ length: 60 }, (_, n) => JSON.stringify(cap("ann", "bob", `burst ${n}.`)));
  const headers = { authorization: `Bearer ${ann}`, "content-type": "application/x-ndjson" };
  await (await fetch(`${house.url}/v1/messages`, { method: "POST", headers, body: burst.join("\n") })).text();
  await lines(page).getByText("burst 59.").waitFor();
  await lines(page).getByText("burst 20.").waitFor();
  await page.context().close();
});

test("it comes back by itself behind what it saw", async () => {
  const wire = await Wire.to(house);
  const page = await enter(browser, wire);
  await lines(page).first().waitFor();
  wire.cut();
  await page.locator(".flowing-lost").waitFor();
  await house.send(ann, cap("ann", "bob", "while away", { task_id: "T-away" }));
  wire.mend();
  await page.getByPlaceholder("agent, kind, task…").fill("t-away");
  await lines(page).first().waitFor();
  await page.locator(".flowing-live").waitFor();
  await listed(page, 1);
  assert.equal(await page.getByText("came too fast").count(), 0);
  await page.context().close();
  wire.end();
});

test("all tabs of a browser share one stream, so that any number can be in sight", async () => {
  const wire = await Wire.to(house);
  const page = await enter(browser, wire);
  await lines(page).first().waitFor();
  const tabs = [page];
  for (let n = 0; n < 8; n++) {
    const tab = await page.context().newPage();
    await tab.goto(`${wire.url}/`, { timeout: 15_000 });
    await tab.locator(".flowing-live").waitFor();
    // It is told what happened before it came, and how it went in the last minutes.
    await lines(tab).first().waitFor();
    tabs.push(tab);
  }
  await house.send(ann, cap("ann", "bob", "to all of them", { task_id: "T-all" }));
  for (const tab of tabs) {
    await tab.getByPlaceholder("agent, kind, task…").fill("t-all");
    await lines(tab).getByText("to all of them").waitFor();
    await listed(tab, 1);
  }
  assert.equal(wire.asked.filter((one) => one.startsWith("GET /v1/feed")).length, 1);
  // The one that opened it goes, and the others hear on.
  await page.close();
  await house.send(ann, cap("ann", "bob", "to those who stay", { task_id: "T-all" }));
  await lines(tabs[3]).getByText("to those who stay").waitFor();
  assert.deepEqual(page.faults, []);
  await tabs[3].context().close();
  wire.end();
});

test("where a browser has no shared workers a tab has a stream of its own", async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => delete globalThis.SharedWorker);
  const page = await context.newPage();
  await page.goto(house.url);
  await page.fill("#token", house.operator);
  await page.click("button:has-text('Sign in')");
  await page.locator(".flowing-live").waitFor();
  await lines(page).first().waitFor();
  await context.close();
});

test("who signs out hears no more, in any tab", async () => {
  const page = await enter(browser, house);
  await lines(page).first().waitFor();
  const other = await page.context().newPage();
  await other.goto(house.url);
  await lines(other).first().waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator("#token").waitFor();
  await other.getByRole("heading", { name: "Your session is over" }).waitFor();
  await page.context().close();
});

test("the brake is at hand on every page, and an agent is stopped by the keyboard alone", async () => {
  await house.agent("runaway");
  const page = await enter(browser, house, { at: "memory" });
  await page.getByRole("heading", { name: "Memory" }).waitFor();
  await press(page, page.getByRole("button", { name: "Stop an agent" }));
  const dialog = page.getByRole("dialog", { name: "Stop an agent" });
  await press(page, dialog.getByRole("combobox", { name: "Agent" }), "runaway");
  await press(page, dialog.getByLabel("Reason"), "It floods the log.");
  assert.deepEqual(await axe(page), []);
  await press(page, dialog.getByRole("button", { name: "Suspend" }));
  await page.getByText("runaway is suspended.").waitFor();
  const { body } = await house.ask("GET", "/v1/agents/runaway");
  assert.deepEqual([body.state, body.stopped.reason], ["suspended", "It floods the log."]);
  await page.locator("button:focus", { hasText: "Stop an agent" }).waitFor();
  await page.goto(`${house.url}/#/`);
  await page.getByRole("link", { name: "1 agent stands still" }).click();
  await page.getByRole("button", { name: "Resume runaway" }).waitFor();
  // One that is not there is refused, and the dialog stays.
  await page.getByRole("button", { name: "Stop an agent" }).click();
  await dialog.getByRole("combobox", { name: "Agent" }).fill("nobody");
  await dialog.getByLabel("Reason").fill("odd");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await dialog.getByRole("alert").waitFor();
  await page.context().close();
  const auditor = await enter(browser, house, { token: await house.person("otto", "auditor") });
  await lines(auditor).first().waitFor();
  assert.equal(await auditor.getByRole("button", { name: "Stop an agent" }).count(), 0);
  await auditor.context().close();
});

test("an alarm names whom it is about, goes when it is dealt with, and stays hidden once it was seen", async () => {
  const page = await enter(browser, house);
  const alarms = page.getByRole("region", { name: "Alarms" });
  await alarms.getByText("review waiting").waitFor();
  await alarms.getByRole("link", { name: "ann" }).first().waitFor();
  const { body } = await house.ask("GET", "/v1/reviews");
  for (const { id, digest } of body.reviews) await house.ask("POST", `/v1/reviews/${id}`, { decision: "approve", digest });
  await alarms.getByText("review waiting").waitFor({ state: "detached" });
  await house.send(ann, vlp("ann", "bob", "look again", { safety: { level: "review" } }));
  await alarms.getByText("review waiting").waitFor({ timeout: 20_000 });
  const left = (await alarms.locator(".alarm").count()) - 1;
  await alarms.getByRole("button", { name: /^Hide/ }).first().click();
  await settled(page, () => alarms.locator(".alarm").count(), left);
  await page.goto(`${house.url}/#/agents`);
  await page.getByRole("heading", { name: "Agents", exact: true }).first().waitFor();
  await page.goto(`${house.url}/#/`);
  await lines(page).first().waitFor();
  assert.equal(await alarms.locator(".alarm").count(), left);
  await page.context().close();
});

/** Headless tabs are all in sight, so one is told that it is not. */
const hide = (tab, hidden) => tab.evaluate((is) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (is ? "hidden" : "visible") });
  document.dispatchEvent(new Event("visibilitychange"));
}, hidden);

test("a tab out of sight keeps no connection, so that any number can be open, and goes on when it is looked at", async () => {
  const page = await enter(browser, house);
  await lines(page).first().waitFor();
  const tabs = [page];
  for (let n = 0; n < 7; n++) {
    await hide(tabs.at(-1), true);
    const tab = await page.context().newPage();
    await tab.goto(`${house.url}/#/agents`, { timeout: 15_000 });
    await tab.locator(".flowing-live").waitFor();
    tabs.push(tab);
  }
  await house.send(ann, cap("ann", "bob", "while hidden", { task_id: "T-hidden" }));
  await hide(page, false);
  await page.getByPlaceholder("agent, kind, task…").fill("t-hidden");
  await listed(page, 1);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
