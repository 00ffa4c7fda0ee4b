// Asking so that what is shown keeps up: again when something happened that matters, soon but not for every entry, and
// now and then, for those who hear of nothing; never so where that is said by `null`.
import { useCallback, useEffect, useRef } from "preact/hooks";
import { type Happening, useFeed } from "./feed";
import { type Asked, useAsk } from "./use";

const SOON = 250;
/** The least between two questions, however much happens. */
const APART = 2000;
const NOW_AND_THEN = 10_000;

export function useLive<T>(ask: (signal: AbortSignal) => Promise<T>, on: readonly unknown[], matters: (entry: Happening) => boolean, every: number | null = NOW_AND_THEN): Asked<T> {
  const asked = useAsk(ask, on, every ?? undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(-APART);
  const latest = useRef({ asked, matters });
  latest.current = { asked, matters };
  const run = useCallback(() => {
    // An answer that is on its way comes first, or there would never be one.
    timer.current = latest.current.asked.loading ? setTimeout(run, SOON) : undefined;
    if (timer.current !== undefined) return;
    last.current = performance.now();
    latest.current.asked.reload();
  }, []);
  const hear = useCallback((entries: readonly Happening[]) => {
    if (timer.current !== undefined || !entries.some((entry) => latest.current.matters(entry))) return;
    timer.current = setTimeout(run, Math.max(SOON, APART - (performance.now() - last.current)));
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  useFeed(hear);
  return asked;
}
