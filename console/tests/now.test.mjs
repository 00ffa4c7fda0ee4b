// Now: what happens is seen as it happens, can be stopped and narrowed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, acl, axe, browse, cap, enter, vcp, vlp } from "./house.mjs";

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
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("it can be paused and goes on, and words and toggles narrow it", async () => {
  const page = await enter(browser, house);
  await lines(page).first().waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
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
  await page.waitForFunction(() => [...document.querySelectorAll(".live li")].every((line) => line.querySelector(".dialect-vlp")));
  await page.context().close();
});

test("it comes back by itself behind what it saw", async () => {
  const page = await enter(browser, house);
  await lines(page).first().waitFor();
  await page.context().setOffline(true);
  await house.send(ann, cap("ann", "bob", "while away", { task_id: "T-away" }));
  await page.context().setOffline(false);
  await page.getByPlaceholder("agent, kind, task…").fill("t-away");
  await lines(page).first().waitFor();
  assert.equal(await lines(page).count(), 1);
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
  await lines(page).first().waitFor();
  assert.equal(await lines(page).count(), 1);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
