// The directory of agents comes page by page; pages of ours need all of it.
import { type Shape, get } from "../api/client";

const PAGE = 1000;

export async function everyAgent(signal: AbortSignal): Promise<{ agents: Shape<"Agent">[] }> {
  const agents: Shape<"Agent">[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await get("/v1/agents", { query: { limit: PAGE, ...(after === undefined ? {} : { after }) }, signal });
    agents.push(...page.agents);
    if (page.next === null) return { agents };
    after = page.next;
  }
}
