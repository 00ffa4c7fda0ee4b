// The record's entries as they were written, page by page: hashes cover the text, so none of it is written anew.
import { type Shape, bytes } from "../api/client";

export interface Told {
  /** The entry's own text. */
  readonly text: string;
  /** That of its effect. */
  readonly effect: string;
  readonly entry: Shape<"Entry">;
}

const PAGE = 1000;

/** Where the object or list ends that begins at `from`. */
function end(text: string, from: number): number {
  let [depth, quoted] = [0, false];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  throw new Error("the answer is cut off");
}

/** The entries of an answer, each with its own text. */
export function split(answer: string): Told[] {
  const told: Told[] = [];
  let at = answer.indexOf("[", answer.indexOf('"entries"')) + 1;
  while (answer[at] === "{" || answer[at] === "," || answer[at] === " ") {
    if (answer[at] !== "{") {
      at++;
      continue;
    }
    const to = end(answer, at);
    const text = answer.slice(at, to);
    const effect = member(text, "effect");
    // What is shown of it is what is hashed, even where the name comes twice.
    told.push({ text, effect, entry: { ...(JSON.parse(text) as Shape<"Entry">), effect: JSON.parse(effect) as Shape<"Entry">["effect"] } });
    at = to;
  }
  return told;
}

/** The text of a member that is an object. In an object's own level, so that no text within another counts. */
function member(text: string, name: string): string {
  const mark = `"${name}":`;
  let [depth, quoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') {
      if (depth === 1 && text.startsWith(mark, at)) return text.slice(at + mark.length, end(text, at + mark.length));
      quoted = true;
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
  }
  return "";
}

/** Entries from one position up to another, a page at a time. */
export async function* entries(from: number, to: number, signal: AbortSignal, withBodies = false): AsyncGenerator<readonly Told[]> {
  for (let next = from; next < to; ) {
    const query = { limit: Math.min(PAGE, to - next), ...(next > 0 ? { after: next - 1 } : {}), ...(withBodies ? { include: "body" as const } : {}) };
    const page = split(new TextDecoder().decode(await bytes("/v1/audit/entries", { query: query as never, signal })));
    if (page.length === 0) throw new Error(`the exchange shows no entry ${next}`);
    yield page;
    next += page.length;
  }
}
