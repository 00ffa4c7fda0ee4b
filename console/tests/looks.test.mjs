// How it looks: nothing is pushed out of sight on the smallest phone, and marks are as large as what they say.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, browse, enter, now, uuid7, vcp, vlp } from "./house.mjs";

let browser, house, ann, held;
const SMALL = { viewport: { width: 320, height: 640 } };
before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  await house.agent("bob");
  ann = await house.agent("ann", { parent: "bob" });
  const { body } = await house.send(ann, vlp("ann", "bob", "Somebody should look at this.", { safety: { level: "review" }, keywords: ["looks", "small", "phone"] }));
  held = body.position;
  await house.send(ann, vlp("ann", "bob", "مرحبا بالعالم, this is a mixed text", { keywords: ["mixed", "text", "looks"] }));
});
after(async () => {
  await browser.close();
  await house.end();
});

test("a message fits the smallest phone, and its safety is a mark, not a bar", async () => {
  const page = await enter(browser, house, { at: `messages/${held}`, ...SMALL });
  await page.locator("[data-proof]").waitFor();
  const chip = page.locator("dd .stack > .keywords > .chip");
  const found = await chip.evaluate((one) => ({ wide: document.documentElement.scrollWidth, bar: one.offsetWidth > 0.9 * one.parentElement.offsetWidth }));
  assert.deepEqual(found, { wide: 320, bar: false });
  await page.context().close();
});

test("on the smallest phone checkpoints can be checked, and the outcome is in sight", async () => {
  const page = await enter(browser, house, { at: "record", ...SMALL });
  const table = page.getByRole("region", { name: "Checkpoints" });
  const check = table.getByRole("button", { name: /^Check/ }).first();
  await check.waitFor();
  await check.click();
  await table.locator("[data-proof]").first().waitFor();
  assert.equal(await table.evaluate((box) => box.scrollWidth - box.clientWidth), 0, "nothing has to be moved into sight");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  await page.context().close();
});

test("beside an opened review the others show what they say", async () => {
  const page = await enter(browser, house, { at: `reviews/${held}` });
  const line = page.locator(`#row-${held}`);
  await line.locator(".gist").getByText("Somebody should look at this.").waitFor();
  assert.deepEqual([await line.locator(".gist").isVisible(), await line.locator(".sub").isVisible()], [true, false]);
  await page.context().close();
});

test("text from right to left stands below who said it", async () => {
  const page = await enter(browser, house, { at: "memory?keywords=mixed" });
  const said = page.locator(".memory-said .prose");
  await said.waitFor();
  const [text, card] = await said.evaluate((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [range.getBoundingClientRect().left, one.closest(".memory").querySelector(".memory-head").getBoundingClientRect().left];
  });
  assert.ok(Math.abs(text - card) < 4, `${text} ${card}`);
  await page.context().close();
});

test("one open alarm is one", async () => {
  const payload = { severity: "warning", reason: "The disk is nearly full.", context: "📍🏡|👥👶", requires_ack: true };
  await house.send(ann, { ...vcp("ann", "bob"), type: "escalation", message_id: uuid7(), timestamp: now(), payload });
  const page = await enter(browser, house);
  await page.getByText("1 open alarm", { exact: true }).waitFor();
  await page.context().close();
});
