// Compresses the build's files, and bounds what a start loads. The server sends them unchanged, and unpacks them for the few clients that
// take no compressed ones. One form, gzip: a second one would be megabytes of the program. Releases have zstd's instead, which is a
// fifth smaller (scripts/dist/page.py).
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const WORTHWHILE = /\.(js|css|svg|html|wasm)$/;
/** Files of which only the compressed form stays: as they are they would be a fifth of the program. */
const ONLY_COMPRESSED = /^assets\/.*\.(js|css|wasm)$/;

/** Limit of the scripts and styles that index.html names, compressed by gzip. */
const MAX_START_BYTES = 250 * 1_024;

/** Fails the build if a start loads too much: mostly a static import that should be lazy. */
export function smallStart(): Plugin {
  return {
    name: "small-start",
    apply: "build",
    writeBundle({ dir }) {
      const html = readFileSync(join(dir ?? "", "index.html"), "utf8");
      const files = new Set([...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file ?? ""));
      const bytes = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dir ?? "", file)), { level: 9 }).length, 0);
      if (bytes > MAX_START_BYTES)
        this.error(
          `${Math.ceil(bytes / 1_024)} KB are loaded at the start, ${MAX_START_BYTES / 1_024} KB may be: import lazily (ui/parts.ts)`,
        );
    },
  };
}

export function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    writeBundle({ dir }) {
      for (const name of readdirSync(dir ?? "", { recursive: true, encoding: "utf8" })) {
        const path = join(dir ?? "", name);
        if (!WORTHWHILE.test(name)) continue;
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        if (ONLY_COMPRESSED.test(name)) rmSync(path);
      }
    },
  };
}
