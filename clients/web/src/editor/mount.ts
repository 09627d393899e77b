// A CodeMirror editor for one cell. Loaded when the page has painted.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, type KeyBinding, drawSelection, keymap, placeholder } from "@codemirror/view";
import type { OpenText, Texts } from "../collab/texts.ts";
import type { CellType } from "../protocol/messages.ts";
import { peerCarets } from "./peers.ts";
import { highlighting, theme } from "./theme.ts";

const fromOthers = Annotation.define<boolean>();

export interface EditorOptions {
  texts: Texts;
  cellId: string;
  type: CellType;
  isReadOnly: boolean;
  label: string;
  keys: KeyBinding[];
  moved: (anchor: number, head: number, typed: boolean) => void;
  focused: (isFocused: boolean) => void;
}

const nonce = () => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

const PLACEHOLDERS: Partial<Record<CellType, string>> = {
  markdown: "Text in Markdown",
  prompt: "Ask the assistant",
  sql: "SQL",
};

/** Built in no document: inside the page each editor would force a layout of everything. */
export function createEditor(options: EditorOptions): { view: EditorView; close: () => void } {
  const { texts, cellId } = options;
  let open: OpenText | undefined;
  const view: EditorView = new EditorView({
    state: EditorState.create({ extensions: extensions(options, (change) => open?.edit(change)) }),
  });
  open = texts.open(cellId, (changes) => view.dispatch({ changes, annotations: fromOthers.of(true) }));
  const insert = open.text;
  view.dispatch({ changes: { from: 0, insert }, annotations: fromOthers.of(true) });
  return {
    view,
    close: () => {
      open?.close();
      view.destroy();
    },
  };
}

function extensions(options: EditorOptions, edit: OpenText["edit"]): Extension[] {
  const { type, isReadOnly, label, keys, moved, focused } = options;
  const isCode = type === "code";
  return [
    Prec.highest(keymap.of(keys)),
    EditorView.cspNonce.of(nonce()),
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ "aria-label": label }),
    isCode
      ? [python(), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(), indentUnit.of("    ")]
      : EditorView.lineWrapping,
    placeholder(PLACEHOLDERS[type] ?? ""),
    history(),
    drawSelection(),
    highlightSelectionMatches(),
    highlighting,
    theme,
    peerCarets,
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
    EditorView.updateListener.of((update) => {
      const isOwn = !update.transactions.some((transaction) => transaction.annotation(fromOthers));
      if (update.docChanged && isOwn) edit(update.changes);
      if (update.focusChanged) focused(update.view.hasFocus);
      const { anchor, head } = update.state.selection.main;
      if ((update.selectionSet || update.focusChanged || update.docChanged) && update.view.hasFocus)
        moved(anchor, head, update.docChanged && isOwn);
    }),
  ];
}
