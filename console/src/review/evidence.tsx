// What a held message rests on, to be read beside it: what it names, what was said of it, what was asked for.
import type { VNode } from "preact";
import { type Shape, get } from "../api/client";
import { seesAll } from "../api/feed";
import { type Asked, asProblem, useAsk } from "../api/use";
import { MessageCard } from "../message/card";
import { href } from "../router";
import { taskHref } from "../task/parts";
import { AgentName, Chip, Loading, Text, Time, type Tone } from "../ui";
import type { Review } from "./list";

type Link = Shape<"Truth">["chain"][number];

export function Evidence({ review }: { review: Review }): VNode {
  return (
    <section class="stack" aria-label="What it rests on">
      <h3>What it rests on</h3>
      {review.dialect === "vlp" && <Chain review={review} />}
      {review.dialect === "cap" && review.thread !== null && <Task id={review.thread} />}
      {review.thread !== null && seesAll() && <p class="quiet"><a href={href(["messages"], { thread: review.thread })}>Everything in <Text value={review.thread} mono /></a></p>}
      {review.thread === null && review.dialect !== "vlp" && <p class="quiet">It stands alone: it belongs to no task or session.</p>}
    </section>
  );
}

/** What the exchange refuses to show here is said in its words, and keeps nobody from deciding. */
function Shown<T>({ asked, children }: { asked: Asked<T>; children: (data: T) => VNode }): VNode {
  if (asked.data !== undefined) return children(asked.data);
  if (asked.error) return <p class="quiet">Not shown here: <Text value={asProblem(asked.error).message} />.</p>;
  return <Loading />;
}

const ROLES: Readonly<Record<Link["role"], readonly [string, Tone]>> = {
  original: ["what all this is about", "plain"],
  ground: ["what it names", "plain"],
  correction: ["corrects it", "wait"],
  dispute: ["disputes it", "bad"],
  evidence: ["evidence for it", "good"],
  mention: ["mentions it", "plain"],
};

/** Every message it names, or that names it. */
function Chain({ review }: { review: Review }): VNode {
  const asked = useAsk((signal) => get("/v1/messages/{key}/truth", { path: { key: review.id }, signal }), [review.id]);
  return (
    <Shown asked={asked}>
      {({ chain, more, authoritative }) => {
        const others = chain.filter((link) => String(link.position) !== review.id);
        if (others.length === 0) return <p class="quiet">It names no message here, and none names it.</p>;
        return (
          <>
            <ul class="stack">{others.map((link) => <Linked key={link.position} link={link} counts={link.position === authoritative} />)}</ul>
            {more && <p class="quiet">There is more than this.</p>}
          </>
        );
      }}
    </Shown>
  );
}

function Linked({ link, counts }: { link: Link; counts: boolean }): VNode {
  const [name, tone] = ROLES[link.role];
  return (
    <li class="proof">
      <p class="proof-head">
        <Chip tone={tone}>{name}</Chip>{counts && <Chip tone="good">counts today</Chip>}{!link.in_force && <Chip tone="wait">not in force</Chip>}
        <AgentName id={link.sender} />
        <a href={href(["messages", link.position])}><Text value={link.message_id} clip mono /></a>
        <span class="quiet"><Time at={link.received_at} /></span>
      </p>
      {link.message === undefined ? <p class="quiet">What it said is not here any more.</p> : <MessageCard dialect={link.dialect} message={link.message} />}
      {link.findings.map((finding) => <p key={finding.code} class="quiet"><code>{finding.code}</code> <Text value={finding.says} /></p>)}
    </li>
  );
}

/** What was asked for, in the task that it answers. */
function Task({ id }: { id: string }): VNode {
  const asked = useAsk(async (signal) => {
    const task = await get("/v1/tasks/{id}", { path: { id }, signal });
    const delegation = await get("/v1/messages/{key}", { path: { key: task.delegation }, signal }).catch(() => undefined);
    return { task, delegation };
  }, [id]);
  return (
    <Shown asked={asked}>
      {({ task, delegation }) => (
        <div class="proof">
          <p class="proof-head"><Chip>what was asked for</Chip><AgentName id={task.delegator} link={false} /><a href={taskHref(task)}><Text value={task.task_id} clip mono /></a><span class="quiet"><Time at={task.opened_at} /></span></p>
          {delegation?.message === undefined ? <p class="quiet">What it said is not shown here.</p> : <MessageCard dialect={delegation.dialect} message={delegation.message} />}
        </div>
      )}
    </Shown>
  );
}
