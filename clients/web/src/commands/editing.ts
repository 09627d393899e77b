// Actions of the editor and of what is opened over a notebook.
import type { Action } from "./table.ts";

/** What the page opens; it registers these when it is there. */
export interface EditingPage {
  find: () => void;
  settings: () => void;
  runs: () => void;
}

export const editing = (page: Partial<EditingPage>): Action[] => [
  { id: "find", title: "Find and replace in all cells", editKeys: ["$mod+f"], run: () => page.find?.() },
  { id: "outline", title: "Outline: open or close", editKeys: ["$mod+Shift+o"], run: (store) => store.show("outline") },
  {
    id: "editor-settings",
    title: "Editor: Vim keys, line numbers, indent, size …",
    editKeys: ["$mod+,"],
    run: () => page.settings?.(),
  },
  { id: "runs", title: "All runs of the cell, two side by side", run: () => page.runs?.() },
];
