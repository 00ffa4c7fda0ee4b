// What a message says, as its dialect means it. What a card does not know is shown below it, so nothing is left out.
import type { VNode } from "preact";
import { AgentName, Chip, Countdown, Json, KeyValue, Prose, Text, Time, type Tone } from "../ui";
import { Members, isObject } from "./members";
import { Attachment, Confidence, Envelope, Grants, Keywords, Lineage, Parts, Provenance, Rest, Safety, Some, Words, envelope } from "./parts";

const isPart = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;
const isNamed = (value: unknown): value is unknown => (typeof value === "string" && value !== "") || (Array.isArray(value) && value.length > 0);
const isCode = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";

function Vlp({ message }: { message: object }): VNode {
  const of = new Members(message);
  const isClaim = (message as { type?: unknown }).type === "claim";
  const around = envelope(of, "id", "protocol", "type", "timestamp", "sender", "receiver", "signature");
  const [content, confidence, provenance, safety] = [of.first("content"), of.take("confidence", isPart), of.list("provenance"), of.object("safety")];
  const [refers, topic, session] = [of.take("refers_to", isNamed), of.text("topic"), of.text("session_id")];
  const [keywords, constraints, payload] = [of.list("keywords"), of.list("constraints"), of.object("payload")];
  return (
    <>
      <div class="said"><Words value={content ?? ""} /></div>
      <KeyValue of={[
        ["Confidence", confidence !== undefined && <Confidence value={confidence} />],
        ["Provenance", provenance ? <Provenance of={provenance} /> : isClaim && <span class="quiet">none given</span>],
        ["Safety", safety && <Safety of={safety} />],
        ["Refers to", refers !== undefined && <Some value={refers} />],
        ["Topic", topic && <Text value={topic} />],
        ["Session", session && <Text value={session} mono />],
        ["Keywords", keywords && <Keywords of={keywords} />],
        ["Constraints", constraints && <Keywords of={constraints} />],
      ]} />
      {payload && <Json value={payload} label="Payload" />}
      <Rest of={of.rest()} />
      <Envelope of={around} />
    </>
  );
}

function Cap({ message }: { message: object }): VNode {
  const of = new Members(message);
  const { type, sender_id: from, recipient_id: to } = message as Readonly<Record<string, unknown>>;
  const around = envelope(of, "type", "message_id", "timestamp", "sender_id", "recipient_id", "signature");
  const words = of.first("content", "context_summary", "inquiry", "error_message");
  const task = of.text("task_id");
  const parent = task ? of.text("parent_task_id") : undefined;
  const [deadline, grants, attachments] = [of.time("deadline"), of.object("grants"), of.list("attachments")];
  const [decision, digest, error] = [of.text("decision"), of.text("digest"), of.take("error_code", isCode)];
  return (
    <>
      {type === "delegation_notice" && typeof from === "string" && typeof to === "string" && (
        <p class="letter-way"><AgentName id={from} /> <span class="quiet">hands the task to</span> <AgentName id={to} /></p>
      )}
      <div class="said"><Words value={words ?? ""} /></div>
      <KeyValue of={[
        ["Task", task && <Lineage task={task} parent={parent} />],
        ["Deadline", deadline && <><Countdown until={deadline} /> <span class="quiet"><Text value={deadline} mono /></span></>],
        ["Decision", decision && <Chip tone={decision === "approve" ? "good" : "wait"}>{decision}</Chip>],
        ["Of digest", digest && <Text value={digest} mono />],
        ["Error", error !== undefined && <Chip tone="bad">{String(error)}</Chip>],
        ["Attachments", attachments && <ul class="stack">{attachments.map((one, n) => <Attachment key={n} of={one} />)}</ul>],
      ]} />
      {grants && <Grants of={grants} />}
      <Rest of={of.rest()} />
      <Envelope of={around} />
    </>
  );
}

const SEVERITIES: Readonly<Record<string, Tone>> = { info: "plain", warning: "wait", critical: "bad", emergency: "bad" };

function Vcp({ message }: { message: object }): VNode {
  const of = new Members(message);
  const payload = new Members(of.object("payload"));
  const raised = (message as { timestamp?: unknown }).timestamp;
  const around = envelope(of, "vcp_message", "type", "message_id", "timestamp", "sender", "recipient", "signature");
  const [severity, reason, blocked] = [payload.text("severity"), payload.text("reason"), payload.text("blocked_action")];
  const needs = severity ? payload.take("requires_ack", isFlag) : undefined;
  const [context, constitution, manifest] = [payload.text("context"), payload.text("constitution_ref"), payload.text("manifest_hash")];
  return (
    <>
      {reason && <div class="said"><Prose value={reason} /></div>}
      <KeyValue of={[
        ["Severity", severity && <Chip tone={SEVERITIES[severity] ?? "plain"}>{severity}</Chip>],
        ["Raised", severity && typeof raised === "string" && <Time at={raised} />],
        ["Needs an ACK", severity && (needs === true ? "yes: those who are told must answer" : "no")],
        ["Blocked action", blocked && <Text value={blocked} />],
        ["Context", context && <span class="emoji"><Text value={context} /></span>],
        ["Constitution", constitution && <Text value={constitution} />],
        ["Manifest", manifest && <Text value={manifest} mono />],
      ]} />
      <Parts of={payload.rest()} />
      <Parts of={of.rest()} />
      <Envelope of={around} />
    </>
  );
}

function Acl({ message }: { message: object }): VNode {
  const of = new Members(message);
  const payload = new Members(of.object("payload"));
  const around = envelope(of, "mcp_version", "message_id", "timestamp", "sender", "receiver", "signature");
  const words = payload.first("task_description", "result_summary", "reason", "query", "error_message");
  const [performative, reply, ontology, language] = [of.text("performative"), of.text("in_reply_to"), of.text("ontology"), of.text("language")];
  return (
    <>
      {words !== undefined && <div class="said"><Words value={words} /></div>}
      <KeyValue of={[
        ["Performative", performative && <Chip>{performative}</Chip>],
        ["In reply to", reply && <Text value={reply} mono />],
        ["Ontology", ontology && <Text value={ontology} />],
        ["Language", language && <Text value={language} />],
      ]} />
      <Parts of={payload.rest()} />
      <Parts of={of.rest()} />
      <Envelope of={around} />
    </>
  );
}

const CARDS: Readonly<Record<string, (of: { message: object }) => VNode>> = { vlp: Vlp, cap: Cap, vcp: Vcp, acl: Acl };

/** The card of a message. `message` is what was sent, of whatever shape. */
export function MessageCard({ dialect, message }: { dialect: string; message: unknown }): VNode {
  const Drawn = CARDS[dialect];
  return Drawn && isObject(message) ? <Drawn message={message} /> : <Json value={message} />;
}
