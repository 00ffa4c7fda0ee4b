// How fast pages open over a long record: `node scripts/many.mjs [SECONDS]` sends as much as it can for so long, then opens
// each page five times. `LEGATION_BIN` names the program, best a release build.
import { House, browse, cap, enter, vlp } from "../tests/house.mjs";

const seconds = Number(process.argv[2] ?? 120);
const [BATCH, LANES, TIMES] = [500, 4, 5];
const [house, browser] = await Promise.all([House.open(), browse()]);
const median = (of) => of.toSorted((a, b) => a - b)[of.length >> 1];
try {
  const names = Array.from({ length: 100 }, (_, n) => `agent-${n}`);
  const tokens = [];
  for (const name of names) tokens.push(await house.agent(name));
  let [sent, turn] = [0, 0];
  const refused = new Map();
  const until = performance.now() + seconds * 1000;
  const line = (from, to, n) => (n % 4 > 0
    ? cap(from, to, `message ${n} about station ${n % 997}`, { task_id: `T${n % 5000}` })
    : vlp(from, to, `Station ${n % 997} reports ${n}.`, { topic: `station ${n % 97}`, keywords: ["report", `station-${n % 997}`, "weather"] }));
  const lane = async () => {
    while (performance.now() < until) {
      const who = turn++ % names.length;
      const to = names[(who + 1) % names.length];
      const lines = Array.from({ length: BATCH }, (_, n) => JSON.stringify(line(names[who], to, sent + n))).join("\n");
      sent += BATCH;
      const answer = await fetch(`${house.url}/v1/messages`, { method: "POST", headers: { authorization: `Bearer ${tokens[who]}`, "content-type": "application/x-ndjson" }, body: lines });
      const told = await answer.text();
      for (const one of told.matchAll(/"error":"(\w+)"/g)) refused.set(one[1], (refused.get(one[1]) ?? 0) + 1);
      // Nobody reads these: mailboxes are emptied, or they would be full.
      const { body } = await house.ask("GET", "/v1/audit/head");
      await house.ask("POST", `/v1/agents/${to}/purge`, { position: body.size - 1 });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const { body: head } = await house.ask("GET", "/v1/audit/head");
  console.log(`${sent.toLocaleString("en")} messages, ${head.size.toLocaleString("en")} entries`, ...refused);
  const page = await enter(browser, house);
  // The index follows by itself.
  for (;;) {
    const { body } = await house.ask("GET", `/v1/messages?at_least=${head.size - 1}&limit=1`);
    if (body.messages?.length) break;
    await new Promise((done) => setTimeout(done, 1000));
  }
  const pages = [["Now", "", ".live li"], ["Messages", "messages", ".line"], ["Messages, by a word", "messages?text=station&kind=claim", ".line"], ["Messages, by sender", "messages?sender=agent-7", ".line"],
    ["Tasks", "tasks?state=all", "h1"], ["Reviews", "reviews", "h1"], ["Inbox", "inbox", "h1"], ["Agents", "agents", ".agent-line"], ["Memory, by a keyword", "memory?keywords=weather", "h1"], ["Record", "record", "table"]];
  for (const [name, path, shown] of pages) {
    const took = [];
    for (let n = 0; n < TIMES; n++) {
      await page.goto("about:blank");
      const from = performance.now();
      await page.goto(`${house.url}/#/${path}`);
      await page.locator(shown).first().waitFor();
      await page.locator(".loading").first().waitFor({ state: "hidden" });
      took.push(performance.now() - from);
    }
    console.log(`${name}: ${median(took).toFixed(0)} ms (${took.map((one) => one.toFixed(0)).join(", ")})`);
  }
} finally {
  await browser.close();
  await house.end();
}
