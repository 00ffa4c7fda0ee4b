// What belongs to a task: what may be used in it, its parts, what was said and attached.
import type { ComponentChildren, VNode } from "preact";
import type { Shape } from "../api/client";
import { useGistsOf } from "../message/gists";
import { href } from "../router";
import { Chip, Text } from "../ui";
import { Party, TaskId, TaskState, taskHref } from "./parts";

export type Whole = Shape<"WholeTask">;
/** What the list beside it was narrowed to, for links that keep it so. */
export type Wanted = Readonly<Record<string, string | undefined>>;

export function Granted({ of }: { of: object }): VNode {
  const grants = of as { tools?: readonly string[]; scopes?: readonly string[] };
  return <span class="keywords">{[...(grants.tools ?? []), ...(grants.scopes ?? [])].map((one) => <Chip key={one}>{one}</Chip>)}</span>;
}

export function Tools({ of }: { of: Whole["tools"] }): VNode {
  return (
    <ul>
      {of.map((server) => (
        <li key={server.server_id} class="keywords"><Text value={server.server_id} />{[...server.tools, ...server.scopes].map((one) => <Chip key={one}>{one}</Chip>)}</li>
      ))}
    </ul>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return <section class="stack" aria-label={title}><h3>{title}</h3>{children}</section>;
}

export function Parts({ task, wanted }: { task: Whole; wanted: Wanted }): VNode | null {
  if (task.parts.length === 0) return null;
  return (
    <Section title="Its parts">
      <ul class="lines">
        {task.parts.map((part) => (
          <li key={part.task_id}><a href={taskHref({ task_id: part.task_id, opener: task.opener }, wanted)}><TaskId id={part.task_id} /></a><Party id={part.assignee} /><TaskState task={{ state: part.state, deadline: "9999-12-31T00:00:00Z" }} /></li>
        ))}
      </ul>
    </Section>
  );
}

export function Said({ task }: { task: Whole }): VNode | null {
  return task.messages.length === 0 ? null : <Told task={task} />;
}

function Told({ task }: { task: Whole }): VNode {
  const left = task.message_count - task.messages.length;
  const gists = useGistsOf(task.task_id, task.messages.map(({ position }) => position));
  return (
    <Section title="What was said in it">
      <ol class="lines lines-said">
        {task.messages.map((message) => (
          <li key={message.position}>
            <a href={href(["messages", message.position])}><Text value={message.type.replaceAll("_", " ")} clip /></a>
            <Party id={message.sender} />
            <span class="keywords">
              {message.position === task.result && <Chip tone="good">result</Chip>}
              {message.held && <Chip tone="wait">was held</Chip>}
              {message.findings.map((code) => <Chip key={code}>{code}</Chip>)}
              {message.attachments.map((one, n) => <Attached key={n} of={one} />)}
            </span>
            {gists.get(message.position) && <span class="gist"><Text value={gists.get(message.position) ?? ""} clip /></span>}
          </li>
        ))}
      </ol>
      {left > 0 && <p class="quiet">{left} earlier ones: <a href={href(["messages"], { thread: task.task_id })}>all messages with this id</a></p>}
    </Section>
  );
}

/** What is attached, by kind and name. */
function Attached({ of }: { of: object }): VNode {
  const { type, ...rest } = of as Record<string, unknown>;
  const names = Object.values(rest).filter((value): value is string => typeof value === "string");
  return <span class="attached"><span aria-hidden="true">📎</span><Text value={[String(type).replaceAll("_", " "), ...names].join(" · ")} clip /></span>;
}
