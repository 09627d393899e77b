// Find and replace over the sources of a notebook. Does not use the DOM.
import { ChangeSet } from "@codemirror/state";

export interface Query {
  text: string;
  isRegex: boolean;
  isCase: boolean;
  isWord: boolean;
}

export interface Match {
  cell: string;
  from: number;
  to: number;
}

/** Limit of the matches that are counted. */
export const MOST_MATCHES = 5_000;

/** The pattern of a query; an error sentence if it is invalid. */
export function patternOf({ text, isRegex, isCase, isWord }: Query): RegExp | string {
  const plain = isRegex ? text : text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const whole = isWord ? `(?<![\\p{L}\\p{N}_])(?:${plain})(?![\\p{L}\\p{N}_])` : plain;
  try {
    return new RegExp(whole, isCase ? "gmu" : "gimu");
  } catch (error) {
    return `Invalid pattern: ${(error as Error).message.replace(/^Invalid regular expression: /, "")}`;
  }
}

export function matchesIn(sources: Iterable<readonly [cell: string, source: string]>, pattern: RegExp): Match[] {
  const matches: Match[] = [];
  for (const [cell, source] of sources) {
    for (const { 0: text, index } of source.matchAll(pattern)) {
      // Empty matches can neither be shown nor replaced.
      if (text.length > 0) matches.push({ cell, from: index, to: index + text.length });
      if (matches.length >= MOST_MATCHES) return matches;
    }
  }
  return matches;
}

/** Index of the first match at or after a position; the first match of all if none follows. */
export function matchFrom(matches: readonly Match[], order: readonly string[], cell: string | undefined, at: number): number {
  const place = cell === undefined ? 0 : order.indexOf(cell);
  const found = matches.findIndex((match) => {
    const index = order.indexOf(match.cell);
    return index > place || (index === place && match.from >= at);
  });
  return Math.max(0, found);
}

/** The place in a text after a change that nobody described: the texts differ in one stretch. */
export function movedPlace(before: string, after: string, at: number): number {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  if (start >= at) return at;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return before.length - end <= at ? at + after.length - before.length : Math.min(at, after.length - end);
}

/** Change that replaces these matches of one source by `by`. For a regular expression, `$1` and the like insert groups. */
export function replacing(source: string, matches: readonly Match[], pattern: RegExp, by: string, isRegex: boolean): ChangeSet {
  const wanted = new Map(matches.map(({ from, to }) => [from, to]));
  const changes = [...source.matchAll(pattern)].flatMap((found) => {
    const to = wanted.get(found.index);
    return to === undefined ? [] : [{ from: found.index, to, insert: isRegex ? expanded(by, found) : by }];
  });
  return ChangeSet.of(changes, source.length);
}

function expanded(by: string, found: RegExpExecArray): string {
  return by
    .replace(/\\([nt\\])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? letter)
    .replace(/\$(\$|&|\d{1,2}|<\w+>)/g, (whole, name: string) => {
      if (name === "$") return "$";
      if (name === "&") return found[0];
      if (name.startsWith("<")) return found.groups?.[name.slice(1, -1)] ?? "";
      return Number(name) < found.length ? (found[Number(name)] ?? "") : whole;
    });
}

/** Texts of cells. */
export type Sources = [cell: string, source: string][];
/** Question to the worker that matches patterns (worker.ts). */
export type Question =
  { find: { sources: Sources; query: Query } } | { replace: { source: string; matches: Match[]; query: Query; by: string } };
export type Answer = { ready: true } | { matches: Match[] } | { change: unknown };

/** Answers a question, in the worker. */
export function answerOf(question: Question): Answer {
  const { query } = "find" in question ? question.find : question.replace;
  const pattern = patternOf(query);
  if (typeof pattern === "string") return { matches: [] };
  if ("find" in question) return { matches: matchesIn(question.find.sources, pattern) };
  const { source, matches, by } = question.replace;
  return { change: replacing(source, matches, pattern, by, query.isRegex).toJSON() };
}
