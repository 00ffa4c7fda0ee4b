// What an agent is held to: constraints with who laid them and why, its constitution, and the context it shared.
import type { VNode } from "preact";
import { type Shape, get } from "../api/client";
import { useAsk } from "../api/use";
import { href } from "../router";
import { AgentName, AgentNames, Await, Card, Chip, KeyValue, Table, Text, Time } from "../ui";
import type { Agent } from "./stop";

type Constraint = Shape<"Constraint">;

/** What is told whole: whoever is not cleared for it is told a flag. */
const whole = <T,>(value: T | boolean | null | undefined): T | undefined => (value === null || typeof value === "boolean" ? undefined : value);

export function Held({ agent }: { agent: Agent }): VNode {
  const creed = whole(agent.constitution);
  const context = whole(agent.context);
  return (
    <>
      {agent.clearance === "flags" ? <Flags agent={agent} /> : <InForce agent={agent} />}
      {(creed || context) && (
        <div class="grid gap">
          {creed && <Creed of={creed} />}
          {context && <Context of={context} />}
        </div>
      )}
    </>
  );
}

/** That something applies, for those who are not cleared to see what or why. */
function Flags({ agent }: { agent: Agent }): VNode {
  const flag = (applies: unknown): string => (applies === true ? "yes" : "none");
  return (
    <Card title="What applies">
      <KeyValue of={[
        ["Constraints", flag(agent.constraints)],
        ["Constitution", flag(agent.constitution)],
        ["Context", flag(agent.context)],
      ]} />
      <p class="quiet">What they are and why is for the agent, those above it, operators and auditors.</p>
    </Card>
  );
}

const entry = (position: number): VNode => <a class="nums" href={href(["messages", position])}>entry {position}</a>;
const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function InForce({ agent }: { agent: Agent }): VNode {
  const asked = useAsk((signal) => get("/v1/constraints", { query: { agent: agent.id }, signal }), [agent.id, agent.constraints]);
  return (
    <Card title="Constraints in force">
      <Await asked={asked}>
        {({ constraints, effective }) => (
          <div class="stack">
            {(whole(constraints) ?? []).length > 0 && <Sum of={effective} />}
            <Table label="Constraints in force" rows={whole(constraints) ?? []} id={(one) => `${one.position} ${one.type} ${one.inherited_from ?? ""} ${shown(one.value)}`} empty={<p class="quiet">None. Nobody laid one on it, or on those above it.</p>} columns={[
              { head: "Type", cell: (one) => <span class="nums"><Text value={one.type} mono /></span> },
              { head: "Demands", cell: (one) => <Text value={shown(one.value)} mono /> },
              { head: "Laid by", cell: (one) => <Source one={one} /> },
              { head: "Constitution", cell: (one) => <Text value={one.source_constitution_ref} mono />, wide: true },
              { head: "When", cell: (one) => <><Time at={one.laid_at} /> · {one.setter === "operator" ? <span class="nums">entry {one.position}</span> : entry(one.position)}</>, wide: true },
              { head: "Here", cell: (one) => (one.enforced ? <Chip tone="good">enforced</Chip> : <Chip>kept</Chip>) },
            ]} />
          </div>
        )}
      </Await>
    </Card>
  );
}

function Source({ one }: { one: Constraint }): VNode {
  return (
    <>
      {one.setter === "operator" ? "operator" : <AgentName id={one.setter} />}
      {one.inherited_from && <div class="quiet">on <AgentName id={one.inherited_from} />, above it</div>}
    </>
  );
}

/** What they add up to. */
function Sum({ of }: { of: Shape<"Constraints">["effective"] }): VNode {
  const topics = whole(of.topic_block) ?? [];
  const [audiences, tokens, floor] = [whole(of.audience_restrict), whole(of.token_limit), whole(of.safety_floor)];
  return (
    <KeyValue of={[
      ["Not to speak of", topics.length > 0 && <span class="keywords">{topics.map((topic) => <Chip key={topic} tone="bad">{topic}</Chip>)}</span>],
      ["Speaks only to", audiences && <AgentNames ids={audiences} most={12} />],
      ["Most tokens", tokens !== undefined && <span class="nums">{tokens.toLocaleString()} a message</span>],
      ["Least level", floor && <Chip tone="wait">{floor}</Chip>],
    ]} />
  );
}

function Creed({ of }: { of: Shape<"Constitution"> }): VNode {
  const clashes = of.clashes_with ?? [];
  const limits = Object.entries(of.scope ?? {}).filter(([, names]) => Array.isArray(names) && names.length > 0) as [string, readonly string[]][];
  return (
    <Card title="Constitution" tone={clashes.length > 0 ? "wait" : undefined}>
      <KeyValue of={[
        ["Announced", <Text value={of.constitution_ref} mono />],
        ["When", <><Time at={of.announced_at} /> · {entry(of.position)}</>],
        ["Manifest", <Text value={of.manifest_hash} mono />],
        ...limits.map(([name, values]) => [name.replaceAll("_", " "), <Text value={values.join(", ")} />] as const),
        ["Clashes with", clashes.length > 0 && <AgentNames ids={clashes} most={12} />],
      ]} />
    </Card>
  );
}

function Context({ of }: { of: Shape<"Situation"> }): VNode {
  return (
    <Card title="Context">
      <KeyValue of={[
        ["Shared", <span class="context"><Text value={of.context} /></span>],
        ["When", <><Time at={of.shared_at} /> · {entry(of.position)}</>],
        ["Change", <Chip tone={of.transition === "emergency" ? "bad" : of.transition === "major" ? "wait" : "plain"}>{of.transition}</Chip>],
        ["Under", <Text value={of.constitution_ref} mono />],
      ]} />
    </Card>
  );
}
