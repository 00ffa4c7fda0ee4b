// The record's tree (RFC 6962): a leaf from what is shown of an entry, and the root a path leads to.
import { type Bytes, hash, u64, utf8 } from "./bytes";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** What an entry's leaf is made of. */
export interface Opened {
  readonly position: number;
  /** Microseconds since 1970. */
  readonly at: number;
  /** The effect, to the byte. */
  readonly effect: Bytes;
  readonly salt: Bytes;
  readonly body: Bytes | null;
}

/** What the leaf says of the effect. */
export const committed = (effect: Bytes, salt: Bytes): Promise<Bytes> => hash(utf8("legation effect 1\n"), salt, effect);

export async function leaf({ position, at, effect, salt, body }: Opened): Promise<Bytes> {
  return leafOver(position, at, await committed(effect, salt), body);
}

/** A leaf from what it says of the effect, where that is all that is shown. */
export function leafOver(position: number, at: number, said: Bytes, body: Bytes | null): Promise<Bytes> {
  const carried = body ? [Uint8Array.of(1), body] : [Uint8Array.of(0), new Uint8Array(32)];
  return hash(LEAF, utf8("legation entry 1\n"), u64(position), u64(at), said, ...carried);
}

export const node = (left: Bytes, right: Bytes): Promise<Bytes> => hash(NODE, left, right);

/** The root that a path leads to from the leaf at `index` of `size`; nothing if it cannot be one. */
export async function root(start: Bytes, index: number, size: number, path: readonly Bytes[]): Promise<Bytes | undefined> {
  if (index < 0 || index >= size) return undefined;
  let [at, last, reached] = [index, size - 1, start];
  for (const beside of path) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      reached = await node(beside, reached);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      reached = await node(reached, beside);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? reached : undefined;
}
