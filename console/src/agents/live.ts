// Asking about agents so that what is shown keeps up: again when the stream tells of a change, and now and then.
import { useCallback, useEffect, useRef } from "preact/hooks";
import { type Happening, useFeed } from "../api/feed";
import { type Asked, useAsk } from "../api/use";

const CHANGES = ["registered", "removed", "keyed", "changed", "restored"];
const touches = (entry: Happening): boolean => entry.alarm === true || entry.dialect === "vcp" || CHANGES.includes(entry.entry);

/** At most once a second, however much happens. */
const PAUSE = 1000;

export function useLive<T>(ask: (signal: AbortSignal) => Promise<T>, on: readonly unknown[], of: (entry: Happening) => boolean = touches): Asked<T> {
  const asked = useAsk(ask, on, 10_000);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  const { reload } = asked;
  const hear = useCallback((entries: readonly Happening[]) => {
    if (timer.current !== undefined || !entries.some(of)) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      last.current = Date.now();
      reload();
    }, Math.max(0, last.current + PAUSE - Date.now()));
  }, [reload, of]);
  useFeed(hear);
  useEffect(() => () => clearTimeout(timer.current), []);
  return asked;
}
