// A tree that grows (RFC 6962): the complete trees it is made of, the largest first, and the root over them. And
// whether a longer tree begins with a shorter one.
import { type Bytes, hex } from "./bytes";
import { node } from "./tree";

export class Peaks {
  /** `trees` are those a tree of `size` is made of: the path of the next leaf, in a tree that ends with it. */
  constructor(public size: number, private trees: readonly Bytes[]) {}

  /** Whether there are as many trees as a tree of this size has. */
  isWhole(): boolean {
    return this.trees.length === [...this.size.toString(2)].filter((digit) => digit === "1").length;
  }

  async push(leaf: Bytes): Promise<void> {
    let grown = leaf;
    const trees = [...this.trees];
    // Below each low bit that is set there is a complete tree as large as the one that grows.
    for (let left = this.size; left % 2 === 1; left = (left - 1) / 2) grown = await node(trees.pop() as Bytes, grown);
    this.trees = [...trees, grown];
    this.size++;
  }

  async root(): Promise<Bytes | undefined> {
    let root: Bytes | undefined;
    for (const tree of this.trees.toReversed()) root = root ? await node(tree, root) : tree;
    return root;
  }
}

const same = (a: Bytes, b: Bytes): boolean => hex(a) === hex(b);

/** Whether the tree of `to` entries begins with that of `from`. */
export async function grew(from: number, fromRoot: Bytes, to: number, toRoot: Bytes, proof: readonly Bytes[]): Promise<boolean> {
  if (from < 1 || from > to) return false;
  if (from === to) return proof.length === 0 && same(fromRoot, toRoot);
  let [at, last] = [from - 1, to - 1];
  const up = (): void => void ([at, last] = [Math.floor(at / 2), Math.floor(last / 2)]);
  while (at % 2 === 1) up();
  const hashes = [...proof];
  // A complete shorter tree is a node of the longer one, and so is left out of the proof.
  const start = Number.isInteger(Math.log2(from)) ? fromRoot : hashes.shift();
  if (!start) return false;
  let [short, long] = [start, start];
  for (const beside of hashes) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [short, long] = [await node(beside, short), await node(beside, long)];
      while (at % 2 === 0 && at !== 0) up();
    } else {
      long = await node(long, beside);
    }
    up();
  }
  return last === 0 && same(short, fromRoot) && same(long, toRoot);
}
