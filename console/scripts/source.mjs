// What the console is built from, as one digest. It lies beside what was built, so a forgotten build shows.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const home = fileURLToPath(new URL("..", import.meta.url));
export const stored = join(home, "dist.sha256");

function files(folder) {
  const found = readdirSync(folder, { withFileTypes: true });
  return found.flatMap((one) => (one.isDirectory() ? files(join(folder, one.name)) : [join(folder, one.name)]));
}

/** Every file of a folder below the console, by name, with what is in it. */
function digest(paths) {
  const hash = createHash("sha256");
  for (const path of paths.toSorted()) {
    const bytes = readFileSync(path);
    hash.update(`${relative(home, path).replaceAll("\\", "/")} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

const beside = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];

/** What the build reads and what it wrote, a line each. */
export function now() {
  const source = digest([...files(join(home, "src")), ...beside.map((name) => join(home, name))]);
  return `${source}  source\n${digest(files(join(home, "dist")))}  dist\n`;
}
