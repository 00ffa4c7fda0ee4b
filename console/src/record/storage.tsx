// How the record is stored: how large it is, what it is sealed with, how long messages are kept.
import type { VNode } from "preact";
import { get } from "../api/client";
import { useAsk } from "../api/use";
import { Await, Card, KeyValue, Time } from "../ui";
import { span } from "../ui/time";

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

function size(bytes: number): string {
  const step = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}

export function Storage(): VNode {
  const asked = useAsk((signal) => get("/v1/storage", { signal }), [], 30_000);
  return (
    <Card title="On disk">
      <Await asked={asked}>
        {({ bytes, format, keys, open_segments: open, rewriting, retention }) => (
          <KeyValue of={[
            ["Size", <span>{size(bytes)}, format {format}</span>],
            ["Sealed", <span>with key {keys[0]?.id}{keys[0] && <>, made <Time at={keys[0].created} /></>}{keys.length > 1 && `, and ${keys.length - 1} older`}</span>],
            ["Not sealed", open > 0 && <span>{open} segments</span>],
            ["Written anew", rewriting && <span>{rewriting.done} of {rewriting.of} segments</span>],
            ["Messages kept", <span>{retention.bodies_for_seconds === null ? "for ever" : `for ${span(retention.bodies_for_seconds * 1000)}`}{retention.size !== null && `, at most ${size(retention.size)}`}</span>],
            ["Dropped", retention.dropped_before > 0 && <span>what messages before entry {retention.dropped_before.toLocaleString()} said</span>],
          ]} />
        )}
      </Await>
    </Card>
  );
}
