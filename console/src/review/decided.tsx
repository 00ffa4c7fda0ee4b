// What was decided before: who, when and why, the newest message first.
import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";
import { get } from "../api/client";
import { useLive } from "../api/live";
import { asProblem } from "../api/use";
import { href } from "../router";
import { AgentName, AgentNames, Await, Chip, DialectBadge, EmptyState, Rows, Text, Time, toast } from "../ui";
import { rowId } from "../ui/opened";
import { type Decision, gist } from "./list";

const PAGE = 50;

export function Decided({ opened }: { opened: string | undefined }): VNode {
  const asked = useLive((signal) => get("/v1/decisions", { query: { limit: PAGE }, signal }), [], (entry) => entry.entry === "changed" || entry.entry === "released");
  const [earlier, setEarlier] = useState<{ readonly list: readonly Decision[]; readonly next: number | null }>();
  const next = earlier ? earlier.next : (asked.data?.next ?? null);
  const more = useCallback(() => {
    if (next === null) return;
    get("/v1/decisions", { query: { limit: PAGE, before: next } }).then(
      (page) => setEarlier((old) => ({ list: [...(old?.list ?? []), ...page.decisions], next: page.next })),
      (error: unknown) => toast(asProblem(error).message, "bad"),
    );
  }, [next]);
  return (
    <Await asked={asked}>
      {({ decisions }) => {
        const known = new Set(decisions.map(({ id }) => id));
        const all = [...decisions, ...(earlier?.list ?? []).filter(({ id }) => !known.has(id))];
        if (all.length === 0) return <EmptyState title="Nothing was decided yet.">What a person approved or refused comes here, and what nobody decided in time.</EmptyState>;
        return (
          <Rows label="Decided" items={all} height={58} id={(one) => one.id} row={(one) => <Line one={one} isOpen={one.id === opened} />}
            foot={next === null ? <p class="rows-foot">{all.length} decided</p> : <p class="rows-foot"><button type="button" onClick={more}>Earlier ones</button></p>} />
        );
      }}
    </Await>
  );
}

function Line({ one, isOpen }: { one: Decision; isOpen: boolean }): VNode {
  const { message } = one;
  return (
    <a class="line" id={rowId(one.id)} href={href(["reviews", one.id], { decided: true })} aria-current={isOpen ? "true" : undefined}>
      <DialectBadge of={message.dialect} />
      <span class="way"><AgentName id={message.sender} link={false} /><span class="arrow" aria-label="to">→</span><AgentNames ids={message.to} link={false} most={1} /></span>
      <span class="gist"><Text value={gist(message.message)} clip /></span>
      <span class="marks"><Chip tone={one.decision === "approved" ? "good" : "bad"}>{one.decision}</Chip></span>
      <span class="sub"><Text value={one.by ?? ""} />{one.reason && <>: <Text value={one.reason} clip /></>}</span>
      <span class="when">{one.at && <Time at={one.at} />}</span>
    </a>
  );
}
