// Python tools in an editor: diagnostics, and go to definition by Ctrl and click. Loaded when a person starts editing.
import { isolateHistory } from "@codemirror/commands";
import { linter } from "@codemirror/lint";
import { type ChangeSet, type Extension, Prec, StateEffect, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Finding } from "../python/notebook.ts";

const PAUSE_MS = 600;

interface Tools {
  /** Undefined turns diagnostics off. */
  find: (() => Promise<Finding[]>) | undefined;
  /** Goes to the definition of the name at a position; false if there is none. */
  define: (at: number) => boolean;
}

const furnished = new WeakSet<EditorView>();

export function furnish(view: EditorView, { find, define }: Tools): void {
  if (furnished.has(view)) return;
  furnished.add(view);
  const click = EditorView.domEventHandlers({
    mousedown: (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
      return at !== null && define(at);
    },
  });
  view.dispatch({ effects: StateEffect.appendConfig.of([Prec.high(click), find ? diagnostics(find) : []]) });
}

/** Ruff is large, so it is loaded only after the first typed change. */
let hasTyped = false;
const typing = EditorView.updateListener.of(({ transactions }) => {
  hasTyped ||= transactions.some((each) => each.isUserEvent("input") || each.isUserEvent("delete"));
});

/** Diagnostics after a pause in typing; findings for an outdated text are dropped. */
function diagnostics(find: () => Promise<Finding[]>): Extension {
  const marks = linter(
    async (view) => {
      const { doc } = view.state;
      if (!hasTyped) return [];
      const found = await find();
      if (!view.state.doc.eq(doc)) return [];
      return found
        .filter(({ to }) => to <= doc.length)
        .map(({ from, to, message, code }) => ({
          ...{ from, to, message, severity: code === undefined ? ("error" as const) : ("warning" as const) },
          ...(code !== undefined && { source: code }),
        }));
    },
    { delay: PAUSE_MS },
  );
  return [typing, marks];
}

/** Applies a formatting change as one step of the editor's history. */
export function applyFormat(view: EditorView, change: ChangeSet): boolean {
  if (change.length !== view.state.doc.length) return false;
  view.dispatch({ changes: change, annotations: [isolateHistory.of("full"), Transaction.userEvent.of("input.format")] });
  return true;
}
