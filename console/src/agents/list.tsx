// Every agent in a line: whether it runs, what it speaks, who is above it. Those that stand still come first.
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go, href } from "../router";
import { AgentName, DialectBadge, EmptyState, Rows } from "../ui";
import { type Act, type Agent, State, Stop, StopChoice, mayStop } from "./stop";

const STATES: readonly Agent["state"][] = ["suspended", "paused", "running"];

function fits(agent: Agent, words: string): boolean {
  const texts = [agent.id, agent.parent, agent.instance_of, agent.model, agent.environment, ...Object.values(agent.aliases), ...agent.groups, ...agent.purposes];
  return texts.some((text) => text?.toLowerCase().includes(words));
}

const order = (a: Agent, b: Agent): number => STATES.indexOf(a.state) - STATES.indexOf(b.state) || (a.id < b.id ? -1 : 1);

export function List({ agents, query, done }: { agents: readonly Agent[]; query: URLSearchParams; done: () => void }): VNode {
  const state = query.get("state") ?? "";
  const words = query.get("words") ?? "";
  const dialect = query.get("dialect") ?? "";
  const change = (name: string, value: string): void => go(href(["agents"], { state, words, dialect, [name]: value }), true);
  const shown = useMemo(
    () => agents.filter((one) => (!state || one.state === state) && (!dialect || one.dialects.some((name) => name === dialect)) && fits(one, words.trim().toLowerCase())).sort(order),
    [agents, state, dialect, words],
  );
  const [asking, ask] = useState<{ agent: Agent; act: Act }>();
  const box = useRef<HTMLDivElement>(null);
  const acted = useRef(false);
  // The line that was acted on moves to its new place, and loses the focus by that.
  useEffect(() => {
    if (acted.current && document.activeElement === document.body) box.current?.querySelector<HTMLElement>(".rows")?.focus();
    acted.current = false;
  }, [agents]);
  const many = (name: string): number => agents.filter((one) => one.state === name).length;
  const tall = matchMedia("(max-width: 46rem)").matches ? 60 : 44;
  return (
    <div class="stack">
      <div class="filters">
        <label><span class="sr">Find an agent</span><input type="search" dir="auto" placeholder="name, model, group…" value={words} onInput={(event) => change("words", event.currentTarget.value)} /></label>
        <span class="toggles choice" role="group" aria-label="States">
          <button type="button" aria-pressed={state === ""} onClick={() => change("state", "")}>all <span class="nums">{agents.length}</span></button>
          {[...STATES].reverse().map((name) => <button key={name} type="button" aria-pressed={state === name} onClick={() => change("state", name)}>{name} <span class="nums">{many(name)}</span></button>)}
        </span>
        <label class="theme"><span class="sr">Dialect</span>
          <select value={dialect} onChange={(event) => change("dialect", event.currentTarget.value)}>
            <option value="">any dialect</option>
            {["vcp", "acl", "cap", "vlp"].map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
      </div>
      {shown.length === 0
        ? <EmptyState title="No agent fits."><a href={href(["agents"])}>Show all</a></EmptyState>
        : <div ref={box} class={shown.length > 12 ? "agent-list long" : "agent-list"} style={shown.length > 12 ? {} : { height: `${shown.length * tall + 2}px` }}><Rows label="Agents" items={shown} height={tall} id={(one) => one.id} row={(one) => <Line agent={one} ask={(act) => ask({ agent: one, act })} />} /></div>}
      {asking && <Stop agent={asking.agent.id} act={asking.act} state={asking.agent.state} close={() => ask(undefined)} done={() => { acted.current = true; done(); }} />}
    </div>
  );
}

function Line({ agent, ask }: { agent: Agent; ask: (act: Act) => void }): VNode {
  return (
    <div class={mayStop() ? "agent-line" : "agent-line no-acts"}>
      <State is={agent.state} />
      <AgentName id={agent.id} />
      <span class="agent-speaks">{agent.dialects.map((name) => <DialectBadge key={name} of={name} />)}</span>
      <span class="agent-above quiet">{agent.instance_of ? <>copy of <AgentName id={agent.instance_of} link={false} /></> : agent.parent ? <>under <AgentName id={agent.parent} link={false} /></> : ""}</span>
      <span class="agent-waiting quiet nums" title="Messages that wait in its mailbox">{agent.waiting !== undefined && agent.waiting > 0 && <>{agent.waiting.toLocaleString()} waiting</>}</span>
      {mayStop() && <span class="agent-acts"><StopChoice agent={agent.id} state={agent.state} ask={ask} /></span>}
    </div>
  );
}
