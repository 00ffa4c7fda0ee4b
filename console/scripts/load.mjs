// How busy the page Now is while so many messages a second pass, and what it keeps: `node scripts/load.mjs [RATE] [SECONDS]`.
// The browser counts itself. `LEGATION_BIN` names the program, best a release build.
import { House, browse, cap, enter } from "../tests/house.mjs";

const [rate, seconds] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 20)];
const [house, browser] = await Promise.all([House.open(), browse()]);
try {
  const names = Array.from({ length: 30 }, (_, n) => `agent-${n}`);
  const tokens = [];
  for (const name of names) tokens.push(await house.agent(name));
  const started = Date.now();
  const page = await enter(browser, house);
  await page.waitForSelector("h1");
  console.log(`signed in and shown in ${Date.now() - started} ms`);
  // Another context knows the cookie, and has none of the files.
  const other = await browser.newContext({ storageState: await page.context().storageState() });
  const fresh = await other.newPage();
  const opened = performance.now();
  await fresh.goto(house.url);
  await fresh.locator("h1").waitFor();
  console.log(`opened with nothing at hand in ${(performance.now() - opened).toFixed(0)} ms`);
  await other.close();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const measured = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await devtools.send("Performance.getMetrics");
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await measured();
  let [sent, turn] = [0, 0];
  const from = performance.now();
  while (performance.now() - from < seconds * 1000) {
    const due = Math.floor(((performance.now() - from) / 1000) * rate) - sent;
    if (due > 0) {
      const who = turn++ % names.length;
      const lines = Array.from({ length: due }, (_, n) => JSON.stringify(cap(names[who], names[(who + 1 + (n % 7)) % names.length], `message ${sent + n}`))).join("\n");
      const answer = await fetch(`${house.url}/v1/messages`, { method: "POST", headers: { authorization: `Bearer ${tokens[who]}`, "content-type": "application/x-ndjson" }, body: lines });
      await answer.text();
      sent += due;
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  const wall = (performance.now() - from) / 1000;
  const after = await measured();
  const busy = ((after.TaskDuration - before.TaskDuration) / wall) * 100;
  console.log(`${(sent / wall).toFixed(0)} messages/s for ${wall.toFixed(0)} s: main thread ${busy.toFixed(1)} % busy (script ${(((after.ScriptDuration - before.ScriptDuration) / wall) * 100).toFixed(1)} %)`);
  console.log(`heap ${(before.JSHeapUsedSize / 1e6).toFixed(1)} MB before, ${(after.JSHeapUsedSize / 1e6).toFixed(1)} MB after; ${after.Nodes} nodes`);
} finally {
  await browser.close();
  await house.end();
}
