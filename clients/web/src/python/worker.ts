// Web worker with Ruff, compiled to WebAssembly. Loaded with the first question.
import load, { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-web";
import address from "@astral-sh/ruff-wasm-web/ruff_wasm_bg.wasm?url";
import type { Answer, Question } from "./client.ts";
import { type Ruff, check, format } from "./notebook.ts";

const ready = fetch(address).then((answer) => {
  if (!answer.ok) throw new Error(`no ruff: ${answer.status}`);
  return load({ module_or_path: answer });
});

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
