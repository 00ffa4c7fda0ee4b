// Deciding on a held message: for exactly what is shown, by its digest. The exchange counts one decision.
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Problem, post } from "../api/client";
import { asProblem } from "../api/use";
import { canCheck, hash, named, utf8 } from "../proof/bytes";
import { canonical, unsigned } from "../proof/canon";
import { AgentName, AgentNames, Check, Confirm, ErrorState, Text, toast } from "../ui";
import { type Review, claimant, isMine, mayDecide } from "./list";
import { lifts } from "./why";

export type Said = "approve" | "refuse";

interface Props {
  readonly review: Review;
  /** It was decided here. */
  readonly decided: (said: Said) => void;
  /** Somebody else was first, in the exchange's words. */
  readonly late: (problem: Problem) => void;
  readonly changed: () => void;
}

export function Decide({ review, decided, late, changed }: Props): VNode | null {
  const [asked, ask] = useState<Said>();
  const [refused, setRefused] = useState<Problem>();
  const bound = useBound(review);
  if (!mayDecide()) return <p class="quiet">Reviewers and operators decide on this.</p>;
  const say = async (decision: Said | "claim", reason: string): Promise<void> => {
    if (review.digest === null) throw new Error("there is no digest to decide on");
    try {
      await post("/v1/reviews/{id}", { path: { id: review.id }, body: { decision, digest: review.digest, ...(reason.trim() ? { reason: reason.trim() } : {}) } });
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code === "review_conflict" || problem.code === "unknown_review") late(problem);
      throw problem;
    }
  };
  const claim = (): void => {
    setRefused(undefined);
    say("claim", "").then(() => {
      toast("For ten minutes only you and operators can decide on it.");
      changed();
    }, (error: unknown) => setRefused(asProblem(error)));
  };
  const done = async (said: Said, reason: string): Promise<void> => {
    await say(said, reason);
    toast(said === "approve" ? "Approved." : "Refused. Its sender is told.");
    decided(said);
  };
  const can = review.digest !== null && bound !== "no";
  const isLost = review.message === null;
  return (
    <div class="stack">
      <div class="actions">
        <button type="button" class="primary" disabled={!can || isLost} onClick={() => ask("approve")}>Approve</button>
        <button type="button" disabled={!can} onClick={() => ask("refuse")}>Refuse</button>
        {!isMine(claimant(review)) && <button type="button" disabled={!can} onClick={claim} title="Keeps other reviewers from deciding for ten minutes">Claim for ten minutes</button>}
      </div>
      {refused && <ErrorState error={refused} />}
      <ul><Check state={bound}>{isLost ? "What it said is not here any more, so it can only be refused." : SAYS[bound]}</Check></ul>
      {asked === "approve" && <Approve review={review} act={(why) => done("approve", why)} close={() => ask(undefined)} />}
      {asked === "refuse" && <Refuse review={review} act={(why) => done("refuse", why)} close={() => ask(undefined)} />}
    </div>
  );
}

const SAYS = {
  yes: "Your decision is bound to what is shown here: this browser computed its digest.",
  no: "What is shown here does not have the digest that the exchange names, so nothing can be decided on it.",
  open: "Your decision names the digest that the exchange gives for this.",
} as const;

/** Whether what is shown has the digest that a decision names. */
function useBound({ digest, message }: Review): "yes" | "no" | "open" {
  const [bound, set] = useState<"yes" | "no" | "open">("open");
  const text = useMemo(() => (message === null ? null : canonical(unsigned(message))), [message]);
  useEffect(() => {
    let gone = false;
    set("open");
    if (digest === null || text === null || !canCheck()) return;
    hash(utf8(text)).then((own) => !gone && set(named(own) === digest ? "yes" : "no"), () => undefined);
    return () => void (gone = true);
  }, [digest, text]);
  return bound;
}

interface Asking {
  readonly review: Review;
  readonly act: (why: string) => Promise<void>;
  readonly close: () => void;
}

function Claimed({ by }: { by: string | null }): VNode | null {
  return by === null || isMine(by) ? null : <p class="note"><Text value={by} /> is looking at it too.</p>;
}

function Approve({ review, act, close }: Asking): VNode {
  const others = review.reasons.filter((reason) => reason.lifts !== "person");
  return (
    <Confirm title="Approve this message?" verb="Approve" act={act} close={close} ask={{ label: "Reason, if there is one", hint: "It is kept in the record." }}>
      <p class="affected">
        {others.length === 0 ? <>It goes on to <AgentNames ids={review.to} link={false} most={8} /> as <AgentName id={review.sender} link={false} /> sent it.</> : <>It stays held until {others.map(lifts).join(", and ")} lifts the rest, and goes on to <AgentNames ids={review.to} link={false} most={8} /> then.</>}
      </p>
      <Claimed by={claimant(review)} />
      <p class="quiet digest"><Text value={review.digest ?? ""} mono /></p>
    </Confirm>
  );
}

function Refuse({ review, act, close }: Asking): VNode {
  return (
    <Confirm title="Refuse this message?" verb="Refuse" danger act={act} close={close} ask={{ label: "Reason", required: true, hint: "Its sender is told, and it is kept in the record." }}>
      <p class="affected">It goes nowhere. <AgentNames ids={review.to} link={false} most={8} /> {review.to.length === 1 ? "sees" : "see"} nothing of it, and <AgentName id={review.sender} link={false} /> is told why.</p>
      <Claimed by={claimant(review)} />
      <p class="quiet digest"><Text value={review.digest ?? ""} mono /></p>
    </Confirm>
  );
}
