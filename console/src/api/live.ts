// Asking again when something happened, rather than every so often: soon, but not for every entry.
import { useCallback, useEffect, useRef } from "preact/hooks";
import { type Happening, useFeed } from "./feed";

const SOON = 400;

/** Calls `again` soon after entries that matter came. Only operators and auditors hear of them: others ask by time. */
export function useLive(again: () => void, matters: (entry: Happening) => boolean = () => true): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef({ again, matters });
  latest.current = { again, matters };
  const hear = useCallback((entries: readonly Happening[]) => {
    if (timer.current !== undefined || !entries.some((entry) => latest.current.matters(entry))) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      latest.current.again();
    }, SOON);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  useFeed(hear);
}
