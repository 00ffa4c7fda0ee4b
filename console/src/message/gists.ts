// What messages say, in a few words, where a list of them does not tell: asked for all together. The stream tells nothing
// of it, and under load nobody asks: what is listed has to stay long enough to be read.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Shape, get, serverNow } from "../api/client";
import type { Happening } from "../api/feed";
import { useAsk } from "../api/use";

type Gists = ReadonlyMap<number, string>;

/** How long before it is asked for, how long between two times, how often for the same, and how fast may be read. */
const SOON = 300;
const APART = 1500;
const TRIES = 10;
const A_SECOND = 12;
const MOST = 400;

/** Whether these came no faster than somebody reads, until now. */
function isCalm(messages: readonly Happening[]): boolean {
  const [first] = messages;
  return !first || messages.length <= Math.max(A_SECOND, (A_SECOND * (serverNow() - Date.parse(first.at))) / 1000);
}

const inRange = (positions: readonly number[]): { after?: number; before: number } => {
  const first = Math.min(...positions);
  return { ...(first > 0 ? { after: first - 1 } : {}), before: Math.max(...positions) + 1 };
};

type Listed = Shape<"Found">["messages"];
const gistsOf = (messages: Listed): Gists => new Map(messages.map((one) => [one.position, ("gist" in one && one.gist) || ""]));

/** What these messages of a task or session say. */
export function useGistsOf(thread: string, positions: readonly number[]): Gists {
  const asked = useAsk(async (signal) => {
    if (positions.length === 0) return [];
    return (await get("/v1/messages", { query: { thread, include: "gist", limit: MOST, ...inRange(positions) }, signal })).messages;
  }, [thread, positions]);
  return useMemo(() => gistsOf(asked.data ?? []), [asked.data]);
}

const unknown = (messages: readonly Happening[], known: Gists): number[] =>
  messages.filter(({ verdict, position }) => verdict !== "refused" && !known.has(position)).map(({ position }) => position);

/** What the last messages say. `isStill`: they do not change, however fast they came. */
export function useGists(messages: readonly Happening[], isStill: boolean): Gists {
  const [known, set] = useState<Gists>(new Map());
  const latest = useRef({ messages, isStill, known });
  latest.current = { messages, isStill, known };
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(-APART);
  const tries = useRef(0);
  const gone = useRef(false);
  useEffect(() => {
    tries.current = 0;
    const ask = async (): Promise<void> => {
      last.current = performance.now();
      const { messages: shown, isStill: still, known: old } = latest.current;
      const wanted = unknown(shown, old);
      let left = wanted;
      if (wanted.length > 0 && (still || isCalm(shown))) {
        tries.current++;
        const found = await get("/v1/messages", { query: { verdict: "any", include: "gist", limit: MOST, ...inRange(wanted) } }).catch(() => undefined);
        const told = gistsOf(found?.messages ?? []);
        // What is not shown any more is forgotten.
        const next = new Map(latest.current.messages.flatMap(({ position }) => {
          const gist = told.get(position) ?? old.get(position);
          return gist === undefined ? [] : [[position, gist] as const];
        }));
        left = unknown(latest.current.messages, next);
        if (gone.current) return;
        if (found) set(next);
      }
      // Until it is calm; and what came meanwhile, or is not found yet, is asked for again.
      timer.current = left.length > 0 && tries.current < TRIES ? setTimeout(() => void ask(), APART) : undefined;
    };
    timer.current ??= setTimeout(() => void ask(), Math.max(SOON, APART - (performance.now() - last.current)));
  }, [messages, isStill]);
  useEffect(() => () => {
    gone.current = true;
    clearTimeout(timer.current);
  }, []);
  return known;
}
