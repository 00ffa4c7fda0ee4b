// Messages: found, opened, explained, and checked in the browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, acl, answered, axe, browse, cap, enter, press, vcp, vlp } from "./house.mjs";

let browser, house, ann;
const at = {};
before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  ann = await house.agent("ann");
  await house.agent("bob");
  const put = async (name, message) => {
    const { body } = await house.send(ann, message);
    assert.ok(body.position, JSON.stringify(body));
    at[name] = body.position;
  };
  await put("claim", vlp("ann", "bob", "All of them sell diesel.", { confidence: 0.85, provenance: ["survey", { ref: "https://api.example.com/1", kind: "url" }], keywords: ["stations", "diesel", "prices"] }));
  await put("cap", cap("ann", "bob", "The outline is ready.", { task_id: "T9", message_id: "m-1" }));
  await put("acl", acl("ann", "bob", "Mend the list."));
  await put("signed", vcp("ann", "bob"));
  const refused = await house.send(ann, cap("ann", "nobody", "lost"));
  assert.equal(refused.body.error, "unknown_recipient");
  // Found by those who come after.
  await house.indexed(at.signed + 1);
  assert.equal((await house.ask("GET", "/v1/messages?verdict=refused")).body.messages.length, 1);
});
after(async () => {
  await browser.close();
  await house.end();
});

test("filters narrow the list, and the address keeps them", async () => {
  const page = await enter(browser, house, { at: "messages" });
  const lines = page.locator(".line");
  await lines.first().waitFor();
  const only = (n) => page.waitForFunction((want) => !document.querySelector("main .loading") && document.querySelectorAll(".line").length === want, n);
  const asked = (act) => answered(page, "/v1/messages", act);
  const clear = () => asked(() => page.getByRole("button", { name: "Clear" }).click());
  await only(5);
  assert.deepEqual(await axe(page), []);
  await asked(() => page.getByLabel("Dialect").selectOption("vlp"));
  await only(1);
  await page.waitForURL(/dialect=vlp/);
  await clear();
  await only(5);
  await asked(() => page.getByLabel("Verdict").selectOption("refused"));
  await only(1);
  await page.getByText("unknown_recipient").waitFor();
  await clear();
  await only(5);
  for (const [label, value, want] of [["Words in it", "outline ready", 1], ["Task or session", "T9", 1], ["Kind", "claim", 1], ["Sender", "ann", 5], ["Recipient", "bob", 4], ["Words in it", "nowhere", 0]]) {
    await page.getByLabel(label).fill(value);
    await asked(() => page.getByLabel(label).press("Enter"));
    await only(want);
    await clear();
    await only(5);
  }
  await page.context().close();
});

test("every line says what its message says, and of a refusal why", async () => {
  const why = (await house.ask("GET", "/v1/messages?verdict=refused")).body.messages[0].says;
  for (const viewport of [{ width: 1280, height: 860 }, { width: 390, height: 844 }]) {
    const page = await enter(browser, house, { at: "messages", viewport });
    for (const words of ["All of them sell diesel.", "The outline is ready.", "Mend the list.", "⏰🌅|📍🏡"]) {
      await page.locator(".line .gist").getByText(words).waitFor();
    }
    await page.locator(".line", { hasText: "refused" }).locator(".gist").getByText(why).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
    assert.deepEqual(await axe(page), []);
    await page.context().close();
  }
  // Beside an opened one they say it too.
  const page = await enter(browser, house, { at: `messages/${at.claim}` });
  await page.locator(".split .line .gist").getByText("The outline is ready.").waitFor();
  await page.context().close();
});

test("a claim shows its confidence and where it comes from, and its proof holds", async () => {
  const page = await enter(browser, house, { at: `messages/${at.claim}` });
  await page.locator(".said").getByText("All of them sell diesel.").waitFor();
  await page.getByRole("progressbar", { name: "Confidence 85 %" }).waitFor();
  await page.getByText("https://api.example.com/1").waitFor();
  assert.equal(await page.locator("a[href^='https:']").count(), 0);
  await page.locator("[data-proof='sound']").waitFor();
  await page.getByText("They broke no rule of their dialect.").waitFor();
  await page.getByText("Bytes as received").click();
  await page.getByRole("region", { name: "Bytes as received" }).getByText("VLP/1.1").waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a signature, the leaf, the path and the checkpoint are checked here", async () => {
  const page = await enter(browser, house, { at: `messages/${at.signed}` });
  const proof = page.locator("[data-proof]");
  await proof.waitFor();
  // A checkpoint is signed soon, not at once.
  for (let n = 0; n < 50 && (await proof.getByText("No checkpoint covers it yet").count()) > 0; n++) {
    await house.send(ann, cap("ann", "bob", "more"));
    await page.reload();
    await proof.waitFor();
  }
  const found = await proof.locator("li").allTextContents();
  for (const words of ["digest that the record holds", "Its signature is its sender’s", "gives its leaf", "leads from it to the root", "signed by the exchange"]) {
    assert.ok(found.some((line) => line.includes(words) && line.includes("holds: ")), `${words} in ${found.join(" | ")}`);
  }
  await page.context().close();
});

test("what was changed on the way does not hold", async () => {
  const page = await enter(browser, house);
  const broken = async (pattern, change) => {
    await page.route(pattern, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: change(await answer.text()) });
    });
    await page.goto(`${house.url}/#/messages/${at.claim}`);
    await page.reload();
    await page.locator("[data-proof='broken']").waitFor();
    await page.unroute(pattern);
  };
  await broken("**/raw", (text) => text.replace("diesel", "petrol"));
  await broken("**/v1/audit/entries*", (text) => text.replace('"sender":"ann"', '"sender":"bob"'));
  await broken("**/v1/audit/proof*", (text) => text.replace(/("root":"sha256:)./g, "$10").replace(/("size":)(\d+)/, (_, name, n) => `${name}${Number(n) + 1}`));
  await page.context().close();
});

test("what is shown above is held to what was checked", async () => {
  const page = await enter(browser, house);
  const path = `/v1/messages/${at.signed}`;
  const lie = async (to, change, found) => {
    await page.route((url) => url.pathname === to, async (route) => {
      const answer = await route.fetch();
      const body = await answer.text();
      const changed = change(body);
      assert.notEqual(changed, body);
      await route.fulfill({ response: answer, body: changed });
    });
    await page.goto("about:blank");
    await page.goto(`${house.url}/#/messages/${at.signed}`);
    await page.locator("[data-proof='broken']").getByText(found).waitFor();
    await page.unrouteAll({ behavior: "wait" });
  };
  const member = (name, value) => (text) => JSON.stringify({ ...JSON.parse(text), [name]: value });
  await lie(path, (text) => text.replace("family.safe.guide", "anything.goes"), "not what was checked: the message.");
  await lie(path, (text) => { const { message, ...told } = JSON.parse(text); return JSON.stringify(told); }, "not what was checked: the message.");
  await lie(`${path}/explain`, member("sender", "mallory"), "not what was checked: its sender.");
  await lie(`${path}/explain`, member("to", ["bob", "mallory"]), "not what was checked: its recipients.");
  await lie(`${path}/explain`, member("kind", "constitution_announce"), "not what was checked: its kind.");
  await lie(`${path}/explain`, member("digest", `sha256:${"0".repeat(64)}`), "not what was checked: its digest.");
  await lie(`${path}/explain`, member("received_at", "2020-01-01T00:00:00Z"), "not what was checked: its time.");
  await lie(`${path}/explain`, member("verdict", "held"), "not what was checked: its verdict.");
  // The last one counts for this browser, the first one for others.
  await lie(`${path}/raw`, (text) => text.replace("{", '{"recipient":"mallory",'), 'the name "recipient" comes twice');
  await lie(`${path}/raw`, (text) => text.replace('"payload":{', '"payload":{"cont\\u0065xt":"other",'), 'the name "context" comes twice');
  await page.goto("about:blank");
  await page.goto(`${house.url}/#/messages/${at.signed}`);
  await page.locator("[data-proof='sound']").getByText("What is shown above is what was checked").waitFor();
  await page.context().close();
});

test("what goes wrong while checking is said, and is not taken for a fact", async () => {
  const page = await enter(browser, house);
  const checked = page.getByRole("region", { name: "Checked in this browser" });
  const broken = { status: 500, json: { error: "internal", message: "boom", retryable: true } };
  for (const [path, at_] of [[`/v1/messages/${at.claim}/raw`, at.claim], ["/v1/audit/proof", at.claim], ["/v1/audit/entries", at.claim], ["/v1/agents/ann", at.signed]]) {
    await page.route((url) => url.pathname === path, (route) => route.fulfill(broken));
    await page.goto("about:blank");
    await page.goto(`${house.url}/#/messages/${at_}`);
    await checked.getByRole("alert").getByText("boom").waitFor();
    assert.equal(await page.locator("[data-proof]").count(), 0, path);
    await page.unrouteAll({ behavior: "wait" });
    await checked.getByRole("button", { name: "Try again" }).click();
    await page.locator("[data-proof='sound']").waitFor();
    assert.equal(await checked.getByRole("alert").count(), 0);
  }
  // What is to be expected is said as what it is.
  await page.route((url) => url.pathname === "/v1/audit/proof", (route) => route.fulfill({ status: 404, json: { error: "not_found", message: "no checkpoint is signed yet" } }));
  await page.goto("about:blank");
  await page.goto(`${house.url}/#/messages/${at.claim}`);
  await page.locator("[data-proof='sound']").getByText("No checkpoint covers it yet").waitFor();
  await page.context().close();
});

test("what was erased is told as that, and a message that is shown in its place is not believed", async () => {
  const { body } = await house.send(ann, cap("ann", "bob", "soon gone", { task_id: "T-gone" }));
  const { status, body: told } = await house.ask("POST", "/v1/erase", { positions: [body.position], reason: "asked for", undelivered: true });
  assert.ok(status < 300, JSON.stringify(told));
  const page = await enter(browser, house, { at: `messages/${body.position}` });
  await page.locator("[data-proof='sound']").getByText("What it said is not kept any more.").waitFor();
  await page.route((url) => url.pathname === `/v1/messages/${body.position}`, async (route) => {
    const answer = await route.fetch();
    const { gone, ...facts } = await answer.json();
    await route.fulfill({ response: answer, json: { ...facts, message: cap("ann", "bob", "never said") } });
  });
  await page.goto("about:blank");
  await page.goto(`${house.url}/#/messages/${body.position}`);
  await page.locator("[data-proof='broken']").getByText("not what was checked: the message.").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
});

test("a refusal is explained", async () => {
  const page = await enter(browser, house, { at: "messages?verdict=refused" });
  await page.locator(".line").first().click();
  await page.getByText("What is refused is not kept").waitFor();
  await page.getByRole("region", { name: "What became of it" }).waitFor();
  await page.context().close();
});

test("a long list keeps few rows, and the keyboard goes through it", async () => {
  const many = Array.from({ length: 1500 }, (_, n) => JSON.stringify(cap("ann", "bob", `n ${n}`, { task_id: "T-many" }))).join("\n");
  const told = await fetch(`${house.url}/v1/messages`, { method: "POST", headers: { authorization: `Bearer ${ann}`, "content-type": "application/x-ndjson" }, body: many }).then((answer) => answer.text());
  const last = JSON.parse(told.trim().split("\n").at(-1)).position;
  await house.indexed(last);
  const page = await enter(browser, house, { at: "messages?thread=T-many" });
  await page.locator(".line").first().waitFor();
  await page.locator(".line").first().focus();
  const row = () => page.evaluate(() => Number(document.activeElement?.closest("[data-row]")?.getAttribute("data-row")));
  // More is fetched as the end comes near, so the end moves.
  for (;;) {
    await page.locator("[data-row] :focus").waitFor();
    if ((await row()) >= 450) break;
    await page.keyboard.press("PageDown");
  }
  assert.ok((await page.locator(".line").count()) < 80);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Entry \d+/ }).waitFor();
  await page.getByText("They broke no rule of their dialect.").waitFor();
  await page.context().close();
});

test("what is opened by the keyboard has the focus, and its row has it back", async () => {
  const page = await enter(browser, house, { at: "messages?thread=T9" });
  const line = page.locator(`#row-${at.cap}`);
  await line.focus();
  await page.keyboard.press("Enter");
  await page.locator("#opened-head:focus").waitFor();
  await press(page, page.getByRole("link", { name: "Close" }));
  await page.locator(`#row-${at.cap}:focus`).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.context().close();
});

test("a late page of one search is not put into another", async () => {
  const page = await enter(browser, house, { at: "messages?thread=T-many" });
  await page.locator(".line").first().waitFor();
  let release;
  const released = new Promise((go) => (release = go));
  const isLate = (request) => request.url().includes("before=");
  await page.route((url) => url.pathname === "/v1/messages" && url.searchParams.has("before"), async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  const asked = page.waitForRequest(isLate);
  const over = Promise.race(["requestfailed", "requestfinished"].map((event) => page.waitForEvent(event, isLate)));
  await page.locator(".rows").evaluate((box) => (box.scrollTop = box.scrollHeight));
  await asked;
  await page.goto(`${house.url}/#/messages?thread=T9`);
  await page.locator(`#row-${at.cap}, .line[href*="messages/${at.cap}?"]`).waitFor();
  release();
  await over;
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.equal(await page.locator(".rows-foot").innerText(), "1 in all");
  await page.context().close();
});

test("only what a search would find is told as newer", async () => {
  const page = await enter(browser, house, { at: "messages?thread=T9" });
  await page.locator(".line").first().waitFor();
  await page.locator(".flowing-live").waitFor();
  for (const task of ["T-many", "T-many", "T-many", "T9"]) await house.send(ann, cap("ann", "bob", "later", { task_id: task }));
  const newer = page.getByRole("button", { name: /newer/ });
  await newer.waitFor();
  assert.equal(await newer.innerText(), "1 newer: show");
  await page.context().close();
});
