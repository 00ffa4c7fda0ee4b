// The mailbox of people: what was said to the user or the orchestrator, and was not taken out yet.
import { type Shape, get, post, session } from "../api/client";

export type Letter = Shape<"Inbox">["messages"][number];
export const BOXES = ["user", "orchestrator"] as const;
export type Box = (typeof BOXES)[number];

/** Whose mailboxes this person may look into. */
export function boxes(): readonly Box[] {
  switch (session.value?.role) {
    case "operator":
    case "auditor":
      return BOXES;
    case "reviewer":
      return ["user"];
    case "orchestrator":
      return ["orchestrator"];
    case undefined:
      return [];
  }
}

/** Who sees everything speaks for nobody. */
export const maySpeak = (): boolean => session.value?.role !== "auditor";

const PAGE = 100;

export interface Mailbox {
  readonly letters: readonly Letter[];
  /** Whether there are more than these. */
  readonly more: boolean;
}

export async function ask(box: Box, signal: AbortSignal): Promise<Mailbox> {
  const page = await get("/v1/agents/{id}/inbox", { path: { id: box }, query: { limit: PAGE }, signal });
  return { letters: page.messages, more: page.messages.length === PAGE };
}

/** The letter at a position; nothing once it was taken out. */
export async function one(box: Box, position: number, signal: AbortSignal): Promise<Letter | null> {
  const query = { limit: 1, ...(position > 0 ? { after: position - 1 } : {}) };
  const [found] = (await get("/v1/agents/{id}/inbox", { path: { id: box }, query, signal })).messages;
  return found?.position === position ? found : null;
}

export interface Facts {
  readonly dialect: string;
  readonly kind: string;
  readonly sender: string;
  readonly thread: string | undefined;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Who said it, and where: the receipt has what the record says of the message. */
export function facts(letter: Letter): Facts {
  const message = letter.message as Readonly<Record<string, unknown>>;
  const entry = (letter.receipt as { entry?: { effect?: string } }).entry?.effect;
  let said: Readonly<Record<string, unknown>> = {};
  try {
    said = JSON.parse(entry ?? "{}") as Readonly<Record<string, unknown>>;
  } catch {
    // What follows is read from the message.
  }
  return {
    dialect: text(said["dialect"]) ?? "cap",
    kind: text(said["kind"]) ?? text(message["type"]) ?? "message",
    sender: text(said["sender"]) ?? text(message["sender_id"]) ?? "?",
    thread: text(said["thread"]) ?? text(message["task_id"]),
  };
}

/** An id for what is said here, so that saying it twice is once. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `msg_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export interface Answer {
  readonly id: string;
  readonly task: string;
  readonly from: Box;
  readonly to: string;
  readonly words: string;
}

export async function say({ id, task, from, to, words }: Answer): Promise<Shape<"Taken">> {
  const body = { type: "message", task_id: task, message_id: id, sender_id: from, recipient_id: to, content: words };
  return (await post("/v1/messages", { body: body as never })) as Shape<"Taken">;
}

/** Takes it out of the mailbox, for everybody who reads it. */
export async function done(box: Box, letter: Letter): Promise<void> {
  const epoch = { epoch: letter.epoch, ...(letter.restore === undefined ? {} : { restore: letter.restore }) };
  await post("/v1/agents/{id}/ack", { path: { id: box }, body: { positions: [letter.position], ...epoch } });
}
