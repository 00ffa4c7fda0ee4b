// Messages: searched by the index, listed as far as somebody scrolls, one opened beside the list.
import type { VNode } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem, type Shape, get, session } from "../api/client";
import { type Happening, useFeed } from "../api/feed";
import { asProblem, useAsk } from "../api/use";
import { everyAgent } from "../agents/every";
import { Letter } from "../message/letter";
import { HaltedNote } from "../session/halted";
import type { PageProps } from "../pages";
import { go, href } from "../router";
import { AgentName, AgentNames, DialectBadge, EmptyState, ErrorState, Loading, PageHead, Rows, Text, Time, Verdict, refusedId } from "../ui";
import { OPENED, rowId, useOpened } from "../ui/opened";

type Row = Shape<"MessageFacts"> | Shape<"RefusalFacts">;
const PAGE = 200;
const FIELDS = ["text", "verdict", "dialect", "party", "sender", "recipient", "kind", "thread", "code", "since", "until"] as const;
type Field = (typeof FIELDS)[number];
type Wanted = Partial<Record<Field, string>>;

function wantedOf(query: URLSearchParams): Wanted {
  return Object.fromEntries(FIELDS.flatMap((field) => (query.get(field) ? [[field, query.get(field)]] : [])));
}

interface Found {
  readonly rows: readonly Row[];
  /** Where to go on; `null` at the end. */
  readonly next: number | null;
  readonly busy: boolean;
  readonly error?: Problem | undefined;
}

/** What a search found so far, and how to find more of it. */
function useSearch(wanted: Wanted, turn: number): Found & { more: () => void } {
  const key = JSON.stringify(wanted);
  const [found, set] = useState<Found>({ rows: [], next: null, busy: true });
  const now = useRef(found);
  now.current = found;
  // What a search still waits for ends with it: a late page of another one is none of its own.
  const search = useRef(new AbortController());
  const run = useCallback(
    async (before: number | undefined, { signal }: AbortController) => {
      set((old) => ({ ...old, ...(before === undefined ? { rows: [], next: null } : {}), busy: true, error: undefined }));
      try {
        const query = { verdict: "any", ...(JSON.parse(key) as Wanted), include: "gist", limit: PAGE, ...(before === undefined ? {} : { before }) };
        const page = await get("/v1/messages", { query: query as never, signal });
        if (!signal.aborted) set((old) => ({ rows: before === undefined ? page.messages : [...old.rows, ...page.messages], next: page.next, busy: false }));
      } catch (error) {
        if (!signal.aborted) set((old) => ({ ...old, busy: false, error: asProblem(error) }));
      }
    },
    [key],
  );
  useEffect(() => {
    const own = new AbortController();
    search.current = own;
    void run(undefined, own);
    return () => own.abort();
  }, [run, turn]);
  const more = useCallback(() => {
    const { next, busy, error } = now.current;
    if (next !== null && !busy && !error && !search.current.signal.aborted) void run(next, search.current);
  }, [run]);
  return { ...found, more };
}

export default function Messages({ rest, query }: PageProps): VNode {
  const wanted = useMemo(() => wantedOf(query), [query.toString()]);
  const [turn, again] = useState(0);
  const found = useSearch(wanted, turn);
  const opened = rest[0];
  useOpened(opened);
  // In two lines on a phone, and beside an opened one.
  const tall = opened || matchMedia("(max-width: 46rem)").matches ? 54 : 40;
  const newer = useNewer(found, wanted, turn);
  const open = (position: number): string => href(["messages", position], wanted);
  const row = (item: Row): VNode => <Line item={item} to={open(item.position)} isOpen={String(item.position) === opened} />;
  return (
    <>
      <PageHead title="Messages" about="Everything that was sent, and what was decided. The newest first.">
        {newer > 0 && <button type="button" onClick={() => again(turn + 1)}>{wanted.text ? "Look for newer" : `${newer} newer: show`}</button>}
      </PageHead>
      <Search wanted={wanted} />
      {wanted.thread && <HaltedNote id={wanted.thread} />}
      <div class={opened ? "messages split" : "messages"}>
        <div class="list">
          {found.error && <ErrorState error={found.error} retry={() => again(turn + 1)} />}
          {found.rows.length === 0 && !found.error && (found.busy ? <Loading /> : <Nothing wanted={wanted} />)}
          {found.rows.length > 0 && (
            <Rows key={tall} label="Messages" items={found.rows} height={tall} id={(item) => item.position} row={row} more={found.more} foot={<Foot found={found} />} />
          )}
        </div>
        {opened && <div id={OPENED} tabIndex={-1} role="region" aria-label={`Entry ${opened}`}><Letter position={opened} close={href(["messages"], wanted)} /></div>}
      </div>
    </>
  );
}

/** Whether a search would find it, as far as that is known here: of words in it nothing is. */
function fits(entry: Happening, wanted: Wanted): boolean {
  const to = entry.to ?? [];
  // Not everybody it goes to is told here.
  const goesTo = (name: string): boolean => to.includes(name) || (entry.recipients ?? 0) > to.length;
  const is = (field: "verdict" | "dialect" | "sender" | "kind" | "thread" | "code"): boolean => wanted[field] === undefined || wanted[field] === entry[field];
  return (["verdict", "dialect", "sender", "kind", "thread", "code"] as const).every(is)
    && (wanted.recipient === undefined || goesTo(wanted.recipient))
    && (wanted.party === undefined || entry.sender === wanted.party || goesTo(wanted.party))
    && (wanted.since === undefined || Date.parse(entry.at) >= Date.parse(wanted.since))
    && (wanted.until === undefined || Date.parse(entry.at) < Date.parse(wanted.until));
}

/** How many messages came since the search that it would find. */
function useNewer(found: Found, wanted: Wanted, turn: number): number {
  const [seen, set] = useState(0);
  const top = useRef(Infinity);
  const sought = useRef(wanted);
  sought.current = wanted;
  top.current = found.busy && found.rows.length === 0 ? Infinity : (found.rows[0]?.position ?? -1);
  useEffect(() => set(0), [turn, wanted, found.rows[0]?.position]);
  const count = useCallback((entries: readonly Happening[]) => {
    const fresh = entries.filter((entry) => entry.verdict !== undefined && entry.position > top.current && fits(entry, sought.current)).length;
    if (fresh > 0) set((n) => n + fresh);
  }, []);
  useFeed(count);
  return seen;
}

function Foot({ found }: { found: Found }): VNode {
  return <p class="rows-foot">{found.busy ? "Loading more…" : found.next === null ? `${found.rows.length} in all` : ""}</p>;
}

function Nothing({ wanted }: { wanted: Wanted }): VNode {
  if (Object.keys(wanted).length === 0) return <EmptyState title="Nothing was sent yet."><a href={href(["start"])}>How to connect an agent</a></EmptyState>;
  return <EmptyState title="Nothing fits."><a href={href(["messages"])}>Show everything</a></EmptyState>;
}

function Line({ item, to, isOpen }: { item: Row; to: string; isOpen: boolean }): VNode {
  const mark = isOpen ? "true" : undefined;
  if (item.verdict === "refused") {
    return (
      <a class="line message-line" id={rowId(String(item.position))} href={to} aria-current={mark}>
        <span class="quiet">–</span>
        <span class="way"><AgentName id={refusedId(item.by)} link={false} /></span>
        <span class="kind"><Text value={item.code} clip mono /></span>
        <span class="gist"><Text value={item.says ?? ""} clip /></span>
        <Verdict is="refused" />
        <Time at={item.received_at} as="clock" />
      </a>
    );
  }
  return (
    <a class="line message-line" id={rowId(String(item.position))} href={to} aria-current={mark}>
      <DialectBadge of={item.dialect} />
      <span class="way"><AgentName id={item.sender} link={false} /><span class="arrow">→</span><AgentNames ids={item.to} link={false} most={1} /></span>
      <span class="kind"><Text value={item.kind} clip /></span>
      <span class="gist"><Text value={item.gist ?? ""} clip /></span>
      <Verdict is={item.verdict} />
      <Time at={item.received_at} as="clock" />
    </a>
  );
}

const LABELS: Readonly<Record<Field, string>> = {
  text: "Words in it", verdict: "Verdict", dialect: "Dialect", party: "Agent", sender: "Sender", recipient: "Recipient",
  kind: "Kind", thread: "Task or session", code: "Refusal code", since: "Since", until: "Until",
};
const CHOICES: Partial<Record<Field, readonly string[]>> = { verdict: ["accepted", "held", "refused"], dialect: ["vcp", "acl", "cap", "vlp"] };

/** A browser's local time as the exchange reads it, and back. */
const asUtc = (local: string): string => (local ? new Date(local).toISOString() : "");
function asLocal(utc: string | undefined): string {
  if (!utc) return "";
  const at = new Date(utc);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Search({ wanted }: { wanted: Wanted }): VNode {
  const [all, setAll] = useState(false);
  const names = useAsk((signal) => (session.value ? everyAgent(signal) : Promise.reject(new Error())), []);
  const change = (field: Field, value: string): void => go(href(["messages"], { ...wanted, [field]: value }), true);
  const set = Object.keys(wanted).length;
  return (
    <form class={all ? "search all" : "search"} role="search" onSubmit={(event) => event.preventDefault()}>
      {FIELDS.filter((field) => field !== "code" || wanted.verdict === "refused").map((field) => (
        <label key={field} class={field === "text" ? "words" : "more"}>
          {LABELS[field]}
          {CHOICES[field]
            ? (
              <select value={wanted[field] ?? ""} onChange={(event) => change(field, event.currentTarget.value)}>
                <option value="">any</option>
                {CHOICES[field].map((choice) => <option key={choice}>{choice}</option>)}
              </select>
            )
            : field === "since" || field === "until"
              ? <input type="datetime-local" value={asLocal(wanted[field])} onChange={(event) => change(field, asUtc(event.currentTarget.value))} />
              : <input type="search" dir="auto" list={["party", "sender", "recipient"].includes(field) ? "agent-names" : undefined} value={wanted[field] ?? ""} onChange={(event) => change(field, event.currentTarget.value.trim())} />}
        </label>
      ))}
      <datalist id="agent-names">{names.data?.agents.map((agent) => <option key={agent.id} value={agent.id} />)}</datalist>
      <div class="actions">
        <button type="button" class="menu" aria-expanded={all} onClick={() => setAll(!all)}>{all ? "Fewer" : "More"}</button>
        {set > 0 && <button type="button" onClick={() => go(href(["messages"]), true)}>Clear</button>}
      </div>
    </form>
  );
}
