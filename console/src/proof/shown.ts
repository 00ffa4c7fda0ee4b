// Whether what a page shows of a message is what was checked.
import type { Shape } from "../api/client";
import { canonical } from "./canon";
import { type Found, no, yes } from "./found";

/** What the record says of a message that was taken. */
export interface Accepted {
  readonly dialect: string;
  readonly kind: string;
  readonly id: string;
  readonly sender: string;
  readonly to: readonly string[];
  readonly thread: string | null;
  readonly digest: string;
  readonly proof: string;
  readonly ruled?: { readonly held?: readonly unknown[] };
}

export interface Shown {
  /** What it is called: its place, or its id. */
  readonly name: string;
  readonly facts: Omit<Shape<"ExplainedMessage">, "steps" | "findings">;
  /** The message, where it is shown. */
  readonly message: unknown;
}

interface Checked {
  readonly message: unknown;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly accepted: Accepted;
}

/** A time as the exchange writes it, in microseconds since 1970. */
function micros(text: string): number {
  const [, seconds, fraction = ""] = /^([^.]*?)(?:\.(\d{1,6}))?Z$/.exec(text) ?? [];
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, "0"));
}

const same = (a: unknown, b: unknown): boolean => (a === undefined || b === undefined ? a === b : canonical(a) === canonical(b));

export function alike({ name, facts, message }: Shown, checked: Checked): Found {
  const { accepted, at } = checked;
  const holds: readonly (readonly [string, boolean])[] = [
    ["the message", same(message, checked.message)],
    ["its place", !/^\d+$/.test(name) || Number(name) === facts.position],
    ["its dialect", facts.dialect === accepted.dialect],
    ["its kind", facts.kind === accepted.kind],
    ["its id", facts.message_id === accepted.id],
    ["its sender", facts.sender === accepted.sender],
    ["its recipients", same(facts.to, accepted.to)],
    ["its task or session", facts.thread === accepted.thread],
    ["its digest", facts.digest === accepted.digest],
    ["its time", micros(facts.received_at) === at],
    ["its verdict", (facts.verdict === "held") === ((accepted.ruled?.held ?? []).length > 0)],
  ];
  const other = holds.filter(([, is]) => !is).map(([what]) => what);
  return other.length === 0 ? yes("What is shown above is what was checked: the message, who sent it to whom, when, and its digest.") : no(`What is shown above is not what was checked: ${other.join(", ")}.`);
}
