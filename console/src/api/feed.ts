// What happens in the exchange, live, while somebody looks: told by the relay that all tabs share. A tab that was out of
// sight goes on behind the last entry it saw.
import { batch, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Shape, renew, session } from "./client";
import { Relay, type Told, type Wish } from "./relay";
import relayUrl from "./relay.worker?sharedworker&url";

export type Happening = Shape<"Happening">;
export type Counts = Shape<"FeedCounts">;
export type Alert = Shape<"Alert">;

/** `none`: nobody looks, or there is nothing that this person may hear. */
export type Flowing = "none" | "connecting" | "live" | "lost";

/** The most that is kept of each. */
const KEPT = 400;
const SECONDS = 180;
const ALERTS = 200;
/** Milliseconds between two lists, and before asking again after a refusal. */
const PACE = 500;
const RETRY = 3000;

export const flowing = signal<Flowing>("none");
/** The last messages, oldest first, with refusals among them. Made anew with each change. */
export const recent = signal<readonly Happening[]>([]);
/** The last counts, one a second, oldest first. */
export const counted = signal<readonly Counts[]>([]);
export const alerts = signal<readonly Alert[]>([]);
/** Entries that came faster than they could be told. */
export const skipped = signal(0);

/** What waits for people, as far as this one may know. */
export interface Waits {
  readonly reviews: number;
  readonly escalations: number;
  /** Sessions that are halted. */
  readonly halted: number;
  /** What agents ask people. */
  readonly questions: number;
}
export const waits = signal<Waits>({ reviews: 0, escalations: 0, halted: 0, questions: 0 });

function wait({ reviews, escalations, halted, questions }: Waits): void {
  const next = { reviews, escalations, halted, questions };
  if (Object.entries(next).some(([name, many]) => waits.value[name as keyof Waits] !== many)) waits.value = next;
}

type Listener = (entries: readonly Happening[]) => void;
const listeners = new Set<Listener>();
let looking = 0;
let last = -1;

/** Whether this person may see everything that happens. */
export const seesAll = (): boolean => session.value?.role === "operator" || session.value?.role === "auditor";

/** Reviewers hear of what waits for them, and of nothing else. */
const decides = (): boolean => session.value?.role === "reviewer";

let port: MessagePort | undefined;

/** The relay that all tabs of this person share; one of its own where the browser has no such workers. */
function relay(): MessagePort {
  if (port) return port;
  const alone = (): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    new Relay().take(port2);
    return port1;
  };
  const use = (next: MessagePort): MessagePort => {
    next.onmessage = ({ data }: MessageEvent<Told>) => hear(data);
    return (port = next);
  };
  if (typeof SharedWorker === "undefined") return use(alone());
  const { role = "", name = "" } = session.value ?? {};
  const worker = new SharedWorker(relayUrl, { type: "module", name: `feed of ${role} ${name}` });
  // It could not be loaded.
  worker.onerror = () => {
    use(alone());
    if (flowing.value !== "none") open();
  };
  return use(worker.port);
}

const tell = (path: string | null): void => relay().postMessage({ path } satisfies Wish);

function open(): void {
  if (looking === 0 || document.hidden || (!seesAll() && !decides())) return;
  flowing.value = "connecting";
  tell(decides() ? "/v1/feed/reviews" : "/v1/feed");
}

function hear({ is, events, past = false }: Told): void {
  // What was on its way when this tab went out of sight.
  if (flowing.value === "none") return;
  batch(() => {
    flowing.value = is === "over" ? "lost" : is;
    for (const [name, data] of events) take(name, data, past);
  });
  // Refused, rather than cut off: ask who we are.
  if (is === "over") later();
}

let retrying: ReturnType<typeof setTimeout> | undefined;
function later(): void {
  clearTimeout(retrying);
  retrying = setTimeout(again, RETRY);
}

/** Asks who is signed in, for that may have changed meanwhile, and goes on. */
function again(): void {
  clearTimeout(retrying);
  if (looking === 0 || document.hidden) return;
  renew().then(open, () => {
    flowing.value = "lost";
    later();
  });
}

function rest(): void {
  clearTimeout(retrying);
  if (port) tell(null);
  flowing.value = "none";
}

document.addEventListener("visibilitychange", () => (document.hidden ? rest() : again()));
// Kept by the browser for going back, or gone for good.
addEventListener("pagehide", rest);
addEventListener("pageshow", ({ persisted }) => persisted && again());

function take(name: string, data: string, past: boolean): void {
  switch (name) {
    case "entries":
      return takeEntries(JSON.parse(data) as Shape<"FeedEntries">);
    case "counts":
      return takeCounts(JSON.parse(data) as Counts, past);
    case "alerts":
      return takeAlerts((JSON.parse(data) as Shape<"FeedAlerts">).alerts);
    case "reviews":
      return takeReviews(JSON.parse(data) as Shape<"FeedReviews">, past);
  }
}

function takeCounts(counts: Counts, past: boolean): void {
  // This tab may have them from before it went out of sight.
  if (past && counts.at <= (counted.value.at(-1)?.at ?? "")) return;
  wait(counts);
  counted.value = [...counted.value.slice(1 - SECONDS), counts];
}

function takeReviews(told: Shape<"FeedReviews">, past: boolean): void {
  wait({ reviews: told.waiting, escalations: 0, halted: told.halted, questions: told.questions });
  if (told.changed || past) for (const listener of listeners) listener([{ position: -1, at: told.at, entry: "changed" }]);
}

function takeAlerts(told: readonly Alert[]): void {
  const ids = new Set(told.map((alert) => alert.id));
  alerts.value = [...alerts.value.filter((alert) => !ids.has(alert.id)), ...told].slice(-ALERTS);
}

function takeEntries(told: Shape<"FeedEntries">): void {
  const entries = told.entries.filter((entry) => entry.position > last);
  const [first] = entries;
  if (!first) return;
  // Of what nobody told this tab it knows how much it was.
  const missed = last < 0 ? 0 : first.position - last - 1;
  last = told.next;
  skipped.value += missed;
  fresh.push(...entries.filter((entry) => entry.verdict !== undefined));
  if (fresh.length > 0 && !flushing) flush();
  // What was left out may have been anything.
  const more: readonly Happening[] = missed > 0 ? [{ position: told.next, at: new Date().toISOString(), entry: "skipped" }] : [];
  for (const listener of listeners) listener([...entries, ...more]);
}

// What came since the list was last made anew. Under load that is twice a second, so that the page stays at ease.
let fresh: Happening[] = [];
let flushing: ReturnType<typeof setTimeout> | undefined;

function flush(): void {
  flushing = undefined;
  if (fresh.length === 0) return;
  recent.value = [...recent.value, ...fresh].slice(-KEPT);
  fresh = [];
  flushing = setTimeout(flush, PACE);
}

/** Keeps the stream open while a component is there, and tells it of entries, of every kind. */
export function useFeed(listener?: Listener): void {
  useEffect(() => {
    if (looking++ === 0) open();
    if (listener) listeners.add(listener);
    return () => {
      if (listener) listeners.delete(listener);
      if (--looking === 0) rest();
    };
  }, [listener]);
}
