// Checking here, in the browser, what the exchange says of a message: nothing is believed that can be computed.
import { type Shape, bytes, get } from "../api/client";
import { asProblem } from "../api/use";
import { type Bytes, canCheck, hash, isSigned, named, unhex, utf8 } from "./bytes";
import { canonical, unsigned } from "./canon";
import { leaf, root } from "./tree";

export interface Found {
  readonly state: "yes" | "no" | "open";
  readonly says: string;
}

const yes = (says: string): Found => ({ state: "yes", says });
const no = (says: string): Found => ({ state: "no", says });
const open = (says: string): Found => ({ state: "open", says });

interface Entry {
  readonly at: number;
  readonly leaf: string;
  readonly effect: Bytes;
  readonly salt: Bytes;
  readonly body: Bytes | null;
  readonly digest: string;
  readonly proof: string;
  readonly sender: string;
}

/** The text of an object's member `effect`, to the byte: hashes cover how it was written. */
function effectIn(text: string): string | undefined {
  const start = text.indexOf('"effect":');
  if (start < 0) return undefined;
  const from = start + '"effect":'.length;
  let [depth, quoted] = [0, false];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(from, at + 1);
  }
  return undefined;
}

async function entry(position: number): Promise<Entry> {
  const query = position === 0 ? { limit: 1 } : { after: position - 1, limit: 1 };
  const text = new TextDecoder().decode(await bytes("/v1/audit/entries", { query }));
  const told = (JSON.parse(text) as Shape<"Entries">).entries[0];
  const effect = effectIn(text);
  if (!told || told.position !== position || !effect || !told.effect_salt) throw new Error("the entry is not shown whole");
  const said = JSON.parse(effect) as { digest: string; proof: string; sender: string };
  return {
    at: told.at,
    leaf: told.leaf,
    effect: utf8(effect),
    salt: unhex(told.effect_salt),
    body: told.body_hash ? unhex(told.body_hash) : null,
    digest: said.digest,
    proof: said.proof,
    sender: said.sender,
  };
}

async function said(raw: Bytes, entry: Entry): Promise<Found[]> {
  const message = JSON.parse(new TextDecoder().decode(raw)) as { signature?: string };
  const covered = utf8(canonical(unsigned(message)));
  const digest = named(await hash(covered));
  const same = digest === entry.digest ? yes("The message has the digest that the record holds.") : no(`The message has the digest ${digest}, the record holds ${entry.digest}.`);
  return [same, await signed(message.signature, covered, entry)];
}

/** Under which of the sender's keys it is signed. */
async function signed(signature: unknown, covered: Bytes, entry: Entry): Promise<Found> {
  if (entry.proof !== "signature") return open(`Its sender was proven by ${entry.proof === "token" ? "its token" : "being part of the exchange"}: there is no signature to check.`);
  if (typeof signature !== "string") return open("It was signed beside the message, and that signature is not kept.");
  const sender = await get("/v1/agents/{id}", { path: { id: entry.sender } }).catch(() => undefined);
  for (const { public: key } of sender?.keys ?? []) {
    if (await isSigned(key, signature, covered)) return yes(`Its signature is its sender’s, by ${key}.`);
  }
  if (!sender) return open("Its sender is not registered any more, so no key is known to check its signature with.");
  return no("Its signature is by none of the keys that its sender has.");
}

async function placed(position: number, entry: Entry): Promise<Found[]> {
  const own = await leaf({ position, at: entry.at, effect: entry.effect, salt: entry.salt, body: entry.body });
  const found = [named(own) === entry.leaf ? yes("What the record says of it gives its leaf.") : no("What the record says of it does not give its leaf.")];
  const proof = await get("/v1/audit/proof", { query: { position } }).catch((error: unknown) => asProblem(error));
  if (proof instanceof Error) return [...found, open("No checkpoint covers it yet: one is signed soon.")];
  const reached = await root(own, position, proof.size, proof.path.map(unhex));
  const holds = reached !== undefined && named(reached) === proof.root && proof.leaf === named(own);
  found.push(holds ? yes(`A path of ${proof.path.length} hashes leads from it to the root of ${proof.size} entries.`) : no("The path does not lead to the root."));
  return [...found, await covering(proof)];
}

async function covering(proof: Shape<"Inclusion">): Promise<Found> {
  const checkpoint = proof.checkpoint;
  if (!checkpoint) return open("There is no checkpoint of that size.");
  if (checkpoint.root !== proof.root || checkpoint.size !== proof.size) return no("The checkpoint is of another root.");
  return stated(checkpoint);
}

/** Whether the exchange signed a checkpoint. */
export async function stated(checkpoint: Shape<"Checkpoint">): Promise<Found> {
  const { keys } = await get("/.well-known/legation/keys");
  const covered = utf8(canonical(unsigned(checkpoint)));
  for (const { public: key } of keys) {
    if (await isSigned(key, checkpoint.signature, covered)) return yes(`The checkpoint of that root is signed by the exchange, ${key}.`);
  }
  return no("The checkpoint is not signed by the exchange's key.");
}

/** Everything that can be checked of the message at a position. */
export async function verify(position: number): Promise<Found[]> {
  if (!canCheck()) return [open("This browser checks nothing on a page that came without TLS from another machine.")];
  const shown = await entry(position);
  const raw = await bytes("/v1/messages/{key}/raw", { path: { key: position } }).catch(() => undefined);
  const content = raw ? await said(raw, shown) : [open("What it said is not kept any more.")];
  return [...content, ...(await placed(position, shown))];
}

