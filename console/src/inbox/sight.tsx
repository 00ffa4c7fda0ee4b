// One letter to people: what was asked, in which task, and the answer.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import { useAsk } from "../api/use";
import { MessageCard } from "../message/card";
import { taskHref, Due, Party, TaskState } from "../task/parts";
import { AgentName, Card, DialectBadge, KeyValue, Loading, Text, Time } from "../ui";
import { OPENED } from "../ui/opened";
import { Answer } from "./answer";
import { type Box, type Letter, facts } from "./letters";

interface Props {
  readonly box: Box;
  readonly position: string;
  /** What waits at the position; nothing once it was taken out. */
  readonly letter: Letter | undefined;
  readonly loading: boolean;
  readonly close: string;
  readonly next: string | undefined;
  readonly changed: () => void;
}

export function Sight({ box, position, letter, loading, close, next, changed }: Props): VNode {
  // What is being answered stays, also when somebody else took it out meanwhile.
  const [shown, show] = useState(letter);
  const [over, setOver] = useState<boolean>();
  useEffect(() => {
    if (letter && !shown) show(letter);
  }, [letter]);
  const isGone = over === undefined && !loading && letter === undefined;
  return (
    <Card title={<span id={OPENED} tabIndex={-1}>Entry <span class="nums">{position}</span></span>} actions={<a href={close}>Close</a>}>
      <div class="letter">
        {over !== undefined && <Over next={next} close={close}><strong>{over ? "Answered." : "Done."}</strong> It is out of the mailbox.</Over>}
        {isGone && <Over next={next} close={close}><strong>It does not wait any more.</strong> {shown ? "Somebody took it out of the mailbox while you looked at it." : "Somebody took it out of the mailbox, or it was never in it."}</Over>}
        {!shown && loading && <Loading />}
        {shown && <Whole box={box} letter={shown} isOver={over !== undefined} over={(answered) => { setOver(answered); changed(); }} />}
      </div>
    </Card>
  );
}

function Over({ next, close, children }: { next: string | undefined; close: string; children: VNode | unknown }): VNode {
  const on = useRef<HTMLDivElement>(null);
  useEffect(() => on.current?.querySelector("a")?.focus(), []);
  return (
    <div class="note" ref={on} role="status" data-over>
      <p>{children as VNode}</p>
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
          {thread === undefined ? <p class="quiet">It belongs to no task.</p> : <Task id={thread} isOver={isOver} />}
        </section>
      </div>
    </>
  );
}

function Task({ id, isOver }: { id: string; isOver: boolean }): VNode {
  const asked = useAsk(async (signal) => {
    const task = await get("/v1/tasks/{id}", { path: { id }, signal });
    const delegation = await get("/v1/messages/{key}", { path: { key: task.delegation }, signal }).catch(() => undefined);
    return { task, delegation };
  }, [id, isOver]);
  if (asked.error) return <p class="quiet">Not shown here: <Text value={asked.error.message} />.</p>;
  if (!asked.data) return <Loading />;
  const { task, delegation } = asked.data;
  const summary = (delegation?.message as { context_summary?: unknown } | undefined)?.context_summary;
  return (
    <>
      <p class="letter-head"><TaskState task={task} /><a href={taskHref(task)}><Text value={task.task_id} mono /></a></p>
      {typeof summary === "string" && <div class="said"><p class="prose" dir="auto"><Text value={summary} /></p></div>}
      <KeyValue of={[
        ["Handed over by", <Party id={task.delegator} />],
        ["Works on it", <Party id={task.assignee} />],
        ["Opened", <Time at={task.opened_at} />],
        ["Due", <Due task={task} />],
        ["Parts", task.parts.length > 0 && String(task.parts.length)],
      ]} />
    </>
  );
}
