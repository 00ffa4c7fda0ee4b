// What waits in an agent's mailbox. Looking takes nothing out of it.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Shape, get } from "../api/client";
import { type Happening } from "../api/feed";
import { useLive } from "../api/live";
import { href } from "../router";
import { AgentName, Await, Card, Chip, Table, Text, Time } from "../ui";

type Waiting = Shape<"Inbox">["messages"][number];
const PAGE = 50;
const MOST = 1000;

const any = (entry: Happening): boolean => entry.verdict !== undefined || entry.entry === "acked";

/** A sender and a kind, in whichever dialect the message is. */
function told(message: unknown): { from: string; kind: string } {
  const { sender, sender_id: id, type, performative } = message as Record<string, unknown>;
  const from = typeof sender === "string" ? sender : typeof id === "string" ? id : (sender as { agent_id?: string } | undefined)?.agent_id;
  return { from: from ?? "?", kind: String(performative ?? type ?? "") };
}

export function Mailbox({ id, waiting }: { id: string; waiting: number | undefined }): VNode {
  const [limit, setLimit] = useState(PAGE);
  const asked = useLive((signal) => get("/v1/agents/{id}/inbox", { path: { id }, query: { limit }, signal }), [id, limit], any);
  const count = asked.data?.messages.length ?? 0;
  return (
    <Card title={<>Mailbox{asked.data && <span class="quiet"> {count < limit ? `${count} waiting` : `the first ${limit}${waiting !== undefined && waiting > limit ? ` of ${waiting.toLocaleString()}` : ""} that wait`}</span>}</>}>
      <Await asked={asked}>
        {({ messages }) => (
          <div class="stack">
            <Table label="Mailbox" rows={messages} id={(one) => one.position} empty={<p class="quiet">Empty: it took everything that came.</p>} columns={[
              { head: "From", cell: (one) => <AgentName id={told(one.message).from} /> },
              { head: "Kind", cell: (one) => <a class="nums" href={href(["messages", placeOf(one)])}><Text value={told(one.message).kind} /></a> },
              { head: "Level", cell: (one) => one.level && <Chip tone={one.level === "safe" ? "good" : "wait"}>{one.level}</Chip>, wide: true },
              { head: "Came", cell: (one) => <Time at={one.received_at} /> },
            ]} />
            {count === limit && limit < MOST && <div><button type="button" onClick={() => setLimit(MOST)}>Show more</button></div>}
          </div>
        )}
      </Await>
    </Card>
  );
}

/** Where the message lies; it may have been routed here later. */
const placeOf = (one: Waiting): number => (one.receipt as { position?: number }).position ?? one.position;
