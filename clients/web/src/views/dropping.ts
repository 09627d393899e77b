// Files that are dropped into the list: a notebook's cells, or one cell of its text. Loaded when the first file is dragged over it.
import { cellsOfFile } from "../app/clipboard.ts";
import type { NotebookStore } from "../app/store.ts";
import { dropLine, placeAt } from "./dragging.ts";

const MOST_BYTES = 20_000_000;

export function over(list: HTMLElement, event: Pick<DragEvent, "clientX" | "clientY">): void {
  dropLine.show(placeAt(list, event));
}

export function left(): void {
  dropLine.show(undefined);
}

export async function dropped(
  store: NotebookStore,
  list: HTMLElement,
  event: Pick<DragEvent, "clientX" | "clientY">,
  files: File[],
): Promise<void> {
  left();
  let place = placeAt(list, event)?.place;
  for (const file of files) {
    const cells = file.size > MOST_BYTES ? [] : cellsOfFile(file.name, await file.text());
    if (cells.length === 0) store.toast({ text: refusal(file), isError: true });
    else place = store.edits.paste(cells, place ?? "end");
  }
}

function refusal({ name, size }: File): string {
  if (size > MOST_BYTES)
    return `“${name}” is too large for cells (${Math.round(size / 1_000_000)} MB). Import it on the home page.`;
  return `“${name}” holds no cells: drop a notebook, or a file of Python, SQL, Markdown or text.`;
}
