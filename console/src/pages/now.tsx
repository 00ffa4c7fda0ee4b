// Now: alarms on top, how much and how fast, who speaks with whom, and the last messages as they come.
import type { VNode } from "preact";
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { type Alert, type Counts, type Happening, alerts, counted, flowing, recent, skipped } from "../api/feed";
import { type Shape, serverNow } from "../api/client";
import { useGists } from "../message/gists";
import { hasPage } from "../pages";
import { href } from "../router";
import { Halted } from "../session/halted";
import { AgentName, AgentNames, Card, DialectBadge, EmptyState, Loading, PageHead, Plot, Text, Time, Verdict } from "../ui";
import { Flow } from "./flow";
import { Start } from "./start";

const SHOWN = 40;
const DIALECTS = ["vcp", "acl", "cap", "vlp"] as const;
const VERDICTS = ["accepted", "held", "refused"] as const;

export default function Now(): VNode {
  const counts = counted.value;
  const last = counts.at(-1);
  if (!last) return flowing.value === "lost" ? <EmptyState title="The exchange does not answer.">It may be stopped, or starting. This page goes on by itself.</EmptyState> : <Loading />;
  if (last.agents === 0 && recent.value.length === 0) return <Start />;
  return (
    <>
      <PageHead title="Now" about={<>{many(last.agents, "agent")} · {last.size.toLocaleString()} entries on the record</>} />
      <Alarms counts={last} />
      <Halted />
      <Waiting counts={last} />
      <Tiles counts={counts} />
      <Stream />
    </>
  );
}

const many = (count: number, one: string, more = `${one}s`): string => `${count.toLocaleString()} ${count === 1 ? one : more}`;

/** What a person is to do, each with where. */
function Waiting({ counts }: { counts: Counts }): VNode {
  const all = [
    [counts.reviews, "message waits for a decision", "messages wait for a decision", href(["reviews"])],
    [counts.escalations, "escalation is open", "escalations are open", href(["agents"])],
    [counts.questions, "question to people", "questions to people", href(["inbox"])],
    [counts.stopped, "agent stands still", "agents stand still", href(["agents"])],
  ] as const;
  const there = all.filter(([count]) => count > 0);
  return (
    <section class="waiting" aria-label="What waits for people">
      <strong>Waiting for people</strong>
      {there.map(([count, one, more, to]) => <a key={one} href={to}>{many(count, one, more)}</a>)}
      {there.length === 0 && <span class="quiet">{counts.halted > 0 ? "nothing else" : "nothing"}</span>}
    </section>
  );
}

const GRAVE: readonly Alert["kind"][] = ["emergency", "stale_emergency", "halted", "storage", "key_revoked", "escalation_unanswered", "clock"];
const WHERE: Partial<Record<Alert["kind"], string>> = { review_waiting: "reviews", escalation: "agents", escalation_unanswered: "agents", emergency: "agents", stale_emergency: "agents", halted: "agents" };

/** What somebody has seen enough of, for as long as the console is open. */
const hidden = signal<ReadonlySet<string>>(new Set());
const hide = (id: string): void => void (hidden.value = new Set([...hidden.value, id]));

/** How much there is still of what an alarm was about: one that was dealt with is none any more. */
const LEFT: Partial<Record<Alert["kind"], (counts: Counts) => number>> = {
  review_waiting: (counts) => counts.reviews,
  escalation: (counts) => counts.escalations,
  escalation_unanswered: (counts) => counts.escalations,
  // What is halted has a place of its own, with what lets it go on.
  halted: () => 0,
};
/** Older ones are in the record. */
const DAY = 24 * 60 * 60 * 1000;

/** The newest alarms, one for each kind and subject. */
function Alarms({ counts }: { counts: Counts }): VNode | null {
  const [all, setAll] = useState(false);
  const key = (alert: Alert): string => `${alert.kind}|${alert.about}`;
  const newest = new Map<string, { alert: Alert; count: number }>();
  for (const alert of alerts.value) newest.set(key(alert), { alert, count: (newest.get(key(alert))?.count ?? 0) + alert.count });
  const isOn = (alert: Alert): boolean => !hidden.value.has(alert.id) && (LEFT[alert.kind]?.(counts) ?? 1) > 0 && serverNow() - Date.parse(alert.at) < DAY;
  const told = [...newest.values()].reverse().filter(({ alert }) => isOn(alert));
  if (told.length === 0) return null;
  const grave = (alert: Alert): number => (GRAVE.includes(alert.kind) ? 0 : 1);
  const listed = told.sort((a, b) => grave(a.alert) - grave(b.alert));
  return (
    <section aria-label="Alarms">
      <ul class="alarms">
        {listed.slice(0, all ? listed.length : 3).map(({ alert, count }) => {
          const page = WHERE[alert.kind];
          return (
            <li key={alert.id} class={GRAVE.includes(alert.kind) ? "alarm alarm-bad" : "alarm"}>
              <span class="alarm-kind">{alert.kind.replaceAll("_", " ")}{count > 1 && <span class="nums"> ×{count}</span>}</span>
              <span class="alarm-text">
                {alert.about !== null && <><AgentName id={alert.about} />: </>}<Text value={alert.text} />{" "}
                {page && hasPage(page) ? <a href={href([page])}>Look</a> : alert.position !== null && <a href={href(["messages", alert.position])}>Look</a>}
              </span>
              <span class="quiet"><Time at={alert.at} /></span>
              <button type="button" class="copy" onClick={() => hide(alert.id)}>Hide<span class="sr"> {alert.text}</span></button>
            </li>
          );
        })}
      </ul>
      {listed.length > 3 && <p class="quiet"><button type="button" class="copy" onClick={() => setAll(!all)}>{all ? "Fewer" : `${listed.length - 3} more`}</button></p>}
    </section>
  );
}

type Rising = "accepted" | "held" | "refused" | "duplicate";

/** How much came in each second. A count that fell began anew with the exchange. */
function each(counts: readonly Counts[], of: (counts: Counts) => number): number[] {
  return counts.slice(1).map((now, n) => {
    const before = counts[n] as Counts;
    const seconds = Math.max(0.2, (Date.parse(now.at) - Date.parse(before.at)) / 1000);
    return Math.max(0, of(now) - of(before)) / seconds;
  });
}

/** Below what time so great a part of the answers stayed, between two counts. */
function quantile(from: Shape<"FeedCounts">["latency"], to: Shape<"FeedCounts">["latency"], part: number): number | undefined {
  const total = to.count - from.count;
  if (total <= 0) return undefined;
  const found = to.below.find(([, count], n) => (count ?? 0) - (from.below[n]?.[1] ?? 0) >= total * part);
  return found?.[0] ?? Infinity;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : sum(values) / values.length);
const rate = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString() : value >= 10 ? value.toFixed(0) : value.toFixed(1));
const took = (micros: number | undefined): string =>
  micros === undefined ? "–" : micros === Infinity ? "> 10 s" : micros >= 1e6 ? `${micros / 1e6} s` : `${micros / 1000} ms`;

function Tiles({ counts }: { counts: readonly Counts[] }): VNode {
  const last = counts.at(-1) as Counts;
  const of = (name: Rising) => (one: Counts): number => one[name];
  const [accepted, held, refused] = [each(counts, (c) => c.accepted + c.held + c.refused + c.duplicate), each(counts, of("held")), each(counts, of("refused"))];
  const before = counts[Math.max(0, counts.length - 31)] as Counts;
  const [half, most] = [quantile(before.latency, last.latency, 0.5), quantile(before.latency, last.latency, 0.99)];
  const times = counts.slice(1).map((now, n) => {
    const past = counts[n] as Counts;
    const many = now.latency.count - past.latency.count;
    return many > 0 ? (now.latency.sum_micros - past.latency.sum_micros) / many : 0;
  });
  const minute = (values: readonly number[]): string => Math.round(sum(values.slice(-60))).toLocaleString();
  return (
    <div class="tiles">
      <Tile name="Messages" value={rate(mean(accepted.slice(-5)))} unit="a second"><Plot values={accepted} label="Messages a second over the last minutes" /></Tile>
      <Tile name="Until durable" value={took(most)} unit={half === undefined ? "nothing lately" : `99 of 100, half ${took(half)}`}><Plot values={times} label="Mean time until a message is durable, over the last minutes" /></Tile>
      <Tile name="Held" value={minute(held)} unit={`in a minute, ${last.held.toLocaleString()} in all`} to={href(["messages"], { verdict: "held" })}><Plot values={held} tone="wait" label="Held messages over the last minutes" /></Tile>
      <Tile name="Refused" value={minute(refused)} unit={`in a minute, ${last.refused.toLocaleString()} in all`} to={href(["messages"], { verdict: "refused" })}><Plot values={refused} tone="bad" label="Refused messages over the last minutes" /></Tile>
      <Tile name="To decide" value={last.reviews.toLocaleString()} unit={`${last.escalations} open ${last.escalations === 1 ? "alarm" : "alarms"}`} to={href(["reviews"])}><Plot values={counts.map((c) => c.reviews)} tone="wait" label="What waits for a decision over the last minutes" /></Tile>
      <Tile name="In mailboxes" value={last.waiting.toLocaleString()} unit={last.queued > 0 ? `${last.queued} undecided` : "not taken yet"}><Plot values={counts.map((c) => c.waiting)} label="Messages in mailboxes over the last minutes" /></Tile>
    </div>
  );
}

function Tile({ name, value, unit, to, children }: { name: string; value: string; unit: string; to?: string | undefined; children: VNode }): VNode {
  const inside = <><span class="tile-name">{name}</span><span class="tile-value">{value} <small>{unit}</small></span>{children}</>;
  return to ? <a class="tile" href={to}>{inside}</a> : <div class="tile">{inside}</div>;
}

function Stream(): VNode {
  const [still, freeze] = useState<readonly Happening[]>();
  const [words, setWords] = useState("");
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const live = recent.value;
  const shown = useMemo(() => (still ?? live).filter((message) => fits(message, words, off)), [still ?? live, words, off]);
  const turn = (name: string): void => setOff((old) => (old.has(name) ? new Set([...old].filter((one) => one !== name)) : new Set([...old, name])));
  const listed = useMemo(() => shown.slice(-SHOWN), [shown]);
  const gists = useGists(listed, still !== undefined);
  const since = still ? live.filter((message) => message.position > (still.at(-1)?.position ?? -1)).length : 0;
  return (
    <>
      <div class="card filters">
        <button type="button" aria-pressed={still !== undefined} onClick={() => freeze(still ? undefined : live)}>{still ? "Go on" : "Pause"}</button>
        <label><span class="sr">Only with these words</span><input type="search" dir="auto" placeholder="agent, kind, task…" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></label>
        <span class="toggles" role="group" aria-label="Dialects">{DIALECTS.map((name) => <Toggle key={name} name={name} off={off} turn={turn} />)}</span>
        <span class="toggles" role="group" aria-label="Verdicts">{VERDICTS.map((name) => <Toggle key={name} name={name} off={off} turn={turn} />)}</span>
        <span class="quiet nums">{still ? `paused, ${since} since` : skipped.value > 0 ? `${skipped.value.toLocaleString()} came too fast to be listed` : ""}</span>
      </div>
      <div class="now gap">
        <Card title="Who speaks with whom">
          {shown.length === 0 ? <EmptyState title="Nobody, as far as is shown." /> : <Flow messages={shown} />}
          <p class="legend">{DIALECTS.map((name) => <DialectBadge key={name} of={name} />)}<span>dashed: held</span><span>✕ refused</span></p>
        </Card>
        <Card title="Last messages" actions={<a href={href(["messages"])}>All</a>}>
          {shown.length === 0 && <EmptyState title="Nothing to show.">Messages appear here as they are decided.</EmptyState>}
          <ol class="live">{[...listed].reverse().map((message) => <Line key={message.position} message={message} gist={gists.get(message.position)} />)}</ol>
        </Card>
      </div>
    </>
  );
}

function Toggle({ name, off, turn }: { name: string; off: ReadonlySet<string>; turn: (name: string) => void }): VNode {
  return <button type="button" aria-pressed={!off.has(name)} onClick={() => turn(name)}>{name}</button>;
}

function fits(message: Happening, words: string, off: ReadonlySet<string>): boolean {
  if ((message.dialect && off.has(message.dialect)) || (message.verdict && off.has(message.verdict))) return false;
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return true;
  return [message.sender, ...(message.to ?? []), message.kind, message.thread, message.code].some((text) => text?.toLowerCase().includes(wanted));
}

function Line({ message, gist }: { message: Happening; gist: string | undefined }): VNode {
  const says = message.verdict === "refused" ? message.says : gist;
  return (
    <li>
      <Time at={message.at} as="clock" />
      {message.dialect ? <DialectBadge of={message.dialect} /> : <span class="quiet">–</span>}
      <span class="way">
        <AgentName id={message.sender ?? "?"} />
        {message.to && <><span class="arrow" aria-label="to">→</span><AgentNames ids={message.to} of={message.recipients} most={1} /></>}
      </span>
      <Verdict is={message.verdict ?? ""} />
      <span class="says">
        <a class="kind" href={href(["messages", message.position])}><Text value={message.kind ?? message.code ?? message.entry} clip /></a>
        {says && <span class="gist"><Text value={says} clip /></span>}
      </span>
    </li>
  );
}
