// Hostile content in every field of every dialect: it is shown as text, and nothing of it runs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, acl, browse, cap, enter, vcp, vlp } from "./house.mjs";

const EVIL = [
  "<img src=x onerror=alert(1)>",
  "</script><script>globalThis.owned=1</script>",
  "<svg onload=alert(1)><a href='javascript:alert(1)'>x</a></svg>",
  "javascript:alert(1)",
  "=HYPERLINK(\"http://evil.test\")",
  "\u202egnihtemos\u0000\u001b[2J\u200b",
  "{{constructor.constructor('alert(1)')()}}",
];

let browser, house;
before(async () => ([browser, house] = await Promise.all([browse(), House.open()])));
after(async () => {
  await browser.close();
  await house.end();
});

test("whatever was sent is shown as text", async () => {
  await house.agent("bob");
  const ann = await house.agent("ann", { aliases: { vlp: EVIL[0] }, parent: "bob" });
  await house.agent("<img/src=x/onerror=alert(1)>");
  const positions = [];
  for (const evil of EVIL) {
    const plain = evil.replaceAll("\u0000", "");
    for (const message of [
      cap("ann", "bob", evil, { attachments: [{ type: "text_snippet", text: evil }, { type: "file", path: evil }, { type: "python_object", object: { [plain]: evil } }] }),
      vlp("ann", "bob", evil, { topic: plain, keywords: ["a", "b", plain], provenance: [evil, { ref: plain, kind: "url" }], constraints: [evil], payload: { [plain]: evil }, _extras: { x: evil } }),
      acl("ann", "bob", evil),
      vcp("ann", "bob", { type: "escalation", payload: { severity: "info", reason: evil, context: "⏰🌅|📍🏡", requires_ack: false } }),
    ]) {
      const { body } = await house.send(ann, message);
      assert.ok(body.position, JSON.stringify([message, body]));
      positions.push(body.position);
    }
  }
  await house.send(ann, cap("ann", "<b>nobody</b>", "x"));
  const page = await enter(browser, house);
  await page.locator(".live li").first().waitFor();
  const fetched = [];
  page.on("request", (request) => fetched.push(request.url()));
  for (const position of positions) {
    // What comes with it moves what is below: the click waits for it.
    const explained = page.waitForResponse((answer) => answer.url().endsWith(`/v1/messages/${position}/explain`));
    await page.goto(`${house.url}/#/messages/${position}`);
    await explained;
    await page.getByText("Bytes as received").click();
    await page.locator("[data-proof]").waitFor();
    await page.getByRole("region", { name: "Bytes as received" }).waitFor();
    assert.equal(await page.locator("#main").locator("img, script, iframe, object, a[href^='javascript'], [onerror], [onload]").count(), 0, `${position}`);
  }
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
  assert.deepEqual(page.faults, []);
  assert.deepEqual(fetched.filter((url) => !url.startsWith(house.url)), []);
});

test("what cannot be seen is named, and turns nothing around it", async () => {
  const ann = await house.agent("carl");
  const { body } = await house.send(ann, cap("carl", "bob", "safe \u202eevil\u200b"));
  const page = await enter(browser, house, { at: `messages/${body.position}` });
  await page.locator(".said .hidden-char").first().waitFor();
  assert.deepEqual(await page.locator(".said .hidden-char").allTextContents(), ["U+202E", "U+200B"]);
});

test("the page runs no script but its own, even when one is put into it", async () => {
  const page = await enter(browser, house);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.owned = 2";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
  assert.match(page.faults.join(), /Content Security Policy/);
});
