// A small plot of the last values, as a line and its ground.
import type { VNode } from "preact";

const WIDE = 160;
const HIGH = 36;

/** `values` oldest first; `label` says in words what is drawn. */
export function Plot({ values, label, tone = "plain" }: { values: readonly number[]; label: string; tone?: string }): VNode {
  const top = Math.max(1e-9, ...values);
  const x = (n: number): number => (values.length < 2 ? WIDE : (n / (values.length - 1)) * WIDE);
  const y = (value: number): number => HIGH - 2 - (value / top) * (HIGH - 6);
  const line = values.map((value, n) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return (
    <svg class={`plot plot-${tone}`} viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {values.length > 1 && <polygon points={`0,${HIGH} ${line} ${WIDE},${HIGH}`} />}
      {values.length > 1 && <polyline points={line} />}
    </svg>
  );
}
