// Actions of the editor and of what is opened over a notebook.
import { giveKeys } from "../app/frameKeys.ts";
import type { NotebookStore } from "../app/store.ts";
import type { Action } from "./table.ts";

/** What the editor of a cell does itself. */
export type EditorCommand = "complete" | "inspect";

/** What the page opens; it registers these when it is there. */
export interface EditingPage {
  find: () => void;
  settings: () => void;
  /** On what is marked in the current cell, else on the cell. */
  comment: (store: NotebookStore) => void;
  /** Of the current cell; or of another, with one of them to look at. */
  runs: (of?: { cell: string; run: string }) => void;
  /** While a cell is edited. */
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
