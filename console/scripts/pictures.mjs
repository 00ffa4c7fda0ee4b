// The pictures of the documentation, in light and dark: `node scripts/pictures.mjs`, with the demo on an exchange of its own.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { House, browse, enter, program } from "../tests/house.mjs";

const folder = fileURLToPath(new URL("../../docs/console/", import.meta.url));
mkdirSync(folder, { recursive: true });
const [house, browser] = await Promise.all([House.open(), browse()]);
try {
  const pages = [];
  for (const colorScheme of ["light", "dark"]) pages.push([colorScheme, await enter(browser, house, { colorScheme, viewport: { width: 1280, height: 860 } })]);
  const take = async (name) => {
    for (const [scheme, page] of pages) await page.screenshot({ path: `${folder}${name}-${scheme}.png` });
  };
  for (const [, page] of pages) await page.getByRole("heading", { name: "No agents yet" }).waitFor();
  await take("first");
  execFileSync(program, ["demo", "--url", house.url], { stdio: "ignore", env: { ...process.env, LEGATION_TOKEN: house.operator } });
  for (const [, page] of pages) await page.locator(".live li").nth(30).waitFor();
  await take("now");
  const { body } = await house.ask("GET", "/v1/messages?verdict=held&dialect=vlp");
  for (const [name, path, shown] of [["messages", "messages", ".line"], ["message", `messages/${body.messages[0].position}`, "[data-proof]"]]) {
    for (const [, page] of pages) {
      await page.goto(`${house.url}/#/${path}`);
      await page.locator(shown).first().waitFor();
    }
    await take(name);
  }
} finally {
  await browser.close();
  await house.end();
}
