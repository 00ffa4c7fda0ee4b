// One entry: what it says, whether it is in the record, and the proof of that to take along.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, get, session } from "../api/client";
import { asProblem } from "../api/use";
import type { Problem } from "../api/client";
import { canCheck, hex, named, unhex } from "../proof/bytes";
import { type Found, no, open, yes } from "../proof/found";
import { type Told, entries } from "../proof/pages";
import { isWhole, leafOf } from "../proof/range";
import { root } from "../proof/tree";
import { stated } from "../proof/verify";
import { href } from "../router";
import { Card, ErrorState, Json, KeyValue, Text, Time, save } from "../ui";
import { Checks } from "./found";

interface Shown {
  readonly told: Told | undefined;
  readonly proof: Shape<"Inclusion">;
  readonly checks: readonly Found[];
}

/** Reviewers see no entries: they still get proofs, which show hashes alone. */
const seesEntries = (): boolean => session.value?.role !== "reviewer";

async function look(position: number): Promise<Shown> {
  const proof = await get("/v1/audit/proof", { query: { position } });
  const told = seesEntries() ? (await entries(position, position + 1, new AbortController().signal).next()).value?.[0] : undefined;
  if (proof.position !== position || (told && told.entry.position !== position)) throw new Error("the exchange answers for another entry");
  return { told, proof, checks: await checked(proof, told) };
}

const HASHED = "Only the hash of what it says is shown: that gives its leaf, and what else is shown of it is not checked.";

async function checked(proof: Shape<"Inclusion">, told: Told | undefined): Promise<Found[]> {
  if (!canCheck()) return [open("This browser checks nothing on a page that came without TLS from another machine.")];
  const found: Found[] = [];
  if (told) found.push(named(await leafOf(told)) !== proof.leaf ? no("What the entry says does not give its leaf.") : isWhole(told) ? yes("What the entry says gives its leaf.") : open(HASHED));
  const reached = await root(unhex(proof.leaf), proof.position, proof.size, proof.path.map(unhex));
  const leads = reached !== undefined && hex(reached) === hex(unhex(proof.root)) && proof.checkpoint?.root === proof.root && proof.checkpoint.size === proof.size;
  found.push(leads ? yes(`A path of ${proof.path.length} hashes leads from it to the root of ${proof.size.toLocaleString()} entries.`) : no("The path does not lead to the checkpoint's root."));
  if (proof.checkpoint) found.push(await stated(proof.checkpoint));
  return found;
}

/** As `legation audit prove` prints it, and `legation audit check` checks it. */
function written({ proof, told }: Shown, withEntry: boolean): string {
  const opened = withEntry && told?.entry.effect_salt ? { at: told.entry.at, entry: { effect: told.effect, effect_salt: told.entry.effect_salt, body: told.entry.body_hash ?? null } } : {};
  return `${JSON.stringify({ kind: "legation-proof-1", position: proof.position, leaf: proof.leaf, path: proof.path, checkpoint: proof.checkpoint, ...opened })}\n`;
}

/** `signer` is the exchange’s key, for the command that checks the proof elsewhere. */
export function OneEntry({ size, signer }: { size: number; signer: string }): VNode {
  const [position, set] = useState(0);
  const [shown, show] = useState<Shown>();
  const [error, setError] = useState<Problem>();
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    await look(position).then(show, (problem: unknown) => { show(undefined); setError(asProblem(problem)); });
  };
  return (
    <Card title="Prove an entry">
      <div class="stack">
        <form class="span" onSubmit={start}>
          <label>Entry<input type="number" required min={0} max={Math.max(0, size - 1)} value={position} onInput={(event) => set(Math.trunc(Number(event.currentTarget.value)) || 0)} /></label>
          <button type="submit">Prove</button>
        </form>
        {error && <ErrorState error={error} />}
        {shown && <Proven shown={shown} signer={signer} />}
      </div>
    </Card>
  );
}

function Proven({ shown, signer }: { shown: Shown; signer: string }): VNode {
  const { told, proof, checks } = shown;
  const kind = (told?.entry.effect as { entry?: string } | undefined)?.entry;
  const name = `proof-${proof.position}.json`;
  return (
    <>
      <KeyValue of={[
        ["Entry", <span class="nums">{proof.position}</span>],
        ["What", kind && (kind === "accepted" || kind === "refused" ? <a href={href(["messages", proof.position])}>{kind} message</a> : <Text value={kind} />)],
        ["When", told && <Time at={new Date(told.entry.at / 1000).toISOString()} as="exact" />],
        ["Leaf", <Text value={proof.leaf} mono />],
      ]} />
      <Checks of={checks} />
      {told && <details><summary>{isWhole(told) ? "What it says" : "What is shown of it, unchecked"}</summary><Json value={told.entry.effect} label="What it says" /></details>}
      <div class="actions">
        <button type="button" onClick={() => save(name, written(shown, false))}>Save the proof</button>
        {told?.entry.effect_salt && <button type="button" onClick={() => save(name, written(shown, true))}>Save it with the entry</button>}
      </div>
      <p class="quiet">Anybody checks it, without the exchange: <code>legation audit check --key {signer} {name}</code></p>
    </>
  );
}
