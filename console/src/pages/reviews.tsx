// Reviews: what waits for a person, the most urgent first; one opened with what it rests on beside it.
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { waits } from "../api/feed";
import type { PageProps } from "../pages";
import { Decided } from "../review/decided";
import { ORDERS, type Order, type Review, claimant, gist, isMine, useWaiting } from "../review/list";
import { Sight } from "../review/sight";
import { go, href } from "../router";
import { Halted } from "../session/halted";
import { AgentName, AgentNames, Await, Chip, Countdown, DialectBadge, EmptyState, PageHead, Rows, Text } from "../ui";
import { rowId, useOpened } from "../ui/opened";

export default function Reviews({ rest, query }: PageProps): VNode {
  const decided = query.has("decided");
  const order = (query.get("order") ?? "urgent") in ORDERS ? ((query.get("order") ?? "urgent") as Order) : "urgent";
  const kept = { ...(order === "urgent" ? {} : { order }), ...(decided ? { decided } : {}) };
  const asked = useWaiting(order);
  const listed = asked.data?.reviews ?? [];
  const total = asked.data?.waiting ?? waits.value.reviews;
  const opened = rest[0];
  useOpened(opened);
  const next = useNext(listed, opened);
  const line = (review: Review): VNode => <Line review={review} to={href(["reviews", review.id], kept)} isOpen={review.id === opened} />;
  return (
    <>
      <PageHead title="Reviews" about="Held until a person decides. One decision counts, for exactly what is shown.">
        <span class="toggles choice" role="group" aria-label="Which">
          <button type="button" aria-pressed={!decided} onClick={() => go(href(["reviews"]), true)}>Waiting{asked.data && <> <span class="nums">{total}</span></>}</button>
          <button type="button" aria-pressed={decided} onClick={() => go(href(["reviews"], { decided: true }), true)}>Decided</button>
        </span>
        {!decided && total > 1 && (
          <label><span class="sr">Order</span>
            <select value={order} onChange={(event) => go(href(["reviews"], { order: event.currentTarget.value }), true)}>
              {Object.entries(ORDERS).map(([value, name]) => <option key={value} value={value}>{name}</option>)}
            </select>
          </label>
        )}
      </PageHead>
      {!decided && !opened && <Halted />}
      <div class={opened ? "desk split" : "desk"}>
        <div class="list">
          {decided ? <Decided opened={opened} /> : <Await asked={asked}>
            {() => listed.length === 0
              ? <EmptyState title="Nothing waits for a person.">What rules hold, and what asks for a person, comes here.</EmptyState>
              : <Rows label="Waiting for a person" items={listed} height={58} id={(review) => review.id} row={line} more={asked.more}
                  foot={<p class="rows-foot">{listed.length < total ? `${listed.length} of ${total}` : `${total} ${total === 1 ? "waits" : "wait"}`}</p>} />}
          </Await>}
        </div>
        {opened && <Sight key={`${opened} ${decided}`} id={opened} close={href(["reviews"], kept)} next={next && href(["reviews", next], kept)} past={decided} changed={asked.reload} />}
      </div>
    </>
  );
}

/** The one behind what is opened, also once that has gone from the list. */
function useNext(listed: readonly Review[], opened: string | undefined): string | undefined {
  const place = useRef(0);
  const at = listed.findIndex((review) => review.id === opened);
  if (at >= 0) place.current = at;
  const others = listed.filter((review) => review.id !== opened);
  return (others[place.current] ?? others[0])?.id;
}

function Line({ review, to, isOpen }: { review: Review; to: string; isOpen: boolean }): VNode {
  const claimed = claimant(review);
  return (
    <a class="line" id={rowId(review.id)} href={to} aria-current={isOpen ? "true" : undefined}>
      <DialectBadge of={review.dialect} />
      <span class="way"><AgentName id={review.sender} link={false} /><span class="arrow" aria-label="to">→</span><AgentNames ids={review.to} link={false} most={1} /></span>
      <span class="gist"><Text value={gist(review.message)} clip /></span>
      <span class="marks">
        {claimed !== null && <Chip tone={isMine(claimed) ? "good" : "plain"}>{isMine(claimed) ? "yours" : "claimed"}</Chip>}
        {review.level === "block" && <Chip tone="bad">block</Chip>}
        {review.metrics?.gate === "fail" && <Chip tone="bad">fails</Chip>}
      </span>
      <span class="sub"><Text value={review.reasons[0]?.says ?? review.kind} clip /></span>
      <span class="when">{review.decide_until && <Countdown until={review.decide_until} />}</span>
    </a>
  );
}
