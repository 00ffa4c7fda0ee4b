// One message with all that is known of it: what it says, what became of it, its bytes, and whether that is true.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, bytes, get, session } from "../api/client";
import { asProblem, useAsk } from "../api/use";
import type { Shown } from "../proof/shown";
import { verify } from "../proof/verify";
import { Checks } from "../record/found";
import { href } from "../router";
import { HaltedNote } from "../session/halted";
import { AgentName, AgentNames, Await, Card, Code, Copy, DialectBadge, ErrorState, KeyValue, Loading, Text, Time, Verdict, refusedId, save } from "../ui";
import { MessageCard } from "./card";

type Explained = Shape<"ExplainedMessage">;
type Refused = Shape<"ExplainedRefusal">;

const isRefused = (told: Explained | Refused): told is Refused => told.verdict === "refused";

export function Letter({ position, close }: { position: string; close: string }): VNode {
  const told = useAsk((signal) => get("/v1/messages/{key}/explain", { path: { key: position }, signal }), [position]);
  return (
    <Card actions={<a href={close}>Close</a>} title={<>Entry <span class="nums">{position}</span></>}>
      <Await asked={told}>{(found) => (isRefused(found) ? <Refusal told={found} /> : <Taken key={position} name={position} told={found} />)}</Await>
    </Card>
  );
}

function Refusal({ told }: { told: Refused }): VNode {
  return (
    <div class="letter">
      <div class="letter-head"><Verdict is="refused" /><h3><Text value={told.code} mono /></h3></div>
      {told.says && <div class="said"><p class="prose" dir="auto"><Text value={told.says} /></p></div>}
      <KeyValue of={[
        ["From", <AgentName id={refusedId(told.by)} />],
        ["When", <><Time at={told.received_at} /> <span class="quiet"><Time at={told.received_at} as="exact" /></span></>],
        ["Place", told.at && <Text value={told.at} mono />],
        ["Rule", told.spec && <Text value={told.spec} />],
        ["Message id", told.message_id && <Text value={told.message_id} mono />],
        ["Digest", told.digest && <Text value={told.digest} mono />],
      ]} />
      <p class="quiet">What is refused is not kept: the record says that it was, why, and its digest.</p>
      <Steps of={told.steps} />
    </div>
  );
}

function Taken({ name, told }: { name: string; told: Explained }): VNode {
  // Reviewers see no entries.
  const sees = session.value?.role !== "reviewer";
  const whole = useAsk((signal) => get("/v1/messages/{key}", { path: { key: told.position }, signal }), [told.position]);
  return (
    <div class="letter">
      <div class="letter-head"><DialectBadge of={told.dialect} /><h3><Text value={told.kind} /></h3><Verdict is={told.verdict} /></div>
      <p class="letter-way"><AgentName id={told.sender} /> <span class="quiet" aria-label="to">→</span> <AgentNames ids={told.to} most={8} /></p>
      {told.dialect === "vlp" && told.thread && <HaltedNote id={told.thread} />}
      <Await asked={whole}>{(facts) => (facts.message === undefined ? <Gone gone={facts.gone} /> : <MessageCard dialect={told.dialect} message={facts.message} />)}</Await>
      <KeyValue of={[
        ["Received", <><Time at={told.received_at} /> <span class="quiet"><Time at={told.received_at} as="exact" /></span></>],
        ["Task or session", told.thread && <a href={href(["messages"], { thread: told.thread })}><Text value={told.thread} mono /></a>],
        ["Message id", <Text value={told.message_id} mono />],
        ["Digest", <Text value={told.digest} mono />],
      ]} />
      <Steps of={told.steps} />
      {sees && whole.data && !whole.loading && <Proven shown={{ name, facts: told, message: whole.data.message }} />}
      <Raw position={told.position} />
    </div>
  );
}

function Gone({ gone }: { gone: Shape<"MessageFacts">["gone"] }): VNode {
  if (gone?.why === "erased") {
    return <p class="quiet">What it said was erased{gone.by && <> by <Text value={gone.by} /></>}{gone.at && <> <Time at={gone.at} /></>}.{gone.reason && <> <Text value={gone.reason} /></>}</p>;
  }
  return <p class="quiet">What it said was kept as long as texts are kept here.</p>;
}

function Steps({ of }: { of: Explained["steps"] }): VNode {
  return (
    <section class="stack" aria-label="What became of it">
      <h3>What became of it</h3>
      <ol class="steps">
        {of.map((step, n) => (
          <li key={n}>
            <span class="step-what">{step.step.replaceAll("_", " ")}</span> <span class="quiet"><Time at={step.at} as="clock" /></span>
            <p class="prose" dir="auto"><Text value={step.says} /></p>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Checks at once: it costs the browser a millisecond. */
function Proven({ shown }: { shown: Shown }): VNode {
  const asked = useAsk(() => verify(shown), [shown]);
  return (
    <section class="stack" aria-label="Checked in this browser">
      <h3>Checked in this browser</h3>
      {asked.error ? <ErrorState error={asked.error} retry={asked.reload} /> : asked.data ? <Checks of={asked.data} /> : <Loading what="Checking" />}
    </section>
  );
}

function Raw({ position }: { position: number }): VNode {
  const [text, set] = useState<string | Error>();
  const show = (event: Event): void => {
    if (!(event.currentTarget as HTMLDetailsElement).open || text !== undefined) return;
    bytes("/v1/messages/{key}/raw", { path: { key: position } }).then((raw) => set(new TextDecoder().decode(raw)), (error: unknown) => set(asProblem(error)));
  };
  return (
    <details onToggle={show}>
      <summary>Bytes as received</summary>
      {text === undefined ? <Loading /> : text instanceof Error ? <ErrorState error={asProblem(text)} /> : (
        <div class="stack">
          <Code value={text} label="Bytes as received" />
          <div class="actions"><Copy text={text} /><button type="button" class="copy" onClick={() => save(`message-${position}.json`, text)}>Save</button></div>
        </div>
      )}
    </details>
  );
}
