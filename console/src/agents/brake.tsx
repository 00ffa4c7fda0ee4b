// The brake where everybody finds it: a button in the head of every page that suspends an agent.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../api/client";
import { useAsk } from "../api/use";
import { everyAgent } from "./every";
import { Confirm, toast } from "../ui";
import { mayStop } from "./stop";

export function Brake(): VNode | null {
  const [asking, ask] = useState(false);
  if (!mayStop()) return null;
  return (
    <>
      <button type="button" class="brake" onClick={() => ask(true)}><span aria-hidden="true">■ </span>Stop an agent</button>
      {asking && <Stop close={() => ask(false)} />}
    </>
  );
}

function Stop({ close }: { close: () => void }): VNode {
  const [agent, choose] = useState("");
  const known = useAsk((signal) => everyAgent(signal), []);
  const running = known.data?.agents.filter((one) => one.state !== "suspended") ?? [];
  const act = async (reason: string): Promise<void> => {
    await post("/v1/agents/{id}/suspend", { path: { id: agent.trim() }, body: { reason: reason.trim() } });
    toast(`${agent.trim()} is suspended.`);
  };
  return (
    <Confirm title="Stop an agent" verb="Suspend" danger act={act} close={close} ask={{ label: "Reason", required: true, hint: "It is on the record, and the agent is told." }}>
      <p>It and its instances say nothing more until an operator resumes them. What it sent and nobody has taken yet is taken back.</p>
      <label>
        Agent
        <input class="whole" list="brake-agents" dir="auto" required autocomplete="off" spellcheck={false} value={agent} onInput={(event) => choose(event.currentTarget.value)} />
      </label>
      <datalist id="brake-agents">{running.map((one) => <option key={one.id} value={one.id} />)}</datalist>
    </Confirm>
  );
}
