// Files that are dropped on the list of cells, pasted into it or chosen for it. What becomes of them is in `dropping.ts`.
import type { DragEvent } from "react";
import type { NotebookStore } from "../app/store.ts";

const load = () => import("./dropping.ts");

/** What comes before its code is there, and that cannot be had, is not lost without a word. */
function withCode(store: NotebookStore, act: (code: Awaited<ReturnType<typeof load>>) => unknown): void {
  load().then(act, () => store.toast({ text: "No connection. Add the files again when you’re back online.", isError: true }));
}

/** A picture of the page itself that is dragged says that it is a file, too. */
let isOwn = false;
addEventListener("dragstart", () => (isOwn = true), true);
addEventListener("dragend", () => (isOwn = false), true);

export const isFromOutside = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files") && !isOwn;

/** A folder has no bytes of its own. */
export function filesIn(transfer: DataTransfer): File[] {
  const items = [...transfer.items].filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  return items.map((item) => item.getAsFile()).filter((file) => file !== null);
}

/** Before the editors, which would take the text of a file. */
export function fileDrop(store: NotebookStore) {
  return {
    onDragOverCapture: (event: DragEvent<HTMLElement>) => {
      if (!isFromOutside(event)) return;
      // Also where nothing is taken: the browser would leave the page for the file.
      event.preventDefault();
      const { currentTarget, clientX, clientY } = event;
      if (store.past === undefined && store.mayEdit) void load().then(({ over }) => over(currentTarget, { clientX, clientY }));
    },
    onDragLeave: (event: DragEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) void load().then(({ left }) => left());
    },
    onDropCapture: (event: DragEvent<HTMLElement>) => {
      if (!isFromOutside(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const { currentTarget, clientX, clientY } = event;
      // The event's files are gone when it is over.
      const files = filesIn(event.dataTransfer);
      const hasFolders = files.length < event.dataTransfer.items.length;
      withCode(store, ({ dropped }) => dropped(store, currentTarget, { clientX, clientY }, files, hasFolders));
    },
  };
}

/** Files of the clipboard, where it has no text: text stays text. */
export function pastedFiles(store: NotebookStore, event: ClipboardEvent): boolean {
  const files = [...(event.clipboardData?.files ?? [])];
  if (files.length === 0 || event.clipboardData?.getData("text/plain") !== "" || store.past !== undefined) return false;
  const cell = (event.target as HTMLElement).closest<HTMLElement>(".cell")?.dataset["cell"] ?? store.current;
  event.preventDefault();
  event.stopPropagation();
  const isInText = isInEditor(event);
  withCode(store, ({ pasted }) => pasted(store, cell, files, isInText));
  return true;
}

export const isInEditor = ({ target }: Event) => (target as HTMLElement).closest?.(".cell .cm-content") != null;

/** By keys alone: files are chosen, and go below the chosen cell. */
export function chooseFiles(store: NotebookStore): void {
  const picker = document.createElement("input");
  picker.type = "file";
  picker.multiple = true;
  picker.onchange = () => withCode(store, ({ pasted }) => pasted(store, store.current, [...(picker.files ?? [])], false));
  picker.click();
}
