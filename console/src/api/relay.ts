// One stream for all tabs of a browser: over plain http it has six connections to a host, and a stream for each tab
// would use them up. It is open while a tab is in sight, and tells those that come later what it told already.
import type { Shape } from "./client";

/** What a tab tells the relay. `null`: it is out of sight. */
export type Wish = { readonly path: string | null };

/** Events of the stream as they came, by name; and how it is with the stream. `over`: it was refused, or the exchange ended it. */
export type Event = readonly [name: string, data: string];
export interface Told {
  readonly is: "connecting" | "live" | "lost" | "over";
  readonly events: readonly Event[];
  /** Whether these came before. */
  readonly past?: boolean;
}

/** The most entries, counts and alerts that are kept for those who come later. */
const ENTRIES = 400;
const SECONDS = 180;
const ALERTS = 50;
const NAMES = ["counts", "alerts", "entries", "reviews"] as const;

type Kept = { readonly data: string; readonly size: number };

export class Relay {
  private readonly tabs = new Set<MessagePort>();
  private source: EventSource | undefined;
  private is: Told["is"] = "connecting";
  private kept: Record<(typeof NAMES)[number], readonly Kept[]> = { counts: [], alerts: [], entries: [], reviews: [] };

  /** Takes a tab in: it says when it is in sight. */
  take(tab: MessagePort): void {
    tab.onmessage = ({ data }: MessageEvent<Wish>) => (data.path === null ? this.leave(tab) : this.join(tab, data.path));
  }

  private join(tab: MessagePort, path: string): void {
    this.tabs.add(tab);
    if (!this.source) this.open(path);
    const events = NAMES.flatMap((name) => this.kept[name].map(({ data }): Event => [name, data]));
    tab.postMessage({ is: this.is, events, past: true } satisfies Told);
  }

  private leave(tab: MessagePort): void {
    this.tabs.delete(tab);
    if (this.tabs.size === 0) this.close();
  }

  private open(path: string): void {
    const source = new EventSource(path);
    this.source = source;
    this.is = "connecting";
    this.kept = { counts: [], alerts: [], entries: [], reviews: [] };
    source.onopen = () => this.tell("live");
    source.onerror = () => {
      // Cut off, the browser tries again by itself, behind the last entry; refused, it does not.
      if (source.readyState === EventSource.CLOSED) this.end();
      else this.tell("lost");
    };
    source.addEventListener("refused", () => this.end());
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        this.keep(name, data);
        this.tell("live", [[name, data]]);
      });
    }
  }

  private keep(name: (typeof NAMES)[number], data: string): void {
    const all = this.kept[name];
    if (name === "reviews") this.kept.reviews = [{ data, size: 1 }];
    else if (name === "counts") this.kept.counts = [...all.slice(1 - SECONDS), { data, size: 1 }];
    else if (name === "alerts") this.kept.alerts = [...all.slice(1 - ALERTS), { data, size: 1 }];
    else {
      const { entries, skipped } = JSON.parse(data) as Shape<"FeedEntries">;
      // Where some were left out it begins anew: what is kept has no gap.
      const next = [...(skipped > 0 ? [] : all), { data, size: entries.length }];
      let size = next.reduce((sum, one) => sum + one.size, 0);
      while (size - (next[0]?.size ?? 0) >= ENTRIES) size -= next.shift()?.size ?? 0;
      this.kept.entries = next;
    }
  }

  private tell(is: Told["is"], events: readonly Event[] = []): void {
    this.is = is;
    for (const tab of this.tabs) tab.postMessage({ is, events } satisfies Told);
  }

  private end(): void {
    this.close();
    this.tell("over");
    this.tabs.clear();
  }

  private close(): void {
    this.source?.close();
    this.source = undefined;
  }
}
