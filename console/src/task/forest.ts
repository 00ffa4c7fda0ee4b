// Tasks as trees: which are asked for, and in which order they stand below each other.
import { type Shape, get, serverNow } from "../api/client";

export type Task = Shape<"Task">;
export type State = Task["state"];

const GOING = ["open", "in_review", "waits_for_user"] as const;
const WRONG = ["failed", "expired"] as const;
const ENDED = ["done", "closed"] as const;

/** What can be asked for, by name. */
export const GROUPS: Readonly<Record<string, readonly State[]>> = {
  "not done": [...GOING, ...WRONG],
  "going on": GOING,
  "gone wrong": WRONG,
  "all": [...GOING, ...WRONG, ...ENDED],
};
export const STATES: readonly State[] = [...GOING, ...WRONG, ...ENDED];
export const FIRST = "not done";

export const isGoing = (task: { readonly state: State }): boolean => (GOING as readonly State[]).includes(task.state);
export const isWrong = (task: { readonly state: State }): boolean => (WRONG as readonly State[]).includes(task.state);
/** Its time ran out, whether the exchange has said so yet or not. */
export const isLate = (task: Pick<Task, "state" | "deadline">, now = serverNow()): boolean =>
  task.state === "expired" || (isGoing(task) && Date.parse(task.deadline) < now);

const PAGE = 1000;
/** The most of each state that is asked for. */
const MOST = 5000;

export interface Asked {
  readonly tasks: readonly Task[];
  /** Whether there are more than are shown. */
  readonly more: boolean;
}

/** Every task in these states, with this agent among its parties where one is named. */
export async function ask(group: string, agent: string, signal: AbortSignal): Promise<Asked> {
  const states = GROUPS[group] ?? [group as State];
  const found = await Promise.all(states.map((state) => all(state, agent, signal)));
  const tasks = found.flatMap((one) => one.tasks).sort((a, b) => a.position - b.position);
  return { tasks, more: found.some((one) => one.more) };
}

async function all(state: State, agent: string, signal: AbortSignal): Promise<Asked> {
  const tasks: Task[] = [];
  let after: number | undefined;
  while (tasks.length < MOST) {
    const query = { state, limit: PAGE, ...(agent ? { agent } : {}), ...(after === undefined ? {} : { after }) };
    const page = await get("/v1/tasks", { query, signal });
    tasks.push(...page.tasks);
    if (page.tasks.length < PAGE || page.next === null) return { tasks, more: false };
    after = page.next;
  }
  return { tasks, more: true };
}

export interface Row {
  readonly task: Task;
  /** How many of those it is a part of are shown above it. */
  readonly depth: number;
}

const key = (opener: string, id: string): string => `${opener}\n${id}`;

/** Trees, the newest first, parts below what they are parts of. With words, only what has them, and what it is a part of. */
export function rows(tasks: readonly Task[], words: string): Row[] {
  const known = new Map(tasks.map((task) => [key(task.opener, task.task_id), task]));
  const above = (task: Task): Task | undefined => (task.parent === null ? undefined : known.get(key(task.opener, task.parent)));
  const kept = words.trim() === "" ? undefined : fitting(tasks, words.trim().toLowerCase(), above);
  const parts = new Map<Task | undefined, Task[]>();
  for (const task of tasks) {
    if (kept && !kept.has(task)) continue;
    const parent = above(task);
    const beside = parts.get(parent);
    if (beside) beside.push(task);
    else parts.set(parent, [task]);
  }
  const listed: Row[] = [];
  const put = (task: Task, depth: number): void => {
    listed.push({ task, depth });
    for (const part of parts.get(task) ?? []) put(part, depth + 1);
  };
  for (const root of (parts.get(undefined) ?? []).toReversed()) put(root, 0);
  return listed;
}

function fitting(tasks: readonly Task[], words: string, above: (task: Task) => Task | undefined): Set<Task> {
  const kept = new Set<Task>();
  for (const task of tasks) {
    if (![task.task_id, task.delegator, task.assignee, task.opener].some((text) => text.toLowerCase().includes(words))) continue;
    for (let one: Task | undefined = task; one && !kept.has(one); one = above(one)) kept.add(one);
  }
  return kept;
}
