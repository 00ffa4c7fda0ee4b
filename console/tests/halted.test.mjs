// A session that is halted: people see that it is, why, and how it goes on; and it does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, axe, browse, enter, press, settled, vlp } from "./house.mjs";

let browser, house, ann, bob;
const WHY = "This was never approved: <b>nobody</b> may act on it.";
const within = (session) => ({ session_id: session });
const block = (session) => ({ ...within(session), type: "notice", safety: { level: "block", requires_human: true, issues: [{ code: "never_approved", detail: "Not in the ledger." }] } });
before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  ann = await house.agent("ann");
  bob = await house.agent("bob");
});
after(async () => {
  await browser.close();
  await house.end();
});

async function halt(session) {
  assert.equal((await house.send(bob, vlp("bob", "ann", "We begin.", within(session)))).status, 200);
  const { status, body } = await house.send(ann, vlp("ann", "bob", WHY, block(session)));
  assert.deepEqual([status, body.status], [200, "accepted"], JSON.stringify(body));
  return body.position;
}

test("Now says that a session is halted and why, and an operator lets it go on", async () => {
  const page = await enter(browser, house);
  await page.getByRole("heading", { name: "Now", exact: true }).waitFor();
  const position = await halt("S-now");
  const card = page.getByRole("region", { name: "Halted sessions" });
  await card.getByText("A session is halted").waitFor();
  await card.getByText(WHY).waitFor();
  await card.getByRole("link", { name: "ann" }).waitFor();
  assert.equal((await house.send(bob, vlp("bob", "ann", "And on.", within("S-now")))).body.error, "halted");
  assert.deepEqual(await axe(page), []);
  // The message itself and its session say so, too.
  await card.getByRole("link", { name: "Read it" }).click();
  await page.locator("[data-proof]").waitFor();
  await page.waitForURL(new RegExp(`messages/${position}$`));
  await page.getByText("This session is halted.").waitFor();
  await page.getByText("asks for a person").waitFor();
  await page.locator(".chip", { hasText: "block" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.goto(`${house.url}/#/messages?thread=S-now`);
  await page.locator("#opened-head").waitFor({ state: "detached" });
  await page.locator("[data-halted='S-now']").getByText("This session is halted.").waitFor();
  await page.goto(`${house.url}/#/`);
  await card.getByRole("button", { name: "Let it go on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(WHY).waitFor();
  await dialog.getByLabel("Reason").fill("A misunderstanding.");
  await dialog.getByRole("button", { name: "Let it go on" }).click();
  await card.waitFor({ state: "detached" });
  assert.equal((await house.send(bob, vlp("bob", "ann", "And on.", within("S-now")))).status, 200);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a reviewer is told, reads why, and lets it go on by the keyboard alone; an auditor only looks", async () => {
  const page = await enter(browser, house, { token: await house.person("rita", "reviewer"), at: "reviews" });
  await page.getByText("Nothing waits for a person.").waitFor();
  await halt("S-rita");
  const card = page.getByRole("region", { name: "Halted sessions" });
  await card.getByText(WHY).waitFor();
  await page.getByRole("link", { name: /Reviews 1 waiting/ }).waitFor();
  assert.equal(await card.getByRole("link", { name: "Read it" }).count(), 0);
  const looks = await enter(browser, house, { token: await house.person("otto", "auditor"), at: "agents" });
  await looks.getByRole("region", { name: "Halted sessions" }).getByText(WHY).waitFor();
  assert.equal(await looks.getByRole("button", { name: "Let it go on" }).count(), 0);
  await looks.context().close();
  await press(page, card.getByRole("button", { name: "Let it go on" }));
  const dialog = page.getByRole("dialog");
  await press(page, dialog.getByLabel("Reason"), "Looked at it.");
  assert.deepEqual(await axe(page), []);
  await press(page, dialog.getByRole("button", { name: "Let it go on" }));
  await card.waitFor({ state: "detached" });
  // Who uses the keyboard is not sent back to the top.
  await page.waitForFunction(() => document.activeElement !== document.body);
  assert.equal((await house.ask("GET", "/v1/sessions/S-rita")).body.state, "open");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("many halted sessions with long names fit a phone", async () => {
  for (let n = 0; n < 5; n++) await halt(`S-${"very-long-".repeat(12)}${n}`);
  const page = await enter(browser, house, { viewport: { width: 320, height: 640 } });
  const card = page.getByRole("region", { name: "Halted sessions" });
  await card.getByText("5 sessions are halted").waitFor();
  await card.getByRole("button", { name: "2 more" }).click();
  await settled(page, () => card.getByRole("button", { name: "Let it go on" }).count(), 5);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  assert.deepEqual(await axe(page), []);
  await page.context().close();
});
