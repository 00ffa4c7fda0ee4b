// What happens in the exchange, live: one stream for the whole console, open while somebody looks. A tab in the
// background has none: over plain http a browser has six connections to a host, and a seventh tab would wait for ever.
// It goes on behind the last entry it saw.
import { batch, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Shape, renew, session } from "./client";

export type Happening = Shape<"Happening">;
export type Counts = Shape<"FeedCounts">;
export type Alert = Shape<"Alert">;

/** `none`: nobody looks, or there is nothing that this person may hear. */
export type Flowing = "none" | "connecting" | "live" | "lost";

/** The most that is kept of each. */
const KEPT = 400;
const SECONDS = 180;
const ALERTS = 200;
/** Milliseconds between two lists. */
const PACE = 500;

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
}
export const waits = signal<Waits>({ reviews: 0, escalations: 0 });

function wait(next: Waits): void {
  const { reviews, escalations } = waits.value;
  if (reviews !== next.reviews || escalations !== next.escalations) waits.value = next;
}

type Listener = (entries: readonly Happening[]) => void;
const listeners = new Set<Listener>();
let source: EventSource | undefined;
let looking = 0;
let last = -1;

/** Whether this person may see everything that happens. */
export const seesAll = (): boolean => session.value?.role === "operator" || session.value?.role === "auditor";

/** Reviewers hear of what waits for them, and of nothing else. */
const decides = (): boolean => session.value?.role === "reviewer";

function open(): void {
  if (source || looking === 0 || document.hidden || (!seesAll() && !decides())) return;
  flowing.value = "connecting";
  source = new EventSource(decides() ? "/v1/feed/reviews" : last < 0 ? "/v1/feed" : `/v1/feed?after=${last}`);
  source.addEventListener("open", () => (flowing.value = "live"));
  source.addEventListener("error", () => {
    flowing.value = "lost";
    // Refused, rather than cut off: the browser does not try again, so ask who we are.
    if (source?.readyState === EventSource.CLOSED) later();
  });
  source.addEventListener("entries", (event) => take(JSON.parse(event.data) as Shape<"FeedEntries">));
  source.addEventListener("counts", (event) => {
    const counts = JSON.parse(event.data) as Counts;
    batch(() => {
      flowing.value = "live";
      wait(counts);
      counted.value = [...counted.value.slice(1 - SECONDS), counts];
    });
  });
  source.addEventListener("reviews", (event) => {
    const told = JSON.parse(event.data) as Shape<"FeedReviews">;
    flowing.value = "live";
    wait({ reviews: told.waiting, escalations: 0 });
    if (told.changed) for (const listener of listeners) listener([{ position: -1, at: told.at, entry: "changed" }]);
  });
  source.addEventListener("alerts", (event) => {
    const told = (JSON.parse(event.data) as Shape<"FeedAlerts">).alerts;
    const ids = new Set(told.map((alert) => alert.id));
    alerts.value = [...alerts.value.filter((alert) => !ids.has(alert.id)), ...told].slice(-ALERTS);
  });
  source.addEventListener("refused", again);
}

let retrying: ReturnType<typeof setTimeout> | undefined;
function later(): void {
  clearTimeout(retrying);
  retrying = setTimeout(again, 3000);
}

/** Asks who is signed in, for that may have changed meanwhile, and goes on. */
function again(): void {
  close();
  if (looking === 0 || document.hidden) return;
  renew().then(open, () => {
    flowing.value = "lost";
    later();
  });
}

function close(): void {
  clearTimeout(retrying);
  source?.close();
  source = undefined;
}

function rest(): void {
  close();
  flowing.value = "none";
}

document.addEventListener("visibilitychange", () => (document.hidden ? rest() : again()));

function take(told: Shape<"FeedEntries">): void {
  const entries = told.entries.filter((entry) => entry.position > last);
  last = Math.max(last, told.next);
  batch(() => {
    skipped.value += told.skipped;
    fresh.push(...entries.filter((entry) => entry.verdict !== undefined));
    if (fresh.length > 0 && !flushing) flush();
  });
  // What was left out may have been anything.
  const more: readonly Happening[] = told.skipped > 0 ? [{ position: told.next, at: new Date().toISOString(), entry: "skipped" }] : [];
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
