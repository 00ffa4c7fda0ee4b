// What stands around every page: where one can go, who one is, whether the exchange is there.
import { useComputed } from "@preact/signals";
import { Component, type ComponentChildren, type FunctionComponent, type VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Brake } from "./agents/brake";
import { over, session, signOut, skew } from "./api/client";
import { flowing, useFeed, waits } from "./api/feed";
import { asProblem } from "./api/use";
import { type Page, type PageProps, isFor, pageOf, pages } from "./pages";
import { href, route } from "./router";
import { type Theme, theme, wear } from "./theme";
import { EmptyState, ErrorState, Loading, Text, Toasts, span } from "./ui";

function Nav({ close }: { close: () => void }): VNode {
  const here = route.value.page;
  return (
    <nav id="nav" aria-label="Pages">
      <ul>
        {pages.filter((page) => !page.apart && isFor(page, session.value?.role)).map((page) => {
          const waiting = page.waiting?.(waits.value) ?? 0;
          return (
            <li key={page.name}>
              <a href={href([page.name])} aria-current={page.name === here ? "page" : undefined} onClick={close}>
                {page.title}
                {waiting > 0 && <span class="count">{waiting}<span class="sr"> waiting</span></span>}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const WORDS = { none: "", connecting: "connecting", live: "live", lost: "reconnecting" } as const;

function Flowing(): VNode {
  const state = flowing.value;
  return <span class={`flowing flowing-${state}`} role="status">{WORDS[state]}</span>;
}

const THEMES: readonly (readonly [Theme, string])[] = [["auto", "System"], ["light", "Light"], ["dark", "Dark"]];

function Person(): VNode {
  return (
    <div class="person">
      <label class="theme">
        <span class="sr">Colours</span>
        <select value={theme.value} onChange={(event) => wear(event.currentTarget.value as Theme)}>
          {THEMES.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
        </select>
      </label>
      <span class="who"><Text value={session.value?.name ?? ""} clip /> {session.value?.role !== session.value?.name && <span class="quiet">{session.value?.role}</span>}</span>
      <button type="button" onClick={() => void signOut()}>Sign out</button>
    </div>
  );
}

type Loaded = { page: Page; view: FunctionComponent<PageProps> } | { error: unknown } | undefined;

function Current(): VNode {
  const name = useComputed(() => route.value.page).value;
  const [loaded, set] = useState<Loaded>();
  const page = pageOf(name);
  useEffect(() => {
    let gone = false;
    page?.load().then(({ default: view }) => !gone && set({ page, view }), (error: unknown) => !gone && set({ error }));
    return () => void (gone = true);
  }, [page]);
  if (!page) return <EmptyState title="There is no such page."><a href="#/">To the first page</a></EmptyState>;
  if (!isFor(page, session.value?.role)) return <EmptyState title="This page is not for your role.">Operators and auditors see everything that happens.</EmptyState>;
  if (loaded && "error" in loaded) return <ErrorState error={asProblem(loaded.error)} retry={() => location.reload()} />;
  if (!loaded || loaded.page !== page) return <Loading />;
  const { rest, query } = route.value;
  return <Guard key={page.name}><loaded.view rest={rest} query={query} /></Guard>;
}

/** A page that fails says so, and the others go on. */
class Guard extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override render(): ComponentChildren {
    if (this.state.error !== undefined) return <ErrorState error={asProblem(this.state.error)} retry={() => this.setState({ error: undefined })} />;
    return this.props.children;
  }
}

/** From so many milliseconds on, people are told. */
const WRONG = 10_000;

function Clock(): VNode {
  const by = skew.value;
  return <div role="status">{Math.abs(by) >= WRONG && <p class="note clock-note">This computer’s clock is {span(by)} {by > 0 ? "behind" : "ahead of"} the exchange’s. What is due and how long ago things were follows the exchange.</p>}</div>;
}

function Over(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="confirm" onCancel={(event) => event.preventDefault()} aria-labelledby="over">
      <h2 id="over">Your session is over</h2>
      <p>It was unused for too long, or the token behind it was withdrawn.</p>
      <div class="actions"><button type="button" class="primary" onClick={() => location.reload()}>Sign in again</button></div>
    </dialog>
  );
}

export function Shell(): VNode {
  useFeed();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { page } = route.value;
  const first = useRef(true);
  useEffect(() => {
    document.title = `${pageOf(page)?.title ?? "Not found"} · Legation`;
    // Whoever listens to the page hears where they are now.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [page]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>To the content</a>
      <header class={open ? "top open" : "top"}>
        <div class="brand"><a href="#/">Legation</a><Flowing /></div>
        <button type="button" class="menu" aria-expanded={open} aria-controls="nav" onClick={() => setOpen(!open)}>Menu</button>
        <Nav close={() => setOpen(false)} />
        <Brake />
        <Person />
      </header>
      <Clock />
      <main id="main" ref={main} tabIndex={-1}><Current /></main>
      <Toasts />
      {over.value && <Over />}
    </>
  );
}
