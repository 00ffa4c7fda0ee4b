// One message that waits for a person: what it says, why it is held, what it rests on, and the decision.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, get } from "../api/client";
import { seesAll } from "../api/feed";
import { useLive } from "../api/live";
import { useAsk } from "../api/use";
import { MessageCard } from "../message/card";
import { href } from "../router";
import { AgentName, AgentNames, Card, Chip, Countdown, DialectBadge, ErrorState, KeyValue, Loading, Text, Time } from "../ui";
import { OPENED } from "../ui/opened";
import { Decide, type Said } from "./decide";
import { Evidence } from "./evidence";
import { type Review, isMine } from "./list";
import { Why } from "./why";

interface Props {
  readonly id: string;
  /** Where closing leads, and what is next. */
  readonly close: string;
  readonly next: string | undefined;
  readonly changed: () => void;
}

export function Sight({ id, close, next, changed }: Props): VNode {
  const asked = useAsk((signal) => get("/v1/reviews/{id}", { path: { id }, signal }), [id], 5000);
  const [mine, setMine] = useState<Said>();
  const [late, setLate] = useState<Problem>();
  useLive(asked, (entry) => entry.verdict === undefined);
  // While it still waits, nobody was first.
  useEffect(() => setLate(undefined), [asked.data]);
  const again = (): void => {
    asked.reload();
    changed();
  };
  const isGone = mine !== undefined || asked.error?.code === "unknown_review";
  const review = asked.data;
  return (
    <Card title={<span id={OPENED} tabIndex={-1}>Review <span class="nums">{id}</span></span>} actions={<a href={close}>Close</a>}>
      <div class="letter">
        {isGone && <Over id={id} said={mine} late={late ?? (review ? undefined : asked.error)} wasShown={review !== undefined} next={next} to={review?.to ?? []} />}
        {asked.error && !isGone && <ErrorState error={asked.error} retry={asked.reload} />}
        {!review && !asked.error && <Loading />}
        {review && <Head review={review} />}
        {review && !isGone && <Decide review={review} decided={(said) => { setMine(said); again(); }} late={(problem) => { setLate(problem); again(); }} changed={again} />}
        {review && <Body review={review} />}
      </div>
    </Card>
  );
}

function Head({ review }: { review: Review }): VNode {
  const claimed = review.claimed_by;
  return (
    <>
      <div class="letter-head">
        <DialectBadge of={review.dialect} /><h3><Text value={review.kind} /></h3>
        <span class="quiet">came <Time at={review.received_at} /></span>
        {review.decide_until && <span class="quiet">refused by itself: <Countdown until={review.decide_until} /></span>}
        {claimed !== null && (isMine(claimed) ? <Chip tone="good">you claimed it</Chip> : <Chip tone="wait">{`${claimed} claimed it`}</Chip>)}
      </div>
      <p class="letter-way"><AgentName id={review.sender} /> <span class="quiet" aria-label="to">→</span> <AgentNames ids={review.to} most={8} /></p>
    </>
  );
}

function Body({ review }: { review: Review }): VNode {
  return (
    <div class="beside-each">
      <section class="stack" aria-label="What it says">
        <h3>What it says</h3>
        {review.message === null ? <p class="quiet">What it said is not here any more.</p> : <MessageCard dialect={review.dialect} message={review.message} />}
        <KeyValue of={[
          ["Message id", <Text value={review.message_id} mono />],
          ["Digest", review.digest && <Text value={review.digest} mono />],
          ["Entry", seesAll() && <a href={href(["messages", review.id])}>{review.id}</a>],
        ]} />
      </section>
      <div class="letter">
        <Why review={review} />
        <Evidence review={review} />
      </div>
    </div>
  );
}

const ENDS: readonly string[] = ["released", "refused"];

/** It waits no more: what was decided, by whom, as far as this person may know. */
function Over({ id, said, late, wasShown, next, to }: { id: string; said: Said | undefined; late: Problem | undefined; wasShown: boolean; next: string | undefined; to: readonly string[] }): VNode {
  const sees = said === undefined && seesAll();
  const told = useAsk((signal) => (sees ? get("/v1/messages/{key}/explain", { path: { key: id }, signal }) : Promise.resolve(undefined)), [id, sees]);
  const end = told.data?.steps.findLast((step) => ENDS.includes(step.step));
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
          {end ? <><Text value={end.says} /> <Time at={end.at} /></> : late ? <Text value={late.message} /> : "Somebody decided on it, or its time ran out."}
        </p>
      )}
      <p>{next ? <a href={next}>Next one</a> : <a href={href(["reviews"])}>To the list</a>}</p>
    </div>
  );
}
