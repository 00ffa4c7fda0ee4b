// Agents and escalations: who runs and who stands still, what waits for an answer, and the brake.
import type { VNode } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { AgentPage } from "../agents/agent";
import { Alarms, Past } from "../agents/alarms";
import { everyEscalation } from "../agents/escalations";
import { List } from "../agents/list";
import { useLive } from "../api/live";
import { everyAgent } from "../agents/every";
import { Register } from "../agents/register";
import { mayStop } from "../agents/stop";
import { touches } from "../agents/touches";
import type { PageProps } from "../pages";
import { href } from "../router";
import { Halted } from "../session/halted";
import { Await, Card, EmptyState, PageHead } from "../ui";

export default function Agents({ rest, query }: PageProps): VNode {
  if (rest[0] !== undefined) return <AgentPage key={rest[0]} id={rest[0]} />;
  if (query.has("register")) return <Register />;
  return <Everybody query={query} />;
}

function Everybody({ query }: { query: URLSearchParams }): VNode {
  const agents = useLive((signal) => everyAgent(signal), [], touches);
  const escalations = useLive((signal) => everyEscalation({}, signal), [], touches);
  const done = useCallback(() => {
    agents.reload();
    escalations.reload();
  }, [agents.reload, escalations.reload]);
  const states = useMemo(() => new Map(agents.data?.agents.map((agent) => [agent.id, agent.state])), [agents.data]);
  const past = query.has("past");
  return (
    <>
      <PageHead title="Agents" about="Who runs and who stands still, what waits for an answer, and the brake.">
        <a href={href(["agents"], { past: !past })}>{past ? "Open escalations" : "Closed escalations"}</a>
        {mayStop() && <a class="button" href={href(["agents"], { register: true })}>Register an agent</a>}
      </PageHead>
      {!past && <Halted />}
      {past ? <Card title="Closed escalations, the last first"><Past /></Card> : <Alarms asked={escalations} states={states} done={done} />}
      <Card title="Agents">
        <Await asked={agents}>
          {({ agents: all }) => (all.length === 0 ? <EmptyState title="No agents yet."><a href={href(["start"])}>How to connect one</a></EmptyState> : <List agents={all} query={query} done={done} />)}
        </Await>
      </Card>
    </>
  );
}
