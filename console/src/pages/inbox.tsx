// Inbox of people: what agents ask the user, or tell the orchestrator; answered in its task.
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useLive } from "../api/live";
import { type Box, type Letter, ask, boxes, facts } from "../inbox/letters";
import { Sight } from "../inbox/sight";
import type { PageProps } from "../pages";
import { gist } from "../review/list";
import { go, href } from "../router";
import { AgentName, Await, DialectBadge, EmptyState, PageHead, Rows, Text, Time } from "../ui";
import { rowId, useOpened } from "../ui/opened";

export default function Inbox({ rest, query }: PageProps): VNode {
  const mine = boxes();
  const box = mine.find((one) => one === query.get("box")) ?? mine[0] ?? "user";
  const kept = box === mine[0] ? {} : { box };
  const asked = useLive((signal) => ask(box, signal), [box], (entry) => entry.verdict === undefined || (entry.to ?? []).includes(box), 5000);
  const letters = asked.data?.letters ?? [];
  const opened = rest[0];
  useOpened(opened);
  const next = useNext(letters, opened);
  const line = (one: Letter): VNode => <Line letter={one} to={href(["inbox", one.position], kept)} isOpen={String(one.position) === opened} />;
  return (
    <>
      <PageHead title="Inbox" about={box === "user" ? "What agents ask people. Who asked waits for the answer." : "What comes back to the orchestrator: results, errors, questions."}>
        {mine.length > 1 && (
          <span class="toggles choice" role="group" aria-label="Whose mailbox">
            {mine.map((one) => <button key={one} type="button" aria-pressed={one === box} onClick={() => go(href(["inbox"], { box: one }), true)}>{NAMES[one]}</button>)}
          </span>
        )}
      </PageHead>
      <div class={opened ? "desk split" : "desk"}>
        <div class="list">
          <Await asked={asked}>
            {({ more }) => letters.length === 0
              ? <EmptyState title="Nothing waits here.">{box === "user" ? "Questions that agents send to “user” come here." : "What agents send to “orchestrator” comes here."}</EmptyState>
              : <Rows label="Letters" items={letters} height={58} id={(one) => one.position} row={line}
                  foot={<p class="rows-foot">{more ? `The ${letters.length} that wait longest` : `${letters.length} in all`}</p>} />}
          </Await>
        </div>
        {opened && (
          <Sight key={`${box} ${opened}`} box={box} position={opened} close={href(["inbox"], kept)}
            next={next === undefined ? undefined : href(["inbox", next], kept)} changed={asked.reload} />
        )}
      </div>
    </>
  );
}

const NAMES: Readonly<Record<Box, string>> = { user: "To the user", orchestrator: "To the orchestrator" };

/** The one behind what is opened, also once that has gone from the list. */
function useNext(letters: readonly Letter[], opened: string | undefined): number | undefined {
  const place = useRef(0);
  const at = letters.findIndex((one) => String(one.position) === opened);
  if (at >= 0) place.current = at;
  const others = letters.filter((one) => String(one.position) !== opened);
  return (others[place.current] ?? others[0])?.position;
}

function Line({ letter, to, isOpen }: { letter: Letter; to: string; isOpen: boolean }): VNode {
  const { dialect, sender, thread } = facts(letter);
  return (
    <a class="line letter-line" id={rowId(String(letter.position))} href={to} aria-current={isOpen ? "true" : undefined}>
      <DialectBadge of={dialect} />
      <span class="way"><AgentName id={sender} link={false} /></span>
      <span class="marks">{thread && <Text value={thread} clip mono />}</span>
      <span class="sub"><Text value={gist(letter.message)} clip /></span>
      <span class="when"><Time at={letter.received_at} /></span>
    </a>
  );
}
