// Entries as a file, one JSON object a line, as `legation audit export` writes them.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { entries } from "../proof/pages";
import { Card, ErrorState, save } from "../ui";
import { Progress, useWork } from "./found";
import { type Span, SpanFields } from "./span";

/** More than this is better written by the program: a browser holds all of it at once. */
const MUCH = 200_000;

async function collect({ from, to }: Span, withBodies: boolean, tell: (done: number) => void, signal: AbortSignal): Promise<number> {
  const parts: Blob[] = [];
  let done = 0;
  for await (const page of entries(from, to, signal, withBodies)) {
    parts.push(new Blob([page.map(({ text }) => `${text}\n`).join("")]));
    done += page.length;
    tell(done);
  }
  signal.throwIfAborted();
  save(`record-${from}-${to}.ndjson`, new Blob(parts), "application/x-ndjson");
  return done;
}

export function Export({ size }: { size: number }): VNode {
  const [chosen, choose] = useState<Span>();
  const span = chosen ?? { from: 0, to: size };
  const [bodies, setBodies] = useState(false);
  const work = useWork<number>();
  const start = (event: Event): void => {
    event.preventDefault();
    const to = Math.min(span.to, size);
    work.run(to - span.from, (tell, signal) => collect({ from: span.from, to }, bodies, tell, signal));
  };
  const command = `legation audit export --from ${span.from} --to ${span.to}${bodies ? " --bodies" : ""} --out record.ndjson`;
  return (
    <Card title="Export">
      <div class="stack">
        <form class="span" onSubmit={start}>
          <SpanFields span={span} most={size} change={choose} />
          <label class="with-box"><input type="checkbox" checked={bodies} onChange={(event) => setBodies(event.currentTarget.checked)} /> with the messages</label>
          <button type="submit" disabled={work.isBusy || span.from >= span.to}>Export</button>
        </form>
        {span.to - span.from > MUCH && <p class="quiet">That is much for a browser, which holds all of it until it is saved.</p>}
        {work.isBusy && <Progress of={work} label="Entries exported" stop={work.stop} />}
        {work.error && <ErrorState error={work.error} />}
        {work.result !== undefined && <p role="status">{work.result.toLocaleString()} entries were saved.</p>}
        <p class="quiet">The same in a terminal: <code>{command}</code></p>
      </div>
    </Card>
  );
}
