// Places of a text in the cells, now and in the past: words for the list, and the marks in shown lines and sources.
import type { Token } from "../../outputs/highlight.ts";
import type { FoundPlace, FoundPlaces } from "../../protocol/rest.ts";
import { patternOf } from "./find.ts";

/** Longest text that the server looks for, in characters. */
export const MOST_CHARACTERS = 1_000;
/** Shorter texts are not in the server's index: it looks through a part of the lines. */
const INDEXED_CHARACTERS = 3;
/** Characters shown before the first match in a line. */
const BEFORE_MATCH = 20;

/** A piece of text, as it is shown. */
export interface Piece extends Token {
  isMatch: boolean;
}

/** Example: “Cell 3, line 5” or “Deleted cell”. */
export function placeWords({ cell_id, line_number }: FoundPlace, order: readonly string[]): string {
  const index = order.indexOf(cell_id);
  if (index < 0) return "Deleted cell";
  return `Cell ${index + 1}${line_number ? `, line ${line_number}` : ""}`;
}

/** Example: “versions 5–12”; undefined if the server did not look into the past. */
export function versionWords({ first, last }: FoundPlace): string | undefined {
  if (first == null) return undefined;
  if (last == null) return `since version ${first}`;
  return first === last ? `version ${first}` : `versions ${first}–${last}`;
}

/** True if the server still reads a part of the past. */
export const isStillRead = ({ looked_up_to }: FoundPlaces, version: number) => looked_up_to != null && looked_up_to < version;

/** A sentence about what the list may lack; undefined if it is complete. */
export function missingWords(answer: FoundPlaces, text: string, version: number): string | undefined {
  if (isStillRead(answer, version)) {
    const upTo = answer.looked_up_to?.toLocaleString();
    return `Searched up to version ${upTo} of ${version.toLocaleString()}. The rest is being read; results will follow.`;
  }
  if (answer.is_complete) return answer.found.length === 0 ? "No cell ever held this text." : undefined;
  const isShort = [...text].length < INDEXED_CHARACTERS;
  return isShort
    ? "There may be more. Type at least three characters to search everything."
    : "There are more. Type a longer text.";
}

/** Ranges of a text in a source, capitals aside. */
export function rangesOf(source: string, text: string): [from: number, to: number][] {
  const pattern = patternOf({ text, isRegex: false, isCase: false, isWord: false });
  if (!(pattern instanceof RegExp) || text === "") return [];
  return [...source.matchAll(pattern)].map(({ 0: { length }, index }) => [index, index + length]);
}

/** Cuts tokens at the matches of a text. */
export function marked(tokens: readonly Token[], text: string): Piece[] {
  const ranges = rangesOf(tokens.map((token) => token.text).join(""), text);
  const pieces: Piece[] = [];
  let start = 0;
  for (const token of tokens) {
    const end = start + token.text.length;
    const inside = ranges.flat().filter((at) => at > start && at < end);
    const cuts = [start, ...inside, end];
    cuts.slice(1).forEach((to, index) => {
      const from = cuts[index] ?? start;
      const isMatch = ranges.some(([begin, stop]) => from >= begin && to <= stop);
      if (to > from) pieces.push({ text: token.text.slice(from - start, to - start), className: token.className, isMatch });
    });
    start = end;
  }
  return pieces;
}

/** A line with its matches, cut so that the first one is in sight. */
export function markedLine(line: string, text: string): Piece[] {
  const [first] = rangesOf(line, text);
  const from = Math.max(0, (first?.[0] ?? 0) - BEFORE_MATCH);
  const shown = from === 0 ? line.trimStart() : `…${line.slice(from)}`;
  return marked([{ text: shown, className: "" }], text);
}
