// Every page of the console, in the order of the navigation. A page is one file in `pages/` and one line here.
import type { FunctionComponent } from "preact";
import { type Waits } from "./api/feed";
import type { Session } from "./api/client";

export interface PageProps {
  /** What comes behind the page's name in the address. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

type Role = Session["role"];

export interface Page {
  /** In the address; the first page has none. */
  readonly name: string;
  readonly title: string;
  readonly load: () => Promise<{ default: FunctionComponent<PageProps> }>;
  /** Whose it is; everybody's when left out. */
  readonly roles?: readonly Role[];
  /** How much waits there, for a number beside its name. */
  readonly waiting?: (waits: Waits) => number;
  /** Not in the navigation. */
  readonly apart?: boolean;
}

export const pages: readonly Page[] = [
  { name: "", title: "Now", load: () => import("./pages/now"), roles: ["operator", "auditor"] },
  { name: "messages", title: "Messages", load: () => import("./pages/messages") },
  { name: "tasks", title: "Tasks", load: () => import("./pages/tasks") },
  { name: "reviews", title: "Reviews", load: () => import("./pages/reviews"), roles: ["operator", "reviewer", "auditor"], waiting: (waits) => waits.reviews + waits.halted },
  { name: "inbox", title: "Inbox", load: () => import("./pages/inbox"), waiting: (waits) => waits.questions },
  { name: "agents", title: "Agents", load: () => import("./pages/agents"), waiting: (waits) => waits.escalations },
  { name: "memory", title: "Memory", load: () => import("./pages/memory") },
  { name: "record", title: "Record", load: () => import("./pages/record") },
  { name: "start", title: "Connect", load: () => import("./pages/start") },
];

export const hasPage = (name: string): boolean => pages.some((page) => page.name === name);
export const pageOf = (name: string): Page | undefined => pages.find((page) => page.name === name);
export const isFor = (page: Page, role: Role | undefined): boolean => !page.roles || (role !== undefined && page.roles.includes(role));
