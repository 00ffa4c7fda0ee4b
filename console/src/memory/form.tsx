// What to look for in memory. Everything that is written must fit.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { get } from "../api/client";
import { useAsk } from "../api/use";
import { everyAgent } from "../agents/every";
import { go, href } from "../router";
import { type Field, type Wanted } from "./search";

const LABELS: Readonly<Record<Field, string>> = {
  text: "Words in it", keywords: "Keywords", sender: "Who said it", topic: "Topic", session: "Session", type: "Type",
  since: "Since", until: "Until", after: "After entry", before: "Before entry", order: "First",
};
const HINTS: Partial<Record<Field, string>> = { keywords: "research, okla*" };
const CHOICES: Partial<Record<Field, readonly (readonly [string, string])[]>> = {
  type: ["claim", "evidence", "query", "response", "correction", "notice", "session_context"].map((name) => [name, name.replace("_", " ")] as const),
  order: [["best", "the best"]],
};
const NONE: Partial<Record<Field, string>> = { order: "the newest" };
const ALWAYS: readonly Field[] = ["text", "keywords", "sender", "topic", "session", "type", "order"];
const RARELY: readonly Field[] = ["since", "until", "after", "before"];

/** A browser's local time as the exchange reads it, and back. */
const asUtc = (local: string): string => (local ? new Date(local).toISOString() : "");
function asLocal(utc: string | undefined): string {
  const at = new Date(utc ?? "");
  return Number.isNaN(at.getTime()) ? "" : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function Form({ wanted }: { wanted: Wanted }): VNode {
  const [all, setAll] = useState(false);
  const rare = all || RARELY.some((field) => wanted[field]);
  const change = (field: Field, value: string): void => go(href(["memory"], { ...wanted, [field]: value }), true);
  return (
    <form class={all ? "search all" : "search"} role="search" onSubmit={(event) => event.preventDefault()}>
      {[...ALWAYS, ...(rare ? RARELY : [])].map((field) => (
        <label key={field} class={field === "text" ? "words" : field === "keywords" ? "" : "more"}>{LABELS[field]}<Input field={field} value={wanted[field]} change={(value) => change(field, value)} /></label>
      ))}
      <Names />
      <div class="actions">
        <button type="button" aria-expanded={rare} onClick={() => setAll(!all)}>{all ? "Fewer" : "More"}</button>
        {Object.keys(wanted).length > 0 && <button type="button" onClick={() => go(href(["memory"]), true)}>Clear</button>}
      </div>
    </form>
  );
}

function Input({ field, value, change }: { field: Field; value: string | undefined; change: (value: string) => void }): VNode {
  const choices = CHOICES[field];
  if (choices) {
    return (
      <select value={value ?? ""} onChange={(event) => change(event.currentTarget.value)}>
        <option value="">{NONE[field] ?? "any"}</option>
        {choices.map(([name, says]) => <option key={name} value={name}>{says}</option>)}
      </select>
    );
  }
  if (field === "since" || field === "until") return <input type="datetime-local" value={asLocal(value)} onChange={(event) => change(asUtc(event.currentTarget.value))} />;
  if (field === "after" || field === "before") return <input type="number" min={0} value={value ?? ""} onChange={(event) => change(event.currentTarget.value)} />;
  const list = field === "sender" ? "agent-names" : field === "session" ? "session-names" : undefined;
  return <input type="search" dir="auto" list={list} placeholder={HINTS[field]} value={value ?? ""} onChange={(event) => change(event.currentTarget.value.trim())} />;
}

/** Names to choose from; without them one can still write. */
function Names(): VNode {
  const agents = useAsk((signal) => everyAgent(signal), []);
  const sessions = useAsk((signal) => get("/v1/sessions", { query: { limit: 1000 }, signal }), []);
  return (
    <>
      <datalist id="agent-names">{agents.data?.agents.map((agent) => <option key={agent.id} value={agent.id} />)}</datalist>
      <datalist id="session-names">{sessions.data?.sessions.map((one) => <option key={one.id} value={one.id} />)}</datalist>
    </>
  );
}
