// The record: how far it goes, what was signed of it, and whether that is true.
import type { VNode } from "preact";
import { get, session } from "../api/client";
import { useAsk } from "../api/use";
import type { PageProps } from "../pages";
import { Verify } from "../record/check";
import { Checkpoints, timeOf } from "../record/checkpoints";
import { OneEntry } from "../record/entry";
import { Export } from "../record/export";
import { Storage } from "../record/storage";
import { Await, Card, Copy, EmptyState, KeyValue, PageHead, Text, Time, save } from "../ui";

export default function Record(_: PageProps): VNode {
  const head = useAsk((signal) => get("/v1/audit/head", { signal }), [], 5000);
  const keys = useAsk((signal) => get("/.well-known/legation/keys", { signal }), []);
  const seesEntries = session.value?.role !== "reviewer";
  return (
    <>
      <PageHead title="Record" about="Everything that was decided, in order. Nobody changes it unseen." />
      <Await asked={head}>
        {(told) => (
          <>
            <div class="grid">
              <Card title="Head" actions={<button type="button" class="copy" onClick={() => save(`head-${told.size}.json`, `${JSON.stringify(told)}\n`)}>Save</button>}>
                <KeyValue of={[
                  ["Entries", <strong class="nums">{told.size.toLocaleString()}</strong>],
                  ["Chain", <Text value={told.chain} mono />],
                  ["Signed", told.checkpoint ? <span>the first {told.checkpoint.size.toLocaleString()}, <Time at={timeOf(told.checkpoint)} /></span> : <span class="quiet">not yet</span>],
                  ["Record of", told.checkpoint && <Text value={told.checkpoint.realm} />],
                  ["Epoch", <span class="nums">{told.epochs.length}{told.epochs.length > 1 && `, since entry ${told.epochs.at(-1)?.first}`}</span>],
                  ["Key", keys.data && <>{keys.data.keys.map((key) => <span key={key.public}><Text value={key.public} mono /> <Copy text={key.public} /></span>)}</>],
                ]} />
              </Card>
              {seesEntries && <Storage />}
            </div>
            {told.checkpoint ? <Checkpoints newest={told.checkpoint} /> : <EmptyState title="Nothing is signed yet.">A checkpoint is signed soon after the first entry.</EmptyState>}
            <div class="grid gap">
              {seesEntries && told.checkpoint && <Verify checkpoint={told.checkpoint} />}
              {told.size > 0 && <OneEntry size={told.size} signer={keys.data?.keys[0]?.public ?? "KEY"} />}
              {seesEntries && told.size > 0 && <Export size={told.size} />}
            </div>
          </>
        )}
      </Await>
    </>
  );
}
