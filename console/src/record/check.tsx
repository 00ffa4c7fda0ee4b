// Verifying a part of the record here in the browser, with progress.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Found } from "../proof/found";
import { verifyRange } from "../proof/range";
import { Card, ErrorState } from "../ui";
import { Checks, Progress, useWork } from "./found";
import type { Checkpoint } from "./kept";
import { type Span, SpanFields } from "./span";

export function Verify({ checkpoint }: { checkpoint: Checkpoint }): VNode {
  // Until somebody writes another, all that the newest checkpoint covers.
  const [chosen, choose] = useState<Span>();
  const span = chosen ?? { from: 0, to: checkpoint.size };
  const work = useWork<readonly Found[]>();
  const [of, setOf] = useState<{ span: Span; checkpoint: Checkpoint }>();
  const start = (event: Event): void => {
    event.preventDefault();
    const to = Math.min(span.to, checkpoint.size);
    setOf({ span: { from: span.from, to }, checkpoint });
    work.run(to - span.from, (tell, signal) => verifyRange({ from: span.from, to, checkpoint }, tell, signal));
  };
  const isEmpty = span.from >= span.to;
  return (
    <Card title="Verify">
      <div class="stack">
        <p>This browser takes every entry, computes its hash and the tree over all of them, and holds that to the signed checkpoint.</p>
        <form class="span" onSubmit={start}>
          <SpanFields span={span} most={checkpoint.size} change={choose} />
          <button type="submit" class="primary" disabled={work.isBusy || isEmpty}>Verify</button>
          {chosen && <button type="button" onClick={() => choose(undefined)}>All</button>}
        </form>
        {isEmpty && <p class="quiet">There is no entry from {span.from} up to {span.to}.</p>}
        {work.isBusy && <Progress of={work} label="Entries verified" stop={work.stop} />}
        {!work.isBusy && work.of > 0 && !work.result && !work.error && <p class="quiet" role="status">Stopped after {work.done.toLocaleString()} entries.</p>}
        {work.error && <ErrorState error={work.error} />}
        {work.result && of && <><h3 class="nums">Entries {of.span.from.toLocaleString()} to {(of.span.to - 1).toLocaleString()}</h3><Checks of={work.result} /></>}
        <p class="quiet">The files themselves are verified by <code>legation audit verify</code>, without the exchange.</p>
      </div>
    </Card>
  );
}
