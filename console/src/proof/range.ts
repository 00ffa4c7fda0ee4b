// Checking a part of the record here: every leaf from what its entry says, the tree over them, and that the signed
// checkpoint covers it. Of what comes before the part only a few hashes are needed, and they need not be believed:
// with wrong ones no tree comes out that the checkpoint covers.
import { type Shape, get } from "../api/client";
import { type Bytes, canCheck, hash, named, unhex, utf8 } from "./bytes";
import { type Found, no, open, yes } from "./found";
import { type Told, entries } from "./pages";
import { Peaks, grew } from "./peaks";
import { committed, leafOver } from "./tree";
import { stated } from "./verify";

const CHAIN = Uint8Array.of(2);

/** Whether all that an entry says is shown, so that its leaf follows from that; otherwise a hash stands for it. */
export const isWhole = ({ entry }: Told): boolean => entry.effect_salt !== undefined;

/** The leaf that follows from what is shown of an entry. */
export async function leafOf({ entry, effect }: Told): Promise<Bytes> {
  const said = entry.effect_salt !== undefined ? await committed(utf8(effect), unhex(entry.effect_salt)) : unhex(entry.effect_hash ?? "");
  return leafOver(entry.position, entry.at, said, entry.body_hash ? unhex(entry.body_hash) : null);
}

/** What a tree of the first `size` entries is made of. */
async function before(size: number, signal: AbortSignal): Promise<Peaks> {
  if (size === 0) return new Peaks(0, []);
  const { path } = await get("/v1/audit/proof", { query: { position: size, size: size + 1 }, signal });
  // From the leaf to the root: the smallest tree comes first.
  return new Peaks(size, path.map(unhex).reverse());
}

export interface Range {
  readonly from: number;
  /** The entry to stop before. */
  readonly to: number;
  readonly checkpoint: Shape<"Checkpoint">;
}

/** What was found, in order; `tell` hears how many entries are done. */
export async function verifyRange({ from, to, checkpoint }: Range, tell: (done: number) => void, signal: AbortSignal): Promise<Found[]> {
  if (!canCheck()) return [open("This browser checks nothing on a page that came without TLS from another machine.")];
  const tree = await before(from, signal);
  if (!tree.isWhole()) return [no(`What comes before entry ${from} is not made of as many trees as it must be.`)];
  let chain: Bytes = new Uint8Array(32);
  let whole = 0;
  for await (const page of entries(from, to, signal)) {
    const leaves = await Promise.all(page.map(leafOf));
    for (const [n, leaf] of leaves.entries()) {
      const { entry } = page[n] as Told;
      if (entry.position !== tree.size) return [no(`Entry ${tree.size} is missing: entry ${entry.position} stands in its place.`)];
      if (named(leaf) !== entry.leaf) return [no(`Entry ${entry.position} is not as it was: what it says does not give its leaf.`)];
      if (isWhole(page[n] as Told)) whole++;
      await tree.push(leaf);
      if (from === 0) chain = await hash(CHAIN, chain, leaf);
    }
    tell(tree.size - from);
  }
  const found = [...given(whole, to - from - whole), ...(await covered(tree, checkpoint, signal))];
  if (from === 0 && to === checkpoint.size) found.push(named(chain) === checkpoint.chain ? yes("The chain over all of them ends as the checkpoint says.") : no("The chain over all of them does not end as the checkpoint says."));
  return [...found, await stated(checkpoint)];
}

/** How many leaves follow from what entries say, and how many from a hash that is shown for it. */
function given(whole: number, hashed: number): Found[] {
  const found = whole > 0 ? [yes(`What ${whole.toLocaleString()} entries say gives their leaves.`)] : [];
  if (hashed > 0) found.push(open(`Of ${hashed.toLocaleString()} of them only the hash is shown: it gives the leaf, and what else is shown is not checked.`));
  return found;
}

/** That the checkpoint's tree begins with this one. */
async function covered(tree: Peaks, checkpoint: Shape<"Checkpoint">, signal: AbortSignal): Promise<Found[]> {
  const root = await tree.root();
  if (!root) return [no("There is nothing to check.")];
  if (tree.size === checkpoint.size) {
    return [named(root) === checkpoint.root ? yes(`They lead to the root of the checkpoint of ${checkpoint.size.toLocaleString()} entries.`) : no(`They do not lead to the root of the checkpoint of ${checkpoint.size.toLocaleString()} entries: the record was changed.`)];
  }
  const { proof } = await get("/v1/audit/consistency", { query: { from: tree.size, to: checkpoint.size }, signal });
  const holds = await grew(tree.size, root, checkpoint.size, unhex(checkpoint.root), proof.map(unhex));
  return [holds ? yes(`The checkpoint of ${checkpoint.size.toLocaleString()} entries covers them: its tree begins with theirs.`) : no("The checkpoint's tree does not begin with theirs: the record was changed.")];
}

/** That the record still begins with what an earlier checkpoint covers. */
export async function stillBegins(kept: Shape<"Checkpoint">, newest: Shape<"Checkpoint">, signal?: AbortSignal): Promise<Found[]> {
  if (!canCheck()) return [open("This browser checks nothing on a page that came without TLS from another machine.")];
  const signed = await stated(kept);
  if (signed.state === "no") return [signed];
  if (kept.realm !== newest.realm) return [no(`It is of the record of ${kept.realm}, not of ${newest.realm}.`)];
  if (kept.size > newest.size) return [signed, no(`It covers ${kept.size.toLocaleString()} entries, and the newest checkpoint only ${newest.size.toLocaleString()}: entries are missing, or it was restored from a copy.`)];
  const { proof } = await get("/v1/audit/consistency", { query: { from: kept.size, to: newest.size }, ...(signal ? { signal } : {}) });
  const holds = await grew(kept.size, unhex(kept.root), newest.size, unhex(newest.root), proof.map(unhex));
  return [signed, holds ? yes(`The record of ${newest.size.toLocaleString()} entries still begins with its ${kept.size.toLocaleString()}.`) : no(`The record does not begin with the ${kept.size.toLocaleString()} entries it covers: it was changed, or restored from a copy.`)];
}
