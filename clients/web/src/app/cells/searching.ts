// Searches that may run away: a regular expression is matched in a web worker with a time limit. Plain words are matched here.
import { ChangeSet } from "@codemirror/state";
import { type Answer, type Match, type Query, type Question, type Sources, matchesIn, patternOf, replacing } from "./find.ts";

/** Time limit of a search, without the start of the worker. */
const LIMIT_MS = 3_000;

export class TooSlow extends Error {
  constructor() {
    super("This pattern takes too long. Make it simpler, for example with one + or * less.");
  }
}

/** A worker that waits for the next question. */
let idle: Worker | undefined;

function ask(question: Question, signal?: AbortSignal): Promise<Exclude<Answer, { ready: true }>> {
  const isReady = idle !== undefined;
  const worker = idle ?? new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  idle = undefined;
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const give = (error: Error) => {
      clearTimeout(timer);
      worker.terminate();
      reject(error);
    };
    const stop = () => give(new DOMException("another search", "AbortError"));
    const begin = () => {
      timer = setTimeout(() => give(new TooSlow()), LIMIT_MS);
      worker.postMessage(question);
    };
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if ("ready" in data) return begin();
      clearTimeout(timer);
      // The worker is the next question's from here on.
      signal?.removeEventListener("abort", stop);
      idle?.terminate();
      idle = worker;
      resolve(data);
    };
    worker.onerror = () => give(new Error("The search couldn’t be started. Reload the page."));
    signal?.addEventListener("abort", stop, { once: true });
    if (isReady) begin();
  });
}

/** Matches of a pattern; `patternOf` has accepted the query. */
export async function matchesOf(sources: Sources, query: Query, signal?: AbortSignal): Promise<Match[]> {
  if (!query.isRegex) return plainMatches(sources, query);
  const answer = await ask({ find: { sources, query } }, signal);
  return "matches" in answer ? answer.matches : [];
}

export function plainMatches(sources: Sources, query: Query): Match[] {
  const pattern = patternOf(query);
  return pattern instanceof RegExp ? matchesIn(sources, pattern) : [];
}

/** Change that replaces these matches of one source. */
export async function changeOf(source: string, matches: Match[], query: Query, by: string): Promise<ChangeSet> {
  if (query.isRegex) {
    const answer = await ask({ replace: { source, matches, query, by } });
    return "change" in answer ? ChangeSet.fromJSON(answer.change) : ChangeSet.empty(source.length);
  }
  const pattern = patternOf(query);
  return pattern instanceof RegExp ? replacing(source, matches, pattern, by, false) : ChangeSet.empty(source.length);
}
