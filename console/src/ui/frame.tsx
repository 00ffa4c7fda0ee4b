// What pages are made of: cards, tables, pairs, and what stands where there is nothing or something went wrong.
import type { ComponentChildren, VNode } from "preact";
import type { Problem } from "../api/client";
import type { Asked } from "../api/use";
import { Text, shown } from "./text";

type Kids = { children?: ComponentChildren };

/** A page's head: its one `h1`, and what can be done with all of it. */
export function PageHead({ title, about, children }: { title: ComponentChildren; about?: ComponentChildren } & Kids): VNode {
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about && <p class="quiet">{about}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

export function Card({ title, actions, tone, children }: { title?: ComponentChildren; actions?: ComponentChildren; tone?: "wait" | "bad" } & Kids): VNode {
  return (
    <section class={tone ? `card card-${tone}` : "card"}>
      {(title || actions) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Names and values; those without a value are left out. */
export function KeyValue({ of }: { of: readonly (readonly [string, ComponentChildren])[] }): VNode {
  const there = of.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
  return (
    <dl class="pairs">
      {there.map(([name, value]) => (
        <div key={name}><dt><bdi>{shown(name)}</bdi></dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly align?: "end";
  /** Left out on a phone. */
  readonly wide?: boolean;
}

export function Table<T>({ label, rows, columns, id, empty }: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  id: (row: T) => string | number;
  empty?: ComponentChildren;
}): VNode {
  if (rows.length === 0 && empty) return <>{empty}</>;
  const style = (column: Column<T>) => [column.align === "end" && "end", column.wide && "wide"].filter(Boolean).join(" ") || undefined;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead><tr>{columns.map((column) => <th key={column.head} scope="col" class={style(column)}>{column.head}</th>)}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>{columns.map((column) => <td key={column.head} class={style(column)}>{column.cell(row)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function EmptyState({ title, children }: { title: string } & Kids): VNode {
  return <div class="empty"><p class="empty-title">{title}</p>{children && <div class="quiet">{children}</div>}</div>;
}

/** What the exchange refused, in its own words. */
export function ErrorState({ error, retry }: { error: Problem; retry?: () => void }): VNode {
  return (
    <div class="error" role="alert">
      <p><strong>{error.code === "not_allowed" ? "This is not for your role." : "That did not work."}</strong> <Text value={error.message} /></p>
      <p class="quiet"><code>{error.code}</code>{error.at && <> at <code>{error.at}</code></>}{error.spec && <> · {error.spec}</>}</p>
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}

export function Loading({ what = "Loading" }: { what?: string }): VNode {
  return <p class="loading quiet" role="status">{what}…</p>;
}

/** An answer once it is there; what went wrong otherwise. */
export function Await<T>({ asked, children }: { asked: Asked<T>; children: (data: T) => ComponentChildren }): VNode {
  return (
    <>
      {asked.error && <ErrorState error={asked.error} retry={asked.reload} />}
      {asked.data !== undefined ? children(asked.data) : !asked.error && <Loading />}
    </>
  );
}

/** What is true of something, tried: proofs and signatures. */
export function Check({ state, children }: { state: "yes" | "no" | "open" } & Kids): VNode {
  const [sign, word] = { yes: ["✓", "holds"], no: ["✕", "does not hold"], open: ["·", "not checked"] }[state];
  return <li class={`check check-${state}`}><span class="check-sign" aria-hidden="true">{sign}</span><span><span class="sr">{word}: </span>{children}</span></li>;
}
