// The start: who is signed in, then the console.
import { render } from "preact";
import { get, session } from "./api/client";
import { asProblem } from "./api/use";
import { isFor, pageOf, pages } from "./pages";
import { go, href, route } from "./router";
import { Shell } from "./shell";
import "./style/main.css";
import "./theme";
import { ErrorState } from "./ui";

const root = document.getElementById("console") as HTMLElement;

async function start(): Promise<void> {
  session.value = await get("/v1/session");
  const role = session.value.role;
  const first = pageOf(route.value.page);
  // Who may not see the first page begins with one that is theirs above all.
  const own = pages.find((page) => page.roles && isFor(page, role)) ?? pages.find((page) => isFor(page, role));
  if (route.value.page === "" && first && !isFor(first, role) && own) go(href([own.name]), true);
  render(<Shell />, root);
}

start().catch((error: unknown) => {
  render(<main><ErrorState error={asProblem(error)} retry={() => location.reload()} /></main>, root);
});
