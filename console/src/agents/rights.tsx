// What an agent may do by its CAP manifest, and what it told the directory that it can.
import type { VNode } from "preact";
import { AgentName, Card, Chip, Code, KeyValue, Table, Text } from "../ui";
import type { Agent } from "./stop";

interface Binding {
  readonly server_id: string;
  readonly scopes: readonly string[];
  readonly allowed_tools: readonly string[];
  readonly description?: string;
}

interface Manifest {
  readonly overseer?: string | null;
  readonly allowed_agents?: readonly string[];
  readonly delegate_rules?: Readonly<Record<string, { readonly when_to_delegate?: string }>>;
  readonly mcp_bindings?: readonly Binding[];
  readonly system_prompt?: unknown;
}

const nameOf = (what: string | { readonly name: string }): string => (typeof what === "string" ? what : what.name);
const chips = (of: readonly string[] | undefined): VNode => (of?.length ? <span class="keywords">{of.map((name) => <Chip key={name}>{name}</Chip>)}</span> : <span class="quiet">none</span>);

export function Rights({ agent }: { agent: Agent }): VNode {
  const manifest = agent.manifest as Manifest | null;
  const can = agent.capabilities;
  return (
    <Card title="Rights" actions={manifest && <span class="quiet nums">manifest {agent.manifest_version}</span>}>
      <div class="stack">
        {manifest ? <Granted manifest={manifest} /> : <p class="quiet">{agent.instance_of ? "It has no CAP manifest of its own: that of the agent it is a copy of counts." : "It has no CAP manifest: it hands over no CAP tasks, brings no results of MCP tools, and nobody oversees its work."}</p>}
        {can && <KeyValue of={[["Knows about", can.topics?.length ? chips(can.topics.map(nameOf)) : false], ["Can do", can.actions?.length ? chips(can.actions.map(nameOf)) : false]]} />}
      </div>
    </Card>
  );
}

function Granted({ manifest }: { manifest: Manifest }): VNode {
  const to = manifest.allowed_agents ?? [];
  const bindings = manifest.mcp_bindings ?? [];
  return (
    <>
      <KeyValue of={[["Overseen by", manifest.overseer ? <AgentName id={manifest.overseer} /> : <span class="quiet">nobody</span>], ["Hands tasks to", to.length === 0 && <span class="quiet">nobody</span>], ["MCP tools", bindings.length === 0 && <span class="quiet">none</span>]]} />
      {to.length > 0 && (
        <Table label="Whom it may hand tasks to" rows={to} id={(id) => id} columns={[
          { head: "Hands tasks to", cell: (id) => <AgentName id={id} /> },
          { head: "When", cell: (id) => <Text value={manifest.delegate_rules?.[id]?.when_to_delegate ?? ""} /> },
        ]} />
      )}
      {bindings.length > 0 && (
        <Table label="MCP tools it may use" rows={bindings} id={(one) => one.server_id} columns={[
          { head: "MCP server", cell: (one) => <span class="nums"><Text value={one.server_id} mono /></span> },
          { head: "Tools", cell: (one) => chips(one.allowed_tools) },
          { head: "Scopes", cell: (one) => chips(one.scopes) },
          { head: "What for", cell: (one) => <Text value={one.description ?? ""} />, wide: true },
        ]} />
      )}
      {typeof manifest.system_prompt === "string" && <details><summary>System prompt</summary><Code value={manifest.system_prompt} label="System prompt" /></details>}
    </>
  );
}
