// Client of Ruff in a web worker, which starts with the first question.
import type { Finding, PythonCell } from "./notebook.ts";

export type Question = { check: PythonCell[]; others: string[] } | { format: string; indent: string };
export type Answer = { found: Map<string, Finding[]> } | { formatted: string | undefined } | { error: string };

let worker: Worker | undefined;
let count = 0;
const waiting = new Map<number, (answer: Answer) => void>();

function start(): Worker {
  const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  started.onmessage = ({ data }: MessageEvent<Answer & { id: number }>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  // The next question starts a new worker.
  started.onerror = () => {
    if (worker === started) worker = undefined;
    for (const answer of waiting.values()) answer({ error: "ruff could not be loaded" });
    waiting.clear();
    started.terminate();
  };
  return started;
}

function ask(question: Question): Promise<Answer> {
  worker ??= start();
  const id = ++count;
  worker.postMessage({ id, ...question });
  return new Promise((resolve) => waiting.set(id, resolve));
}

/** Findings by cell; undefined if Ruff cannot be loaded. */
export async function check(cells: PythonCell[], others: string[]): Promise<Map<string, Finding[]> | undefined> {
  const answer = await ask({ check: cells, others });
  return "found" in answer ? answer.found : undefined;
}

/** The formatted source; undefined if it is not valid Python. */
export async function format(source: string, indent: string): Promise<string | undefined> {
  const answer = await ask({ format: source, indent });
  if ("error" in answer) throw new Error(answer.error);
  return "formatted" in answer ? answer.formatted : undefined;
}
