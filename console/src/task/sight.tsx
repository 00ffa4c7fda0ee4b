// One task with all that belongs to it: how it stands, its parties, what may be used, what was said, what went wrong.
import type { VNode } from "preact";
import { get } from "../api/client";
import { useLive } from "../api/live";
import { useAsk } from "../api/use";
import { MessageCard } from "../message/card";
import { hasPage } from "../pages";
import { type Query, href } from "../router";
import { Await, Card, Chip, Countdown, KeyValue, Text, Time } from "../ui";
import { OPENED } from "../ui/opened";
import { Acts } from "./acts";
import { isGoing } from "./forest";
import { Party, TaskId, TaskState, Waits, taskHref } from "./parts";
import { Granted, Parts, Said, Tools, type Wanted, type Whole } from "./told";

export function Sight({ id, opener, wanted, changed }: { id: string; opener: string | undefined; wanted: Wanted; changed: () => void }): VNode {
  const asked = useLive((signal) => get("/v1/tasks/{id}", { path: { id }, query: opener ? { opener } : {}, signal }), [id, opener], (entry) => entry.dialect === undefined || entry.dialect === "cap", 5000);
  const again = (): void => {
    asked.reload();
    changed();
  };
  return (
    <Card title={<span id={OPENED} tabIndex={-1}><Text value={id} mono /></span>} actions={<a href={href(["tasks"], wanted as Query)}>Close</a>}>
      <Await asked={asked}>{(task) => <All task={task} wanted={wanted} changed={again} />}</Await>
    </Card>
  );
}

function All({ task, wanted, changed }: { task: Whole; wanted: Wanted; changed: () => void }): VNode {
  return (
    <div class="letter">
      <div class="letter-head"><TaskState task={task} /><Waits task={task} person={task.reviews.some((review) => review.overseer === null)} link /></div>
      <Waiting task={task} />
      <Errors task={task} />
      <Acts task={task} changed={changed} />
      <Asked task={task} />
      <KeyValue of={[
        ["Comes from", task.lineage.length > 1 && <Line task={task} wanted={wanted} />],
        ["Handed over by", <Party id={task.delegator} />],
        ["Works on it", <Party id={task.assignee} />],
        ["Worked on it before", task.former.length > 0 && <Names ids={task.former} />],
        ["Oversees it", task.overseer && <Party id={task.overseer} />],
        ["Opened", <><Time at={task.opened_at} /> <span class="quiet">by <Text value={task.opener} /></span></>],
        ["Deadline", <>{isGoing(task) && <Countdown until={task.deadline} />} <span class="quiet"><Time at={task.deadline} as="exact" /></span></>],
        ["Ended", task.ended_at && <><Time at={task.ended_at} /> <span class="quiet"><Time at={task.ended_at} as="exact" /></span></>],
        ["Handed over", task.tries > 1 && `${task.tries} times`],
        ["Escalated to", task.escalated_to && <Party id={task.escalated_to} />],
        ["Granted", task.grants && <Granted of={task.grants} />],
        ["May use", task.tools.length > 0 && <Tools of={task.tools} />],
      ]} />
      <Parts task={task} wanted={wanted} />
      <Said task={task} />
    </div>
  );
}

const Names = ({ ids }: { ids: readonly string[] }): VNode => <span class="keywords">{ids.map((id) => <Party key={id} id={id} />)}</span>;

/** The tasks above it, each a link. */
function Line({ task, wanted }: { task: Whole; wanted: Wanted }): VNode {
  return (
    <span class="lineage">
      {task.lineage.map((id, n) => (
        <>{n > 0 && <span class="quiet" aria-hidden="true">›</span>}{id === task.task_id ? <Text value={id} mono /> : <a href={taskHref({ task_id: id, opener: task.opener }, wanted)}><TaskId id={id} /></a>}</>
      ))}
    </span>
  );
}

/** A link to a page where it is decided; to the message where there is none. */
const decided = (page: string, position: number): string => (hasPage(page) ? href([page, position]) : href(["messages", position]));

function Waiting({ task }: { task: Whole }): VNode | null {
  if (task.reviews.length === 0 && task.waits_for_user === null) return null;
  return (
    <ul class="stack notes">
      {task.waits_for_user !== null && <li class="note">It waits for an answer of the user. <a href={decided("inbox", task.waits_for_user)}>The question</a></li>}
      {task.reviews.map((review) => (
        <li key={review.position} class="note">
          {review.final ? "Its result" : "Work in it"} waits for {review.overseer ? <Party id={review.overseer} /> : "a person"}.{" "}
          <a href={review.overseer ? href(["messages", review.position]) : decided("reviews", review.position)}>{review.overseer ? "The work" : "Review it"}</a>
        </li>
      ))}
    </ul>
  );
}

function Errors({ task }: { task: Whole }): VNode | null {
  if (task.errors.length === 0) return null;
  return (
    <ul class="stack notes">
      {task.errors.map((error) => (
        <li key={error.position} class="note note-bad">
          <Chip tone="bad">{String(error.code)}</Chip> {error.meaning && <Text value={error.meaning} />} <span class="quiet">from <Text value={error.by} /></span>{" "}
          <a href={href(["messages", error.position])}>Entry {error.position}</a>
          {error.remedy && <span class="quiet"> · suggests: {error.remedy}</span>}
        </li>
      ))}
    </ul>
  );
}

/** What was asked for, as the delegation says it. */
function Asked({ task }: { task: Whole }): VNode | null {
  const asked = useAsk((signal) => get("/v1/messages/{key}", { path: { key: task.delegation }, signal }), [task.delegation]);
  const said = asked.data?.message;
  if (said === undefined) return null;
  const words = (said as { context_summary?: unknown }).context_summary;
  return (
    <section class="stack" aria-label="What was asked for">
      {typeof words === "string" ? <div class="said"><p class="prose" dir="auto"><Text value={words} /></p></div> : <MessageCard dialect={asked.data?.dialect ?? ""} message={said} />}
    </section>
  );
}
