// Web worker with Ruff, compiled to WebAssembly. Loaded with the first question.
import load, { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-web";
import address from "@astral-sh/ruff-wasm-web/ruff_wasm_bg.wasm?url";
import type { Answer, Question } from "./client.ts";
import { type Ruff, check, format } from "./notebook.ts";

/** Unpacks the module, which the build compresses (compress.ts). */
async function bytesOf(answer: Response): Promise<ArrayBuffer> {
  if (!answer.ok) throw new Error(`no ruff: ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const [first, second] = new Uint8Array(bytes);
  if (first !== 0x1f || second !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const ready = fetch(address)
  .then(bytesOf)
  .then((bytes) => load({ module_or_path: bytes }));

const ruff: Ruff = (options) => new Workspace(options, PositionEncoding.Utf16);

onmessage = async ({ data: { id, ...question } }: MessageEvent<Question & { id: number }>) => {
  const answer = (value: Answer) => postMessage({ id, ...value });
  try {
    await ready;
    if ("format" in question) answer({ formatted: format(ruff, question.format, question.indent) });
    else answer({ found: check(ruff, question.check, question.others) });
  } catch (error) {
    answer({ error: String(error) });
  }
};
