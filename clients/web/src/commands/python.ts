// Actions for Python code, formatted and analysed in the page.
import type { ChangeSet } from "@codemirror/state";
import type { NotebookStore } from "../app/state/store.ts";
import type { Action } from "./table.ts";

export interface PythonPage {
  /** Changes the open editor's text in its own undo history; false if another cell is open. */
  edit: (cell: string, change: ChangeSet) => boolean;
}

async function format(store: NotebookStore, page: Partial<PythonPage>, cells: readonly string[]): Promise<void> {
  const { formatCells } = await import("../python/tools.ts");
  await formatCells(store, cells, page.edit);
}

async function define(store: NotebookStore): Promise<void> {
  const { marked } = store;
  const { goToDefinition } = await import("../python/tools.ts");
  if (!marked || !goToDefinition(store, marked.cell, marked.from))
    store.toast({ text: marked ? "No definition found in this notebook." : "Put the cursor on a name first." });
}

export const python = (page: Partial<PythonPage>): Action[] => [
  {
    id: "format",
    title: "Format cell",
    editKeys: ["Alt+Shift+f"],
    needs: "edit",
    run: (store) => void format(store, page, store.selected),
  },
  { id: "format-all", title: "Format all cells", needs: "edit", run: (store) => void format(store, page, store.document.order) },
  { id: "definition", title: "Go to definition", editKeys: ["F12"], run: (store) => void define(store) },
];
