// Hostile content in every field of every dialect: it is shown as text, and nothing of it runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { House, acl, browse, cap, enter, settled, vcp, vlp } from "./house.mjs";

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

test("fillers, tags and marks within names and chips are named too, and flags stay flags", async () => {
  const tags = (text) => String.fromCodePoint(...Array.from(text, (one) => 0xe0000 + one.codePointAt(0)));
  const flag = `\u{1f3f4}${tags("gbsct")}\u{e007f}`;
  const carl = await house.agent("cleo");
  const words = `a\u3164b\u115fc\u206ad\u180ee\ufff9f${tags("pay mallory")}\u{e0001} pay\u200dpal x\ufe0f\ufe01 \u{1f3f4}${tags("evil")}\u{e007f}`;
  const fine = `${flag} \u{1f469}\u200d\u{1f680} ❤\ufe0f\u200d\u{1f525} 1\ufe0f\u20e3 می\u200cخواهم \u845b\u{e0100}`;
  const { body } = await house.send(carl, vlp("cleo", "bob", words, { keywords: ["pay\u200bpal", `k${tags("run")}`, fine], constraints: ["x\u202egnp.exe"], ["x\u200bname\u202e"]: "y" }));
  assert.ok(body.position, JSON.stringify(body));
  const page = await enter(browser, house, { at: `messages/${body.position}` });
  await page.locator(".said .hidden-char").first().waitFor();
  const named = (where) => page.locator(`${where} .hidden-char`).allTextContents();
  assert.deepEqual(await named(".said"), ["U+3164", "U+115F", "U+206A", "U+180E", "U+FFF9", "U+E0070… “pay mallory”", "U+E0001", "U+200D", "U+FE0F", "U+FE01", "U+E0065… “evil”", "U+E007F"]);
  assert.deepEqual(await named(".keywords"), ["U+200B", "U+E0072… “run”", "U+202E"]);
  assert.ok((await page.locator(".keywords").first().textContent()).includes(fine));
  assert.deepEqual(await named(".letter dt"), ["U+200B", "U+202E"]);
  await page.context().close();
});

test("the page one signs in at names the same characters", async () => {
  const at = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
  const ranges = (text, form) => Array.from(text.matchAll(form), ([, from, to]) => [from, to].map((code) => Number.parseInt(code, 16)));
  const console_ = ranges(at("../src/ui/unseen.ts"), /\[0x(\w+), 0x(\w+)\]/g);
  const server = ranges(at("../../crates/legation-server/src/html.rs"), /'\\u\{(\w+)\}'\.\.='\\u\{(\w+)\}'/g);
  // Controls are named by what they are there.
  assert.deepEqual(console_.filter(([from]) => from > 0x9f), server);
});

test("the page runs no script but its own, even when one is put into it", async () => {
  const page = await enter(browser, house);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.owned = 2";
    document.body.append(script);
  });
  await settled(page, () => page.faults.join(), /Content Security Policy/);
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
});
