// Tasks: what was handed to whom, as trees or along the time; what is overdue; one opened beside the list.
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { serverNow } from "../api/client";
import { useLive } from "../api/live";
import { useAsk } from "../api/use";
import { everyAgent } from "../agents/every";
import type { PageProps } from "../pages";
import { go, href } from "../router";
import { FIRST, GROUPS, type Row, STATES, ask, isGoing, isLate, rows } from "../task/forest";
import { Due, TaskId, TaskState, Waits, stateName, taskHref } from "../task/parts";
import { Sight } from "../task/sight";
import { Bar, SPANS, Scale, axisOf } from "../task/timeline";
import { Await, EmptyState, PageHead, Rows } from "../ui";
import { rowHeight, rowId, useOpened } from "../ui/opened";

const FIELDS = ["state", "agent", "words", "view", "span"] as const;
type Field = (typeof FIELDS)[number];
type Wanted = Partial<Record<Field, string>>;

export default function Tasks({ rest, query }: PageProps): VNode {
  const wanted: Wanted = Object.fromEntries(FIELDS.flatMap((field) => (query.get(field) ? [[field, query.get(field)]] : [])));
  const { state = FIRST, agent = "" } = wanted;
  const asked = useLive((signal) => ask(state, agent, signal), [state, agent], (entry) => entry.dialect === undefined || entry.dialect === "cap");
  const names = useAsk((signal) => everyAgent(signal), [], 30_000).data?.agents.map((agent) => agent.id);
  const [id, opener] = [rest[0], query.get("opener") ?? undefined];
  useOpened(id === undefined ? undefined : `${opener ?? ""} ${id}`);
  return (
    <>
      <PageHead title="Tasks" about="What was handed to whom, who waits for whom, and what is overdue." />
      <Filters wanted={wanted} names={names ?? []} />
      <div class={id ? "messages split" : "messages"}>
        <div class="list">
          <Await asked={asked}>{({ tasks, more }) => <Listed tasks={tasks} more={more} wanted={wanted} names={names} id={id} opener={opener} />}</Await>
        </div>
        {id && <Sight key={`${opener} ${id}`} id={id} opener={opener} wanted={wanted} changed={asked.reload} />}
      </div>
    </>
  );
}

type Listing = { tasks: readonly Row["task"][]; more: boolean; wanted: Wanted; names: readonly string[] | undefined; id: string | undefined; opener: string | undefined };

function Listed({ tasks, more, wanted, names, id, opener }: Listing): VNode {
  const listed = useMemo(() => rows(tasks, wanted.words ?? ""), [tasks, wanted.words]);
  const now = serverNow();
  const axis = useMemo(() => axisOf(tasks, wanted.span ?? "everything", now), [tasks, wanted.span]);
  if (listed.length === 0) return <Nothing wanted={wanted} />;
  const timeline = wanted.view === "timeline";
  const here = new Set(names);
  const isAlone = (task: Row["task"]): boolean => task.overseer !== null && names !== undefined && !here.has(task.overseer);
  const line = ({ task, depth }: Row): VNode => {
    const isOpen = task.task_id === id && (opener === undefined || task.opener === opener);
    return (
      <a class={timeline ? "line task task-time" : "line task"} id={rowId(`${task.opener} ${task.task_id}`)} href={taskHref(task, wanted)} aria-current={isOpen ? "true" : undefined}>
        <span class="twig" style={{ paddingInlineStart: `${Math.min(depth, 8) * 1.1}rem` }}>
          {depth > 0 && <span class="quiet" aria-hidden="true">└</span>}<TaskId id={task.task_id} />
          {task.parent && <span class="sr">, a part of {task.parent}, </span>}
        </span>
        {timeline ? <Bar task={task} axis={axis} now={now} /> : <Waits task={task} person={isAlone(task)} />}
        <TaskState task={task} />
        {!timeline && <span class="due-in"><Due task={task} /></span>}
      </a>
    );
  };
  return (
    <>
      <Sum tasks={tasks} />
      {timeline && <Scale axis={axis} now={now} />}
      <Rows label="Tasks" items={listed} height={rowHeight()} id={({ task }) => task.position} row={line}
        foot={<p class="rows-foot">{more ? "There are more than these: choose fewer above." : `${listed.length} in all`}</p>} />
    </>
  );
}

/** How many need somebody. */
function Sum({ tasks }: { tasks: readonly Row["task"][] }): VNode {
  const count = (fits: (task: Row["task"]) => boolean): number => tasks.filter(fits).length;
  const told = [
    [count(isGoing), "going on"],
    [count((task) => task.state === "in_review"), "in review"],
    [count((task) => task.state === "waits_for_user"), "waiting for the user"],
    [count((task) => isLate(task)), "overdue"],
    [count((task) => task.state === "failed"), "failed"],
  ] as const;
  return <p class="sum" role="status">{told.filter(([many]) => many > 0).map(([many, what]) => <span key={what}><b class="nums">{many}</b> {what}</span>)}</p>;
}

function Nothing({ wanted }: { wanted: Wanted }): VNode {
  const narrowed = wanted.agent !== undefined || wanted.words !== undefined || wanted.state !== undefined;
  if (narrowed) return <EmptyState title="No task fits."><a href={href(["tasks"], { view: wanted.view })}>Show what is not done</a></EmptyState>;
  return <EmptyState title="Nothing is open, and nothing went wrong."><a href={href(["tasks"], { state: "all", view: wanted.view })}>Show all tasks</a></EmptyState>;
}

/** A name, which counts when it is written to its end: what is drawn meanwhile leaves it as it is. */
function Name({ of, change }: { of: string; change: (name: string) => void }): VNode {
  const [text, set] = useState(of);
  useEffect(() => set(of), [of]);
  return <input type="search" dir="auto" list="agent-names" value={text} onInput={(event) => set(event.currentTarget.value)} onChange={(event) => change(event.currentTarget.value.trim())} />;
}

function Filters({ wanted, names }: { wanted: Wanted; names: readonly string[] }): VNode {
  const change = (field: Field, value: string): void => go(href(["tasks"], { ...wanted, [field]: value }), true);
  const timeline = wanted.view === "timeline";
  return (
    <form class="search tasks-search" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        State
        <select value={wanted.state ?? FIRST} onChange={(event) => change("state", event.currentTarget.value === FIRST ? "" : event.currentTarget.value)}>
          {Object.keys(GROUPS).map((name) => <option key={name} value={name}>{name}</option>)}
          <optgroup label="Only">{STATES.map((state) => <option key={state} value={state}>{stateName(state)}</option>)}</optgroup>
        </select>
      </label>
      <label>Agent<Name of={wanted.agent ?? ""} change={(name) => change("agent", name)} /></label>
      <label>Words in its id or parties<input type="search" dir="auto" value={wanted.words ?? ""} onInput={(event) => change("words", event.currentTarget.value)} /></label>
      <div class="actions">
        <span class="toggles choice" role="group" aria-label="Shown as">
          <button type="button" aria-pressed={!timeline} onClick={() => change("view", "")}>Tree</button>
          <button type="button" aria-pressed={timeline} onClick={() => change("view", "timeline")}>Timeline</button>
        </span>
        {timeline && (
          <label class="beside"><span class="sr">How far back</span>
            <select value={wanted.span ?? "everything"} onChange={(event) => change("span", event.currentTarget.value)}>
              {Object.keys(SPANS).map((name) => <option key={name}>{name}</option>)}
            </select>
          </label>
        )}
      </div>
      <datalist id="agent-names">{names.map((id) => <option key={id} value={id} />)}</datalist>
    </form>
  );
}
