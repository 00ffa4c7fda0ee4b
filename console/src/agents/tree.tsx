// Who is above an agent and who below: the whole way up, its children and its running copies.
import type { VNode } from "preact";
import { useAsk } from "../api/use";
import { everyAgent } from "./every";
import { AgentName, Await, Card } from "../ui";
import { type Agent, State } from "./stop";

const MOST = 40;
/** No tree is so high; a circle would be. */
const HEIGHT = 64;

/** The way up, the highest first, as far as it is registered. */
export function above(agent: Agent, all: ReadonlyMap<string, Agent>): readonly string[] {
  const way: string[] = [];
  let at = agent.parent ?? (agent.instance_of ? (all.get(agent.instance_of)?.parent ?? null) : null);
  while (at !== null && way.length < HEIGHT && !way.includes(at)) {
    way.unshift(at);
    at = all.get(at)?.parent ?? null;
  }
  return way;
}

export function Tree({ of }: { of: Agent }): VNode {
  const asked = useAsk((signal) => everyAgent(signal), [of.id, of.parent], 10_000);
  return (
    <Card title="Above and below">
      <Await asked={asked}>{({ agents }) => <Family of={of} agents={agents} />}</Await>
    </Card>
  );
}

function Family({ of, agents }: { of: Agent; agents: readonly Agent[] }): VNode {
  const all = new Map(agents.map((agent) => [agent.id, agent]));
  const children = agents.filter((agent) => agent.parent === of.id);
  const copies = agents.filter((agent) => agent.instance_of === of.id);
  const way = above(of, all);
  const self = (
    <li>
      <span class="tree-node" aria-current="true"><AgentName id={of.id} link={false} /><State is={of.state} /></span>
      {children.length > 0 && <ul>{children.slice(0, MOST).map((one) => <Node key={one.id} id={one.id} all={all} />)}{children.length > MOST && <li class="quiet">and {children.length - MOST} more</li>}</ul>}
    </li>
  );
  const tree = way.reduceRight((inner, id) => <li key={id}><Line id={id} all={all} /><ul>{inner}</ul></li>, self);
  return (
    <div class="stack">
      <ul class="tree">{tree}</ul>
      {way.length === 0 && <p class="quiet">Nobody is above it: its escalations go to the operator.</p>}
      {of.instance_of && <p>It is a running copy of <AgentName id={of.instance_of} />.</p>}
      {copies.length > 0 && <div><h3>Running copies</h3><ul>{copies.slice(0, MOST).map((one) => <Node key={one.id} id={one.id} all={all} />)}{copies.length > MOST && <li class="quiet">and {copies.length - MOST} more</li>}</ul></div>}
    </div>
  );
}

function Node({ id, all }: { id: string; all: ReadonlyMap<string, Agent> }): VNode {
  return <li><Line id={id} all={all} /></li>;
}

function Line({ id, all }: { id: string; all: ReadonlyMap<string, Agent> }): VNode {
  const found = all.get(id);
  return <span class="tree-node"><AgentName id={id} />{found ? <State is={found.state} /> : <span class="quiet">not registered</span>}</span>;
}
