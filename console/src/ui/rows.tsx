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
    const current = (event.target as Element).closest?.("[data-row]");
    if (by === undefined || !current || !box.current) return;
    event.preventDefault();
    const wanted = Math.max(0, Math.min(items.length - 1, Number(current.getAttribute("data-row")) + by));
    const at = box.current;
    const top = wanted * height;
    if (top < at.scrollTop) at.scrollTop = top;
    if (top + height > at.scrollTop + at.clientHeight) at.scrollTop = top + height - at.clientHeight;
    measure();
    requestAnimationFrame(() => at.querySelector<HTMLElement>(`[data-row="${wanted}"] :is(a, button)`)?.focus());
  };
  return (
    <div class="rows" ref={box} onScroll={measure} onKeyDown={step} tabIndex={0} role="region" aria-label={label}>
      <ol style={{ height: `${items.length * height}px` }}>
        {items.slice(from, to).map((item, n) => (
          <li key={id(item)} data-row={from + n} style={{ top: `${(from + n) * height}px`, height: `${height}px` }}>{row(item)}</li>
        ))}
      </ol>
      {foot}
    </div>
  );
}
