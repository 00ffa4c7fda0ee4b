// Signing in and out with a browser, and what each role finds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { House, axe, browse, enter } from "./house.mjs";

let browser, house;
before(async () => ([browser, house] = await Promise.all([browse(), House.open()])));
after(async () => {
  await browser.close();
  await house.end();
});

test("a link signs in once, and the cookie is out of reach of scripts", async () => {
  const { body } = await house.ask("POST", "/v1/signin-links", {});
  const page = await (await browser.newContext()).newPage();
  await page.goto(body.url);
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("#main").waitFor();
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const second = await (await browser.newContext()).newPage();
  await second.goto(body.url);
  await second.getByRole("button", { name: "Sign in" }).click();
  await second.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Your token").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

/** Signs in by a link, in another tab of the same browser. */
async function beside(page, name) {
  const { body } = await house.ask("POST", "/v1/signin-links", name ? { name } : {});
  const tab = await page.context().newPage();
  await tab.goto(body.url);
  await tab.getByRole("button", { name: "Sign in" }).click();
  await tab.locator("#main").waitFor();
}

test("whoever signs in as somebody else in another tab is that one here too", async () => {
  await house.person("nora", "auditor");
  const page = await enter(browser, house, { at: "agents" });
  await page.locator(".flowing-live").waitFor();
  await beside(page, "nora");
  await page.locator(".who").getByText("nora").waitFor();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Register an agent" }).count(), 0);
  await page.context().close();
});

test("whoever signs in again in another tab goes on here, and what is refused for another reason does not speak of roles", async () => {
  await house.agent("ann");
  const page = await enter(browser, house, { at: "agents/ann" });
  await page.getByRole("button", { name: "Suspend" }).waitFor();
  await beside(page);
  await page.getByRole("button", { name: "Suspend" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("to see");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("ann is suspended.").waitFor();
  await page.route("**/v1/agents/ann/resume", (route) => route.fulfill({ status: 403, json: { error: "forbidden_origin", message: "pages of that origin may not speak to this exchange", retryable: false } }));
  await page.getByRole("button", { name: "Resume" }).click();
  await dialog.getByLabel("Reason").fill("seen");
  await dialog.getByRole("button", { name: "Resume" }).click();
  assert.match(await dialog.getByRole("alert").innerText(), /^That did not work\. pages of that origin/);
  await page.context().close();
});

test("what is under way while somebody signs in again in another tab goes through", async () => {
  for (const name of ["bob", "cid"]) await house.agent(name);
  const page = await enter(browser, house, { at: "agents/bob" });
  await page.locator(".flowing-live").waitFor();
  await page.getByRole("button", { name: "Suspend bob" }).waitFor();
  // An order with what protected the cookie before: its answer comes when the page knows of the other already.
  const renewed = page.waitForResponse((response) => response.url().endsWith("/v1/session"));
  await page.route("**/suspend", async (route) => {
    const response = await route.fetch();
    await renewed;
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await route.fulfill({ response });
  }, { times: 1 });
  await beside(page);
  await page.getByRole("button", { name: "Suspend bob" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("to see");
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await page.getByText("bob is suspended.").waitFor();

  // A question with the cookie that was replaced.
  const [cookie] = await page.context().cookies();
  let go;
  const held = new Promise((done) => (go = done));
  await page.route("**/v1/agents/cid", async (route) => {
    await held;
    const response = await route.fetch({ headers: { ...route.request().headers(), cookie: `${cookie.name}=${cookie.value}` } });
    assert.equal(response.status(), 401);
    await route.fulfill({ response });
  }, { times: 1 });
  await page.goto(`${house.url}/#/agents/cid`);
  await beside(page);
  go();
  await page.getByRole("heading", { name: "cid", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Suspend cid" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Your session is over" }).count(), 0);
  await page.context().close();
});

test("when the token is withdrawn the page says so", async () => {
  const token = await house.person("otto", "auditor");
  const page = await enter(browser, house, { token });
  await house.ask("DELETE", "/v1/tokens/otto");
  await page.getByRole("heading", { name: "Your session is over" }).waitFor();
  await page.getByRole("button", { name: "Sign in again" }).click();
  await page.getByLabel("Your token").waitFor();
});

test("a reviewer begins with what is theirs and is told what is not", async () => {
  const token = await house.person("rita", "reviewer");
  const page = await enter(browser, house, { token });
  await page.locator("nav a").first().waitFor();
  assert.equal(await page.locator("nav").getByText("Now", { exact: true }).count(), 0);
  await page.goto(`${house.url}/#/`);
  await page.reload();
  await page.locator("nav a[aria-current]").waitFor();
  await page.locator("main h1").waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(page.faults, []);
});

test("everything is reached by the keyboard, and colours can be chosen", async () => {
  const page = await enter(browser, house, { colorScheme: "light" });
  await page.locator("nav a").first().waitFor();
  await page.keyboard.press("Tab");
  await page.locator(":focus", { hasText: /^To the content$/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#main:focus").waitFor();
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("Colours").selectOption("dark");
  await page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light);
  await page.reload();
  await page.locator("nav a[aria-current]").waitFor();
  await page.locator("main h1").waitFor();
  assert.notEqual(await ground(), light);
  assert.deepEqual(await axe(page), []);
});

test("on a phone the navigation folds away", async () => {
  const page = await enter(browser, house, { viewport: { width: 390, height: 844 } });
  const link = page.locator("nav").getByText("Messages");
  await link.waitFor({ state: "attached" });
  assert.equal(await link.isVisible(), false);
  await page.getByRole("button", { name: "Menu" }).click();
  await link.click();
  await page.getByRole("heading", { name: "Messages", level: 1 }).waitFor();
  await link.waitFor({ state: "hidden" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(await axe(page), []);
});

test("the header is one line, or two on a laptop, and nothing lies on anything else", async () => {
  const page = await enter(browser, house, { at: "record" });
  await page.getByLabel("with the messages").waitFor();
  await page.locator(".flowing-live").waitFor();
  for (const width of [390, 740, 760, 900, 961, 1000, 1100, 1200, 1249, 1280, 1408, 1409, 1600]) {
    await page.setViewportSize({ width, height: 700 });
    await page.waitForFunction((want) => innerWidth === want, width);
    const found = await page.evaluate(() => {
      const box = document.querySelector(".with-box").getBoundingClientRect();
      const others = [...document.querySelectorAll(".span input[type=number], .span button, .span label")].filter((one) => !one.closest(".with-box"));
      const over = (it, at) => it.left < at.right - 1 && at.left < it.right - 1 && it.top < at.bottom - 1 && at.top < it.bottom - 1;
      const head = [...document.querySelectorAll(".brand, nav li, .brake, .menu, .person")].map((one) => one.getBoundingClientRect()).filter((it) => it.width > 0);
      const lies = others.some((one) => over(one.getBoundingClientRect(), box)) || head.some((one, n) => head.some((other, m) => m > n && over(one, other))) || head.some((one) => one.right > innerWidth);
      return { tall: document.querySelector("header.top").offsetHeight, wide: document.documentElement.scrollWidth, lies };
    });
    const most = width > 960 && width <= 1408 ? 84 : 56;
    assert.deepEqual({ ...found, tall: found.tall <= most }, { tall: true, wide: width, lies: false }, `${width}: ${JSON.stringify(found)}`);
  }
  await page.context().close();
});
