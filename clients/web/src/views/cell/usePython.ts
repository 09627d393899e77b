// Python features of a cell editor: diagnostics, go to definition, and formatting with undo.
import { type RefObject, useEffect } from "react";
import type { EditorView } from "@codemirror/view";
import { type Settings } from "../../app/session/settings.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { page } from "../../commands/table.ts";
import type { CellType } from "../../protocol/messages.ts";

interface Of {
  store: NotebookStore;
  id: string;
  type: CellType;
  isEditing: boolean;
  settings: Settings;
}

export function usePython(view: RefObject<EditorView | undefined>, { store, id, type, isEditing, settings }: Of): void {
  useEffect(() => {
    if (type !== "code" || !isEditing) return;
    let isGone = false;
    void Promise.all([import("../../editor/python.ts"), import("../../python/tools.ts")]).then(
      ([editor, python]) => {
        const { current } = view;
        if (isGone || !current) return;
        editor.furnish(current, {
          find: settings.diagnostics && store.mayEdit ? () => python.findings(store, id) : undefined,
          define: (at) => python.goToDefinition(store, id, at),
        });
        page.edit = (cell, change) => cell === id && store.mayEdit && editor.applyFormat(current, change);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      delete page.edit;
    };
  }, [view, store, id, type, isEditing, settings]);
}
