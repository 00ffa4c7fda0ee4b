// A list with one of its rows opened beside it: where the keyboard goes on when one is opened, and when it is closed.
import { useEffect, useRef } from "preact/hooks";

/** The row's link and the head of what is opened carry these. */
export const rowId = (id: string): string => `row-${encodeURIComponent(id)}`;
export const OPENED = "opened-head";

/** A row has two lines on a phone. */
export const rowHeight = (): number => (matchMedia("(max-width: 46rem)").matches ? 54 : 42);

/** Moves the focus to what was opened, and back to its row. Whoever came by an address stays where they are. */
export function useOpened(id: string | undefined): void {
  const before = useRef(id);
  useEffect(() => {
    const [last, now] = [before.current, id];
    before.current = now;
    if (last === now) return;
    const to = now === undefined ? document.getElementById(rowId(last ?? "")) ?? document.querySelector("h1") : document.getElementById(OPENED);
    (to as HTMLElement | null)?.focus();
  }, [id]);
}
