// Asking again when something happened, rather than every so often: soon, but not for every entry.
import { useCallback, useEffect, useRef } from "preact/hooks";
import { type Happening, useFeed } from "./feed";
import type { Asked } from "./use";

const SOON = 400;
/** The least between two questions, however much happens. */
const APART = 2000;

/** Asks again soon after entries that matter came. Only operators and auditors hear of them: others ask by time. */
export function useLive(asked: Pick<Asked<unknown>, "reload" | "loading">, matters: (entry: Happening) => boolean): void {
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
}
