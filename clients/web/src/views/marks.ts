// Marks of what was found, over the text as it stands: the browser paints them, no element changes.
import type { Match } from "../app/find.ts";

const [FOUND, CURRENT] = ["found", "found-current"];

export function mark(matches: readonly Match[], current: Match | undefined): void {
  if (!("highlights" in CSS)) return;
  const ranges = (list: readonly Match[]) => new Highlight(...list.flatMap((match) => rangeOf(match) ?? []));
  CSS.highlights.set(FOUND ?? "", ranges(matches.filter((match) => match !== current)));
  CSS.highlights.set(CURRENT ?? "", ranges(current ? [current] : []));
}

export function clearMarks(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete(FOUND ?? "");
  CSS.highlights.delete(CURRENT ?? "");
}

/** Where a match is seen: its text, or its cell while that shows something else. */
export function markedPlace(match: Match | undefined): Range | Element | undefined {
  return match && (rangeOf(match) ?? cellElement(match.cell) ?? undefined);
}

function cellElement(cell: string): Element | null {
  return document.querySelector(`[data-cell="${CSS.escape(cell)}"]`);
}

function rangeOf({ cell, from, to }: Match): Range | undefined {
  const text = cellElement(cell)?.querySelector(".source.still");
  const [start, end] = text ? [pointAt(text, from), pointAt(text, to)] : [];
  if (!start || !end) return undefined;
  const range = document.createRange();
  range.setStart(...start);
  range.setEnd(...end);
  return range;
}

function pointAt(element: Element, offset: number): [Text, number] | undefined {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let rest = offset;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { length } = node as Text;
    if (rest <= length) return [node as Text, rest];
    rest -= length;
  }
  return undefined;
}
