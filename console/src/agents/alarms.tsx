// Escalations that are open: who raised them, who has not answered, and how long there is.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post } from "../api/client";
import { type Asked, useAsk } from "../api/use";
import { href } from "../router";
import { AgentName, Await, Card, Chip, Confirm, Countdown, EmptyState, Prose, Text, Time, type Tone, toast } from "../ui";
import type { Escalation } from "./escalations";
import { type Act, type Agent, State, Stop, StopChoice, mayStop } from "./stop";

type States = ReadonlyMap<string, Agent["state"]>;

const TONES: Readonly<Record<Escalation["severity"], Tone>> = { info: "plain", warning: "wait", critical: "bad", emergency: "bad" };
const GRAVITY: readonly Escalation["severity"][] = ["emergency", "critical", "warning", "info"];
const FIRST = 12;

/** Those without an answer first, then the gravest, then what runs out next. */
function urgency(a: Escalation, b: Escalation): number {
  const open = (one: Escalation): number => (one.state === "unanswered" ? 0 : 1);
  const due = (one: Escalation): number => (one.goes_on_at ? Date.parse(one.goes_on_at) : Infinity);
  return open(a) - open(b) || GRAVITY.indexOf(a.severity) - GRAVITY.indexOf(b.severity) || Math.sign(due(a) - due(b)) || a.position - b.position;
}

export function Alarms({ asked, states, done }: { asked: Asked<readonly Escalation[]>; states: States; done: () => void }): VNode {
  const [all, setAll] = useState(false);
  const [asking, ask] = useState<Asking>();
  const head = useRef<HTMLHeadingElement>(null);
  const open = asked.data?.filter((one) => one.state !== "closed").sort(urgency);
  const missing = open?.filter((one) => one.state === "unanswered").length ?? 0;
  // What was acted on may be gone, and the button with it: whoever uses the keyboard is not sent back to the top.
  const acted = useRef(false);
  useEffect(() => {
    if (acted.current && document.activeElement === document.body) head.current?.focus();
    acted.current = false;
  }, [asked.data]);
  const after = (): void => {
    acted.current = true;
    done();
  };
  const close = (): void => {
    ask(undefined);
    if (document.activeElement === document.body) head.current?.focus();
  };
  return (
    <>
      <Card title={<span ref={head} tabIndex={-1}>Open escalations{open && open.length > 0 && <span class="quiet"> {open.length}, {missing} without an answer</span>}</span>} tone={missing > 0 ? "bad" : undefined}>
        <Await asked={asked}>
          {() => (open?.length
            ? (
              <ul class="raised">
                {open.slice(0, all ? open.length : FIRST).map((one) => <Raised key={one.position} one={one} state={states.get(one.agent)} ask={ask} />)}
                {!all && open.length > FIRST && <li><button type="button" onClick={() => setAll(true)}>{open.length - FIRST} more</button></li>}
              </ul>
            )
            : <p class="quiet">None. Nobody waits for an answer.</p>)}
        </Await>
      </Card>
      {asking && <Ask {...asking} close={close} done={after} />}
    </>
  );
}

/** What somebody is about to do about an escalation. It is asked beside the list, which may lose that line meanwhile. */
export interface Asking {
  readonly one: Escalation;
  readonly act: Act | "acknowledge";
  readonly state: Agent["state"] | undefined;
}

export function Ask({ one, act, state, close, done }: Asking & { close: () => void; done: () => void }): VNode {
  return act === "acknowledge" ? <Acknowledge one={one} state={state} close={close} done={done} /> : <Stop agent={one.agent} act={act} state={state ?? "running"} close={close} done={done} />;
}

export function Raised({ one, state, ask }: { one: Escalation; state?: Agent["state"] | undefined; ask?: (asking: Asking) => void }): VNode {
  const isOpen = one.state !== "closed";
  return (
    <li class="raised-one" data-escalation={one.id}>
      <div class="raised-head">
        <Chip tone={isOpen ? TONES[one.severity] : "plain"}>{one.severity}</Chip>
        <AgentName id={one.agent} />
        {isOpen && state && <State is={state} />}
        <span class="quiet"><Time at={one.raised_at} /></span>
        <Clock one={one} />
      </div>
      {one.reason === null ? <p class="quiet">It gives no reason, or that is not kept any more.</p> : <Prose value={one.reason} />}
      <ul class="told" aria-label="Who was told">
        {one.told.map((told, n) => (
          <li key={n} class={told.acknowledged ? "told-yes" : "told-no"}>
            <span aria-hidden="true">{told.acknowledged ? "✓" : "…"}</span>
            {told.agent === null ? "the operator" : <AgentName id={told.agent} />}
            <span class="quiet">{told.acknowledged ? "acknowledged" : isOpen ? "no acknowledgement yet" : "did not acknowledge"}</span>
          </li>
        ))}
      </ul>
      <div class="actions">
        {isOpen && ask && one.state === "unanswered" && mayStop() && <button type="button" class="primary" onClick={() => ask({ one, act: "acknowledge", state })}>Acknowledge<span class="sr"> {one.severity} of {one.agent}</span></button>}
        {isOpen && ask && state && mayStop() && <StopChoice agent={one.agent} state={state} ask={(act) => ask({ one, act, state })} />}
        <a href={href(["messages", one.position])}>Read it</a>
      </div>
    </li>
  );
}

/** What happens next, and when. */
function Clock({ one }: { one: Escalation }): VNode {
  if (one.state === "closed") return <span class="quiet">closed{one.closed_by && <> by <Text value={one.closed_by} /></>}{one.closed_at && <> <Time at={one.closed_at} /></>}</span>;
  const by = one.acknowledged_by && <>acknowledged by <Text value={one.acknowledged_by} /></>;
  if (!one.goes_on_at) return <span class="clock">{by ?? (one.requires_ack ? "nobody answered: it is the operator’s now" : "no answer asked for")}</span>;
  return <span class="clock">{by ? <>{by}, to be dealt with: </> : "answer: "}<Countdown until={one.goes_on_at} /><span class="quiet">, then the next above is told</span></span>;
}

function Acknowledge({ one, state, close, done }: { one: Escalation; state: Agent["state"] | undefined; close: () => void; done: () => void }): VNode {
  const act = async (): Promise<void> => {
    await post("/v1/escalations/{id}/ack", { path: { id: one.position } });
    toast(`Acknowledged, and ${one.agent} is told.`);
    done();
  };
  return (
    <Confirm title={`Acknowledge this ${one.severity} escalation?`} verb="Acknowledge" act={act} close={close}>
      <p><strong><Text value={one.agent} /></strong> gets your acknowledgement from the exchange, and the clock for an answer stops.{state && state !== "running" && <> It stays {state} until it is resumed.</>}</p>
      {one.severity === "critical" && <p class="quiet">A critical one is then to be dealt with within five minutes, or it goes on to the next above.</p>}
    </Confirm>
  );
}

/** The last ones of an agent or of all, closed ones too. */
export function Past({ agent }: { agent?: string }): VNode {
  const asked = useAsk((signal) => get("/v1/escalations", { query: { state: "all", order: "newest", limit: 1000, ...(agent ? { agent } : {}) }, signal }), [agent]);
  return (
    <Await asked={asked}>
      {({ escalations }) => {
        const closed = escalations.filter((one) => one.state === "closed").slice(0, 20);
        return closed.length === 0 ? <EmptyState title="None was closed yet." /> : <ul class="raised">{closed.map((one) => <Raised key={one.position} one={one} />)}</ul>;
      }}
    </Await>
  );
}
