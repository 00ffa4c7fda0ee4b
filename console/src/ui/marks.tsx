// Small marks of a line: verdicts, dialects, states, names of agents. Never by colour alone.
import type { VNode } from "preact";
import { href } from "../router";
import { hasPage } from "../pages";
import { Text, shown } from "./text";
import { plainly } from "./unseen";

const SIGNS: Readonly<Record<string, string>> = { accepted: "✓", held: "‖", refused: "✕", duplicate: "=" };

export function Verdict({ is }: { is: string }): VNode {
  return <span class={`chip verdict-${is}`}><span aria-hidden="true">{SIGNS[is] ?? "·"}</span> {is}</span>;
}

export function DialectBadge({ of }: { of: string }): VNode {
  return <span class={`badge dialect-${of}`}>{of}</span>;
}

/** A state or a severity as a chip: `tone` says how much it matters. */
export function Chip({ children, tone = "plain" }: { children: string; tone?: Tone }): VNode {
  return <span class={`chip tone-${tone}`}><bdi>{shown(children)}</bdi></span>;
}
export type Tone = "plain" | "good" | "wait" | "bad";

// The end of an address tells agents apart, so that is what stays when there is no room.
const ADDRESS = /^(agent:\/\/[\x21-\x7e]*)(\/[^/]*)$/;

function Name({ id }: { id: string }): VNode {
  const [, head, tail] = ADDRESS.exec(id) ?? [];
  if (!head || !tail) return <Text value={id} clip />;
  return <bdi class="address" title={id}><span class="clip">{head}</span><span class="clip">{tail}</span></bdi>;
}

/** Who was refused something, as an id: `agent ann` is ann. */
export const refusedId = (by: string): string => by.replace(/^agent /, "");

/** Leads to the agent where there is a page for that, and to its messages otherwise. */
export function AgentName({ id, link = true }: { id: string; link?: boolean }): VNode {
  const name = <Name id={id} />;
  if (!link) return <span class="agent">{name}</span>;
  const to = hasPage("agents") ? href(["agents", id]) : href(["messages"], { party: id });
  return <a class="agent" href={to}>{name}</a>;
}

/** Several agents, and how many more there are. */
export function AgentNames({ ids, of, link = true, most = 3 }: { ids: readonly string[]; of?: number; link?: boolean; most?: number }): VNode {
  const more = (of ?? ids.length) - Math.min(ids.length, most);
  return (
    <span class="agents">
      {ids.slice(0, most).map((id) => <AgentName key={id} id={id} link={link} />)}
      {more > 0 && <span class="quiet" title={ids.slice(most).map(plainly).join("\n")}>+{more}</span>}
      {ids.length === 0 && <span class="quiet">nobody</span>}
    </span>
  );
}
