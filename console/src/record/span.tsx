// From which entry to which: two numbers that every part of the page asks for alike.
import type { VNode } from "preact";

export interface Span {
  readonly from: number;
  /** The entry to stop before. */
  readonly to: number;
}

export function SpanFields({ span, most, change }: { span: Span; most: number; change: (span: Span) => void }): VNode {
  const number = (text: string): number => Math.max(0, Math.min(most, Math.trunc(Number(text)) || 0));
  return (
    <>
      <label>From entry<input type="number" min={0} max={Math.max(0, most - 1)} value={span.from} onInput={(event) => change({ ...span, from: number(event.currentTarget.value) })} /></label>
      <label>Up to, without<input type="number" min={1} max={most} value={span.to} onInput={(event) => change({ ...span, to: number(event.currentTarget.value) })} /></label>
    </>
  );
}
