// Whether what lies here is what it says: built from these sources, types of this description, no addresses in the
// lock file, nothing that writes markup.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { home, now, stored } from "./source.mjs";

const wrong = [];
if (!existsSync(stored) || readFileSync(stored, "utf8") !== now()) {
  wrong.push("dist is not what the sources build: run `cargo xtask console`");
}

const scratch = mkdtempSync(join(tmpdir(), "legation-types-"));
const made = join(scratch, "schema.ts");
const run = spawnSync("npx", ["--no", "openapi-typescript", "../docs/openapi.json", "-o", made, "--immutable", "--alphabetize"], { cwd: home, encoding: "utf8" });
if (run.status !== 0) {
  wrong.push(`the types could not be made: ${run.stderr}`);
} else if (readFileSync(made, "utf8") !== readFileSync(join(home, "src/api/schema.ts"), "utf8")) {
  wrong.push("src/api/schema.ts is not of docs/openapi.json: run `npm run types` in console/");
}
rmSync(scratch, { recursive: true });

if (/"resolved"\s*:/.test(readFileSync(join(home, "package-lock.json"), "utf8"))) {
  wrong.push("package-lock.json names where packages were fetched from");
}
for (const one of readdirSync(join(home, "src"), { recursive: true, withFileTypes: true })) {
  if (!one.isFile()) continue;
  const text = readFileSync(join(one.parentPath, one.name), "utf8");
  for (const word of ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]) {
    if (text.includes(word)) wrong.push(`${one.name} has ${word}: everything that was sent is shown as text`);
  }
}
for (const what of wrong) console.error(what);
process.exit(wrong.length === 0 ? 0 : 1);
