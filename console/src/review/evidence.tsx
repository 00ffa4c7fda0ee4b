// What a held message rests on, to be read beside it: what it names, what was said of it, what was asked for; and what
// people said of holding it.
import type { VNode } from "preact";
import type { Shape } from "../api/client";
import { seesAll } from "../api/feed";
import { type Asked, asProblem } from "../api/use";
import { MessageCard } from "../message/card";
import { href } from "../router";
import { AgentName, Chip, Loading, Text, Time, type Tone } from "../ui";

export type Told = Shape<"Evidence">;
export type Link = Told["chain"][number];
type Word = Told["words"][number];

interface Props {
  readonly id: string;
  readonly dialect: string;
  readonly thread: string | null;
  readonly asked: Asked<Told>;
}

export function Evidence({ id, dialect, thread, asked }: Props): VNode {
  return (
    <section class="stack" aria-label="What it rests on">
      <h3>What it rests on</h3>
      {asked.data ? <Shown told={asked.data} id={id} dialect={dialect} alone={thread === null} /> : asked.error ? <p class="quiet">Not shown here: <Text value={asProblem(asked.error).message} />.</p> : <Loading />}
      {thread !== null && seesAll() && <p class="quiet"><a href={href(["messages"], { thread })}>Everything in <Text value={thread} mono /></a></p>}
    </section>
  );
}

function Shown({ told, id, dialect, alone }: { told: Told; id: string; dialect: string; alone: boolean }): VNode {
  const others = told.chain.filter((link) => String(link.position) !== id);
  const isBare = others.length === 0 && told.asked === null;
  return (
    <>
      {told.asked && <Task of={told.asked} />}
      {others.length > 0 && <ul class="stack">{others.map((link) => <Linked key={link.position} link={link} counts={link.position === told.authoritative} />)}</ul>}
      {told.more && <p class="quiet">There is more than this.</p>}
      {isBare && <p class="quiet">{dialect === "vlp" ? "It names no message here, and none names it." : alone ? "It stands alone: it belongs to no task or session." : "Nothing else is known of what it answers."}</p>}
    </>
  );
}

const ROLES: Readonly<Record<Link["role"], readonly [string, Tone]>> = {
  original: ["what all this is about", "plain"],
  ground: ["what it names", "plain"],
  correction: ["corrects it", "wait"],
  dispute: ["disputes it", "bad"],
  evidence: ["evidence for it", "good"],
  mention: ["mentions it", "plain"],
};

/** Those who see everything are led on to the message itself. */
function Named({ position, id }: { position: number; id: string }): VNode {
  return seesAll() ? <a href={href(["messages", position])}><Text value={id} clip mono /></a> : <Text value={id} clip mono />;
}

function Linked({ link, counts }: { link: Link; counts: boolean }): VNode {
  const [name, tone] = ROLES[link.role];
  return (
    <li class="proof">
      <p class="proof-head">
        <Chip tone={tone}>{name}</Chip>{counts && <Chip tone="good">counts today</Chip>}{!link.in_force && <Chip tone="wait">not in force</Chip>}
        <AgentName id={link.sender} />
        <Named position={link.position} id={link.message_id} />
        <span class="quiet"><Time at={link.received_at} /></span>
      </p>
      {link.message === undefined ? <p class="quiet">What it said is not here any more.</p> : <MessageCard dialect={link.dialect} message={link.message} />}
      {link.findings.map((finding) => <p key={finding.code} class="quiet"><code>{finding.code}</code> <Text value={finding.says} /></p>)}
    </li>
  );
}

/** What was asked for, in the task that it answers. */
function Task({ of }: { of: NonNullable<Told["asked"]> }): VNode {
  return (
    <div class="proof">
      <p class="proof-head"><Chip>what was asked for</Chip><AgentName id={of.sender} link={false} /><Named position={of.position} id={of.thread ?? of.message_id} /><span class="quiet"><Time at={of.received_at} /></span></p>
      {of.message === undefined ? <p class="quiet">What it said is not here any more.</p> : <MessageCard dialect={of.dialect} message={of.message} />}
    </div>
  );
}

const SAID: Readonly<Record<Word["said"], string>> = { approved: "approved it", lifted: "lifted a reason", refused: "refused it", claimed: "looked at it" };

/** A word in one line: who said what of it, and why. */
export const inWords = ({ by, said, reason }: Word): string => `${by} ${SAID[said]}${reason ? `: ${reason}` : ""}`;

/** Who said what of holding it, when and why. */
export function Words({ of }: { of: readonly Word[] }): VNode | null {
  if (of.length === 0) return null;
  return (
    <section class="stack" aria-label="What was said of it">
      <h3>What was said of it</h3>
      <ul class="found">{of.map((word) => <li key={word.position}><Text value={inWords(word)} /> <span class="quiet"><Time at={word.at} /></span></li>)}</ul>
    </section>
  );
}
