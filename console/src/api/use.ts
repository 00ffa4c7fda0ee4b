// Asking from within a component: what is known so far, what went wrong, and asking again.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./client";

export interface Asked<T> {
  /** The last answer; stays while the next is awaited. */
  readonly data: T | undefined;
  readonly error: Problem | undefined;
  readonly loading: boolean;
  reload(): void;
}

/** Asks when `on` changes, and every so many milliseconds where that is said and the page is looked at. */
export function useAsk<T>(ask: (signal: AbortSignal) => Promise<T>, on: readonly unknown[], every?: number): Asked<T> {
  const [state, set] = useState<{ data?: T; error?: Problem; loading: boolean }>({ loading: true });
  const [turn, next] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const reload = useCallback(() => next((n) => n + 1), []);
  const key = JSON.stringify(on);
  const asked = useRef(key);
  useEffect(() => {
    const stop = new AbortController();
    const isNew = asked.current !== key;
    asked.current = key;
    set((before) => ({ ...(isNew ? {} : before), loading: true }));
    latest
      .current(stop.signal)
      .then((data) => !stop.signal.aborted && set({ data, loading: false }))
      .catch((error: unknown) => !stop.signal.aborted && set((before) => ({ ...before, error: asProblem(error), loading: false })));
    return () => stop.abort();
  }, [key, turn]);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), every);
    return () => clearInterval(timer);
  }, [every, reload]);
  return { data: state.data, error: state.error, loading: state.loading, reload };
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, "failed", error instanceof Error ? error.message : String(error), false);
}
