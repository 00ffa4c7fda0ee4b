// How the console is built: one folder of files with hashed names, nothing inline, nothing from elsewhere.
import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    outDir: "dist",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  // `npm run dev` beside a running exchange: sign in by the link of `legation signin`, with the port of this server.
  server: { proxy: Object.fromEntries(["/v1", "/.well-known", "/signin", "/signout"].map((path) => [path, "http://127.0.0.1:7400"])) },
});
