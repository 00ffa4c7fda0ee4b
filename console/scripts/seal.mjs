// After a build: packs what browsers fetch, and writes down what it was built from.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { home, now, stored } from "./source.mjs";

const folder = join(home, "dist", "assets");
let first = 0;
for (const name of readdirSync(folder)) {
  const bytes = readFileSync(join(folder, name));
  const packed = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  writeFileSync(join(folder, `${name}.br`), packed);
  first += packed.length;
}
writeFileSync(stored, now());
console.log(`all files together: ${(first / 1000).toFixed(1)} kB packed`);
