// An agent's keys, and taking one out of use at once.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, post } from "../api/client";
import { Card, Chip, Confirm, Copy, Table, Text, Time, type Tone, toast } from "../ui";
import { type Agent, mayStop } from "./stop";

type Key = Shape<"Key">;

const TONES: Readonly<Record<Key["state"], Tone>> = { PENDING: "wait", ACTIVE: "good", ROTATING: "wait", RETIRED: "plain", COMPROMISED: "bad", REVOKED: "bad" };
const inUse = (key: Key): boolean => ["PENDING", "ACTIVE", "ROTATING"].includes(key.state);

export function Keys({ agent }: { agent: Agent }): VNode {
  // A key revoked here is shown so at once; the next answer says the same.
  const [changed, change] = useState<readonly Key[]>();
  const [asking, ask] = useState<Key>();
  const keys = agent.keys.map((key) => changed?.find((one) => one.public === key.public && !inUse(one)) ?? key);
  return (
    <Card title="Keys">
      <Table label="Keys" rows={keys} id={(key) => key.public} empty={<p class="quiet">None: it is known by its token alone, and signs nothing.</p>} columns={[
        { head: "Public key", cell: (key) => <Text value={key.public} mono /> },
        { head: "State", cell: (key) => <Chip tone={TONES[key.state]}>{key.state.toLowerCase()}</Chip> },
        { head: "Until", cell: (key) => (key.not_after ? <Time at={key.not_after} as="exact" /> : <span class="quiet">no end</span>), wide: true },
        { head: "Actions", cell: (key) => <span class="actions"><Copy text={key.public} />{mayStop() && inUse(key) && <button type="button" class="copy" onClick={() => ask(key)}>Revoke<span class="sr"> {key.public}</span></button>}</span> },
      ]} />
      {asking && <Revoke agent={agent.id} of={asking} close={() => ask(undefined)} done={(ring) => change(ring)} />}
    </Card>
  );
}

function Revoke({ agent, of, close, done }: { agent: string; of: Key; close: () => void; done: (keys: readonly Key[]) => void }): VNode {
  const act = async (): Promise<void> => {
    await post("/v1/agents/{id}/keys/{key}", { path: { id: agent, key: of.public }, body: { state: "REVOKED" } });
    done([{ ...of, state: "REVOKED" }]);
    toast(`A key of ${agent} is revoked.`);
  };
  return (
    <Confirm title="Revoke this key?" verb="Revoke" danger act={act} close={close}>
      <p>Nothing that <strong><Text value={agent} /></strong> signs with it is taken any more. It cannot be brought back.</p>
      <p><Text value={of.public} mono /></p>
    </Confirm>
  );
}
