// One agent: whether it runs, what it may do, what it is held to, who is above and below it, what waits for it.
import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";
import { get, session } from "../api/client";
import { useLive } from "../api/live";
import { href } from "../router";
import { Await, Card, Chip, DialectBadge, EmptyState, KeyValue, PageHead, Text } from "../ui";
import { Ask, type Asking, Past, Raised } from "./alarms";
import { type Escalation, everyEscalation } from "./escalations";
import { Held } from "./held";
import { Keys } from "./keys";
import { Mailbox } from "./mailbox";
import { Rights } from "./rights";
import { type Agent, State, StopButtons } from "./stop";
import { NewToken, Once } from "./token";
import { touches } from "./touches";
import { Tree } from "./tree";
import { Why } from "./why";

export function AgentPage({ id }: { id: string }): VNode {
  const asked = useLive((signal) => get("/v1/agents/{id}", { path: { id }, signal }), [id], touches);
  const alarms = useLive((signal) => everyEscalation({ agent: id }, signal), [id], touches);
  const done = useCallback(() => {
    asked.reload();
    alarms.reload();
  }, [asked.reload, alarms.reload]);
  const agent = asked.data;
  const gone = asked.error?.status === 404;
  return (
    <>
      <PageHead title={<Text value={id} />} about={<><a href={href(["agents"])}>Agents</a> · <a href={href(["messages"], { party: id })}>Its messages</a></>}>
        {agent && <><State is={agent.state} />{agent.connected && <Chip tone="good">connected</Chip>}<StopButtons agent={agent.id} state={agent.state} done={done} /></>}
      </PageHead>
      {gone && <EmptyState title="No agent of this name is registered."><Text value={asked.error?.message ?? ""} /></EmptyState>}
      {!gone && (
        <Await asked={asked}>
          {(one) => (
            <>
              {one.state !== "running" && <Why agent={one} />}
              {alarms.data && <Escalations all={alarms.data} done={done} />}
              <div class="grid"><About agent={one} /><Tree of={one} /></div>
              <Held agent={one} />
              <Rights agent={one} />
              <Keys agent={one} />
              {session.value?.role !== "reviewer" && <Mailbox id={one.id} waiting={one.waiting} />}
              <Closed id={one.id} />
            </>
          )}
        </Await>
      )}
    </>
  );
}

/** Asked for only once somebody wants to see them. */
function Closed({ id }: { id: string }): VNode {
  const [open, set] = useState(false);
  return <Card title="Closed escalations"><details onToggle={(event) => set(event.currentTarget.open)}><summary>Show the last</summary>{open && <Past agent={id} />}</details></Card>;
}

function Escalations({ all, done }: { all: readonly Escalation[]; done: () => void }): VNode {
  const [asking, ask] = useState<Asking>();
  const open = all.filter((one) => one.state !== "closed");
  return (
    <>
      {open.length > 0 && <Card title="Open escalations" tone="bad"><ul class="raised">{open.map((one) => <Raised key={one.position} one={one} ask={ask} />)}</ul></Card>}
      {asking && <Ask {...asking} close={() => ask(undefined)} done={done} />}
    </>
  );
}

const words = (of: readonly string[] | undefined): VNode | false => of !== undefined && of.length > 0 && <span class="keywords">{of.map((word) => <Chip key={word}>{word}</Chip>)}</span>;

function About({ agent }: { agent: Agent }): VNode {
  const [token, set] = useState<string>();
  const aliases = Object.entries(agent.aliases);
  return (
    <Card title="About" actions={<NewToken id={agent.id} got={set} />}>
      {token && <div class="new-token"><Once agent={agent.id} token={token}><button type="button" onClick={() => set(undefined)}>Done</button></Once></div>}
      <KeyValue of={[
        ["Speaks", agent.dialects.length > 0 ? <span class="keywords">{agent.dialects.map((name) => <DialectBadge key={name} of={name} />)}</span> : <span class="quiet">no dialect was named</span>],
        ["Also called", aliases.length > 0 && <ul>{aliases.map(([dialect, name]) => <li key={dialect}><Text value={String(name)} /> <span class="quiet">in {dialect}</span></li>)}</ul>],
        ["Model", agent.model && <Text value={agent.model} />],
        ["Environment", agent.environment && <Text value={agent.environment} />],
        ["Purposes", words(agent.purposes)],
        ["Groups", words(agent.groups)],
        ["Languages", words(agent.languages)],
        ["Ontologies", words(agent.ontologies)],
        ["Brought to", agent.push?.url && <Text value={agent.push.url} mono />],
        ["Registered", <span class="nums">by entry {agent.since}</span>],
      ]} />
    </Card>
  );
}
