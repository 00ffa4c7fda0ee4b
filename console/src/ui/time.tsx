// Times: how long ago, with the exact time behind it; or the clock's time where many stand below each other.
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { serverNow, skew } from "../api/client";

const now = signal(Date.now());
let watched = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function useNow(): number {
  useEffect(() => {
    if (watched++ === 0) {
      now.value = Date.now();
      timer = setInterval(() => (now.value = Date.now()), 1000);
    }
    return () => {
      if (--watched === 0) clearInterval(timer);
    };
  }, []);
  return now.value + skew.value;
}

const UNITS = [["s", 60], ["min", 60], ["h", 24], ["d", 365], ["y", Infinity]] as const;

/** A length of time in one unit: `12 s`, `3 min`. */
export function span(milliseconds: number): string {
  let size = Math.abs(milliseconds) / 1000;
  for (const [unit, most] of UNITS) {
    if (size < most) return `${Math.floor(size)} ${unit}`;
    size /= most;
  }
  return "";
}

export function ago(at: number, from: number): string {
  const past = from - at;
  if (Math.abs(past) < 1000) return "now";
  return past > 0 ? `${span(past)} ago` : `in ${span(past)}`;
}

const two = (n: number): string => String(n).padStart(2, "0");
export const clock = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

function Relative({ at }: { at: Date }): VNode {
  return <>{ago(at.getTime(), useNow())}</>;
}

/** `at` is RFC 3339. `clock` shows the time of day, with the date where that is not today's. */
export function Time({ at, as = "relative" }: { at: string; as?: "relative" | "clock" | "exact" }): VNode {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <bdi>{at}</bdi>;
  const isToday = date.toDateString() === new Date(serverNow()).toDateString();
  const exact = (): string => `${day.format(date)} ${clock(date)}`;
  return (
    <time dateTime={at} title={as === "clock" && isToday ? at : `${exact()} (${at})`} class="nums">
      {as === "relative" ? <Relative at={date} /> : as === "clock" && isToday ? clock(date) : exact()}
    </time>
  );
}

/** What is left until a time, or how far it has passed: for deadlines. */
export function Countdown({ until }: { until: string }): VNode {
  const left = new Date(until).getTime() - useNow();
  return (
    <time dateTime={until} title={until} class={left < 0 ? "nums late" : "nums"}>
      {left < 0 ? `${span(left)} late` : `${span(left)} left`}
    </time>
  );
}
