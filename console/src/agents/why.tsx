// Why an agent stands still, in the words the exchange told it.
import type { VNode } from "preact";
import { get } from "../api/client";
import { useAsk } from "../api/use";
import { href } from "../router";
import { Card, Text, Time } from "../ui";
import type { Agent } from "./stop";

interface Told {
  readonly says: string;
  readonly position: number;
  readonly at: string;
}

/** The text among a message's members, in whichever dialect the agent was told. */
function found(value: unknown, begins: string): string | undefined {
  if (typeof value === "string") return value.startsWith(begins) ? value.slice(begins.length).trim() : undefined;
  if (value === null || typeof value !== "object") return undefined;
  for (const member of Object.values(value)) {
    const text = found(member, begins);
    if (text) return text;
  }
  return undefined;
}

/** Only what the exchange itself said counts: others could write the same words. */
async function told(agent: string, state: Agent["state"], signal: AbortSignal): Promise<Told | null> {
  const { checkpoint } = await get("/v1/audit/head", { signal });
  if (!checkpoint) return null;
  const query = { sender: `agent://${checkpoint.realm}/exchange`, recipient: agent, limit: 20, include: "message" as const };
  const { messages } = await get("/v1/messages", { query, signal });
  for (const one of messages) {
    const says = one.verdict === "refused" ? undefined : found(one.message, `You are ${state}.`);
    if (says) return { says, position: one.position, at: one.received_at };
  }
  return null;
}

export function Why({ agent, state }: { agent: string; state: Agent["state"] }): VNode {
  const asked = useAsk((signal) => told(agent, state, signal), [agent, state]);
  return (
    <Card tone={state === "suspended" ? "bad" : "wait"}>
      {asked.data
        ? <p>It is {state}. <Text value={asked.data.says} /> <a class="nums" href={href(["messages", asked.data.position])}><Time at={asked.data.at} /></a></p>
        : <p>It is {state}.</p>}
    </Card>
  );
}
