// Memory: what was said in earlier sessions, found by keyword, word, topic, sender, session and time.
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Form } from "../memory/form";
import { type Found, type Memory, type Wanted, useMemory, wantedOf, withKeyword } from "../memory/search";
import { Confidence } from "../message/parts";
import type { PageProps } from "../pages";
import { href } from "../router";
import { AgentName, AgentNames, Chip, EmptyState, ErrorState, Json, Loading, PageHead, Prose, Text, Time, type Tone } from "../ui";

export default function MemoryPage({ query }: PageProps): VNode {
  const wanted = useMemo(() => wantedOf(query), [query.toString()]);
  const found = useMemory(wanted);
  const { memories, busy, error } = found;
  return (
    <>
      <PageHead title="Memory" about="What was said in earlier sessions." />
      <Form wanted={wanted} />
      {error && <ErrorState error={error} retry={found.again} />}
      {memories.length === 0 && !error && (busy ? <Loading /> : <Nothing wanted={wanted} />)}
      {memories.length > 0 && <List found={found} wanted={wanted} />}
      <p class="sr" role="status">{busy ? "" : `${memories.length} found${found.next === null ? "" : ", and more"}`}</p>
    </>
  );
}

function Nothing({ wanted }: { wanted: Wanted }): VNode {
  if (Object.keys(wanted).length > 0) return <EmptyState title="Nothing fits."><a href={href(["memory"])}>Show everything</a></EmptyState>;
  return <EmptyState title="Nothing is remembered yet.">Agents leave something behind in VLP: a session context when a session ends, and keywords on any message.</EmptyState>;
}

function List({ found, wanted }: { found: Found & { more: () => void }; wanted: Wanted }): VNode {
  const list = useRef<HTMLOListElement>(null);
  const had = useRef(0);
  // Whoever asked for more goes on with the first that came.
  useEffect(() => {
    if (had.current > 0 && found.memories.length > had.current) list.current?.querySelector<HTMLElement>(`[data-nth="${had.current}"] a`)?.focus();
    had.current = 0;
  }, [found.memories.length]);
  const more = (): void => {
    had.current = found.memories.length;
    found.more();
  };
  return (
    <>
      <ol class="memories" ref={list}>{found.memories.map((one, n) => <Remembered key={one.position} one={one} nth={n} wanted={wanted} />)}</ol>
      <p class="rows-foot">{found.next === null ? `${found.memories.length} in all` : <button type="button" disabled={found.busy} onClick={more}>{found.busy ? "Loading…" : "More"}</button>}</p>
    </>
  );
}

const LEVELS: Readonly<Record<string, Tone>> = { review: "wait", requires_human: "wait", block: "bad" };
const SCORES = ["only mentions it", "about some of it", "about all of it"];

function Remembered({ one, nth, wanted }: { one: Memory; nth: number; wanted: Wanted }): VNode {
  return (
    <li class="card memory" data-nth={nth}>
      <div class="memory-head">
        <a href={href(["messages", one.position])}>{one.type.replace("_", " ")}<span class="sr"> {one.message_id}</span></a>
        <span class="way"><AgentName id={one.sender} /><span class="arrow" aria-label="to">→</span><AgentNames ids={one.to} most={2} /></span>
        {one.level && LEVELS[one.level] && <Chip tone={LEVELS[one.level]}>{one.level}</Chip>}
        {one.score !== undefined && <Chip tone={one.score === 2 ? "good" : "plain"}>{SCORES[one.score] ?? ""}</Chip>}
        <span class="quiet memory-when"><Time at={one.received_at} /></span>
      </div>
      <Said one={one} />
      <div class="memory-foot">
        {one.topic && <a href={href(["memory"], { ...wanted, topic: one.topic })}>topic <Text value={one.topic} /></a>}
        {one.keywords?.map((word, n) => <a key={n} class="chip" href={href(["memory"], withKeyword(wanted, word))}><Text value={word} clip /></a>)}
        {one.session_id && <a href={href(["memory"], { ...wanted, session: one.session_id })} title="More of this session"><Text value={one.session_id} clip mono /></a>}
        {typeof one.confidence === "number" && <Confidence value={one.confidence} />}
      </div>
    </li>
  );
}

function Said({ one }: { one: Memory }): VNode {
  if (one.gone) return <p class="quiet">{one.gone.why === "erased" ? <>What it said was erased{one.gone.by && <> by <Text value={one.gone.by} /></>}.{one.gone.reason && <> <Text value={one.gone.reason} /></>}</> : "What it said was kept as long as texts are kept here."}</p>;
  return (
    <>
      {typeof one.content === "string" ? <div class="memory-said"><Prose value={one.content} /></div> : one.content !== undefined && <Json value={one.content} label="What it says" />}
      {one.payload !== undefined && one.payload !== null && <details><summary>Further data</summary><Json value={one.payload} label="Further data" /></details>}
    </>
  );
}
