// The first run: what somebody sees who has no agents yet, and how the page comes alive.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { mkdtempSync } from "node:fs";
import { dirname, join } from "node:path";
import { House, axe, browse, enter, press, program, settled } from "./house.mjs";

let browser;
before(async () => (browser = await browse()));
after(() => browser.close());

test("with no agents the page says how to connect one, in each dialect, and comes alive by itself", async () => {
  const house = await House.open();
  try {
    const page = await enter(browser, house, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("heading", { name: "No agents yet" }).waitFor();
    for (const dialect of ["VCP", "ElizaOS", "CAP", "VLP"]) {
      await page.getByRole("button", { name: dialect, exact: true }).click();
      await page.getByRole("region", { name: `A message in ${dialect}` }).waitFor();
      assert.match(await page.getByRole("region", { name: `A message in ${dialect}` }).textContent(), new RegExp(`${house.url}/(v1|.well-known/vcp)/messages`));
    }
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Copy" }).first().click();
    const copied = await settled(page, () => page.evaluate(() => navigator.clipboard.readText()), /^legation /);
    const [, ...args] = copied.split(" ");
    // What was copied is what is run.
    await promisify(execFile)(program, [...args, "--fast"], { env: { ...process.env, LEGATION_TOKEN: house.operator } });
    await page.getByRole("heading", { name: "Now", exact: true }).waitFor();
    await page.locator(".live li").first().waitFor();
    await page.getByRole("region", { name: "Alarms" }).getByText("emergency", { exact: true }).waitFor();
    assert.deepEqual(page.faults, []);
  } finally {
    await house.end();
  }
});

test("an operator plays the demo at the press of a button, and the page comes alive", async () => {
  const house = await House.open();
  try {
    const page = await enter(browser, house);
    await press(page, page.getByRole("button", { name: "Play the demo" }));
    await page.getByRole("heading", { name: "Now", exact: true }).waitFor();
    await page.locator(".live li").nth(4).waitFor();
    const { body } = await house.ask("GET", "/v1/demo");
    assert.deepEqual(body, { offered: true, playing: true, failed: false });
    await page.goto(`${house.url}/#/start`);
    await page.getByText("It is being played.").waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(page.faults, []);
    const looking = await enter(browser, house, { token: await house.person("ada", "auditor"), at: "start" });
    await looking.getByText("It is being played.").waitFor();
    assert.equal(await looking.getByRole("button", { name: "Play the demo" }).count(), 0);
  } finally {
    await house.end();
  }
});

test("every command that is shown works as it stands", async () => {
  const house = await House.open();
  try {
    const page = await enter(browser, house, { at: "start" });
    const shown = (name) => page.getByRole("region", { name }).textContent();
    const place = mkdtempSync(join(house.dir, "shell-"));
    const env = { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` };
    const bash = async (text) => (await promisify(execFile)("bash", ["-c", text], { cwd: place, env })).stdout;
    let script = await shown("Register two agents");
    await bash(script);
    // The variables it set, for those who come after in the same terminal.
    script = script.split("\n").filter((line) => line.startsWith("TOKEN=")).join("\n");
    for (const dialect of ["VCP", "ElizaOS", "CAP", "VLP"]) {
      await page.getByRole("button", { name: dialect, exact: true }).click();
      const told = await bash(`${script}\n${await shown(`A message in ${dialect}`)}`);
      assert.equal(JSON.parse(told).status, "accepted", `${dialect}: ${told}`);
    }
  } finally {
    await house.end();
  }
});
