// The first run: how to connect an agent in each dialect, and a demo to look at.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Problem, get, post } from "../api/client";
import { counted } from "../api/feed";
import { asProblem, useAsk } from "../api/use";
import { go, href } from "../router";
import { Card, Code, Copy, ErrorState, PageHead } from "../ui";

const here = location.origin;

const REGISTER = `KEY=$(legation keygen --out planner.pem)
curl -sS -X PUT ${here}/v1/agents/planner -H 'Content-Type: application/json' -d "{\\"keys\\": [\\"$KEY\\"]}" > planner.json
curl -sS -X PUT ${here}/v1/agents/writer -H 'Content-Type: application/json' -d '{}' > writer.json
TOKEN=$(python3 -c 'import json; print(json.load(open("planner.json"))["token"])')`;

function send(message: string): string {
  return `curl -sS ${here}/v1/messages -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d @- <<EOF\n${message}\nEOF`;
}

interface Way {
  readonly name: string;
  readonly about: string;
  readonly code: string;
}

const WAYS: readonly Way[] = [
  {
    name: "VCP",
    about: "Inter-agent messaging 1.2: contexts, constitutions, constraints and escalations. The sender signs it, so no token is needed.",
    code: `hex=$(printf '%012x' "$(($(date +%s) * 1000))")$(od -An -N10 -tx1 /dev/urandom | tr -d ' \\n')\nid=\${hex:0:8}-\${hex:8:4}-7\${hex:13:3}-8\${hex:17:3}-\${hex:20:12}\ncat > message.json <<EOF\n{"vcp_message": "1.2", "type": "context_share", "message_id": "$id", "sender": "planner", "recipient": "writer",
 "timestamp": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
 "payload": {"context": "⏰🌅|📍🏡", "constitution_ref": "creed://creed.space/family.safe.guide@1.2.0"}}\nEOF\nlegation sign --key planner.pem message.json | curl -sS ${here}/.well-known/vcp/messages -H 'Content-Type: application/json' --data-binary @-`,
  },
  {
    name: "ElizaOS",
    about: "The agent language (acl): performatives, replies, capabilities. Conversations are held to their order.",
    code: send(`{"mcp_version": "0.1.0", "message_id": "$(cat /proc/sys/kernel/random/uuid)", "performative": "TASK_REQUEST",
 "sender": {"agent_id": "planner"}, "receiver": {"agent_id": "writer"}, "language": "application/json",
 "ontology": "elizaos:ontology:code/python/debug_request", "timestamp": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
 "payload": {"task_type": "debug_code", "task_description": "Find out why the list ends early.", "task_parameters": {}}}`),
  },
  {
    name: "CAP",
    about: "Tasks handed from agent to agent, with rights that only narrow, overseers and deadlines.",
    code: send(`{"type": "message", "task_id": "T1", "sender_id": "planner", "recipient_id": "writer",\n "content": "Chapter one, please."}`),
  },
  {
    name: "VLP",
    about: "Claims with their confidence and where they come from. What must be reviewed waits for a person.",
    code: send(`{"id": "MSG-$(date +%s)", "protocol": "VLP/1.1", "type": "claim", "timestamp": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
 "sender": "planner", "receiver": "writer", "content": "The nightly backup finished.",
 "confidence": 0.8, "provenance": ["backup_log"], "keywords": ["backup", "nightly", "ops"]}`),
  },
];

/** Something to copy and run. */
function Run({ code, label }: { code: string; label: string }): VNode {
  return <div class="run"><Code value={code} label={label} /><Copy text={code} /></div>;
}

/** The demo at the press of a button, for those who may and where it gets in nobody's way. */
function Play(): VNode | null {
  const asked = useAsk((signal) => get("/v1/demo", { signal }), [], 3000);
  const [error, setError] = useState<Problem>();
  const play = (): void => {
    setError(undefined);
    post("/v1/demo").then(() => go(href([""])), (problem: unknown) => setError(asProblem(problem)));
  };
  if (asked.data?.playing) return <p role="status">It is being played. <a href={href([""])}>Look at it</a></p>;
  if (!asked.data?.offered) return null;
  return (
    <>
      <div class="actions"><button type="button" class="primary" onClick={play}>Play the demo</button><span class="quiet">It takes about a minute. Its agents are called <code>demo-…</code> and <code>agent://demo/…</code>.</span></div>
      {asked.data.failed && <p class="quiet">The last time it broke off; the exchange’s log says how.</p>}
      {error && <ErrorState error={error} />}
      <p class="quiet">Or by hand:</p>
    </>
  );
}

export function Start(): VNode {
  const [way, choose] = useState(0);
  const chosen = WAYS[way] as Way;
  const isFirst = (counted.value.at(-1)?.agents ?? 1) === 0;
  return (
    <>
      <PageHead title={isFirst ? "No agents yet" : "Connect an agent"} about="Three ways to begin. This page comes alive by itself." />
      <div class="grid">
        <Card title="See it at work">
          <div class="stack">
            <p>The demo plays the protocols’ own stories on this exchange: a sales report with a review, a repair between two coding agents, an observer whose claim waits for a person, an alarm that stops an agent.</p>
            <Play />
            <Run code={`legation demo --url ${here}`} label="The demo" />
            <p class="quiet">In a second terminal, on the machine the exchange runs on. <a href={href([""])}>Now</a> shows it as it happens.</p>
          </div>
        </Card>
        <Card title="Or register two agents">
          <div class="stack">
            <p>On this machine anybody may register new agents, unless the configuration says otherwise. The planner brings a key to sign with; each answer holds the agent’s token, once.</p>
            <Run code={REGISTER} label="Register two agents" />
          </div>
        </Card>
      </div>
      <Card title="And let one speak">
        <div class="stack">
          <div class="toggles choice" role="group" aria-label="Dialects">
            {WAYS.map(({ name }, n) => <button key={name} type="button" aria-pressed={n === way} onClick={() => choose(n)}>{name}</button>)}
          </div>
          <p>{chosen.about}</p>
          <Run code={chosen.code} label={`A message in ${chosen.name}`} />
          <p class="quiet">The answer says <code>accepted</code> once the message is durable. The other one reads it with <code>legation inbox writer</code>, by HTTP, as a stream or over a WebSocket.</p>
        </div>
      </Card>
    </>
  );
}

export default Start;
