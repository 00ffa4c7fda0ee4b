// Agents and escalations: who stands still, who must answer and how long there is, the brake, and registering.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { House, axe, browse, cap, enter, now, program, settled, uuid7, vcp } from "./house.mjs";

const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e]]>`;
const escalation = (from, to, severity, reason) => ({ ...vcp(from, to), type: "escalation", message_id: uuid7(), timestamp: now(), payload: { severity, reason, context: "📍🏡|👥👶", requires_ack: true } });

let browser, house;
const tokens = {};
const show = async (id) => (await house.ask("GET", `/v1/agents/${encodeURIComponent(id)}`)).body;
const raise = async (from, to, severity, reason) => {
  const { body } = await house.send(tokens[from], escalation(from, to, severity, reason));
  assert.equal(body.status, "accepted", JSON.stringify(body));
  return body;
};

before(async () => {
  [browser, house] = await Promise.all([browse(), House.open()]);
  const manifest = { id: "low", allowed_agents: ["mid"], delegate_rules: { mid: { when_to_delegate: `When ${HOSTILE}.` } }, overseer: "top", mcp_bindings: [{ server_id: "DataServer", scopes: ["read:data"], allowed_tools: ["query_data"] }], system_prompt: `Be kind. ${HOSTILE}` };
  const described = { parent: "mid", dialects: ["vcp", "cap"], model: "<b>m</b>", purposes: ["<i>triage</i>"], groups: ["support"], aliases: { vlp: "The Low One" }, manifest };
  for (const [id, more] of [["top", {}], ["mid", { parent: "top" }], ["low", described], ["other", { parent: "mid" }], ["free", {}], ["سارة", {}]]) tokens[id] = await house.agent(id, more);
});
after(async () => {
  await browser.close();
  await house.end();
});

/** Goes on by Tab until the focus is on what fits. */
async function tabTo(page, name) {
  for (let n = 0; n < 80; n++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((want) => document.activeElement?.textContent?.startsWith(want), name)) return;
  }
  assert.fail(`Tab does not lead to ${name}`);
}

test("an alarm shows who has not answered and how long there is, and is acknowledged by keyboard", async () => {
  await raise("other", "mid", "warning", "The disk is nearly full.");
  // The clock of a critical one runs for five seconds: the page is there before it begins.
  const page = await enter(browser, house, { at: "agents" });
  await page.getByText("The disk is nearly full.").first().waitFor();
  const { message_id: id } = await raise("low", "mid", "critical", `Asked for ${HOSTILE}`);
  const alarm = page.locator(`[data-escalation="${id}"]`);
  await alarm.getByText('Asked for <img src=x onerror="alert(1)"><script>alert(2)</script>').waitFor();
  await alarm.getByText("no acknowledgement yet").first().waitFor();
  await alarm.getByText("paused").waitFor();
  await page.locator(".clock time").getByText(/\d+ s left/).first().waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(await axe(page), []);

  await alarm.getByRole("link", { name: "low", exact: true }).focus();
  await tabTo(page, "Acknowledge");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It stays paused until it is resumed.").waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.locator(":focus", { hasText: /^Acknowledge/ }).waitFor();
  await page.keyboard.press("Enter");
  // The button that opens it has the same name: what is looked for is the one within.
  await dialog.getByText("It stays paused until it is resumed.").waitFor();
  await tabTo(page, "Acknowledge");
  await page.keyboard.press("Enter");
  await alarm.getByText("acknowledged by").waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body);
  const { body } = await house.ask("GET", "/v1/escalations");
  assert.equal(body.escalations.find((one) => one.id === id).state, "answered");
  assert.equal((await show("low")).state, "paused");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("what happens meanwhile is shown without a reload", async () => {
  const page = await enter(browser, house, { at: "agents" });
  await page.getByRole("region", { name: "Agents" }).waitFor();
  await raise("free", `agent://local/exchange`, "emergency", "Somebody is in danger.");
  await page.getByText("Somebody is in danger.").waitFor();
  await page.getByRole("button", { name: "suspended 1" }).waitFor();
  await page.context().close();
});

test("what is about to be done is not taken away when its escalation is closed elsewhere", async () => {
  const page = await enter(browser, house, { at: "agents" });
  const dialog = page.getByRole("dialog");
  const { message_id: first } = await raise("other", "mid", "critical", "It burns.");
  const row = (id) => page.locator(`[data-escalation="${id}"]`);
  await row(first).getByRole("button", { name: "Suspend" }).click();
  await dialog.getByLabel("Reason").fill("Stop it");
  await house.ask("POST", "/v1/agents/other/resume", { reason: "elsewhere" });
  await row(first).waitFor({ state: "detached" });
  assert.equal(await dialog.getByLabel("Reason").inputValue(), "Stop it");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("other is suspended.").waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body);
  await house.ask("POST", "/v1/agents/other/resume", { reason: "done" });

  const { message_id: second } = await raise("other", "mid", "critical", "It burns again.");
  await page.goto(`${house.url}/#/agents/other`);
  await page.getByRole("heading", { name: "other", level: 1 }).waitFor();
  await row(second).getByRole("button", { name: "Acknowledge" }).click();
  await dialog.waitFor();
  await house.ask("POST", "/v1/agents/other/resume", { reason: "elsewhere" });
  await row(second).waitFor({ state: "detached" });
  await page.locator(".page-head").getByText("running").waitFor();
  assert.equal(await dialog.count(), 1);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("an agent is suspended with a reason and resumed, by keyboard, and a refusal is shown as it is told", async () => {
  const page = await enter(browser, house, { at: "agents?words=top" });
  const line = page.locator(".agent-line", { has: page.getByRole("link", { name: "top", exact: true }) });
  await line.getByRole("link").focus();
  await tabTo(page, "Suspend");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("say nothing more until they are resumed").waitFor();
  await tabTo(page, "Suspend");
  await page.keyboard.press("Enter");
  // The browser asks for what is missing.
  await dialog.locator("textarea:focus").waitFor();
  assert.equal(await dialog.isVisible(), true, "no reason, no order");
  await dialog.getByLabel("Reason").focus();
  await page.keyboard.type("odd results");
  await page.keyboard.press("ArrowUp");
  await tabTo(page, "Suspend");
  await page.keyboard.press("Enter");
  await line.getByText("suspended").waitFor();
  assert.equal((await show("top")).state, "suspended");
  assert.ok((await house.ask("GET", "/v1/agents/top/inbox")).body.messages.some(({ message }) => JSON.stringify(message).includes("odd results")));
  await page.goto(`${house.url}/#/agents/top`);
  await page.getByText(/It was suspended .* by operator: odd results/).waitFor();
  await page.goto(`${house.url}/#/agents?words=top`);
  await line.getByRole("button", { name: "Resume" }).click();
  await dialog.getByLabel("Reason").fill("looked into it");
  await dialog.getByRole("button", { name: "Resume" }).click();
  await line.getByText("running").waitFor();
  assert.equal((await show("top")).state, "running");

  await house.agent("gone");
  await page.goto(`${house.url}/#/agents?words=gone`);
  await page.getByRole("button", { name: "Suspend gone" }).click();
  await house.ask("DELETE", "/v1/agents/gone");
  await dialog.getByLabel("Reason").fill("too late");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await dialog.getByText("unknown_agent").waitFor();
  await page.context().close();
});

test("an agent's page has its keys, rights, constraints with their sources, tree and mailbox", async () => {
  await house.ask("POST", "/v1/constraints", { agent: "mid", constraints: [{ type: "topic_block", value: ["weapons", "<u>x</u>"] }] });
  const laid = { ...vcp("mid", "low"), type: "constraint_propagate", payload: { constraints: [{ type: "token_limit", value: 4000, source_constitution_ref: "creed://creed.space/family.safe.guide@1.2.0" }], propagation_mode: "merge" } };
  assert.equal((await house.send(tokens.mid, laid)).body.status, "accepted");
  assert.equal((await house.send(tokens.low, vcp("low", "mid"))).body.status, "accepted");
  await house.send(tokens.mid, cap("mid", "low", "A note."));
  const waiting = (await house.ask("GET", "/v1/agents/low/inbox")).body.messages.length;
  const page = await enter(browser, house, { at: "agents/low" });
  const card = (name) => page.locator("section.card", { has: page.getByRole("heading", { name, exact: false, level: 2 }) });
  await card("Constraints in force").getByText("creed://creed.space/family.safe.guide@1.2.0").waitFor();
  await card("Constraints in force").getByText("4,000 a message").waitFor();
  await card("Constraints in force").getByText('["weapons","<u>x</u>"]').waitFor();
  await card("Constraints in force").getByText("on mid, above it").waitFor();
  await card("Context").getByText("⏰🌅|📍🏡").waitFor();
  await card("Rights").getByText("query_data").waitFor();
  await card("Rights").getByText("When <img src=x").waitFor();
  await card("About").getByText("<b>m</b>").waitFor();
  await card("About").getByText("The Low One").waitFor();
  await card("Keys").getByText("active").waitFor();
  assert.equal(await card("Above and below").locator("ul.tree > li > ul > li > ul > li [aria-current]").textContent(), "low‖ paused");
  await card("Mailbox").getByText(`${waiting} waiting`).waitFor();
  assert.equal((await house.ask("GET", "/v1/agents/low/inbox")).body.messages.length, waiting, "looking takes nothing");
  assert.equal(await page.locator("main img, main script, main u").count(), 0);
  assert.deepEqual(await axe(page), []);

  await card("Keys").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await card("Keys").getByText("revoked").waitFor();
  assert.equal((await show("low")).keys[0].state, "REVOKED");
  const left = (await show("low")).waiting;
  await page.goto(`${house.url}/#/agents?words=low`);
  await page.locator(".agent-line").first().getByText(`${left} waiting`).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("the form registers, its command does the same, and the token is shown once", async () => {
  const page = await enter(browser, house, { at: "agents" });
  await page.getByRole("link", { name: "Register an agent" }).click();
  await page.getByLabel("Id", { exact: false }).first().fill("made-here");
  await page.getByLabel("vlp", { exact: true }).check();
  await page.getByLabel("cap", { exact: true }).check();
  await page.getByLabel("Agent above it").fill("top");
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Name in VLP").fill("It's $(touch x) `here`");
  await page.getByLabel("Model").fill("a 'quoted' \"model\" \\ $HOME");
  await page.getByLabel("Purposes").fill("triage, -odd");
  assert.deepEqual(await axe(page), []);
  const told = await settled(page, () => page.getByRole("region", { name: "The same in a terminal" }).textContent(), /-odd/);
  await page.getByRole("button", { name: "Register", exact: true }).click();
  const token = await page.getByRole("region", { name: "Token" }).textContent();
  assert.equal((await house.send(token, cap("made-here", "top", "Hello."))).body.status, "accepted");
  await page.locator(":focus", { hasText: /^The token of made-here$/ }).waitFor();

  const bin = mkdtempSync(join(tmpdir(), "legation-bin-"));
  try {
    symlinkSync(program, join(bin, "legation"));
    const other = told.replace("agent add made-here", "agent add made-there").replace("vlp=It", "vlp=2 It");
    execFileSync("sh", ["-c", other], { cwd: bin, env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, LEGATION_TOKEN: house.operator } });
  } finally {
    rmSync(bin, { recursive: true });
  }
  const { id: _, since: __, aliases: a, ...here } = await show("made-here");
  const { id: ___, since: ____, aliases: b, ...there } = await show("made-there");
  assert.deepEqual(there, here);
  assert.equal(b.vlp, `2 ${a.vlp}`);

  await page.getByRole("link", { name: "To the agent" }).click();
  await page.getByRole("heading", { name: "made-here", level: 1 }).waitFor();
  assert.equal((await page.content()).includes(token), false);
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByRole("button", { name: "Make it" }).click();
  const second = await page.getByRole("region", { name: "Token" }).textContent();
  assert.equal((await house.send(second, cap("made-here", "top", "Hello again."))).body.status, "accepted");
  assert.equal((await house.send(token, cap("made-here", "top", "And again."))).status, 401);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("region", { name: "Token" }).waitFor({ state: "detached" });
  assert.equal((await page.content()).includes(second), false);
  await page.goto(`${house.url}/#/agents?register=true`);
  await page.getByLabel("Id", { exact: false }).first().fill("top");
  await page.getByRole("button", { name: "Register", exact: true }).click();
  await page.getByText("an agent has this id already").waitFor();
  assert.equal((await page.content()).includes(token), false);
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("409")), []);
  await page.context().close();
});

test("auditors see everything and change nothing, reviewers see who there is", async () => {
  for (const role of ["auditor", "reviewer"]) {
    const page = await enter(browser, house, { token: await house.person(`${role}-1`, role), at: "agents" });
    await page.locator(".agent-line").first().waitFor();
    await (role === "auditor" ? page.locator("[data-escalation]").first() : page.getByText("Nobody waits for an answer.")).waitFor();
    assert.equal(await page.getByRole("button", { name: /Suspend|Resume|Acknowledge/ }).count(), 0, role);
    assert.equal(await page.getByRole("link", { name: "Register an agent" }).count(), 0, role);
    await page.goto(`${house.url}/#/agents/low`);
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    assert.equal(await page.getByRole("heading", { name: "Mailbox" }).count(), role === "auditor" ? 1 : 0);
    assert.equal(await page.getByText("Be kind.").count(), 0, "the prompt is for operators");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test("a thousand agents are a list of a few rows, in dark and on a phone", async () => {
  const one = await show("free");
  const crowd = Array.from({ length: 1000 }, (_, n) => ({ ...one, id: `crowd-${String(n).padStart(4, "0")}` }));
  for (const options of [{ colorScheme: "dark" }, { viewport: { width: 390, height: 844 } }]) {
    const page = await enter(browser, house, { at: "start", ...options });
    await page.route(/\/v1\/agents(\?|$)/, (route) => route.fulfill({ json: { agents: crowd, next: null } }));
    await page.goto(`${house.url}/#/agents`);
    await page.getByRole("button", { name: "all 1000" }).waitFor();
    assert.ok((await page.locator(".agent-line").count()) < 60);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    await page.getByLabel("Find an agent").fill("crowd-0999");
    await page.getByRole("link", { name: "crowd-0999" }).waitFor();
    assert.equal(await page.locator(".agent-line").count(), 1);
    await page.getByLabel("Find an agent").fill("nobody of that name");
    await page.getByText("No agent fits.").waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(page.faults, []);
    await page.unrouteAll({ behavior: "wait" });
    await page.context().close();
  }
});
