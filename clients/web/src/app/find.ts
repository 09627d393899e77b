// Find and replace over the sources of a notebook. Knows no DOM.
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

/** More are not counted. */
export const MOST_MATCHES = 5_000;

/** What to look for; a sentence where the pattern is none. */
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
      // What is empty can neither be shown nor replaced.
      if (text.length > 0) matches.push({ cell, from: index, to: index + text.length });
      if (matches.length >= MOST_MATCHES) return matches;
    }
  }
  return matches;
}

/** The index of the first match at that place or after it; the first of all where there is none. */
export function matchFrom(matches: readonly Match[], order: readonly string[], cell: string | undefined, at: number): number {
  const place = cell === undefined ? 0 : order.indexOf(cell);
  const found = matches.findIndex((match) => {
    const index = order.indexOf(match.cell);
    return index > place || (index === place && match.from >= at);
  });
  return Math.max(0, found);
}

/** The change that puts `by` where these matches of one source are; in a pattern's replacement `$1` and the like mean its groups. */
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
