// Text that others wrote. It is only ever text: nothing in it is markup, nothing turns the direction of what stands
// around it, and what cannot be seen is named.
import type { ComponentChildren, VNode } from "preact";
import { pieces, plainly } from "./unseen";

/** A text with what cannot be seen in it named. */
export function shown(text: string): ComponentChildren {
  return pieces(text).map((piece) => (typeof piece === "string" ? piece : <span class="hidden-char" title="A character that cannot be seen">{piece.name}</span>));
}

/** A short text in a line: a name, an id, a word. */
export function Text({ value, clip = false, mono = false }: { value: string; clip?: boolean; mono?: boolean }): VNode {
  const style = `${clip ? "clip " : ""}${mono ? "mono" : ""}`.trim();
  return <bdi class={style || undefined} dir="auto" title={clip ? plainly(value) : undefined}>{shown(value)}</bdi>;
}

/** A text of any length, with its line breaks. */
export function Prose({ value }: { value: string }): VNode {
  return <p class="prose" dir="auto">{shown(value)}</p>;
}

/** Code, JSON, bytes. */
export function Code({ value, label }: { value: string; label?: string }): VNode {
  return <pre class="code" tabIndex={0} role="region" aria-label={label ?? "Code"} dir="ltr"><code>{shown(value)}</code></pre>;
}

/** A value of whatever shape, as JSON that people can read. */
export function Json({ value, label }: { value: unknown; label?: string }): VNode {
  return <Code value={JSON.stringify(value, null, 2) ?? "null"} label={label ?? "JSON"} />;
}
