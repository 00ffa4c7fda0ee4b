// Checking here, in the browser, what the exchange says of a message: nothing is believed that can be computed.
import { Problem, type Shape, bytes, get } from "../api/client";
import { type Bytes, canCheck, hash, isSigned, named, unhex, utf8 } from "./bytes";
import { canonical, unsigned } from "./canon";
import { type Found, no, open, yes } from "./found";
import { type Told, entries } from "./pages";
import { type Accepted, type Shown, alike } from "./shown";
import { parse } from "./strict";
import { leaf, root } from "./tree";

/** An answer; nothing where it is refused for one of these reasons. Whatever else goes wrong is no answer. */
async function unless<T>(answer: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && codes.includes(error.code)) return undefined;
    throw error;
  }
}

async function entry(position: number): Promise<Told> {
  const told = (await entries(position, position + 1, new AbortController().signal).next()).value?.[0];
  if (told?.entry.position !== position || told.entry.effect["entry"] !== "accepted" || !told.entry.effect_salt) throw new Error("the entry is not shown whole");
  return told;
}

async function said(message: unknown, told: Told, accepted: Accepted): Promise<Found[]> {
  const covered = utf8(canonical(unsigned(message)));
  const digest = named(await hash(covered));
  const same = digest === accepted.digest ? yes("The message has the digest that the record holds.") : no(`The message has the digest ${digest}, the record holds ${accepted.digest}.`);
  const bytes = told.entry.body_hash === null ? no("The record holds no bytes of it.") : open("What it says is checked, not how that was written: the record’s hash of the bytes has a salt that is not given out.");
  return [same, bytes, await signed((message as { signature?: unknown } | null)?.signature, covered, accepted)];
}

/** Under which of the sender's keys it is signed. */
async function signed(signature: unknown, covered: Bytes, accepted: Accepted): Promise<Found> {
  if (accepted.proof !== "signature") return open(`Its sender was proven by ${accepted.proof === "token" ? "its token" : "being part of the exchange"}: there is no signature to check.`);
  if (typeof signature !== "string") return open("It was signed beside the message, and that signature is not kept.");
  const sender = await unless(get("/v1/agents/{id}", { path: { id: accepted.sender } }), "unknown_agent");
  for (const { public: key } of sender?.keys ?? []) {
    if (await isSigned(key, signature, covered)) return yes(`Its signature is its sender’s, by ${key}.`);
  }
  if (!sender) return open("Its sender is not registered any more, so no key is known to check its signature with.");
  return no("Its signature is by none of the keys that its sender has.");
}

async function placed({ entry, effect }: Told): Promise<Found[]> {
  const { position, at } = entry;
  const own = await leaf({ position, at, effect: utf8(effect), salt: unhex(entry.effect_salt ?? ""), body: entry.body_hash ? unhex(entry.body_hash) : null });
  const found = [named(own) === entry.leaf ? yes("What the record says of it gives its leaf.") : no("What the record says of it does not give its leaf.")];
  const proof = await unless(get("/v1/audit/proof", { query: { position } }), "not_found");
  if (!proof) return [...found, open("No checkpoint covers it yet: one is signed soon.")];
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

/** What the bytes say, where they can be read in one way. */
function read(raw: Bytes): { readonly message: unknown } | Found {
  try {
    return { message: parse(new TextDecoder("utf-8", { fatal: true }).decode(raw)) };
  } catch (error) {
    return no(`The bytes cannot be read in one way: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Everything that can be checked of a message, and that it is what is shown. What cannot be asked is thrown. */
export async function verify(shown: Shown): Promise<Found[]> {
  if (!canCheck()) return [open("This browser checks nothing on a page that came without TLS from another machine.")];
  const told = await entry(shown.facts.position);
  const accepted = told.entry.effect as unknown as Accepted;
  const raw = await unless(bytes("/v1/messages/{key}/raw", { path: { key: shown.facts.position } }), "erased", "body_dropped");
  const message = raw && read(raw);
  const content = !message ? [open("What it said is not kept any more.")] : "state" in message ? [message] : await said(message.message, told, accepted);
  const kept = message && "message" in message ? message.message : undefined;
  return [alike(shown, { message: kept, at: told.entry.at, accepted }), ...content, ...(await placed(told))];
}
