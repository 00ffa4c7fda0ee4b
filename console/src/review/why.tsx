// Why a message is held, and how it was judged.
import type { VNode } from "preact";
import { Chip, KeyValue, Text, type Tone } from "../ui";
import type { Review } from "./list";

type Reason = Review["reasons"][number];

const LIFTS: Readonly<Record<Reason["lifts"], string>> = {
  person: "a person",
  overseer: "its sender’s overseer",
  resume: "whoever lets its sender go on",
  session: "whoever lets its session go on",
  original: "the decision on the message it is made of",
};

export const lifts = (reason: Reason): string => LIFTS[reason.lifts];

export function Why({ review }: { review: Review }): VNode {
  const told = new Set(review.reasons.map((reason) => reason.code));
  const found = review.findings.filter((finding) => !told.has(finding.code));
  return (
    <section class="stack" aria-label="Why it is held">
      <h3>Why it is held</h3>
      <ul class="stack notes">
        {review.reasons.map((reason) => (
          <li key={reason.code} class="note">
            <p class="prose" dir="auto"><Text value={reason.says} /></p>
            <span class="quiet"><code>{reason.code}</code>{reason.lifts !== "person" && <> · lifted by {lifts(reason)}</>}</span>
          </li>
        ))}
      </ul>
      {found.length > 0 && (
        <ul class="found">
          {found.map((finding) => <li key={finding.code}><Text value={finding.says} /> <span class="quiet"><code>{finding.code}</code> · <Text value={finding.rule} /></span></li>)}
        </ul>
      )}
      <Judged review={review} />
    </section>
  );
}

const LEVELS: Readonly<Record<string, Tone>> = { safe: "good", review: "wait", block: "bad" };
const GATES: Readonly<Record<string, Tone>> = { pass: "good", review: "wait", fail: "bad" };

function Judged({ review: { level, metrics } }: { review: Pick<Review, "level" | "metrics"> }): VNode | null {
  if (!level && !metrics) return null;
  return (
    <KeyValue of={[
      ["Level", level && <Chip tone={LEVELS[level] ?? "plain"}>{level}</Chip>],
      ["Gate", metrics && <Chip tone={GATES[metrics.gate] ?? "plain"}>{metrics.gate}</Chip>],
      ["Integrity", metrics && <Share value={metrics.context_integrity} />],
      ["Depth", metrics && <span class="nums">{metrics.context_depth} of 6 layers</span>],
    ]} />
  );
}

/** Which share of what could be checked holds. */
function Share({ value }: { value: number }): VNode {
  const part = Math.round(value * 100);
  return <span class="meter"><progress max={1} value={value} aria-label={`Of what could be checked, ${part} % holds`} /><span class="nums">{part} %</span></span>;
}
