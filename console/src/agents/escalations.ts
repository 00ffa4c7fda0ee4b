// Every escalation there is to see, however many pages that takes.
import { type Shape, get } from "../api/client";

export type Escalation = Shape<"Escalation">;

const PAGE = 1000;

export async function everyEscalation(query: { readonly agent?: string; readonly state?: "open" | "all" }, signal: AbortSignal): Promise<Escalation[]> {
  const all: Escalation[] = [];
  let after: number | undefined;
  for (;;) {
    const page = await get("/v1/escalations", { query: { ...query, limit: PAGE, ...(after === undefined ? {} : { after }) }, signal });
    all.push(...page.escalations);
    if (page.escalations.length < PAGE) return all;
    after = page.next;
  }
}
