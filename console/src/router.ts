// Where the person is: the part of the address behind `#`, as a page's name, what comes behind it, and a question.
import { signal } from "@preact/signals";

export interface Route {
  /** The page's name; empty for the first. */
  readonly page: string;
  /** What comes behind it, a part each. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

function parse(hash: string): Route {
  const [path = "", question = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").filter(Boolean).map(decode);
  return { page, rest, query: new URLSearchParams(question) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>(parse(location.hash));
addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The question's text, without what is empty. */
export function question(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** What a link to a page says: `href(["messages", position], { sender })`. */
export function href(parts: readonly (string | number)[], query: Query = {}): string {
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}${question(query)}`;
}

/** Goes there. With `replace`, going back does not come here again. */
export function go(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", to);
    route.value = parse(to);
  } else {
    location.hash = to;
  }
}
