// Highlights for search matches and commented text, by the CSS Custom Highlight API: the DOM does not change.
import { type RefObject, useEffect } from "react";
import type { MarkedRange } from "../../app/state/notebook.ts";
import type { Match } from "../../app/cells/find.ts";
import type { NotebookStore } from "../../app/state/store.ts";

const [FOUND, CURRENT, COMMENTED] = ["found", "found-current", "commented"];

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

/** Range of a match, or its cell if the text is not shown. */
export function markedPlace(match: Match | undefined): Range | Element | undefined {
  return match && (rangeOf(match) ?? cellElement(match.cell) ?? undefined);
}

function cellElement(cell: string): Element | null {
  return document.querySelector(`[data-cell="${CSS.escape(cell)}"]`);
}

function rangeOf({ cell, from, to }: Match): Range | undefined {
  const text = cellElement(cell)?.querySelector(".source.still");
  return text ? rangeIn(text, from, to) : undefined;
}

function rangeIn(text: Element, from: number, to: number): Range | undefined {
  const [start, end] = [pointAt(text, from), pointAt(text, to)];
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

/** Returns the offset in a cell's text at a pointer position. */
export function offsetAt(element: Element, x: number, y: number): number | undefined {
  const caret = document.caretPositionFromPoint?.(x, y);
  if (!caret || !element.contains(caret.offsetNode) || caret.offsetNode.nodeType !== Node.TEXT_NODE) return undefined;
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(caret.offsetNode, caret.offset);
  return before.toString().length;
}

/** Highlights text with open threads in a cell that is not being edited. */
export function useThreadMarks(place: RefObject<HTMLElement | null>, store: NotebookStore, cell: string, source: string): void {
  const marked = store.comments.marked(cell);
  useEffect(() => {
    const text = place.current;
    if (!text || marked.length === 0 || !("highlights" in CSS)) return;
    const ranges = marked.flatMap(({ from, to }) => rangeIn(text, from, to) ?? []);
    const all = CSS.highlights.get(COMMENTED ?? "") ?? new Highlight();
    CSS.highlights.set(COMMENTED ?? "", all);
    for (const range of ranges) all.add(range);
    return () => ranges.forEach((range) => all.delete(range));
  }, [place, JSON.stringify(marked), source]);
}

/** Selection in the current cell, from its editor or its static text. */
export function markedIn(store: NotebookStore): MarkedRange | undefined {
  const cell = store.current;
  if (cell === undefined) return undefined;
  if (store.isEditing) return store.marked?.cell === cell ? store.marked : undefined;
  const text = cellElement(cell)?.querySelector(".source.still");
  const selection = getSelection();
  const range = selection && selection.rangeCount > 0 ? selection.getRangeAt(0) : undefined;
  if (!text || !range || !text.contains(range.startContainer) || !text.contains(range.endContainer)) return undefined;
  const before = document.createRange();
  before.setStart(text, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const from = before.toString().length;
  // The static text's trailing break is not part of the source.
  const length = (store.texts.shown(cell) ?? store.document.cells.get(cell)?.source ?? "").length;
  return { cell, from, to: Math.min(from + range.toString().length, length) };
}

/** Starts a comment on the selection in the current cell, otherwise on the cell. */
export function comment(store: NotebookStore): void {
  if (store.current === undefined) return;
  const marked = markedIn(store);
  store.focus.open();
  store.comments.begin(store.current, marked);
}
