// Imports files into the list of cells: notebooks and programs become cells, a picture becomes a text cell. Data is uploaded
// beside the notebook, with a cell that reads it. Lazy: loads with the first file.
import { EditorView } from "@codemirror/view";
import { type CopiedCell, cellsOfFile } from "../../app/cells/clipboard.ts";
import { filesOf } from "../../app/files/files.ts";
import { addPicture, isPictureFile, pictureCell } from "../../app/files/pictures.ts";
import { isData, readingCell } from "../../app/files/readers.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import type { Command, Place } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
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
  hasFolders = false,
): Promise<void> {
  const place = placeAt(list, event)?.place;
  left();
  if (hasFolders) store.toast({ text: "Folders can’t be dropped. Drop the files in them.", isError: true });
  await arrive(store, files, place ?? "end");
}

/** Pastes pictures into a text cell's editor; all other files become cells below. */
export async function pasted(store: NotebookStore, cell: string | undefined, files: File[], isInEditor: boolean): Promise<void> {
  const isText = cell !== undefined && store.document.cells.get(cell)?.cell_type === "markdown";
  const intoText = isInEditor && isText && store.mayEdit ? files.filter(isPictureFile) : [];
  const below = [];
  for (const file of intoText) if (!(await intoEditor(store, cell ?? "", file))) below.push(file);
  below.push(...files.filter((file) => !intoText.includes(file)));
  await arrive(store, below, cell === undefined ? "end" : { after: cell });
}

/** Inserts at the editor's caret; returns false if the cell has no room. */
async function intoEditor(store: NotebookStore, cell: string, file: File): Promise<boolean> {
  try {
    const reference = await addPicture(store, cell, file);
    const editor = document.querySelector<HTMLElement>(`.cell[data-cell="${CSS.escape(cell)}"] .cm-editor`);
    const view = editor && EditorView.findFromDOM(editor);
    if (reference === undefined || !view) return reference !== undefined;
    view.dispatch({ ...view.state.replaceSelection(reference), userEvent: "input.paste", scrollIntoView: true });
    return true;
  } catch (error) {
    tell(store, (error as Error).message);
    return true;
  }
}

function tell(store: NotebookStore, text: string): void {
  if (text !== "") store.toast({ text, isError: true });
}

/** Imports sequentially, in the order of the files. */
async function arrive(store: NotebookStore, files: File[], at: Place): Promise<void> {
  if (files.length === 0) return;
  if (store.past !== undefined) return tell(store, "You’re looking at an earlier version. Go back to the present to add files.");
  if (!store.mayEdit && !store.mayRun) return tell(store, "You can only read this notebook, so you can’t add files.");
  const places = new Places(store, at);
  for (const file of files) {
    try {
      await arriveOne(store, file, places);
    } catch (error) {
      tell(store, (error as Error).message);
    }
  }
}

async function arriveOne(store: NotebookStore, file: File, places: Places): Promise<void> {
  if (isPictureFile(file) && store.mayEdit) {
    const cell = await pictureCell(file);
    return places.put(places.take(), [cell]);
  }
  if (!isData(file.name) && store.mayEdit) {
    const cells = file.size > MOST_BYTES ? [] : cellsOfFile(file.name, await file.text());
    if (cells.length > 0) return places.put(places.take(), cells);
  }
  if (!store.mayRun)
    throw new Error(`“${file.name}” wasn’t uploaded: you need the right to run code. Ask an owner of this notebook.`);
  if (isNotebook(file)) throw new Error(`“${file.name}” has no cells, or is too large. Import it on the home page.`);
  const turn = places.take();
  const then = (path: string) => {
    if (store.mayEdit) void places.put(turn, [readingCell(store.document, path)]);
    else store.toast({ text: `“${path}” uploaded. You can’t add a cell here.` });
  };
  store.isMoving = true;
  store.touch("panel");
  filesOf(store).upload("", [file], undefined, { isNumbered: true, then });
}

const isNotebook = ({ name }: File) => name.toLowerCase().endsWith(".ipynb");

/** Places for files that arrive together. Keeps their order, although uploads end in any order. */
class Places {
  readonly #store: NotebookStore;
  readonly #above: string | undefined;
  readonly #current: string | undefined;
  /** Last inserted cell of each file, once it exists. */
  readonly #last: (string | undefined)[] = [];

  constructor(store: NotebookStore, at: Place) {
    const { order } = store.document;
    this.#store = store;
    this.#current = store.current;
    if (typeof at === "string") this.#above = at === "end" ? order.at(-1) : undefined;
    else this.#above = "after" in at ? at.after : order[order.indexOf(at.before) - 1];
  }

  take(): number {
    return this.#last.push(undefined) - 1;
  }

  /** Inserts the cells. Selects the last one only if the user is not editing and has not moved elsewhere. */
  async put(turn: number, cells: CopiedCell[]): Promise<void> {
    const store = this.#store;
    let place = this.#placeOf(turn);
    let last: string | undefined;
    const commands = cells.map(({ cell_type, source, attachments }): Command => {
      const cell_id = newId();
      const command = { InsertCell: { cell_id, cell_type, source, place, ...(attachments && { attachments }) } };
      [last, place] = [cell_id, { after: cell_id }];
      return command;
    });
    this.#last[turn] = last;
    const done = await store.send({ Batch: { commands } });
    if (!done) this.#last[turn] = undefined;
    else if (!store.isEditing && (store.current === this.#current || this.#last.includes(store.current))) {
      store.focus.act();
      store.select(last);
    }
  }

  #placeOf(turn: number): Place {
    const { cells } = this.#store.document;
    const before = this.#last.slice(0, turn).findLast((cell) => cell !== undefined) ?? this.#above;
    if (before === undefined) return "start";
    // The neighbour was deleted meanwhile: insert at the end.
    return cells.has(before) || this.#last.includes(before) ? { after: before } : "end";
  }
}
