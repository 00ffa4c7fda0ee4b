// Why an agent stands still: by whose word, since when, and the reason they gave.
import type { VNode } from "preact";
import { href } from "../router";
import { Card, Text, Time } from "../ui";
import type { Agent } from "./stop";

export function Why({ agent: { state, stopped } }: { agent: Agent }): VNode {
  if (!stopped) return <Card tone={state === "suspended" ? "bad" : "wait"}><p>It is {state}.</p></Card>;
  const since = <Time at={stopped.since} />;
  return (
    <Card tone={state === "suspended" ? "bad" : "wait"}>
      <p>
        It was {state} {stopped.escalation === null ? since : <a class="nums" href={href(["messages", stopped.escalation])}>{since}</a>}{" "}
        by <Text value={stopped.by} />{stopped.escalation === null ? "" : ", who escalated"}{stopped.reason === null ? "; the reason is not kept any more." : <>: <Text value={stopped.reason} /></>}
      </p>
    </Card>
  );
}
