// What is asked of memory, kept in the address, and what was found so far.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Problem, type Shape, get } from "../api/client";
import { asProblem } from "../api/use";

export type Memory = Shape<"Memory">;

export const FIELDS = ["text", "keywords", "sender", "topic", "session", "type", "since", "until", "after", "before", "order"] as const;
export type Field = (typeof FIELDS)[number];
export type Wanted = Partial<Record<Field, string>>;

export function wantedOf(query: URLSearchParams): Wanted {
  return Object.fromEntries(FIELDS.flatMap((field) => (query.get(field) ? [[field, query.get(field)]] : [])));
}

/** What is asked for with one keyword more. */
export function withKeyword(wanted: Wanted, word: string): Wanted {
  const words = (wanted.keywords ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  return { ...wanted, keywords: words.includes(word) ? words.join(",") : [...words, word].join(",") };
}

export interface Found {
  readonly memories: readonly Memory[];
  /** Where to go on; `null` at the end. */
  readonly next: string | null;
  readonly busy: boolean;
  readonly error?: Problem | undefined;
}

export function useMemory(wanted: Wanted): Found & { more: () => void; again: () => void } {
  const key = JSON.stringify(wanted);
  const [found, set] = useState<Found>({ memories: [], next: null, busy: true });
  const [turn, next] = useState(0);
  const stop = useRef<AbortController>(undefined);
  const run = useCallback(async (cursor: string | undefined) => {
    stop.current?.abort();
    const stopped = new AbortController();
    stop.current = stopped;
    set((old) => (cursor === undefined ? { memories: [], next: null, busy: true } : { ...old, busy: true, error: undefined }));
    try {
      const query = { ...(JSON.parse(key) as Wanted), limit: 50, ...(cursor === undefined ? {} : { cursor }) };
      const page = await get("/v1/memory", { query: query as never, signal: stopped.signal });
      set((old) => ({ memories: cursor === undefined ? page.memories : [...old.memories, ...page.memories], next: page.next, busy: false }));
    } catch (error) {
      if (!stopped.signal.aborted) set((old) => ({ ...old, busy: false, error: asProblem(error) }));
    }
  }, [key]);
  useEffect(() => {
    void run(undefined);
    return () => stop.current?.abort();
  }, [run, turn]);
  const more = useCallback(() => void (found.next !== null && !found.busy && run(found.next)), [found, run]);
  const again = useCallback(() => next((n) => n + 1), []);
  return { ...found, more, again };
}
