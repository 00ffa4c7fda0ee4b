// What becomes of a task that did not go well: tried again, given to another, taken to somebody with more rights.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, get, post, session } from "../api/client";
import { useAsk } from "../api/use";
import { everyAgent } from "../agents/every";
import { Confirm, Text, toast } from "../ui";
import { Party, isAgent } from "./parts";

type Whole = Shape<"WholeTask">;
type Act = "retry" | "reassign" | "escalate";

/** The exchange decides; this only leaves out what it would certainly refuse. */
function may(task: Whole): boolean {
  const role = session.value?.role;
  return role === "operator" || role === "orchestrator" || (role === "reviewer" && task.delegator === "user");
}

const WORDS: Readonly<Record<Act, string>> = { retry: "Try again", reassign: "Reassign", escalate: "Escalate" };

export function Acts({ task, changed }: { task: Whole; changed: () => void }): VNode | null {
  const [act, choose] = useState<Act>();
  if (!may(task)) return null;
  const over = task.state === "done" || task.state === "closed";
  const acts: readonly Act[] = over ? [] : task.state === "in_review" ? ["escalate"] : ["retry", "reassign", "escalate"];
  if (acts.length === 0) return null;
  const close = (): void => choose(undefined);
  const done = (says: string): void => {
    toast(says);
    changed();
  };
  return (
    <div class="actions task-acts">
      {acts.map((one) => (
        <button key={one} type="button" class={task.remedy === one ? "primary" : undefined} onClick={() => choose(one)}>
          {WORDS[one]}{task.remedy === one && <span class="sr">, as its error suggests</span>}
        </button>
      ))}
      {task.remedy === "mend" && <span class="quiet">Its error suggests to mend what was asked for.</span>}
      {act === "retry" && <Retry task={task} close={close} done={done} />}
      {act === "reassign" && <Reassign task={task} close={close} done={done} />}
      {act === "escalate" && <Escalate task={task} close={close} done={done} />}
    </div>
  );
}

interface Props {
  readonly task: Whole;
  readonly close: () => void;
  readonly done: (says: string) => void;
}

const named = (task: Whole) => ({ path: { id: task.task_id }, query: { opener: task.opener } });

function Retry({ task, close, done }: Props): VNode {
  const act = async (): Promise<void> => {
    await post("/v1/tasks/{id}/retry", named(task));
    done(`${task.task_id} was handed to ${task.assignee} again.`);
  };
  return (
    <Confirm title={`Try ${task.task_id} again?`} verb="Try again" act={act} close={close}>
      <p class="affected"><Party id={task.assignee} link={false} /> gets the delegation once more as it was sent, with a new deadline. It was handed over {task.tries === 1 ? "once" : `${task.tries} times`} so far.</p>
    </Confirm>
  );
}

function Reassign({ task, close, done }: Props): VNode {
  const [to, choose] = useState("");
  const allowed = useAllowed(task);
  const act = async (): Promise<void> => {
    await post("/v1/tasks/{id}/reassign", { ...named(task), body: { to: to.trim() } });
    done(`${task.task_id} was handed to ${to.trim()}.`);
  };
  return (
    <Confirm title={`Give ${task.task_id} to somebody else?`} verb="Reassign" act={act} close={close}>
      <p class="affected"><Party id={task.assignee} link={false} /> loses it and is told. Whoever gets it is told what to do, with a new deadline.</p>
      <label>
        To which agent
        <input type="text" dir="auto" required list="reassign-to" autocomplete="off" value={to} onInput={(event) => choose(event.currentTarget.value)} />
        <span class="quiet">One that <Text value={task.delegator} /> may delegate to{allowed && allowed.length === 0 ? ": nobody else is allowed in its manifest" : ""}.</span>
      </label>
      <datalist id="reassign-to">{allowed?.map((id) => <option key={id} value={id} />)}</datalist>
    </Confirm>
  );
}

/** Those the task may go to: its delegator's manifest names them, people delegate to anybody. */
function useAllowed(task: Whole): readonly string[] | undefined {
  const asked = useAsk(async (signal) => {
    if (!isAgent(task.delegator)) return (await everyAgent(signal)).agents.map((agent) => agent.id);
    const delegator = await get("/v1/agents/{id}", { path: { id: task.delegator }, signal });
    const named = (delegator.manifest as { allowed_agents?: unknown } | null)?.allowed_agents;
    return Array.isArray(named) ? named.filter((id): id is string => typeof id === "string") : [];
  }, [task.delegator]);
  return asked.data?.filter((id) => id !== task.assignee && id !== task.delegator);
}

function Escalate({ task, close, done }: Props): VNode {
  const act = async (): Promise<void> => {
    await post("/v1/tasks/{id}/escalate", named(task));
    done(`${task.task_id} was escalated.`);
  };
  return (
    <Confirm title={`Escalate ${task.task_id}?`} verb="Escalate" act={act} close={close}>
      <p class="affected">It is taken to whom <Party id={task.delegator} link={false} /> works for, else to its overseer{task.overseer && <>, <Party id={task.overseer} link={false} /></>}, else to the operators. They are told that you ask for help with it.</p>
    </Confirm>
  );
}
