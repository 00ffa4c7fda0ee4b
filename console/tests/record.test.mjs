// The record: verified in the browser, proofs and exports that the program takes, checkpoints held against each other.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { House, axe, browse, cap, enter, program } from "./house.mjs";

let browser, house, ann;
const HOSTILE = `<img src=x onerror="alert(1)"> "effect":{"entry":"no"} \u202e`;

/** The newest checkpoint, once it covers all there is. */
async function signed() {
  for (;;) {
    const { body } = await house.ask("GET", "/v1/audit/head");
    if (body.checkpoint?.size === body.size) return body.checkpoint;
  }
}
const run = (...args) => execFileSync(program, args, { encoding: "utf8", stdio: "pipe", env: { ...process.env, LEGATION_TOKEN: house.operator, LEGATION_URL: house.url } });
const check = async (file) => run("audit", "check", "--key", (await house.ask("GET", "/.well-known/legation/keys")).body.keys[0].public, file);
const card = (page, name) => page.locator("section.card", { has: page.getByRole("heading", { name, exact: true, level: 2 }) });
async function saved(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  const path = join(house.dir, download.suggestedFilename());
  await download.saveAs(path);
  return path;
}
async function verify(page, from, to) {
  const verifying = card(page, "Verify");
  if (from !== undefined) {
    await verifying.getByLabel("From entry").fill(String(from));
    await verifying.getByLabel("Up to, without").fill(String(to));
  }
  await verifying.getByRole("button", { name: "Verify", exact: true }).click();
  return verifying;
}

before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  const manifest = { id: "ann", allowed_agents: [], delegate_rules: {}, mcp_bindings: [], system_prompt: "A secret.", effect: { effect: { a: "]}" } } };
  ann = await house.agent("ann", { manifest });
  await house.agent("bob");
  for (let n = 0; n < 9; n++) assert.equal((await house.send(ann, cap("ann", "bob", `${n} ${HOSTILE}`))).body.status, "accepted");
  await house.send(ann, cap("ann", "nobody", "lost"));
  await signed();
});
after(async () => {
  await browser.close();
  await house.end();
});

test("the whole record is verified here, and so is any part of it", async () => {
  const { size } = await signed();
  const page = await enter(browser, house, { at: "record" });
  const verifying = await verify(page);
  await verifying.locator("[data-proof='sound']").waitFor();
  await verifying.getByText(`What ${size} entries say gives their leaves.`).waitFor();
  await verifying.getByText("The chain over all of them ends").waitFor();
  for (const [from, to] of [[1, 2], [2, size], [3, 7], [4, 9], [7, 8], [0, 5], [size - 1, size]]) {
    await verify(page, from, to);
    await verifying.getByRole("heading", { name: `Entries ${from} to ${to - 1}` }).waitFor();
    await verifying.locator("[data-proof='sound']").waitFor();
  }
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("an entry that was changed is named, and a lie that fits itself is found by the checkpoint", async () => {
  const page = await enter(browser, house, { at: "record" });
  const lie = (change) => page.route("**/v1/audit/entries*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
  await lie((text) => text.replaceAll('"sender":"ann"', '"sender":"bob"'));
  const verifying = await verify(page);
  await verifying.getByText(/Entry 2 is not as it was/).waitFor();
  await verifying.locator("[data-proof='broken']").waitFor();
  await page.unroute("**/v1/audit/entries*");

  // One is left out.
  await lie((text) => {
    const told = JSON.parse(text);
    return JSON.stringify({ ...told, entries: told.entries.toSpliced(4, 1) });
  });
  await verify(page, 0, 8);
  await verifying.getByText(/Entry 4 is missing/).waitFor();
  await page.unroute("**/v1/audit/entries*");

  // One says something else, with the leaf that follows from it.
  await lie((text) => {
    const { position, at, leaf, effect, effect_salt: salt, body_hash: body } = JSON.parse(text).entries[4];
    const said = JSON.stringify(effect);
    assert.ok(text.includes(said));
    const other = said.replace('"sender":"ann"', '"sender":"bob"');
    const u64 = (value) => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt(value)); return bytes; };
    const hash = (...parts) => createHash("sha256").update(Buffer.concat(parts.map((part) => Buffer.from(part)))).digest();
    const hex = (of) => Buffer.from(of.replace("sha256:", ""), "hex");
    const forged = hash([0], "legation entry 1\n", u64(position), u64(at), hash("legation effect 1\n", hex(salt), other), [1], hex(body));
    return text.replace(said, other).replace(leaf, `sha256:${forged.toString("hex")}`);
  });
  await verify(page, 0, 9);
  await verifying.getByText("does not begin with theirs: the record was changed").waitFor();
  await page.unroute("**/v1/audit/entries*");

  // What comes before is not the record's.
  await page.route("**/v1/audit/proof*", async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    await route.fulfill({ response, json: { ...told, path: told.path.map(() => `sha256:${"0".repeat(64)}`) } });
  });
  await verify(page, 3, 8);
  await verifying.getByRole("heading", { name: "Entries 3 to 7" }).waitFor();
  await verifying.getByText("the record was changed").waitFor();
  await page.unroute("**/v1/audit/proof*");

  // A checkpoint that nobody signed.
  await page.route("**/v1/audit/head", async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    await route.fulfill({ response, json: { ...told, checkpoint: { ...told.checkpoint, at: told.checkpoint.at + 1 } } });
  });
  await page.reload();
  await verify(page);
  await verifying.getByText("is not signed by the exchange's key").waitFor();
  // It is asked for every few seconds.
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
});

test("progress is told, and verifying can be stopped", async () => {
  const page = await enter(browser, house, { at: "record" });
  let go;
  const held = new Promise((done) => (go = done));
  await page.route("**/v1/audit/entries*", async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  const verifying = await verify(page);
  await verifying.getByRole("progressbar", { name: "Entries verified" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await verifying.getByRole("button", { name: "Stop" }).click();
  await verifying.getByText("Stopped after 0 entries.").waitFor();
  go();
  await page.context().close();
});

test("proofs and exports are those of the program", async () => {
  const page = await enter(browser, house, { at: "record", acceptDownloads: true });
  const proving = card(page, "Prove an entry");
  await proving.getByLabel("Entry").fill("5");
  await page.keyboard.press("Enter");
  await proving.locator("[data-proof='sound']").waitFor();
  const plain = await saved(page, () => proving.getByRole("button", { name: "Save the proof" }).click());
  assert.match(await check(plain), /position 5 is among the first/);
  const whole = await saved(page, () => proving.getByRole("button", { name: "Save it with the entry" }).click());
  assert.match(await check(whole), /"entry":"accepted"/);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(whole, "utf8"))).sort(), Object.keys(JSON.parse(run("audit", "prove", "5", "--entry"))).sort());
  await proving.getByText("What it says").click();
  await proving.getByRole("region", { name: "What it says" }).waitFor();

  const exporting = card(page, "Export");
  for (const [from, to, bodies] of [[0, 12, false], [3, 7, true]]) {
    await exporting.getByLabel("From entry").fill(String(from));
    await exporting.getByLabel("Up to, without").fill(String(to));
    await exporting.getByLabel("with the messages").setChecked(bodies);
    const file = await saved(page, () => exporting.getByRole("button", { name: "Export" }).click());
    assert.equal(readFileSync(file, "utf8"), run("audit", "export", "--from", String(from), "--to", String(to), ...(bodies ? ["--bodies"] : [])));
  }
  assert.equal(await page.locator("main img").count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a hash beside what an entry says is not believed instead of it, nor a name that comes twice", async () => {
  const page = await enter(browser, house, { at: "record" });
  const proving = card(page, "Prove an entry");
  const lie = async (change) => {
    await page.unrouteAll({ behavior: "wait" });
    await page.route("**/v1/audit/entries*", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const told = JSON.parse(text).entries.find(({ position }) => position === 5);
      await route.fulfill({ response, body: change(text, JSON.stringify(told.effect), told) });
    });
    await proving.getByLabel("Entry").fill("5");
    await proving.getByRole("button", { name: "Prove", exact: true }).click();
  };
  const said = ({ effect_salt: salt }, effect) => `sha256:${createHash("sha256").update("legation effect 1\n").update(Buffer.from(salt, "hex")).update(effect).digest("hex")}`;
  const forged = (effect) => effect.replace('"sender":"ann"', '"sender":"mallory"');
  await lie((text, effect, told) => text.replace(effect, `${forged(effect)},"effect_hash":"${said(told, effect)}"`));
  await proving.locator("[data-proof='broken']").getByText("does not give its leaf").waitFor();

  // Without the salt there is only the hash, and that is said.
  const hashed = (text, effect, told) => text.replace(`"effect_salt":"${told.effect_salt}"`, `"effect_hash":"${said(told, effect)}"`).replace(effect, forged(effect));
  await lie(hashed);
  await proving.getByText("Only the hash of what it says is shown").waitFor();
  assert.equal(await proving.getByText("What the entry says gives its leaf").count(), 0);
  await proving.getByText("What is shown of it, unchecked").waitFor();
  await verify(page, 4, 8);
  await card(page, "Verify").getByText("Of 1 of them only the hash is shown").waitFor();
  await card(page, "Verify").getByText("What 3 entries say gives their leaves.").waitFor();

  // This browser would show the last of them, and hash the first.
  await lie((text, effect) => text.replace(effect, `${effect},"effect":${forged(effect)}`));
  await proving.locator("[data-proof='sound']").getByText("What the entry says gives its leaf").waitFor();
  await proving.getByText("What it says", { exact: true }).click();
  assert.doesNotMatch(await proving.getByRole("region", { name: "What it says" }).textContent(), /mallory/);

  // The proof of another entry is none of this one.
  await page.unrouteAll({ behavior: "wait" });
  await page.route("**/v1/audit/proof?*", async (route) => route.fulfill({ response: await route.fetch({ url: route.request().url().replace("position=5", "position=6") }) }));
  await proving.getByRole("button", { name: "Prove", exact: true }).click();
  await proving.getByText("the exchange answers for another entry").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
});

test("checkpoints are kept by the browser and held against the newest", async () => {
  const old = await signed();
  const page = await enter(browser, house, { at: "record", acceptDownloads: true });
  const kept = card(page, "Checkpoints");
  await kept.locator("tbody tr").first().waitFor();
  const file = await saved(page, () => kept.getByRole("button", { name: `Save the one of ${old.size} entries` }).click());
  assert.match(await check(file), new RegExp(`had ${old.size} entries`));
  await house.send(ann, cap("ann", "bob", "One more."));
  const { size } = await signed();
  await kept.locator("tr", { hasText: `Check the one of ${size} entries` }).getByText("the newest").waitFor();
  await kept.getByRole("button", { name: `Check the one of ${old.size} entries` }).click();
  await kept.getByText(`The record of ${size} entries still begins with its ${old.size}.`).waitFor();

  const give = (value) => kept.getByLabel("Check one from a file").setInputFiles({ name: "kept.json", mimeType: "application/json", buffer: Buffer.from(value) });
  await give(JSON.stringify({ ...old, root: `sha256:${"1".repeat(64)}`, signature: old.signature.replace("base64:", "base64:AAAA").slice(0, old.signature.length) }));
  await kept.getByText("is not signed by the exchange's key").waitFor();
  await give("{");
  await page.getByText("There is no checkpoint in this file.").waitFor();
  await page.reload();
  await kept.getByRole("button", { name: `Check the one of ${old.size} entries` }).first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("auditors verify what is kept from them too; reviewers see the head and prove", async () => {
  const auditor = await enter(browser, house, { token: await house.person("aud", "auditor"), at: "record", colorScheme: "dark" });
  const verifying = await verify(auditor);
  await verifying.locator("[data-proof='sound']").waitFor();
  assert.deepEqual(await axe(auditor), []);
  await auditor.context().close();
  const reviewer = await enter(browser, house, { token: await house.person("rev", "reviewer"), at: "record", viewport: { width: 390, height: 844 } });
  await card(reviewer, "Prove an entry").getByRole("button", { name: "Prove" }).click();
  await reviewer.locator("[data-proof='sound']").waitFor();
  assert.equal(await card(reviewer, "Verify").count(), 0);
  const wide = () => [...document.querySelectorAll("main *")].filter((one) => !one.closest("table") && one.getBoundingClientRect().right > innerWidth).map((one) => `${one.tagName} ${one.className} ${one.textContent}`);
  assert.deepEqual(await reviewer.evaluate(wide), []);
  assert.equal(await reviewer.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  assert.deepEqual(await axe(reviewer), []);
  assert.deepEqual(reviewer.faults, []);
  await reviewer.context().close();
});
