import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";
import { compress, smallStart } from "./compress.ts";
import { frameScript } from "./widgets.ts";

/** Removes KaTeX's other font formats, about forty files: every supported browser reads woff2. */
const oneFontFormat: Plugin = {
  name: "one-font-format",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith("katex.min.css") ? code.replace(/,url\([^)]+\.(?:woff|ttf)\) format\("[^"]+"\)/g, "") : undefined,
};

// Explicit browsers: with a year as target, Vite rewrites light-dark() into a media query, which breaks the theme switch.
const TARGET = ["chrome123", "firefox128", "safari18"];

/**
 * Files that opening a notebook needs, each with all that it imports: the page, the editor with Markdown, the tools of a cell.
 * Without these groups they come in forty files, and each file delays the start.
 */
const FIRST_FILES = [
  { name: "page", test: /src\/main\.tsx$/, priority: 3 },
  { name: "editor", test: /src\/views\/(cell\/Editor|outputs\/Markdown)\.tsx$/, priority: 2 },
  { name: "tools", test: /src\/views\/cell\/CellTools\.tsx$/, priority: 1 },
];

export default defineConfig({
  plugins: [oneFontFormat, react(), frameScript(TARGET), smallStart(), compress()],
  build: {
    outDir: "dist/page",
    emptyOutDir: true,
    target: TARGET,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Plotly is the largest file that is loaded when a notebook needs it.
    chunkSizeWarningLimit: 5_000,
    rolldownOptions: { output: { codeSplitting: { groups: FIRST_FILES } }, checks: { pluginTimings: false } },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: process.env.NOTARIUM_SERVER ?? "http://127.0.0.1:8787", ws: true, changeOrigin: true } } },
  // Property tests take seconds on busy machines.
  test: { include: ["tests/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
