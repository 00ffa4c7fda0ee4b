// Checkpoints: the newest, those this browser saw before, and one from a file; each held to the record as it is now.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, get } from "../api/client";
import { asProblem, useAsk } from "../api/use";
import type { Found } from "../proof/found";
import { stillBegins } from "../proof/range";
import { Card, Check, ErrorState, Table, Text, Time, save, toast } from "../ui";
import { type Checkpoint, isCheckpoint, keep, kept } from "./kept";

export const timeOf = (checkpoint: Checkpoint): string => new Date(checkpoint.at / 1000).toISOString();
const FIRST = 8;

export function Checkpoints({ newest }: { newest: Checkpoint }): VNode {
  const [own, set] = useState<readonly Checkpoint[]>(() => kept(newest.realm));
  const told = useAsk((signal) => get("/v1/audit/checkpoints", { signal }), [newest.signature]).data?.checkpoints ?? [];
  const mine = new Set(own.map((one) => one.signature));
  const all = [...own, ...told.filter((one) => !mine.has(one.signature))].sort((a, b) => b.size - a.size || b.at - a.at);
  const [more, setMore] = useState(false);
  const [found, put] = useState<ReadonlyMap<string, readonly Found[] | Problem>>(new Map());
  useEffect(() => set(keep(newest)), [newest.signature]);
  const hold = (one: Checkpoint): Promise<void> =>
    stillBegins(one, newest).then((checks) => checks, asProblem).then((told) => put((old) => new Map([...old, [one.signature, told]])));
  return (
    <Card title="Checkpoints" actions={<FromFile take={(one) => { set(keep(one)); void hold(one); }} />}>
      <div class="stack">
        <p>A checkpoint says, signed, how long the record was and what it hashed to. This browser keeps those it saw, and the exchange those since it started: held against the newest, they show that the record only grew.</p>
        <Table label="Checkpoints" rows={all.slice(0, more ? all.length : FIRST)} id={(one) => one.signature} columns={[
          { head: "Entries", cell: (one) => <><span class="nums">{one.size.toLocaleString()}</span><small class="narrow quiet"><Time at={timeOf(one)} /></small></> },
          { head: "Signed", cell: (one) => <Time at={timeOf(one)} />, wide: true },
          { head: "Epoch", cell: (one) => <span class="nums">{one.epoch}</span>, wide: true },
          { head: "Kept by", cell: (one) => (mine.has(one.signature) ? "this browser" : "the exchange"), wide: true },
          { head: "Root", cell: (one) => <Text value={one.root} mono clip />, wide: true },
          { head: "Against the newest", cell: (one) => <Outcome of={found.get(one.signature)} isNewest={one.signature === newest.signature} /> },
          { head: "Actions", cell: (one) => (
            <span class="actions">
              <button type="button" class="copy" onClick={() => void hold(one)}>Check<span class="sr"> the one of {one.size} entries</span></button>
              <button type="button" class="copy" onClick={() => save(`checkpoint-${one.size}.json`, `${JSON.stringify(one)}\n`)}>Save<span class="sr"> the one of {one.size} entries</span></button>
            </span>
          ) },
        ]} />
        {all.length > 1 && (
          <div class="actions">
            <button type="button" onClick={() => void Promise.all(all.map(hold))}>Check all {all.length}</button>
            {!more && all.length > FIRST && <button type="button" onClick={() => setMore(true)}>{all.length - FIRST} more</button>}
          </div>
        )}
      </div>
    </Card>
  );
}

function Outcome({ of, isNewest }: { of: readonly Found[] | Problem | undefined; isNewest: boolean }): VNode {
  if (of === undefined) return <span class="quiet">{isNewest ? "the newest" : "not checked"}</span>;
  if (of instanceof Error) return <ErrorState error={of} />;
  const worst = of.find(({ state }) => state === "no") ?? of.at(-1);
  return <ul data-proof={of.some(({ state }) => state === "no") ? "broken" : "sound"}>{worst && <Check state={worst.state}><Text value={worst.says} /></Check>}</ul>;
}

/** One that was kept elsewhere, alone or as `legation audit head --json` prints it. */
function FromFile({ take }: { take: (checkpoint: Checkpoint) => void }): VNode {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const told = await file.text().then(JSON.parse).catch(() => undefined) as { checkpoint?: unknown } | undefined;
    const one = isCheckpoint(told) ? told : told?.checkpoint;
    if (isCheckpoint(one)) take(one);
    else toast("There is no checkpoint in this file.", "bad");
    if (input.current) input.current.value = "";
  };
  return <label class="file">Check one from a file<input ref={input} type="file" accept=".json,application/json" onChange={(event) => void read(event.currentTarget.files?.[0])} /></label>;
}
