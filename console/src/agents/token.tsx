// A token, shown once: it is in nothing but this page, and gone when the page is left.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { put } from "../api/client";
import { Card, Code, Confirm, Copy, Text, save } from "../ui";
import { mayStop } from "./stop";

export function Once({ agent, token, children }: { agent: string; token: string; children?: VNode }): VNode {
  const head = useRef<HTMLSpanElement>(null);
  useEffect(() => head.current?.focus(), []);
  return (
    <Card tone="wait" title={<span ref={head} tabIndex={-1}>The token of <Text value={agent} /></span>}>
      <div class="stack">
        <p>Shown now, and not again. Whoever has it speaks as this agent.</p>
        <div class="run"><Code value={token} label="Token" /><Copy text={token} /></div>
        <div class="actions"><button type="button" onClick={() => save("agent.token", `${token}\n`, "text/plain")}>Save as a file</button>{children}</div>
      </div>
    </Card>
  );
}

/** A new token for an agent that is registered: `legation agent token`. */
export function NewToken({ id, got }: { id: string; got: (token: string | undefined) => void }): VNode | null {
  const [asking, ask] = useState(false);
  if (!mayStop()) return null;
  const act = async (): Promise<void> => got((await put("/v1/agents/{id}", { path: { id }, body: { rotate_token: true } })).token);
  return (
    <>
      <button type="button" class="copy" onClick={() => ask(true)}>New token</button>
      {asking && (
        <Confirm title="Make a new token?" verb="Make it" act={act} close={() => ask(false)}>
          <p><strong><Text value={id} /></strong> gets a new token. Its old one counts until the new one is used.</p>
        </Confirm>
      )}
    </>
  );
}
