// Compresses the build's files. The server sends them unchanged.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Files stored only compressed: the worker unpacks them (src/python/worker.ts). */
const PACKED = /\.wasm$/;
const WORTHWHILE = /\.(js|css|svg|html)$/;

/** Limit for the best quality: it takes half a minute for the chart libraries and saves 5 %. */
const LARGE_BYTES = 400_000;

export function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    writeBundle({ dir }) {
      for (const name of readdirSync(dir ?? "", { recursive: true, encoding: "utf8" })) {
        const path = join(dir ?? "", name);
        if (PACKED.test(name)) writeFileSync(path, gzipSync(readFileSync(path), { level: 9 }));
        if (!WORTHWHILE.test(name)) continue;
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        const quality = bytes.length > LARGE_BYTES ? 9 : 11;
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
      }
    },
  };
}
