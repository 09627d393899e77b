// Drag and drop of cells by their grip (keyboard: Alt ↑ ↓). Lazy: loads when a pointer enters the first grip.
import { combine } from "@atlaskit/pragmatic-drag-and-drop/combine";
import { draggable, dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import type { NotebookStore } from "../../app/state/store.ts";
import type { Place } from "../../protocol/messages.ts";

const KIND = "notarium.cells";

interface Point {
  clientX: number;
  clientY: number;
}

/** Makes the cell draggable by its grip, and the list a drop target. */
export function arm(store: NotebookStore, id: string, cell: HTMLElement, grip: HTMLElement): () => void {
  const list = cell.closest<HTMLElement>("main");
  const cells = () => (store.isSelected(id) ? store.selected : [id]);
  return combine(
    draggable({
      element: cell,
      dragHandle: grip,
      getInitialData: () => ({ kind: KIND, cells: cells() }),
      onDragStart: () => cell.classList.add("dragged"),
      onDrop: () => cell.classList.remove("dragged"),
    }),
    list ? target(store, list) : () => undefined,
  );
}

const targets = new WeakMap<HTMLElement, { count: number; end: () => void }>();

function target(store: NotebookStore, list: HTMLElement): () => void {
  const known = targets.get(list) ?? { count: 0, end: accept(store, list) };
  targets.set(list, known);
  known.count += 1;
  return () => {
    known.count -= 1;
    if (known.count > 0) return;
    known.end();
    targets.delete(list);
  };
}

function accept(store: NotebookStore, list: HTMLElement): () => void {
  const end = dropTargetForElements({
    element: list,
    canDrop: ({ source }) => source.data.kind === KIND && store.mayEdit,
    onDrag: ({ location }) => dropLine.show(placeAt(list, location.current.input)),
    onDragLeave: () => dropLine.show(undefined),
    onDrop: ({ source, location }) => {
      dropLine.show(undefined);
      const found = placeAt(list, location.current.input);
      if (found) store.edits.moveTo(source.data.cells as string[], found.place);
    },
  });
  return end;
}

interface Found {
  place: Place;
  rect: DOMRect;
  isAbove: boolean;
}

/** Drop position above or below the cell at the pointer's height. */
export function placeAt(list: HTMLElement, { clientY }: Point): Found | undefined {
  const cells = [...list.querySelectorAll<HTMLElement>(".cell[data-cell]")];
  const isBelow = (cell: HTMLElement) => cell.getBoundingClientRect().bottom >= clientY;
  const cell = cells[firstIndex(cells, isBelow)] ?? cells.at(-1);
  const id = cell?.dataset.cell;
  if (!cell || id === undefined) return undefined;
  const rect = cell.getBoundingClientRect();
  const isAbove = clientY < rect.top + rect.height / 2;
  return { place: isAbove ? { before: id } : { after: id }, rect, isAbove };
}

/** Binary search: a notebook may have thousands of cells. */
function firstIndex<T>(list: readonly T[], is: (value: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = list[middle];
    if (value !== undefined && is(value)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Indicator line at the drop position. */
class DropLine {
  readonly #line = document.createElement("div");

  constructor() {
    this.#line.className = "drop-line";
  }

  show(found: Found | undefined): void {
    if (!found) return this.#line.remove();
    const { rect, isAbove } = found;
    this.#line.style.top = `${(isAbove ? rect.top - 5 : rect.bottom + 3).toFixed()}px`;
    this.#line.style.left = `${rect.left.toFixed()}px`;
    this.#line.style.width = `${rect.width.toFixed()}px`;
    document.body.append(this.#line);
  }
}

export const dropLine = new DropLine();
