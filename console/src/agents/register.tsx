// Registering an agent: a form, the command that does the same, and the token, once.
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Problem, type Shape, put } from "../api/client";
import { asProblem, useAsk } from "../api/use";
import { everyAgent } from "./every";
import { href } from "../router";
import { Card, Code, Copy, DialectBadge, EmptyState, ErrorState, PageHead } from "../ui";
import { type Wanted, command, registration } from "./command";
import { mayStop } from "./stop";
import { Once } from "./token";

const EMPTY: Wanted = { id: "", dialects: [], keys: [], parent: "", alias: "", instance_of: "", model: "", purposes: [], environment: "", ontologies: [], languages: [], push: "", manifest: "" };

export function Register(): VNode {
  const [made, set] = useState<{ id: string; token: string }>();
  return (
    <>
      <PageHead title="Register an agent" about={<a href={href(["agents"])}>Agents</a>} />
      {!mayStop()
        ? <EmptyState title="Operators register agents here." />
        : made
          ? <Once agent={made.id} token={made.token}><><a href={href(["agents", made.id])}>To the agent</a><button type="button" onClick={() => set(undefined)}>Register another</button></></Once>
          : <Form done={(id, token) => set({ id, token })} />}
    </>
  );
}

/** Words with commas or line breaks between them. */
const several = (text: string): string[] => text.split(/[\n,]/).map((word) => word.trim()).filter(Boolean);

function Form({ done }: { done: (id: string, token: string) => void }): VNode {
  const [wanted, set] = useState(EMPTY);
  const [error, setError] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const names = useAsk((signal) => everyAgent(signal), []);
  const change = (part: Partial<Wanted>): void => set((old) => ({ ...old, ...part }));
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      done(wanted.id, await register(wanted));
    } catch (problem) {
      setError(asProblem(problem));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit} class="register">
      <Card>
        <div class="stack">
          <Field label="Id" hint="A name, or an address such as agent://example.org/planner"><input required dir="auto" autocomplete="off" value={wanted.id} onInput={(event) => change({ id: event.currentTarget.value.trim() })} /></Field>
          <fieldset class="choices"><legend>Speaks</legend>{["vcp", "acl", "cap", "vlp"].map((name) => <label key={name}><input type="checkbox" checked={wanted.dialects.includes(name)} onChange={(event) => change({ dialects: event.currentTarget.checked ? [...wanted.dialects, name] : wanted.dialects.filter((one) => one !== name) })} /> <DialectBadge of={name} /></label>)}</fieldset>
          <Field label="Public keys" hint="As legation keygen prints them, ed25519:…; two at most, a line each"><textarea rows={2} dir="ltr" class="mono" onInput={(event) => change({ keys: several(event.currentTarget.value) })} /></Field>
          <Field label="Agent above it" hint="Its escalations go there"><input dir="auto" list="agent-names" onInput={(event) => change({ parent: event.currentTarget.value.trim() })} /></Field>
          <datalist id="agent-names">{names.data?.agents.map((agent) => <option key={agent.id} value={agent.id} />)}</datalist>
          <More change={change} />
          {error && <ErrorState error={error} />}
          <div class="actions"><button type="submit" class="primary" disabled={busy}>Register</button></div>
        </div>
      </Card>
      <Same wanted={wanted} />
    </form>
  );
}

function More({ change }: { change: (part: Partial<Wanted>) => void }): VNode {
  const line = (label: string, hint: string, set: (value: string) => Partial<Wanted>, list?: string): VNode => (
    <Field label={label} hint={hint}><input dir="auto" autocomplete="off" list={list} onInput={(event) => change(set(event.currentTarget.value.trim()))} /></Field>
  );
  return (
    <details>
      <summary>More</summary>
      <div class="register-more">
        {line("Name in VLP", "such as The Observer", (alias) => ({ alias }))}
        {line("Running copy of", "an agent that is registered", (instance_of) => ({ instance_of }), "agent-names")}
        {line("Model", "what it runs on", (model) => ({ model }))}
        {line("Environment", "such as production", (environment) => ({ environment }))}
        {line("Purposes", "with commas between them", (text) => ({ purposes: several(text) }))}
        {line("Content languages", "with commas between them", (text) => ({ languages: several(text) }))}
        {line("Ontologies", "prefixes, with commas between them", (text) => ({ ontologies: several(text) }))}
        {line("Bring messages to", "an address, by HTTP POST", (push) => ({ push }))}
        <Field label="CAP manifest" hint="JSON: whom it hands tasks to, who oversees it, its tools"><textarea rows={5} dir="ltr" class="mono" onInput={(event) => change({ manifest: event.currentTarget.value.trim() })} /></Field>
      </div>
    </details>
  );
}

function Field({ label, hint, children }: { label: string; hint: string; children: ComponentChildren }): VNode {
  return <label class="field"><span>{label}</span>{children}<span class="quiet hint">{hint}</span></label>;
}

/** The command that does the same, kept up with the form. */
function Same({ wanted }: { wanted: Wanted }): VNode {
  const text = command(wanted, location.origin);
  return (
    <Card title="The same in a terminal">
      <div class="stack">
        <div class="run"><Code value={text} label="The same in a terminal" /><Copy text={text} /></div>
        <p class="quiet">It prints the token, once.{wanted.manifest && " The manifest is in manifest.json."}</p>
      </div>
    </Card>
  );
}

/** A name that is taken is refused, and nothing of it changed. */
async function register(wanted: Wanted): Promise<string> {
  const answer = await put("/v1/agents/{id}", { path: { id: wanted.id }, body: { ...manifested(wanted), only_new: true } });
  return answer.token ?? "";
}

function manifested(wanted: Wanted): Shape<"Registration"> {
  try {
    return registration(wanted) as Shape<"Registration">;
  } catch {
    throw new Problem(422, "not_json", "The manifest is not JSON.", false, "/manifest");
  }
}
