// One letter to people: what was asked, in which task, and the answer.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import { useLive } from "../api/live";
import { useAsk } from "../api/use";
import { MessageCard } from "../message/card";
import { Due, Party, TaskState, taskHref } from "../task/parts";
import { AgentName, Card, DialectBadge, ErrorState, KeyValue, Loading, Text, Time } from "../ui";
import { OPENED } from "../ui/opened";
import { Answer } from "./answer";
import { type Box, type Letter, facts, one } from "./letters";

interface Props {
  readonly box: Box;
  readonly position: string;
  readonly close: string;
  readonly next: string | undefined;
  readonly changed: () => void;
}

export function Sight({ box, position, close, next, changed }: Props): VNode {
  const asked = useLive((signal) => one(box, Number(position), signal), [box, position], (entry) => entry.verdict === undefined, 5000);
  // What is being answered stays, also when somebody else took it out meanwhile.
  const shown = useRef<Letter | null>(null);
  shown.current = asked.data ?? shown.current;
  const [over, setOver] = useState<boolean>();
  const letter = shown.current;
  const ended = (answered: boolean): void => {
    setOver(answered);
    changed();
  };
  return (
    <Card title={<span id={OPENED} tabIndex={-1}>Entry <span class="nums">{position}</span></span>} actions={<a href={close}>Close</a>}>
      <div class="letter">
        {over !== undefined && <Over next={next} close={close}><strong>{over ? "Answered." : "Done."}</strong> It is out of the mailbox.</Over>}
        {over === undefined && asked.data === null && <Over next={next} close={close}><strong>It does not wait any more.</strong> {letter ? "Somebody took it out of the mailbox while you looked at it." : "Somebody took it out of the mailbox, or it was never in it."}</Over>}
        {asked.error && <ErrorState error={asked.error} retry={asked.reload} />}
        {asked.data === undefined && !asked.error && <Loading />}
        {letter && <Whole box={box} letter={letter} isOver={over !== undefined} over={ended} />}
      </div>
    </Card>
  );
}

function Over({ next, close, children }: { next: string | undefined; close: string; children: ComponentChildren }): VNode {
  const on = useRef<HTMLDivElement>(null);
  useEffect(() => on.current?.querySelector("a")?.focus(), []);
  return (
    <div class="note" ref={on} role="status" data-over>
      <p>{children}</p>
      <p>{next ? <a href={next}>Next one</a> : <a href={close}>To the list</a>}</p>
    </div>
  );
}

function Whole({ box, letter, isOver, over }: { box: Box; letter: Letter; isOver: boolean; over: (answered: boolean) => void }): VNode {
  const { dialect, kind, sender, thread } = facts(letter);
  return (
    <>
      <div class="letter-head"><DialectBadge of={dialect} /><h3><Text value={kind.replaceAll("_", " ")} /></h3><span class="quiet">came <Time at={letter.received_at} /></span></div>
      <p class="letter-way"><Party id={sender} /> <span class="quiet" aria-label="to">→</span> <AgentName id={box} link={false} /></p>
      <div class="beside-each">
        <section class="stack" aria-label="What it says">
          <h3>What it says</h3>
          <MessageCard dialect={dialect} message={letter.message} />
          {letter.findings.map((finding) => <p key={finding.code} class="quiet"><code>{finding.code}</code> <Text value={finding.says} /></p>)}
          {!isOver && <Answer box={box} letter={letter} over={over} />}
        </section>
        <section class="stack" aria-label="Its task">
          <h3>Its task</h3>
          {thread === undefined ? <p class="quiet">It belongs to no task.</p> : <Task id={thread} question={box === "user" && !isOver ? letter.position : undefined} />}
        </section>
      </div>
    </>
  );
}

/** `question`: what the user is asked in it and is still to answer. */
function Task({ id, question }: { id: string; question: number | undefined }): VNode {
  const asked = useAsk(async (signal) => {
    const task = await get("/v1/tasks/{id}", { path: { id }, signal });
    const delegation = await get("/v1/messages/{key}", { path: { key: task.delegation }, signal }).catch(() => undefined);
    return { task, delegation };
  }, [id, question]);
  if (asked.error) return <p class="quiet">Not shown here: <Text value={asked.error.message} />.</p>;
  if (!asked.data) return <Loading />;
  const { task, delegation } = asked.data;
  const summary = (delegation?.message as { context_summary?: unknown } | undefined)?.context_summary;
  return (
    <>
      {question !== undefined && task.waits_for_user === null && <p class="note">The task does not wait for an answer any more: it had one, or it ended.</p>}
      <p class="letter-head"><TaskState task={task} /><a href={taskHref(task)}><Text value={task.task_id} mono /></a></p>
      {typeof summary === "string" && <div class="said"><p class="prose" dir="auto"><Text value={summary} /></p></div>}
      <KeyValue of={[
        ["From", <Party id={task.delegator} />],
        ["Works on it", <Party id={task.assignee} />],
        ["Opened", <Time at={task.opened_at} />],
        ["Due", <Due task={task} />],
        ["Parts", task.parts.length > 0 && String(task.parts.length)],
      ]} />
    </>
  );
}
