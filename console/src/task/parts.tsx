// Small parts of what tasks look like: their state, who waits for whom, when they must be done.
import type { VNode } from "preact";
import { href } from "../router";
import { AgentName, Chip, Countdown, Text, Time, type Tone } from "../ui";
import { type State, type Task, isGoing, isLate } from "./forest";

const LOOKS: Readonly<Record<State, readonly [string, Tone]>> = {
  open: ["open", "plain"],
  in_review: ["in review", "wait"],
  waits_for_user: ["waits for user", "wait"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
  expired: ["overdue", "bad"],
  closed: ["closed", "plain"],
};

export const stateName = (state: State): string => LOOKS[state][0];

export function TaskState({ task }: { task: Pick<Task, "state" | "deadline"> }): VNode {
  const [name, tone] = isLate(task) ? LOOKS.expired : LOOKS[task.state];
  return <Chip tone={tone}>{name}</Chip>;
}

export const taskHref = (task: Pick<Task, "task_id" | "opener">, query: Readonly<Record<string, string | undefined>> = {}): string =>
  href(["tasks", task.task_id], { ...query, opener: task.opener });

type Standing = Pick<Task, "state" | "delegator" | "assignee" | "overseer">;

/** Whom the next step of a task waits for. `person`: its overseer is not here. */
export function waitsFor(task: Standing, person: boolean): readonly [who: string, whom: string] | undefined {
  switch (task.state) {
    case "open":
      return [task.delegator, task.assignee];
    case "in_review":
      return [task.assignee, person ? "a person" : (task.overseer ?? "a person")];
    case "waits_for_user":
      return [task.assignee, "user"];
    case "done":
    case "failed":
    case "expired":
    case "closed":
      return undefined;
  }
}

export function Waits({ task, person, link = false }: { task: Standing; person: boolean; link?: boolean }): VNode {
  const found = waitsFor(task, person);
  const [from, to] = found ?? [task.delegator, task.assignee];
  return (
    <span class="way">
      <Party id={from} link={link} />
      {found ? <span class="quiet arrow">waits for</span> : <span class="arrow" aria-label="handed to">→</span>}
      <Party id={to} link={link} />
    </span>
  );
}

/** People have no page of an agent. */
export const isAgent = (id: string): boolean => !["user", "orchestrator", "a person", "operator"].includes(id);

export function Party({ id, link = true }: { id: string; link?: boolean }): VNode {
  return <AgentName id={id} link={link && isAgent(id)} />;
}

/** When it must be done, or when it ended. */
export function Due({ task }: { task: Pick<Task, "state" | "deadline" | "ended_at"> }): VNode {
  if (isGoing(task)) return <Countdown until={task.deadline} />;
  return task.ended_at ? <span class="quiet"><Time at={task.ended_at} /></span> : <span class="quiet">–</span>;
}

export function TaskId({ id }: { id: string }): VNode {
  return <Text value={id} clip mono />;
}
