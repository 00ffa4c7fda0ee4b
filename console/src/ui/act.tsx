// What people do: asking before something is done, saying that it was, copying.
import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/client";
import { asProblem } from "../api/use";
import { ErrorState } from "./frame";

interface Told {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const toasts = signal<readonly Told[]>([]);
let number = 0;

/** Says something for a few seconds. */
export function toast(text: string, tone: "good" | "bad" = "good"): void {
  const id = ++number;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }];
  setTimeout(() => (toasts.value = toasts.value.filter((told) => told.id !== id)), tone === "bad" ? 10_000 : 4000);
}

export function Toasts(): VNode {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => <p key={id} class={`toast tone-${tone}`} dir="auto">{text}</p>)}
    </div>
  );
}

export interface ConfirmProps {
  readonly title: string;
  /** What the button that does it says: a verb. */
  readonly verb: string;
  readonly danger?: boolean;
  /** Does it. What it throws is shown, and the dialog stays. With `ask` it gets what was written. */
  readonly act: (said: string) => Promise<unknown>;
  readonly close: () => void;
  /** Asks for a text, and whether it must be there. */
  readonly ask?: { readonly label: string; readonly required?: boolean; readonly hint?: string };
  readonly children?: ComponentChildren;
}

/** Asks first. Show it while something is to be confirmed: `{open && <Confirm … close={() => setOpen(false)} />}`. */
export function Confirm({ title, verb, danger, act, close, ask, children }: ConfirmProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [said, say] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Problem>();
  const gone = useRef(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // Closed rather than taken away, so that the focus goes back to where it was; and at once, not when the browser gets
  // to say so, since until then whoever asks again would ask nothing.
  const shut = (): void => {
    if (gone.current) return;
    gone.current = true;
    dialog.current?.close();
    close();
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await act(said);
      shut();
    } catch (problem) {
      setError(asProblem(problem));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} class="confirm" onCancel={(event) => { event.preventDefault(); shut(); }} onClose={shut} aria-labelledby="confirm-title">
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        {ask && (
          <label>
            {ask.label}
            <textarea rows={3} dir="auto" required={ask.required} value={said} onInput={(event) => say(event.currentTarget.value)} />
            {ask.hint && <span class="quiet">{ask.hint}</span>}
          </label>
        )}
        {error && <ErrorState error={error} />}
        <div class="actions">
          <button type="button" onClick={shut}>Cancel</button>
          <button type="submit" class={danger ? "primary danger" : "primary"} disabled={busy}>{verb}</button>
        </div>
      </form>
    </dialog>
  );
}

/** Copies a text, and says so. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }): VNode {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      toast("The browser did not let this be copied.", "bad");
    }
  };
  return <button type="button" class="copy" onClick={copy}>{done ? "Copied" : label}<span class="sr" aria-live="polite">{done ? " done" : ""}</span></button>;
}

/** Saves bytes or text as a file. */
export function save(name: string, content: BlobPart, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
