// What was checked and how it went, and work that takes its time.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/client";
import { asProblem } from "../api/use";
import type { Found } from "../proof/found";
import { Check, Text } from "../ui";

export function Checks({ of }: { of: readonly Found[] }): VNode {
  const state = of.some((one) => one.state === "no") ? "broken" : of.every((one) => one.state === "open") ? "open" : "sound";
  return <div role="status"><ul data-proof={state}>{of.map(({ state: is, says }) => <Check key={says} state={is}><Text value={says} /></Check>)}</ul></div>;
}

export interface Work<T> {
  readonly done: number;
  readonly of: number;
  readonly isBusy: boolean;
  /** Entries a second. */
  readonly rate: number;
  readonly result?: T | undefined;
  readonly error?: Problem | undefined;
}

/** Something that takes its time and can be stopped; it stops when the page is left. */
export function useWork<T>(): Work<T> & { run: (of: number, work: (tell: (done: number) => void, signal: AbortSignal) => Promise<T>) => void; stop: () => void } {
  const [state, set] = useState<Work<T>>({ done: 0, of: 0, isBusy: false, rate: 0 });
  const stopper = useRef<AbortController>(undefined);
  useEffect(() => () => stopper.current?.abort(), []);
  const stop = (): void => {
    stopper.current?.abort();
    set((old) => ({ ...old, isBusy: false }));
  };
  const run = (of: number, work: (tell: (done: number) => void, signal: AbortSignal) => Promise<T>): void => {
    stopper.current?.abort();
    const stopped = new AbortController();
    stopper.current = stopped;
    const started = performance.now();
    const put = (part: Partial<Work<T>>): void => void (!stopped.signal.aborted && set((old) => ({ ...old, ...part })));
    put({ done: 0, of, isBusy: true, rate: 0, result: undefined, error: undefined });
    const tell = (done: number): void => put({ done, rate: (done / Math.max(1, performance.now() - started)) * 1000 });
    work(tell, stopped.signal).then((result) => put({ result, isBusy: false }), (error: unknown) => put({ error: asProblem(error), isBusy: false }));
  };
  return { ...state, run, stop };
}

export function Progress({ of, label, stop }: { of: Work<unknown>; label: string; stop: () => void }): VNode {
  return (
    <div class="progress">
      <progress max={of.of} value={of.done} aria-label={label} />
      <span class="nums">{of.done.toLocaleString()} of {of.of.toLocaleString()}{of.rate > 0 && <span class="quiet"> · {Math.round(of.rate).toLocaleString()} a second</span>}</span>
      <button type="button" onClick={stop}>Stop</button>
    </div>
  );
}
