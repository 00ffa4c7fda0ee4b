// What a message says, as its dialect means it. What a card does not know is shown below it, so nothing is left out.
import type { ComponentChildren, VNode } from "preact";
import { AgentName, Chip, Countdown, Json, KeyValue, Prose, Text, Time, type Tone } from "../ui";

type Members = Readonly<Record<string, unknown>>;

const members = (value: unknown): Members => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Members) : {});
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A value that may be anything, in a line. */
function Some({ value }: { value: unknown }): VNode {
  return typeof value === "string" ? <Text value={value} /> : <Text value={JSON.stringify(value)} mono />;
}

function Words({ value }: { value: unknown }): VNode {
  return typeof value === "string" ? <Prose value={value} /> : <Json value={value} label="What it says" />;
}

/** What is left once the members with these names are shown. */
function Rest({ of, known }: { of: Members; known: readonly string[] }): VNode | null {
  const rest = Object.entries(of).filter(([name, value]) => !known.includes(name) && value !== null && value !== undefined);
  if (rest.length === 0) return null;
  return <KeyValue of={rest.map(([name, value]) => [name, <Some value={value} />] as const)} />;
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

function Safety({ safety }: { safety: Members }): VNode | null {
  const level = text(safety["level"]);
  if (!level) return null;
  return (
    <div class="stack">
      <Chip tone={LEVELS[level] ?? "plain"}>{level}</Chip>
      {list(safety["issues"]).map((issue, n) => <Some key={n} value={text(members(issue)["detail"]) ?? issue} />)}
    </div>
  );
}

export function Provenance({ of }: { of: readonly unknown[] }): VNode {
  return (
    <ul class="sources">
      {of.map((source, n) => {
        const { ref, kind, hash, fetched_at: at } = members(source) as Record<string, string>;
        return (
          <li key={n}>
            <Some value={ref ?? source} />
            {kind && <Chip>{kind}</Chip>}
            {at && <Time at={at} as="exact" />}
            {hash && <Text value={hash} mono />}
          </li>
        );
      })}
    </ul>
  );
}

function Keywords({ of }: { of: readonly unknown[] }): VNode {
  return <span class="keywords">{of.map((word, n) => <Chip key={n}>{String(word)}</Chip>)}</span>;
}

function Vlp({ message }: { message: Members }): VNode {
  const { content, confidence, provenance, safety, keywords, topic, refers_to: refers, constraints, payload } = message;
  const shown = ["id", "protocol", "type", "timestamp", "sender", "receiver", "session_id", "content", "confidence", "provenance", "safety", "keywords", "topic", "refers_to", "constraints", "payload", "_extras", "signature"];
  return (
    <>
      <div class="said"><Words value={content ?? ""} /></div>
      <KeyValue of={[
        ["Confidence", typeof confidence === "number" && <Confidence value={confidence} />],
        ["Provenance", list(provenance).length > 0 ? <Provenance of={list(provenance)} /> : message["type"] === "claim" && <span class="quiet">none given</span>],
        ["Safety", safety ? <Safety safety={members(safety)} /> : undefined],
        ["Refers to", refers ? <Some value={refers} /> : undefined],
        ["Topic", text(topic) && <Text value={String(topic)} />],
        ["Keywords", list(keywords).length > 0 && <Keywords of={list(keywords)} />],
        ["Constraints", list(constraints).length > 0 && <Keywords of={list(constraints)} />],
      ]} />
      {Object.keys(members(payload)).length > 0 && <Json value={payload} label="Payload" />}
      <Rest of={message} known={shown} />
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = { text_snippet: "text", tool_call_result: "result of a tool", file: "file", python_object: "object" };

function Attachment({ of }: { of: Members }): VNode {
  const kind = text(of["type"]) ?? "";
  const body = text(of["text"]);
  return (
    <li class="stack">
      <Chip>{KINDS[kind] ?? kind}</Chip>
      {body ? <Prose value={body} /> : <Rest of={of} known={["type"]} />}
    </li>
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

function Cap({ message }: { message: Members }): VNode {
  const words = message["content"] ?? message["context_summary"] ?? message["inquiry"] ?? message["error_message"];
  const task = text(message["task_id"]);
  const deadline = text(message["deadline"]);
  const [tools, scopes] = [list(members(message["grants"])["tools"]), list(members(message["grants"])["scopes"])];
  const from = text(message["sender_id"]);
  const to = text(message["recipient_id"]);
  const shown = ["type", "task_id", "sender_id", "recipient_id", "content", "context_summary", "inquiry", "error_message", "error_code", "attachments", "message_id", "timestamp", "parent_task_id", "deadline", "grants", "decision", "digest", "signature"];
  return (
    <>
      {message["type"] === "delegation_notice" && from && to && (
        <p class="letter-way"><AgentName id={from} /> <span class="quiet">hands the task to</span> <AgentName id={to} /></p>
      )}
      <div class="said"><Words value={words ?? ""} /></div>
      <KeyValue of={[
        ["Task", task && <Lineage task={task} parent={text(message["parent_task_id"])} />],
        ["Deadline", deadline && <><Countdown until={deadline} /> <span class="quiet"><Time at={deadline} as="exact" /></span></>],
        ["Tools", tools.length > 0 && <Keywords of={tools} />],
        ["Scopes", scopes.length > 0 && <Keywords of={scopes} />],
        ["Decision", text(message["decision"]) && <Chip tone={message["decision"] === "approve" ? "good" : "wait"}>{String(message["decision"])}</Chip>],
        ["Of digest", text(message["digest"]) && <Text value={String(message["digest"])} mono />],
        ["Error", message["error_code"] !== undefined && <Chip tone="bad">{String(message["error_code"])}</Chip>],
        ["Attachments", list(message["attachments"]).length > 0 && <ul class="stack">{list(message["attachments"]).map((one, n) => <Attachment key={n} of={members(one)} />)}</ul>],
      ]} />
      <Rest of={message} known={shown} />
    </>
  );
}

const SEVERITIES: Readonly<Record<string, Tone>> = { info: "plain", warning: "wait", critical: "bad", emergency: "bad" };

function Vcp({ message }: { message: Members }): VNode {
  const payload = members(message["payload"]);
  const severity = text(payload["severity"]);
  const reason = text(payload["reason"]);
  const shown = ["severity", "reason", "requires_ack", "context", "constitution_ref", "manifest_hash", "blocked_action"];
  return (
    <>
      {reason && <div class="said"><Prose value={reason} /></div>}
      <KeyValue of={[
        ["Severity", severity && <Chip tone={SEVERITIES[severity] ?? "plain"}>{severity}</Chip>],
        ["Raised", severity && text(message["timestamp"]) && <Time at={String(message["timestamp"])} />],
        ["Needs an ACK", severity && (payload["requires_ack"] === true ? "yes: those who are told must answer" : "no")],
        ["Blocked action", text(payload["blocked_action"]) && <Text value={String(payload["blocked_action"])} />],
        ["Context", text(payload["context"]) && <span class="emoji"><Text value={String(payload["context"])} /></span>],
        ["Constitution", text(payload["constitution_ref"]) && <Text value={String(payload["constitution_ref"])} />],
        ["Manifest", text(payload["manifest_hash"]) && <Text value={String(payload["manifest_hash"])} mono />],
      ]} />
      <Parts of={payload} known={shown} />
    </>
  );
}

/** Members that are objects each below its name. */
function Parts({ of, known }: { of: Members; known: readonly string[] }): VNode {
  const isEmpty = (value: unknown): boolean => value === null || (typeof value === "object" && Object.keys(value as object).length === 0);
  const rest = Object.entries(of).filter(([name, value]) => !known.includes(name) && !isEmpty(value));
  return (
    <>
      {rest.map(([name, value]): ComponentChildren =>
        typeof value === "object" && value !== null
          ? <div key={name} class="stack"><h3><Text value={name.replaceAll("_", " ")} /></h3><Json value={value} label={name} /></div>
          : <KeyValue key={name} of={[[name.replaceAll("_", " "), value === null ? undefined : <Some value={value} />]]} />,
      )}
    </>
  );
}

function Acl({ message }: { message: Members }): VNode {
  const payload = members(message["payload"]);
  const words = payload["task_description"] ?? payload["result_summary"] ?? payload["reason"] ?? payload["query"] ?? payload["error_message"];
  const shown = ["task_description", "result_summary", "reason", "query", "error_message"].filter((name) => payload[name] === words);
  return (
    <>
      {words !== undefined && <div class="said"><Words value={words} /></div>}
      <KeyValue of={[
        ["Performative", text(message["performative"]) && <Chip>{String(message["performative"])}</Chip>],
        ["In reply to", text(message["in_reply_to"]) && <Text value={String(message["in_reply_to"])} mono />],
        ["Ontology", text(message["ontology"]) && <Text value={String(message["ontology"])} />],
        ["Language", text(message["language"]) && <Text value={String(message["language"])} />],
      ]} />
      <Parts of={payload} known={shown} />
    </>
  );
}

/** The card of a message. `message` is what was sent, of whatever shape. */
export function MessageCard({ dialect, message }: { dialect: string; message: unknown }): VNode {
  const whole = members(message);
  switch (dialect) {
    case "vlp":
      return <Vlp message={whole} />;
    case "cap":
      return <Cap message={whole} />;
    case "vcp":
      return <Vcp message={whole} />;
    case "acl":
      return <Acl message={whole} />;
    default:
      return <Json value={message} />;
  }
}
