// Text that others wrote. It is only ever text: nothing in it is markup, nothing turns the direction of what stands
// around it, and what cannot be seen is named.
import type { ComponentChildren, VNode } from "preact";

// Controls but for tab and newline, marks and overrides of direction, and characters without width.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/gu;

function shown(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > from) parts.push(text.slice(from, found.index));
    const name = `U+${found[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
    parts.push(<span class="hidden-char" title="A character that cannot be seen">{name}</span>);
    from = found.index + found[0].length;
  }
  if (parts.length === 0) return text;
  parts.push(text.slice(from));
  return parts;
}

/** A short text in a line: a name, an id, a word. */
export function Text({ value, clip = false, mono = false }: { value: string; clip?: boolean; mono?: boolean }): VNode {
  const style = `${clip ? "clip " : ""}${mono ? "mono" : ""}`.trim();
  return <bdi class={style || undefined} dir="auto" title={clip ? value : undefined}>{shown(value)}</bdi>;
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
