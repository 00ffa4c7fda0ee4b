// Memory: found by each of its filters, a page at a time, whatever was said.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, answered, axe, browse, enter, vlp } from "./house.mjs";

const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e مرحبا 🙈`;
let browser, house, observer;

before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  observer = await house.agent("observer", { aliases: { vlp: "The Observer" } });
  const other = await house.agent("other");
  await house.agent("archivist");
  const put = async (token, message) => {
    const { body } = await house.send(token, message);
    assert.equal(body.status, "accepted", JSON.stringify(body));
    return body.position;
  };
  await put(observer, vlp("The Observer", "archivist", "Completed research on Oklahoma gas stations.", { id: "CTX-1", type: "session_context", session_id: "S-1", topic: "research", keywords: ["research", "oklahoma", "pending:pricing"], payload: { pending: ["<b>prices</b>"] } }));
  await put(other, vlp("other", "archivist", "The stations sell diesel.", { topic: "fuel", keywords: ["stations", "diesel", "oklahoma"], confidence: 0.35 }));
  const last = await put(other, vlp("other", "archivist", `Seen: ${HOSTILE}`, { topic: "<i>t</i>", keywords: ["<b>k</b>", "عربي", "k".repeat(120)] }));
  await house.indexed(last);
});
after(async () => {
  await browser.close();
  await house.end();
});

const only = (page, n) => page.waitForFunction((want) => !document.querySelector("main .loading") && document.querySelectorAll(".memory").length === want, n);
const asked = (page, act) => answered(page, "/v1/memory", act);

test("each filter narrows what is found, and the address keeps it", async () => {
  const page = await enter(browser, house, { at: "memory" });
  await only(page, 3);
  await page.getByRole("button", { name: "More" }).click();
  const { body } = await house.ask("GET", "/v1/memory");
  const first = String(body.memories.at(-1).position);
  const table = [["Words in it", "diesel sell", 1], ["Keywords", "okla*", 2], ["Keywords", "pending:", 1], ["Who said it", "The Observer", 1], ["Topic", "fuel", 1], ["Session", "S-1", 1], ["After entry", first, 2], ["Before entry", first, 0], ["Words in it", "nowhere", 0]];
  for (const [label, value, want] of table) {
    await page.getByLabel(label, { exact: true }).fill(value);
    await asked(page, () => page.getByLabel(label, { exact: true }).press("Enter"));
    await only(page, want);
    await asked(page, () => page.getByRole("button", { name: "Clear" }).click());
    await only(page, 3);
  }
  for (const [label, value, want] of [["Since", "2999-01-01T00:00", 0], ["Until", "2999-01-01T00:00", 3]]) {
    await page.getByLabel(label).fill(value);
    await asked(page, () => page.getByLabel(label).blur());
    await only(page, want);
    await asked(page, () => page.getByRole("button", { name: "Clear" }).click());
    await only(page, 3);
  }
  await page.getByLabel("Type").selectOption("session_context");
  await only(page, 1);
  await page.waitForURL(/type=session_context/);
  await page.reload();
  await only(page, 1);
  assert.deepEqual(await axe(page), []);
  await page.getByLabel("Words in it").fill("nowhere");
  await page.getByLabel("Words in it").press("Enter");
  await page.getByText("Nothing fits.").waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("keywords lead on, by keyboard, and the best come first", async () => {
  const page = await enter(browser, house, { at: "memory?text=stations&order=best" });
  await only(page, 2);
  assert.match(await page.locator(".memory").first().textContent(), /about all of it.*diesel/);
  assert.match(await page.locator(".memory").nth(1).textContent(), /only mentions it/);
  await page.locator(".memory a", { hasText: "oklahoma" }).first().focus();
  await asked(page, () => page.keyboard.press("Enter"));
  await page.waitForFunction(() => location.hash.includes("keywords=oklahoma"));
  await page.locator(".memory a.chip", { hasText: "pending:pricing" }).first().focus();
  await page.keyboard.press("Enter");
  await only(page, 1);
  await page.getByText("Completed research").waitFor();
  await page.getByText("Further data").click();
  await page.getByText("<b>prices</b>").waitFor();
  await page.getByRole("link", { name: /session context/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Entry/ }).waitFor();
  await page.context().close();
});

test("whatever was said is shown as text, in dark and on a phone", async () => {
  for (const options of [{ colorScheme: "dark" }, { viewport: { width: 390, height: 844 } }]) {
    const page = await enter(browser, house, { at: "memory", ...options });
    await page.getByText('<script>alert(2)</script>').waitFor();
    await page.getByText("U+202E").waitFor();
    await page.getByText("<b>k</b>").waitFor();
    await page.getByText("<i>t</i>").waitFor();
    assert.equal(await page.locator("main img, main script, main b, main i").count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test("what is refused is told as it is", async () => {
  const page = await enter(browser, house, { at: "memory?keywords=o*" });
  await page.getByRole("alert").waitFor();
  const { body } = await house.ask("GET", "/v1/memory?keywords=o*");
  await page.getByRole("alert").getByText(body.error).waitFor();
  await page.context().close();
});

test("more are brought when asked for, and reading goes on there; what is erased says so", async () => {
  const many = Array.from({ length: 60 }, (_, n) => vlp("The Observer", "archivist", `Note ${n}`, { keywords: ["notes", "many", "more"] }));
  let last;
  for (const note of many) {
    const { body } = await house.send(observer, note);
    assert.equal(body.status, "accepted");
    last = body.position;
  }
  await house.indexed(last);
  const page = await enter(browser, house, { at: "memory?keywords=notes" });
  await only(page, 50);
  await page.locator(".rows-foot").getByRole("button", { name: "More" }).focus();
  await page.keyboard.press("Enter");
  await only(page, 60);
  await page.waitForFunction(() => document.activeElement?.closest("[data-nth='50']"));
  await page.getByText("60 in all").waitFor();
  const { body } = await house.ask("GET", "/v1/memory?keywords=notes&limit=1");
  const erased = await house.ask("POST", "/v1/erase", { positions: [body.memories[0].position], undelivered: true, reason: "<b>asked for</b>" });
  assert.ok(erased.status < 300, JSON.stringify(erased.body));
  await page.goto(`${house.url}/#/memory?sender=observer`);
  await page.getByText("What it said was erased").waitFor();
  await page.getByText("<b>asked for</b>").waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
