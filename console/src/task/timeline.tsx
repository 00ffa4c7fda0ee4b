// Tasks along the time: from when they were handed over until they ended, and how far their deadline is.
import type { VNode } from "preact";
import { clock } from "../ui";
import { type Task, isGoing, isLate } from "./forest";

export interface Axis {
  readonly from: number;
  readonly to: number;
}

/** How far back the time goes, by name, in minutes. */
export const SPANS: Readonly<Record<string, number>> = { "10 minutes": 10, "1 hour": 60, "1 day": 1440, "7 days": 10_080, "everything": Infinity };

/** From the first of them until a little beyond now, where deadlines that are near can be seen. */
export function axisOf(tasks: readonly Task[], span: string, now: number): Axis {
  const oldest = tasks.reduce((least, task) => Math.min(least, Date.parse(task.opened_at)), now - 1000);
  const from = Math.max(oldest, now - (SPANS[span] ?? Infinity) * 60_000);
  return { from, to: now + (now - from) * 0.15 };
}

const part = (axis: Axis, at: number): number => ((at - axis.from) / (axis.to - axis.from)) * 100;
const within = (value: number): number => Math.max(0, Math.min(100, value));

export function Bar({ task, axis, now }: { task: Task; axis: Axis; now: number }): VNode {
  const begun = within(part(axis, Date.parse(task.opened_at)));
  const end = within(part(axis, task.ended_at ? Date.parse(task.ended_at) : now));
  const due = part(axis, Date.parse(task.deadline));
  const look = isLate(task, now) ? "bad" : task.state === "failed" ? "bad" : isGoing(task) ? (task.state === "open" ? "open" : "wait") : "over";
  return (
    <span class="track" aria-hidden="true">
      {isGoing(task) && due > end && <span class="ahead" style={{ left: `${end}%`, width: `${within(due) - end}%` }} />}
      <span class={`bar bar-${look}`} style={{ left: `${begun}%`, width: `${Math.max(0.4, end - begun)}%` }} />
      {due >= 0 && due <= 100 && <span class="due" style={{ left: `${due}%` }} />}
      <span class="today" style={{ left: `${within(part(axis, now))}%` }} />
    </span>
  );
}

const STEPS = [0, 0.25, 0.5, 0.75];
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** The time's names above the bars. */
export function Scale({ axis, now }: { axis: Axis; now: number }): VNode {
  const long = now - axis.from > 86_400_000;
  return (
    <div class="scale" aria-hidden="true">
      <span />
      <span class="track">
        {STEPS.map((step) => {
          const at = new Date(axis.from + (now - axis.from) * step);
          return <span key={step} class="tick" style={{ left: `${part(axis, at.getTime())}%` }}>{long ? `${day.format(at)} ${clock(at).slice(0, 5)}` : clock(at)}</span>;
        })}
        <span class="tick tick-now" style={{ left: `${part(axis, now)}%` }}>now</span>
      </span>
    </div>
  );
}
