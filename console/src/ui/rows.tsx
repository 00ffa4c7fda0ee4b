// A list of any length: only the rows in sight are there. All rows have one height.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const BEYOND = 8;

export interface RowsProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly height: number;
  readonly id: (item: T) => string | number;
  readonly row: (item: T) => ComponentChildren;
  /** Called when the end comes into sight. */
  readonly more?: () => void;
  /** Stands behind the last row. */
  readonly foot?: ComponentChildren;
}

/** Each row holds one link or button, which the arrow keys go through. */
export function Rows<T>({ label, items, height, id, row, more, foot }: RowsProps<T>): VNode {
  const box = useRef<HTMLDivElement>(null);
  const active = useRef<number | undefined>(undefined);
  const [view, setView] = useState({ top: 0, size: 800 });
  const measure = (): void => {
    const at = box.current;
    if (at) setView({ top: at.scrollTop, size: at.clientHeight });
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const from = Math.max(0, Math.floor(view.top / height) - BEYOND);
  const to = Math.min(items.length, Math.ceil((view.top + view.size) / height) + BEYOND);
  const atEnd = to >= items.length;
  useEffect(() => {
    if (atEnd) more?.();
  }, [atEnd, items.length, more]);
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    const current = (event.target as Element).closest?.("[data-row]")?.getAttribute("data-row") ?? active.current;
    if (by === undefined || current === undefined || !box.current) return;
    event.preventDefault();
    const wanted = Math.max(0, Math.min(items.length - 1, Number(current) + by));
    const at = box.current;
    const top = wanted * height;
    active.current = wanted;
    // The row that has the focus may go out of sight and away; the list keeps it meanwhile.
    at.focus({ preventScroll: true });
    if (top < at.scrollTop) at.scrollTop = top;
    if (top + height > at.scrollTop + at.clientHeight) at.scrollTop = top + height - at.clientHeight;
    measure();
    settle();
  };
  const leave = (event: FocusEvent): void => {
    if (!box.current?.contains(event.relatedTarget as Node | null) && event.target === box.current) active.current = undefined;
  };
  const settle = (): void => {
    const link = box.current?.querySelector<HTMLElement>(`[data-row="${active.current}"] :is(a, button)`);
    if (document.activeElement === box.current) link?.focus({ preventScroll: true });
  };
  useLayoutEffect(settle);
  return (
    <div class="rows" ref={box} onScroll={measure} onKeyDown={step} onFocusOut={leave} tabIndex={0} role="region" aria-label={label}>
      <ol style={{ height: `${items.length * height}px` }}>
        {items.slice(from, to).map((item, n) => (
          <li key={id(item)} data-row={from + n} style={{ top: `${(from + n) * height}px`, height: `${height}px` }}>{row(item)}</li>
        ))}
      </ol>
      {foot}
    </div>
  );
}
