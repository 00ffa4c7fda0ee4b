// Answering in the task a question belongs to, and taking the question out of the mailbox.
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Problem } from "../api/client";
import { asProblem } from "../api/use";
import { Confirm, ErrorState, Text, toast } from "../ui";
import { type Box, type Letter, done, facts, freshId, maySpeak, say } from "./letters";

interface Props {
  readonly box: Box;
  readonly letter: Letter;
  /** It is out of the mailbox, with or without an answer. */
  readonly over: (answered: boolean) => void;
}

export function Answer({ box, letter, over }: Props): VNode {
  const { dialect, sender, thread } = facts(letter);
  const [words, write] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Problem>();
  const [asked, ask] = useState(false);
  const id = useRef(freshId());
  const sent = useRef(false);
  if (!maySpeak()) return <p class="quiet">Reviewers and operators answer as the user.</p>;
  const answer = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (thread === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      if (!sent.current) {
        const taken = await say({ id: id.current, task: thread, from: box, to: sender, words });
        sent.current = true;
        toast(taken.status === "held" ? "Your answer is held: it waits for a person." : `Answered ${sender} in ${thread}.`);
      }
      await done(box, letter);
      over(true);
    } catch (problem) {
      setError(asProblem(problem));
      setBusy(false);
    }
  };
  const canAnswer = dialect === "cap" && thread !== undefined;
  return (
    <form class="answer" onSubmit={answer}>
      {canAnswer && (
        <label>
          Your answer, as <Text value={box} />
          <textarea rows={4} dir="auto" required disabled={sent.current} value={words} onInput={(event) => write(event.currentTarget.value)} />
          <span class="quiet"><Text value={sender} /> gets it in the task <Text value={thread} mono />, on the record.</span>
        </label>
      )}
      {error && <ErrorState error={error} />}
      {sent.current && error && <p class="quiet">Your answer was sent. Only taking the question out of the mailbox is left.</p>}
      <div class="actions">
        {canAnswer && <button type="submit" class="primary" disabled={busy}>{sent.current ? "Take it out" : "Answer"}</button>}
        <button type="button" onClick={() => ask(true)}>{canAnswer ? "Done without an answer" : "Done with it"}</button>
      </div>
      {asked && (
        <Confirm title="Take this out of the mailbox?" verb="Take it out" act={async () => { await done(box, letter); over(false); }} close={() => ask(false)}>
          <p>Everybody who reads the mailbox of <Text value={box} /> stops seeing it. {canAnswer && <><Text value={sender} /> gets no answer by this. </>}The record keeps it.</p>
        </Confirm>
      )}
    </form>
  );
}
