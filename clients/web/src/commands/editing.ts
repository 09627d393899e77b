// Actions of the editor and of dialogs over the notebook.
import { giveKeys } from "../app/state/focus.ts";
import type { NotebookStore } from "../app/state/store.ts";
import type { Action } from "./table.ts";

/** Commands that the cell's editor executes. */
export type EditorCommand = "complete" | "inspect";

/** Functions of the page, registered when it is mounted. */
export interface EditingPage {
  find: () => void;
  settings: () => void;
  /** Starts a comment on the selection of the current cell, or on the cell. */
  comment: (store: NotebookStore) => void;
  /** Opens the runs of the current cell, or of another cell with one run selected. */
  runs: (of?: { cell: string; run: string }) => void;
  /** Runs a command in the open editor. */
  inEditor: (command: EditorCommand) => void;
}

export const editing = (page: Partial<EditingPage>): Action[] => [
  { id: "find", title: "Find and replace", editKeys: ["$mod+f"], run: () => page.find?.() },
  {
    id: "outline",
    title: "Show or hide outline",
    editKeys: ["$mod+Shift+o"],
    run: (store) => store.show("outline"),
  },
  {
    id: "editor-settings",
    title: "Settings",
    editKeys: ["$mod+,"],
    run: () => page.settings?.(),
  },
  {
    id: "output-keys",
    title: "Focus the output",
    editKeys: ["Control+Alt+k"],
    run: (store) => giveKeys(document.querySelector(`[data-cell="${CSS.escape(store.current ?? "")}"] .frame`)),
  },
  {
    id: "complete",
    title: "Autocomplete",
    editKeys: ["Tab"],
    inEditor: "complete",
    run: () => page.inEditor?.("complete"),
  },
  {
    id: "inspect",
    title: "Show documentation",
    editKeys: ["Shift+Tab"],
    inEditor: "inspect",
    run: () => page.inEditor?.("inspect"),
  },
  { id: "runs", title: "Compare runs", run: () => page.runs?.() },
];
