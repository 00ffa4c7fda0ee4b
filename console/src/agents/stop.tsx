// The brake: suspending an agent and letting it go on, with a reason that is on the record.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, post, session } from "../api/client";
import { Chip, Confirm, Text, type Tone, toast } from "../ui";

export type Agent = Shape<"Agent">;

const TONES: Readonly<Record<Agent["state"], Tone>> = { running: "good", paused: "wait", suspended: "bad" };
const SIGNS: Readonly<Record<Agent["state"], string>> = { running: "▸", paused: "‖", suspended: "■" };

export function State({ is }: { is: Agent["state"] }): VNode {
  return <Chip tone={TONES[is]}>{`${SIGNS[is]} ${is}`}</Chip>;
}

/** Only operators stop and resume. */
export const mayStop = (): boolean => session.value?.role === "operator";

export type Act = "suspend" | "resume";

/** Suspend for who is running; resume, and suspend, for who is paused. */
export function StopChoice({ agent, state, ask }: { agent: string; state: Agent["state"]; ask: (act: Act) => void }): VNode {
  const name = <span class="sr"> {agent}</span>;
  return (
    <>
      {state !== "running" && <button type="button" key="resume" onClick={() => ask("resume")}>Resume{name}</button>}
      {state !== "suspended" && <button type="button" key="suspend" onClick={() => ask("suspend")}>Suspend{name}</button>}
    </>
  );
}

/** The buttons with their dialog. Not within `Rows`, whose keys a dialog would share. */
export function StopButtons({ agent, state, done }: { agent: string; state: Agent["state"]; done: () => void }): VNode | null {
  const [asking, ask] = useState<Act>();
  if (!mayStop()) return null;
  return (
    <>
      <StopChoice agent={agent} state={state} ask={ask} />
      {asking && <Stop agent={agent} act={asking} state={state} close={() => ask(undefined)} done={done} />}
    </>
  );
}

export function Stop({ agent, act, state, close, done }: { agent: string; act: Act; state: Agent["state"]; close: () => void; done: () => void }): VNode {
  const order = async (reason: string): Promise<void> => {
    const options = { path: { id: agent }, body: { reason: reason.trim() } };
    await (act === "suspend" ? post("/v1/agents/{id}/suspend", options) : post("/v1/agents/{id}/resume", options));
    toast(act === "suspend" ? `${agent} is suspended.` : `${agent} runs again.`);
    done();
  };
  const ask = { label: "Reason", required: true, hint: "It is on the record, and the agent is told." };
  if (act === "suspend") {
    return (
      <Confirm title="Suspend this agent?" verb="Suspend" danger act={order} close={close} ask={ask}>
        <p><strong><Text value={agent} /></strong> and its instances say nothing more until they are resumed. What it sent and nobody has taken yet is taken back. It still reads its mailbox.</p>
      </Confirm>
    );
  }
  return (
    <Confirm title="Let this agent go on?" verb="Resume" act={order} close={close} ask={ask}>
      <p><strong><Text value={agent} /></strong> is {state}. It and its instances go on, whatever stopped them, and the escalations that did are closed.</p>
    </Confirm>
  );
}
