// One message that waits for a person, or did: what it says, why it is held, what it rests on, and the decision.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, get } from "../api/client";
import { type Happening, seesAll } from "../api/feed";
import { useLive } from "../api/live";
import { MessageCard } from "../message/card";
import { href } from "../router";
import { AgentName, AgentNames, Card, Chip, Countdown, DialectBadge, ErrorState, Json, KeyValue, Loading, Text, Time } from "../ui";
import { OPENED } from "../ui/opened";
import { Decide, type Said } from "./decide";
import { Evidence, type Link, type Told, Words, inWords } from "./evidence";
import { type Review, claimant, isMine } from "./list";
import { Why } from "./why";

interface Props {
  readonly id: string;
  /** Where closing leads, and what is next. */
  readonly close: string;
  readonly next: string | undefined;
  /** It is known to be decided. */
  readonly past: boolean;
  readonly changed: () => void;
}

const changes = (entry: Happening): boolean => entry.verdict === undefined;

export function Sight({ id, close, next, past, changed }: Props): VNode {
  const asked = useLive((signal) => get("/v1/reviews/{id}", { path: { id }, signal }), [id], changes, 5000);
  const rests = useLive((signal) => get("/v1/reviews/{id}/evidence", { path: { id }, signal }), [id], changes);
  const [mine, setMine] = useState<Said>();
  const [late, setLate] = useState<Problem>();
  // While it still waits, nobody was first.
  useEffect(() => setLate(undefined), [asked.data]);
  const again = (): void => {
    asked.reload();
    rests.reload();
    changed();
  };
  const isGone = mine !== undefined || asked.error?.code === "unknown_review";
  // Once it is gone, what was said of it is asked for again.
  useEffect(() => { if (isGone) rests.reload(); }, [isGone]);
  const review = asked.data;
  const itself = review ?? rests.data?.chain.find((link) => String(link.position) === id);
  const refused = asked.error && (!isGone || (rests.error && !itself)) ? (isGone ? rests.error : asked.error) : undefined;
  return (
    <Card title={<span id={OPENED} tabIndex={-1}>Review <span class="nums">{id}</span></span>} actions={<a href={close}>Close</a>}>
      <div class="letter">
        {isGone && !past && <Over said={mine} late={late ?? (review ? undefined : asked.error)} rests={rests.data} wasShown={review !== undefined} next={next} to={review?.to ?? []} />}
        {refused && <ErrorState error={refused} retry={again} />}
        {!itself && !refused && <Loading />}
        {itself && <Head of={itself} review={isGone ? undefined : review} />}
        {review && !isGone && <Decide review={review} decided={(said) => { setMine(said); again(); }} late={(problem) => { setLate(problem); again(); }} changed={again} />}
        {itself && (
          <div class="beside-each">
            <Says of={itself} id={id} />
            <div class="letter">
              {review && <Why review={review} />}
              <Words of={rests.data?.words ?? []} />
              <Evidence id={id} dialect={itself.dialect} thread={itself.thread} asked={rests} />
            </div>
          </div>
        )}
      </div>
    </Card>
  );
}

function Head({ of, review }: { of: Review | Link; review: Review | undefined }): VNode {
  const claimed = review ? claimant(review) : null;
  return (
    <>
      <div class="letter-head">
        <DialectBadge of={of.dialect} /><h3><Text value={of.kind} /></h3>
        <span class="quiet">came <Time at={of.received_at} /></span>
        {review?.decide_until && <span class="quiet">refused by itself: <Countdown until={review.decide_until} /></span>}
        {claimed !== null && (isMine(claimed) ? <Chip tone="good">you claimed it</Chip> : <Chip tone="wait">{`${claimed} claimed it`}</Chip>)}
        {claimed !== null && review?.claimed_until && <span class="quiet">until <Time at={review.claimed_until} as="clock" /></span>}
      </div>
      <p class="letter-way"><AgentName id={of.sender} /> <span class="quiet" aria-label="to">→</span> <AgentNames ids={of.to} most={8} /></p>
    </>
  );
}

function Says({ of, id }: { of: Review | Link; id: string }): VNode {
  return (
    <section class="stack" aria-label="What it says">
      <h3>What it says</h3>
      {of.message === null || of.message === undefined ? <p class="quiet">What it said is not here any more.</p> : (
        <>
          <MessageCard dialect={of.dialect} message={of.message} />
          <details><summary>All of it</summary><Json value={of.message} label="All of it" /></details>
        </>
      )}
      <KeyValue of={[
        ["Message id", <Text value={of.message_id} mono />],
        ["Digest", of.digest && <Text value={of.digest} mono />],
        ["Entry", seesAll() && <a href={href(["messages", id])}>{id}</a>],
      ]} />
    </section>
  );
}

interface Ended {
  readonly said: Said | undefined;
  readonly late: Problem | undefined;
  readonly rests: Told | undefined;
  readonly wasShown: boolean;
  readonly next: string | undefined;
  readonly to: readonly string[];
}

/** It waits no more: what was decided, by whom and why. */
function Over({ said, late, rests, wasShown, next, to }: Ended): VNode {
  const end = rests?.waits === false ? rests.words.findLast((word) => word.said !== "claimed") : undefined;
  const on = useRef<HTMLDivElement>(null);
  // The buttons that had the focus are gone.
  useEffect(() => (on.current?.querySelector("a") ?? on.current)?.focus(), []);
  return (
    <div class={said === "approve" ? "note note-good" : "note"} ref={on} tabIndex={-1} role="status" data-over>
      {said === "approve" && <p><strong>You approved it.</strong> It goes on to <AgentNames ids={to} link={false} />, once nothing else holds it.</p>}
      {said === "refuse" && <p><strong>You refused it.</strong> Its sender is told why.</p>}
      {said === undefined && (
        <p>
          <strong>{wasShown || end ? "It does not wait any more." : "It does not wait."}</strong>{" "}
          {end ? <><Text value={inWords(end)} /> <span class="quiet"><Time at={end.at} /></span></> : late ? <Text value={late.message} /> : "Somebody decided on it, or its time ran out."}
        </p>
      )}
      <p>{next ? <a href={next}>Next one</a> : <a href={href(["reviews"])}>To the list</a>}</p>
    </div>
  );
}
