// What the cards of messages are made of.
import type { VNode } from "preact";
import { Chip, Json, KeyValue, Prose, Text, Time, type Tone } from "../ui";
import { Members, type Pair, isObject } from "./members";

/** A value that may be anything: in a line, if it has no more than one. */
export function Some({ value }: { value: unknown }): VNode {
  if (typeof value !== "string") return <Text value={JSON.stringify(value)} mono />;
  return value.includes("\n") ? <Prose value={value} /> : <Text value={value} />;
}

export function Words({ value }: { value: unknown }): VNode {
  return typeof value === "string" ? <Prose value={value} /> : <Json value={value} label="What it says" />;
}

export function Rest({ of }: { of: readonly Pair[] }): VNode | null {
  return of.length === 0 ? null : <KeyValue of={of.map(([name, value]) => [name, <Some value={value} />] as const)} />;
}

/** As the rest, with objects and lists each below its name. */
export function Parts({ of }: { of: readonly Pair[] }): VNode {
  const isLarge = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length > 0;
  return (
    <>
      <Rest of={of.filter(([, value]) => !isLarge(value)).map(([name, value]) => [name.replaceAll("_", " "), value] as const)} />
      {of.filter(([, value]) => isLarge(value)).map(([name, value]) => (
        <div key={name} class="stack"><h3><Text value={name.replaceAll("_", " ")} /></h3><Json value={value} label={name} /></div>
      ))}
    </>
  );
}

/** What a message is sent in; the record's own words for it stand around the card. */
export function Envelope({ of }: { of: readonly Pair[] }): VNode | null {
  return of.length === 0 ? null : <details><summary>Envelope</summary><Rest of={of} /></details>;
}

/** Takes what a message is sent in, as far as it is nothing but a name or an id. */
export function envelope(of: Members, ...names: readonly string[]): readonly Pair[] {
  const isName = (value: unknown): value is unknown => typeof value === "string" || (isObject(value) && Object.keys(value).join() === "agent_id");
  return names.flatMap((name) => {
    const value = of.take(name, isName);
    return value === undefined ? [] : [[name, value] as const];
  });
}

export function Confidence({ value }: { value: number }): VNode {
  const part = Math.round(value * 100);
  return (
    <span class="meter">
      <progress max={1} value={value} aria-label={`Confidence ${part} %`} />
      <span class="nums">{part} %</span>
    </span>
  );
}

const LEVELS: Readonly<Record<string, Tone>> = { safe: "good", review: "wait", requires_human: "wait", block: "bad" };

export function Safety({ of }: { of: object }): VNode {
  const safety = new Members(of);
  const level = safety.text("level");
  const issues = safety.list("issues");
  const asks = safety.take("requires_human", (value): value is true => value === true);
  return (
    <div class="stack">
      {(level || asks) && <span class="keywords">{level && <Chip tone={LEVELS[level] ?? "plain"}>{level}</Chip>}{asks && <Chip tone="wait">asks for a person</Chip>}</span>}
      {issues && <ul class="stack">{issues.map((issue, n) => <li key={n}>{isObject(issue) ? <Issue of={issue} /> : <Some value={issue} />}</li>)}</ul>}
      <Rest of={safety.rest()} />
    </div>
  );
}

function Issue({ of }: { of: object }): VNode {
  const issue = new Members(of);
  const detail = issue.text("detail");
  return <>{detail && <Prose value={detail} />}<Rest of={issue.rest()} /></>;
}

export function Provenance({ of }: { of: readonly unknown[] }): VNode {
  return <ul class="sources">{of.map((source, n) => <li key={n}>{isObject(source) ? <Source of={source} /> : <Some value={source} />}</li>)}</ul>;
}

function Source({ of }: { of: object }): VNode {
  const source = new Members(of);
  const [ref, kind, at, hash] = [source.text("ref"), source.text("kind"), source.time("fetched_at"), source.text("hash")];
  return (
    <>
      {ref && <Text value={ref} />}
      {kind && <Chip>{kind}</Chip>}
      {at && <><Time at={at} /> <span class="quiet"><Text value={at} mono /></span></>}
      {hash && <Text value={hash} mono />}
      <Rest of={source.rest()} />
    </>
  );
}

export function Keywords({ of }: { of: readonly unknown[] }): VNode {
  return <span class="keywords">{of.map((word, n) => <Chip key={n}>{typeof word === "string" ? word : JSON.stringify(word)}</Chip>)}</span>;
}

export function Attachment({ of }: { of: unknown }): VNode {
  const part = new Members(of);
  const [kind, body] = [part.text("type"), part.text("text")];
  return (
    <li class="stack">
      {kind && <div><Chip>{kind}</Chip></div>}
      {body && <Prose value={body} />}
      {isObject(of) ? <Rest of={part.rest()} /> : <Some value={of} />}
    </li>
  );
}

/** What a delegation passes on. */
export function Grants({ of }: { of: object }): VNode {
  const grants = new Members(of);
  const [tools, scopes] = [grants.list("tools"), grants.list("scopes")];
  return (
    <>
      <KeyValue of={[["Tools", tools && <Keywords of={tools} />], ["Scopes", scopes && <Keywords of={scopes} />]]} />
      <Rest of={grants.rest()} />
    </>
  );
}

/** A task among those it comes from: `T1 › T1.2`. */
export function Lineage({ task, parent }: { task: string; parent?: string | undefined }): VNode {
  const steps = parent ? [parent, task] : task.split(".").map((_, n, all) => all.slice(0, n + 1).join("."));
  return (
    <span class="lineage">
      {steps.map((step, n) => <>{n > 0 && <span class="quiet" aria-hidden="true">›</span>}<Text value={step} mono /></>)}
    </span>
  );
}
