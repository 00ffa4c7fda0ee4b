// Sessions that are halted: a message with the level `block` stopped them, and nothing goes on in them until a person
// says so. Who blocked it and why, and letting it go on.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Shape, get, post, session } from "../api/client";
import { seesAll, waits } from "../api/feed";
import { useAsk } from "../api/use";
import { href } from "../router";
import { AgentName, Card, Confirm, ErrorState, Prose, Text, Time, toast } from "../ui";

type Session = Shape<"VlpSession">;

const FIRST = 3;
const NOW_AND_THEN = 10_000;

/** Operators and reviewers let sessions go on. */
const mayRelease = (): boolean => session.value?.role === "operator" || session.value?.role === "reviewer";

/** All that are halted, where there are any; nothing otherwise. */
export function Halted(): VNode | null {
  const many = waits.value.halted;
  const before = useRef(many);
  useEffect(() => {
    // Who let the last one go on is not sent back to the top.
    if (before.current > 0 && many === 0 && document.activeElement === document.body) document.querySelector("h1")?.focus();
    before.current = many;
  }, [many]);
  return many > 0 ? <Some many={many} /> : null;
}

function Some({ many }: { many: number }): VNode {
  const asked = useAsk((signal) => get("/v1/sessions", { query: { state: "halted", limit: 100 }, signal }), [], NOW_AND_THEN);
  const [all, setAll] = useState(false);
  const [asking, ask] = useState<Session>();
  const head = useRef<HTMLSpanElement>(null);
  const counted = useRef(many);
  useEffect(() => {
    if (counted.current !== many) asked.reload();
    counted.current = many;
  }, [many]);
  // Newest first: what was just stopped is what people look for.
  const halted = [...(asked.data?.sessions ?? [])].sort((a, b) => ((a.halted_at ?? "") < (b.halted_at ?? "") ? 1 : -1));
  const close = (): void => {
    ask(undefined);
    if (document.activeElement === document.body) head.current?.focus();
  };
  return (
    <section class="halted" aria-label="Halted sessions">
      <Card tone="bad" title={<span ref={head} tabIndex={-1}>■ {many === 1 ? "A session is halted" : `${many} sessions are halted`}<span class="quiet"> Nothing goes on in {many === 1 ? "it" : "them"} until a person lets it.</span></span>}>
        {asked.error && <ErrorState error={asked.error} retry={asked.reload} />}
        <ul class="raised">
          {halted.slice(0, all ? halted.length : FIRST).map((one) => <One key={one.id} one={one} ask={ask} />)}
          {!all && halted.length > FIRST && <li><button type="button" onClick={() => setAll(true)}>{halted.length - FIRST} more</button></li>}
        </ul>
      </Card>
      {asking && <Release one={asking} close={close} done={asked.reload} />}
    </section>
  );
}

function One({ one, ask }: { one: Session; ask: (one: Session) => void }): VNode {
  return (
    <li class="raised-one" data-halted={one.id}>
      <p class="raised-head">
        <Text value={one.id} mono />
        <span class="quiet">blocked{one.halted_who && <> by <AgentName id={one.halted_who} /></>}{one.halted_at && <> <Time at={one.halted_at} /></>}</span>
      </p>
      {one.halted_says ? <Prose value={one.halted_says} /> : <p class="quiet">Why is not said, or is not kept any more.</p>}
      <div class="actions">
        {mayRelease() && <button type="button" onClick={() => ask(one)}>Let it go on<span class="sr"> {one.id}</span></button>}
        {seesAll() && one.halted_by !== undefined && <a href={href(["messages", one.halted_by])}>Read it</a>}
        {seesAll() && <a href={href(["messages"], { thread: one.id })}>Everything in it</a>}
      </div>
    </li>
  );
}

function Release({ one, close, done }: { one: Session; close: () => void; done: () => void }): VNode {
  const act = async (reason: string): Promise<void> => {
    await post("/v1/sessions/{id}/release", { path: { id: one.id }, body: { reason: reason.trim() } });
    toast("The session goes on, and its parties are told.");
    done();
  };
  return (
    <Confirm title="Let this session go on?" verb="Let it go on" act={act} close={close} ask={{ label: "Reason", required: true, hint: "It is on the record." }}>
      <p><strong><Text value={one.id} /></strong> can be spoken in again. What was on its way in it goes on too, unless something else holds it, and {one.parties.length === 1 ? "its party is" : `its ${one.parties.length} parties are`} told.</p>
      {one.halted_says && <div class="said"><Prose value={one.halted_says} /></div>}
    </Confirm>
  );
}

/** Says of a session, where it is one and halted, that it is. */
export function HaltedNote({ id }: { id: string }): VNode | null {
  return waits.value.halted > 0 ? <Note key={`${id} ${waits.value.halted}`} id={id} /> : null;
}

function Note({ id }: { id: string }): VNode | null {
  const asked = useAsk((signal) => get("/v1/sessions/{id}", { path: { id }, signal }), [id], NOW_AND_THEN);
  const [asking, ask] = useState(false);
  const one = asked.data;
  if (!one || one.state !== "halted") return null;
  return (
    <div class="note note-bad" role="status" data-halted={id}>
      <p><strong>■ This session is halted.</strong> Nothing goes on in it until a person lets it{one.halted_who && <>: blocked by <AgentName id={one.halted_who} link={false} /></>}{one.halted_at && <> <Time at={one.halted_at} /></>}.</p>
      <div class="actions">
        {mayRelease() && <button type="button" onClick={() => ask(true)}>Let it go on</button>}
        {seesAll() && one.halted_by !== undefined && <a href={href(["messages", one.halted_by])}>What blocked it</a>}
      </div>
      {asking && <Release one={one} close={() => ask(false)} done={asked.reload} />}
    </div>
  );
}
