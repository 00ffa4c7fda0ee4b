// What waits for a person, and in which order it is looked at.
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Shape, get, serverNow, session } from "../api/client";
import { type Happening, flowing } from "../api/feed";
import { useLive } from "../api/live";
import type { Asked } from "../api/use";

export type Review = Shape<"Review">;
export type Decision = Shape<"Decision">;

/** How many are asked for, each with its message: as many more whenever somebody comes to the end, and so many at most. */
const PAGE = 100;
const MOST = 1000;
/** What happens often and changes nothing of what waits. */
const BESIDE: readonly string[] = ["acked", "pushed", "tallied", "confirmed"];
const matters = (entry: Happening): boolean => entry.verdict === "held" || (entry.verdict === undefined && !BESIDE.includes(entry.entry));

/** What waits, in an order; asked for again when the stream says that it changed, or now and then where there is none. */
export function useWaiting(order: Order): Asked<Shape<"Reviews">> & { more: () => void } {
  const [limit, set] = useState(PAGE);
  const ask = (signal: AbortSignal): Promise<Shape<"Reviews">> => get("/v1/reviews", { query: { order, limit }, signal });
  const asked = useLive(ask, [order], matters, flowing.value === "live" ? null : 5000);
  const { reviews = [], waiting = 0 } = asked.data ?? {};
  useEffect(() => set(PAGE), [order]);
  useEffect(() => { if (limit > PAGE) asked.reload(); }, [limit]);
  const more = useCallback(() => {
    if (reviews.length >= limit && reviews.length < waiting) set(Math.min(MOST, limit + PAGE));
  }, [reviews.length, waiting, limit]);
  return { ...asked, more };
}

export const ORDERS = { urgent: "Most urgent first", newest: "Newest first", oldest: "Oldest first" } as const;
export type Order = keyof typeof ORDERS;

/** As the exchange writes who claims something. */
export function isMine(by: string | null): boolean {
  const me = session.value;
  return me !== null && by === (me.name === me.role ? me.name : `${me.role} ${me.name}`);
}

/** Who keeps others from deciding on it now. */
export const claimant = ({ claimed_by: by, claimed_until: until }: Review): string | null => (by !== null && until !== null && Date.parse(until) > serverNow() ? by : null);

export const mayDecide = (): boolean => session.value?.role === "operator" || session.value?.role === "reviewer";

/** The first words of a message, of whatever dialect. */
export function gist(message: unknown): string {
  const whole = (message ?? {}) as Record<string, unknown>;
  const inner = (whole["payload"] ?? {}) as Record<string, unknown>;
  const said = [whole["content"], whole["context_summary"], whole["inquiry"], whole["error_message"], inner["task_description"], inner["result_summary"], inner["error_text"], inner["reason_text"], inner["comments"], inner["reason"], inner["context"], inner["constitution_ref"]];
  const words = said.find((one) => typeof one === "string" && one !== "") ?? whole["content"] ?? "";
  return (typeof words === "string" ? words : JSON.stringify(words)).slice(0, 300);
}
