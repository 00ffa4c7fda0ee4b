// What the tests stand on: the real program on a free port with a directory of its own, and Debian's Chromium.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const program = process.env.LEGATION_BIN ?? join(root, "target/debug/legation");
export const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** As long as a locator waits. */
const PATIENCE = 30_000;

/** Members in the order of RFC 8785, which for the names used here is plain. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
  return JSON.stringify(value);
}

/** An exchange of one's own. `end()` stops it. */
export class House {
  keys = new Map();

  static async open(config = []) {
    const house = new House();
    house.dir = mkdtempSync(join(tmpdir(), "legation-console-"));
    const data = join(house.dir, "data");
    house.process = spawn(program, ["serve", "--data", data, "--listen", "127.0.0.1:0", ...config], { stdio: ["ignore", "pipe", "pipe"] });
    house.url = await new Promise((found, failed) => {
      let told = "";
      const hear = (bytes) => {
        told += bytes;
        const at = /http:\/\/127\.0\.0\.1:\d+/.exec(told);
        if (at) found(at[0]);
      };
      house.process.stdout.on("data", hear);
      house.process.stderr.on("data", hear);
      house.process.on("exit", () => failed(new Error(`the exchange ended: ${told}`)));
      house.process.on("error", failed);
    });
    house.operator = readFileSync(join(data, "operator.token"), "utf8").trim();
    return house;
  }

  async end() {
    const gone = new Promise((done) => this.process.once("close", done));
    this.process.kill("SIGTERM");
    await gone;
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Asks the exchange, as the operator unless told otherwise. */
  async ask(method, path, body, token = this.operator) {
    const headers = { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await fetch(this.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, body: text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text };
  }

  /** A new agent's token. It has a key, by which `send` signs its VCP. */
  async agent(id, with_ = {}) {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const key = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
    this.keys.set(id, privateKey);
    const { status, body } = await this.ask("PUT", `/v1/agents/${encodeURIComponent(id)}`, { keys: [`ed25519:${key}`], ...with_ });
    if (status !== 201) throw new Error(`${id}: ${JSON.stringify(body)}`);
    return body.token;
  }

  /** A new person's token. */
  async person(name, role) {
    const { body } = await this.ask("PUT", `/v1/tokens/${encodeURIComponent(name)}`, { role });
    return body.token;
  }

  /** Waits until searches know of an entry. Those that do not in time say that they are busy, and are asked again. */
  async indexed(position) {
    for (const end = Date.now() + PATIENCE; ;) {
      const { status, body } = await this.ask("GET", `/v1/messages?at_least=${position}&limit=1`);
      if (status === 503 && Date.now() < end) continue;
      return assert.equal(status, 200, JSON.stringify(body));
    }
  }

  async send(token, message) {
    return this.ask("POST", "/v1/messages", message.vcp_message ? this.signed(message) : message, token);
  }

  signed(message) {
    return { ...message, signature: `base64:${sign(null, Buffer.from(canonical(message)), this.keys.get(message.sender)).toString("base64")}` };
  }
}

/** A wire to an exchange that can be cut, and counts what is asked through it. */
export class Wire {
  sockets = new Set();
  asked = [];
  isCut = false;

  static async to(house) {
    const wire = new Wire();
    const { hostname, port } = new URL(house.url);
    wire.server = createServer((near) => {
      if (wire.isCut) return near.destroy();
      const far = connect(Number(port), hostname);
      for (const [one, other] of [[near, far], [far, near]]) {
        wire.sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => { wire.sockets.delete(one); other.destroy(); });
        one.pipe(other);
      }
      near.on("data", (bytes) => wire.asked.push(...(bytes.toString("latin1").match(/^(GET|POST|PUT|DELETE) \S+/gm) ?? [])));
    });
    await new Promise((done) => wire.server.listen(0, "127.0.0.1", done));
    wire.url = `http://127.0.0.1:${wire.server.address().port}`;
    wire.operator = house.operator;
    return wire;
  }

  cut() {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend() {
    this.isCut = false;
  }

  end() {
    this.cut();
    this.server.close();
  }
}

/** Messages of each dialect, as small as they can be. */
export const now = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");
export const cap = (from, to, content, more = {}) => ({ type: "message", task_id: "T1", sender_id: from, recipient_id: to, content, ...more });
export const vlp = (from, to, content, more = {}) => ({ id: `MSG-${randomUUID()}`, protocol: "VLP/1.1", type: "claim", timestamp: now(), sender: from, receiver: to, content, confidence: 0.8, provenance: ["log"], ...more });
export const acl = (from, to, description) => ({
  mcp_version: "0.1.0", message_id: randomUUID(), performative: "TASK_REQUEST", sender: { agent_id: from }, receiver: { agent_id: to }, language: "application/json",
  ontology: "elizaos:ontology:code/python/debug_request", timestamp: now(), payload: { task_type: "debug_code", task_description: description, task_parameters: {} },
});
export function uuid7() {
  const hex = Date.now().toString(16).padStart(12, "0") + randomUUID().replaceAll("-", "").slice(12);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
export const vcp = (from, to, more = {}) => ({
  vcp_message: "1.2", type: "context_share", message_id: uuid7(), sender: from, recipient: to, timestamp: now(),
  payload: { context: "⏰🌅|📍🏡", constitution_ref: "creed://creed.space/family.safe.guide@1.2.0" }, ...more,
});

/** A browser with a fresh profile; whatever a page logs as an error or fails at is kept in `page.faults`. */
export async function browse() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
}

/** A page that is signed in with this token, at `#/…`. */
export async function enter(browser, house, { token = house.operator, at = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (line) => line.type() === "error" && page.faults.push(line.text()));
  page.on("dialog", (dialog) => { page.faults.push(`a dialog: ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(house.url);
  await page.fill("#token", token);
  await page.click("button:has-text('Sign in')");
  await page.waitForSelector("#main");
  if (!at) return page;
  await page.goto(`${house.url}/#/${at}`);
  // What the first page showed is gone.
  await page.locator(`nav a[aria-current][href="#/${at.split(/[/?]/, 1)[0]}"]`).waitFor({ state: "attached" });
  return page;
}

/** Does what asks the exchange anew for what is at a path, and waits for the answer. A search has cleared its list by then. */
export async function answered(page, path, act) {
  const answer = page.waitForResponse((one) => new URL(one.url()).pathname === path);
  await act();
  await answer;
}

/** Reads a page frame by frame until that is what is wanted, a value or an expression it fits; fails with what was read last. */
export async function settled(page, read, want, why) {
  for (const end = Date.now() + PATIENCE; ;) {
    const found = await read();
    try {
      if (want instanceof RegExp) assert.match(found, want, why);
      else assert.deepEqual(found, want, why);
      return found;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

/** What axe finds wrong with a page. */
export async function axe(page) {
  const { readFile } = await import("node:fs/promises");
  const source = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  // By the debugger, since the page itself takes no script but its own.
  await page.evaluate(source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

/** Goes there by Tab, then presses Enter, or writes. */
export async function press(page, what, text) {
  for (let n = 0; n < 80; n++) {
    if (await what.evaluate((element) => element === document.activeElement)) {
      if (text === undefined) await page.keyboard.press("Enter");
      else await page.keyboard.type(text);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error("it is not reached by Tab");
}
