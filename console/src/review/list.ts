// What waits for a person: all of it, and in which order it is looked at.
import { type Shape, get, session } from "../api/client";

export type Review = Shape<"Review">;
export type Decision = Shape<"Decision">;

const PAGE = 200;
/** The most that is asked for at once; each comes with its message. */
const MOST = 1000;

export interface Waiting {
  readonly reviews: readonly Review[];
  /** Whether there is more than that. */
  readonly more: boolean;
}

export async function waiting(signal: AbortSignal): Promise<Waiting> {
  const reviews: Review[] = [];
  let after: number | undefined;
  while (reviews.length < MOST) {
    const page = await get("/v1/reviews", { query: { limit: PAGE, ...(after === undefined ? {} : { after }) }, signal });
    reviews.push(...page.reviews);
    if (page.next === null) return { reviews, more: false };
    after = Number(page.next);
  }
  return { reviews, more: true };
}

export const ORDERS = { urgent: "Most urgent first", newest: "Newest first", oldest: "Oldest first" } as const;
export type Order = keyof typeof ORDERS;

/** What was judged worst comes first; of equals, what has to be decided soonest. */
function weight(review: Review): number {
  const said = review.message as { safety?: { requires_human?: unknown } } | null;
  if (review.level === "block") return 0;
  if (said?.safety?.requires_human === true) return 1;
  if (review.metrics?.gate === "fail") return 2;
  return 3;
}

const due = (review: Review): number => (review.decide_until ? Date.parse(review.decide_until) : Infinity);

export function ordered(reviews: readonly Review[], order: Order): readonly Review[] {
  switch (order) {
    case "oldest":
      return reviews;
    case "newest":
      return reviews.toReversed();
    case "urgent":
      return reviews.toSorted((a, b) => weight(a) - weight(b) || due(a) - due(b) || Number(a.id) - Number(b.id));
  }
}

/** As the exchange writes who claims something. */
export function isMine(by: string | null): boolean {
  const me = session.value;
  return me !== null && by === (me.name === me.role ? me.name : `${me.role} ${me.name}`);
}

/** Who keeps others from deciding on it now. */
export const claimant = ({ claimed_by: by, claimed_until: until }: Review): string | null => (by !== null && until !== null && Date.parse(until) > Date.now() ? by : null);

export const mayDecide = (): boolean => session.value?.role === "operator" || session.value?.role === "reviewer";

/** The first words of a message, of whatever dialect. */
export function gist(message: unknown): string {
  const whole = (message ?? {}) as Record<string, unknown>;
  const inner = (whole["payload"] ?? {}) as Record<string, unknown>;
  const said = [whole["content"], whole["context_summary"], whole["inquiry"], whole["error_message"], inner["task_description"], inner["result_summary"], inner["reason"]];
  const words = said.find((one) => typeof one === "string" && one !== "") ?? whole["content"] ?? "";
  return (typeof words === "string" ? words : JSON.stringify(words)).slice(0, 300);
}
