// Entry points for files in the list of cells: drag and drop, paste and file picker. `dropping.ts` imports them.
import type { DragEvent } from "react";
import type { NotebookStore } from "../../app/state/store.ts";

const load = () => import("./dropping.ts");

/** Runs `act` once the code has loaded; shows a toast if it cannot load. */
function withCode(store: NotebookStore, act: (code: Awaited<ReturnType<typeof load>>) => unknown): void {
  load().then(act, () => store.toast({ text: "No connection. Add the files again when you’re back online.", isError: true }));
}

/** Dragging an image of the page also reports the type `Files`. */
let isOwn = false;
addEventListener("dragstart", () => (isOwn = true), true);
addEventListener("dragend", () => (isOwn = false), true);

export const isFromOutside = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files") && !isOwn;

/** Returns the files without folders, which have no content. */
export function filesIn(transfer: DataTransfer): File[] {
  const items = [...transfer.items].filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  return items.map((item) => item.getAsFile()).filter((file) => file !== null);
}

/** Capture phase: an editor would otherwise insert the file's text. */
export function fileDrop(store: NotebookStore) {
  return {
    onDragOverCapture: (event: DragEvent<HTMLElement>) => {
      if (!isFromOutside(event)) return;
      // Needed even if the drop is rejected: by default the browser navigates to the file.
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
      // The event's file list is cleared after the handler returns.
      const files = filesIn(event.dataTransfer);
      const hasFolders = files.length < event.dataTransfer.items.length;
      withCode(store, ({ dropped }) => dropped(store, currentTarget, { clientX, clientY }, files, hasFolders));
    },
  };
}

/** Handles pasted files, if the clipboard has no text; returns true if handled. */
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

/** Opens a file picker, for keyboard use; the files go below the current cell. */
export function chooseFiles(store: NotebookStore): void {
  const picker = document.createElement("input");
  picker.type = "file";
  picker.multiple = true;
  picker.onchange = () => withCode(store, ({ pasted }) => pasted(store, store.current, [...(picker.files ?? [])], false));
  picker.click();
}
