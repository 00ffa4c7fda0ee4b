// Asking the exchange. Paths, bodies and answers have the types of its description; what it refuses becomes a `Problem`.
import { signal } from "@preact/signals";
import type { components, paths } from "./schema";

export type Shape<N extends keyof components["schemas"]> = components["schemas"][N];
export type Session = Shape<"Session">;

/** What was refused, or could not be asked. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryable: boolean,
    readonly at: string | null = null,
    readonly spec: string | null = null,
  ) {
    super(message);
  }
}

const SESSION = "/v1/session";
/** Who is signed in. */
export const session = signal<Session | null>(null);
/** Whether the session is over: nothing can be asked until somebody signs in again. */
export const over = signal(false);

/** By how many milliseconds the exchange's clock is ahead of this computer's, where that is more than a little. */
export const skew = signal(0);
/** The time at the exchange. What it says is due or over is so by its clock. */
export const serverNow = (): number => Date.now() + skew.value;
const ROUGH = 2000;

/** Answers say when they were given, to the second. */
function hear(date: string | null): void {
  const told = Date.parse(date ?? "");
  if (Number.isNaN(told)) return;
  const found = told + 500 - Date.now();
  const next = Math.abs(found) < ROUGH ? 0 : found;
  if (Math.abs(next - skew.value) >= ROUGH) skew.value = next;
}

/** Asks who is signed in now. Somebody else, from another tab, gets a page of their own. */
export async function renew(): Promise<void> {
  const [before, now] = [session.value, await get(SESSION)];
  if (before !== null && (before.name !== now.name || before.role !== now.role)) {
    location.reload();
    throw new Problem(0, "signed_in_anew", "Somebody else is signed in now.", false);
  }
  session.value = now;
}

type Method = "get" | "post" | "put" | "delete";
type At<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
export type Having<M extends Method> = { [P in keyof paths]: [At<P, M>] extends [never] ? never : P }[keyof paths];
type Json<R> = R extends { readonly content: { readonly "application/json": infer B } } ? B : undefined;
type Ok<R> = { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Json<R[S]> : never }[keyof R];
export type Answer<P extends keyof paths, M extends Method> = At<P, M> extends { readonly responses: infer R } ? Ok<R> : never;
type Body<P extends keyof paths, M extends Method> =
  At<P, M> extends { readonly requestBody: { readonly content: { readonly "application/json": infer B } } } ? B : undefined;
type Asked<P extends keyof paths, M extends Method> =
  At<P, M> extends { readonly parameters: { readonly query?: infer Q } } ? Q : undefined;

export interface Options<P extends keyof paths, M extends Method> {
  /** What stands for `{name}` in the path. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Asked<P, M>;
  readonly body?: Body<P, M>;
  readonly signal?: AbortSignal;
}

export const get = <P extends Having<"get">>(path: P, options: Options<P, "get"> = {}) => ask(path, "get", options);
export const post = <P extends Having<"post">>(path: P, options: Options<P, "post"> = {}) => ask(path, "post", options);
export const put = <P extends Having<"put">>(path: P, options: Options<P, "put"> = {}) => ask(path, "put", options);
export const del = <P extends Having<"delete">>(path: P, options: Options<P, "delete"> = {}) => ask(path, "delete", options);

async function ask<P extends keyof paths, M extends Method>(path: P, method: M, options: Options<P, M>): Promise<Answer<P, M>> {
  const response = await fetched(address(path, options), method, options.body, options.signal);
  return (response.headers.get("content-type")?.includes("json") ? response.json() : undefined) as Promise<Answer<P, M>>;
}

/** The bytes of an answer as they come, for what is to be hashed or saved. */
export async function bytes(path: Having<"get">, options: Options<Having<"get">, "get"> = {}): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await fetched(address(path, options), "get", undefined, options.signal)).arrayBuffer());
}

function address(path: string, options: { readonly path?: Readonly<Record<string, string | number>>; readonly query?: unknown }): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(options.path?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((options.query ?? {}) as Record<string, unknown>)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

/** Somebody may have signed in again in another tab, while this was asked: it is asked once more then. */
async function fetched(url: string, method: Method, body: unknown, signal?: AbortSignal): Promise<Response> {
  const before = session.value?.csrf;
  try {
    return await once(url, method, body, signal);
  } catch (error) {
    if (!(error instanceof Problem) || !(await isOutdated(error, url, method, before))) throw error;
    return once(url, method, body, signal);
  }
}

/** Whether a question was asked with a cookie, or what protects it, that is replaced. Whether nobody is signed in, the session alone says. */
async function isOutdated({ status, code }: Problem, url: string, method: Method, before: string | undefined): Promise<boolean> {
  if (status === 401 && url === SESSION) over.value = true;
  const may = status === 401 ? url !== SESSION : method !== "get" && code === "forbidden_origin";
  if (may && session.value?.csrf === before) await renew();
  return may && session.value?.csrf !== before;
}

async function once(url: string, method: Method, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = new Headers({ accept: "application/json" });
  const csrf = session.value?.csrf;
  if (method !== "get" && csrf) headers.set("legation-csrf", csrf);
  if (body !== undefined) headers.set("content-type", "application/json");
  let response: Response;
  try {
    response = await fetch(url, {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      credentials: "same-origin",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "The exchange does not answer. It may be stopped, or starting.", true);
  }
  hear(response.headers.get("date"));
  if (response.ok) return response;
  throw await problem(response);
}

async function problem(response: Response): Promise<Problem> {
  const told = (await response.json().catch(() => ({}))) as Partial<Shape<"Refusal">>;
  return new Problem(
    response.status,
    told.error ?? "unknown",
    told.message ?? `The exchange answered with status ${response.status}.`,
    told.retryable ?? false,
    told.at ?? null,
    told.spec ?? null,
  );
}

export async function signOut(): Promise<void> {
  await fetch("/signout", { method: "POST", redirect: "manual", credentials: "same-origin" });
  location.assign("/");
}
