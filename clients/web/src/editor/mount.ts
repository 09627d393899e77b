// CodeMirror editor of a cell. Loaded after the first paint.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import {
  Annotation,
  Compartment,
  type ChangeSet,
  EditorState,
  type Extension,
  Prec,
  type Text,
  Transaction,
} from "@codemirror/state";
import {
  EditorView,
  type KeyBinding,
  type ViewUpdate,
  crosshairCursor,
  drawSelection,
  keymap,
  lineNumbers,
  placeholder,
  rectangularSelection,
} from "@codemirror/view";
import type { Settings } from "../app/session/settings.ts";
import type { OpenText, Texts, UndoKind } from "../collab/texts.ts";
import type { CellType } from "../protocol/messages.ts";
import { authorPlace } from "./authors.ts";
import { kernelCompletion, openKeys } from "./completion.ts";
import type { Ask } from "./kernel.ts";
import { peerCarets } from "./peers.ts";
import { room } from "./room.ts";
import type { Tables } from "./tables.ts";
import { highlighting, theme } from "./theme.ts";
import { threadMarks } from "./threads.ts";

const modes = new Compartment();
const languages = new Compartment();
const wrapping = new Compartment();
const reading = new Compartment();
/** Keys that select further matches for several carets. Find and replace belongs to the page. */
const selecting = searchKeymap.filter(({ key }) => key === "Mod-d" || key === "Mod-Shift-l");

/** Media query for forced line wrapping, as in media.css. */
const NARROW = "(max-width: 720px)";

/** Bytes of a text that may be over the limit; fewer for a text that cannot: UTF-8 takes at most three for a UTF-16 unit. */
function bytesOf(text: Text, most: number): number {
  return text.length * 3 > most ? new TextEncoder().encode(text.toString()).length : text.length;
}

const fromOthers = Annotation.define<boolean>();

export interface EditorOptions {
  texts: Texts;
  cellId: string;
  type: CellType;
  isReadOnly: boolean;
  settings: Settings;
  label: string;
  keys: KeyBinding[];
  /** Asks the kernel of a code cell, or the kernel with an SQL cell's variables. */
  ask: Ask;
  /** Names that the notebook's other cells define. */
  names: () => readonly string[];
  /** Table schemas for an SQL cell. */
  tables: Tables;
  /** Called when the person would change the text of an editor that is read-only. */
  unwritable: () => void;
  /** Called with the length of text that is too long for a cell. */
  refused: (bytes: number, most: number) => void;
  /** The server's limit of a source: longer text would be refused and returned as a copy. */
  mostBytes: () => number;
  moved: (anchor: number, head: number, typed: boolean) => void;
  focused: (isFocused: boolean) => void;
}

export interface CellEditor {
  view: EditorView;
  /** Updates the right to edit, because the role may change during editing. */
  setReadOnly: (isReadOnly: boolean) => void;
  close: () => void;
}

const nonce = () => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

const PLACEHOLDERS: Partial<Record<CellType, string>> = {
  markdown: "Text in Markdown",
  prompt: "Ask the assistant",
  sql: "SQL",
};

/** Creates the editor outside the document: inside the page each editor would force a full layout. */
export function createEditor(options: EditorOptions): CellEditor {
  const { texts, cellId } = options;
  const open = texts.open(cellId, (changes, isStep) => {
    const annotations = [fromOthers.of(true), ...(isStep ? [Transaction.userEvent.of("undo")] : [])];
    // Undo moves the caret to its change, if this editor has the focus.
    const at = isStep && view.hasFocus ? lastChanged(changes) : undefined;
    view.dispatch({ changes, annotations, ...(at !== undefined && { selection: { anchor: at }, scrollIntoView: true }) });
  });
  // The initial text is part of the state, so that it is not an undoable change.
  const state = EditorState.create({ doc: open.text, extensions: extensions(options, open.edit) });
  const view: EditorView = new EditorView({ state });
  stepping.set(view, (kind) => view.state.readOnly || texts.step(cellId, kind));
  void furnish(view, options);
  // Rotating a phone changes the wrapping.
  const narrow = matchMedia(NARROW);
  const wrap = () => view.dispatch({ effects: wrapping.reconfigure(wraps(options)) });
  narrow.addEventListener("change", wrap);
  return {
    view,
    setReadOnly: (isReadOnly) => {
      if (view.state.readOnly !== isReadOnly) view.dispatch({ effects: reading.reconfigure(EditorState.readOnly.of(isReadOnly)) });
    },
    close: () => {
      narrow.removeEventListener("change", wrap);
      open.close();
      view.destroy();
    },
  };
}

function lastChanged(changes: ChangeSet): number | undefined {
  let at: number | undefined;
  changes.iterChangedRanges((_from, _to, _start, end) => (at = end));
  return at;
}

/** Undo function of each editor, for Vim's keys. */
const stepping = new WeakMap<EditorView, (kind: UndoKind) => void>();

/** Undo and redo of the cell, instead of the editor's history: see collab/undo.ts. */
function undoing({ texts, cellId, unwritable }: EditorOptions): Extension {
  const step = (kind: UndoKind) => (view: EditorView) => {
    if (view.state.readOnly) unwritable();
    else texts.step(cellId, kind);
    return true;
  };
  const [undo, redo] = [step("undo"), step("redo")];
  return [
    keymap.of([
      { key: "Mod-z", run: undo, preventDefault: true },
      { key: "Mod-Shift-z", run: redo, preventDefault: true },
      { key: "Mod-y", run: redo, preventDefault: true },
    ]),
    // With Caps Lock, Shift gives a small “z”, for which the key map finds undo.
    Prec.highest(
      EditorView.domEventHandlers({
        keydown: ({ key, ctrlKey, metaKey, altKey, shiftKey }, view) =>
          key === "z" && shiftKey && (ctrlKey || metaKey) && !altKey ? redo(view) : false,
      }),
    ),
    // Undo from a browser menu or a phone's shake gesture.
    EditorView.domEventHandlers({
      beforeinput: ({ inputType }, view) => {
        if (inputType !== "historyUndo" && inputType !== "historyRedo") return false;
        return (inputType === "historyUndo" ? undo : redo)(view);
      },
    }),
  ];
}

/** Says why keys change nothing in an editor that is read-only. */
function refusing({ unwritable }: EditorOptions): Extension {
  const refuse = (_event: Event, { state }: EditorView) => {
    if (state.readOnly) unwritable();
    return state.readOnly;
  };
  return EditorView.domEventHandlers({ beforeinput: refuse, paste: refuse, cut: (event, view) => void refuse(event, view) });
}

function wraps({ type, settings }: EditorOptions): Extension {
  const isText = type !== "code" && type !== "sql";
  return isText || settings.wrap || matchMedia(NARROW).matches ? EditorView.lineWrapping : [];
}

function extensions(options: EditorOptions, edit: OpenText["edit"]): Extension[] {
  const { texts, type, isReadOnly, label, keys, ask, refused, mostBytes, moved, focused, settings } = options;
  const isText = type !== "code" && type !== "sql";
  return [
    modes.of([]),
    isText ? [] : Prec.highest(keymap.of(openKeys)),
    Prec.highest(keymap.of(keys)),
    EditorView.cspNonce.of(nonce()),
    room(),
    reading.of(EditorState.readOnly.of(isReadOnly)),
    EditorState.transactionFilter.of((transaction) => {
      const { newDoc, startState, docChanged } = transaction;
      const grows = docChanged && newDoc.length > startState.doc.length;
      if (!grows || transaction.annotation(fromOthers)) return transaction;
      const most = mostBytes();
      const bytes = bytesOf(newDoc, most);
      if (bytes <= most) return transaction;
      refused(bytes, most);
      return [];
    }),
    EditorState.allowMultipleSelections.of(true),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    languages.of(type === "code" ? python() : []),
    // Text direction follows the script, line by line.
    isText ? EditorView.perLineTextDirection.of(true) : [],
    isText ? [] : [indentOnInput(), bracketMatching(), settings.closeBrackets ? closeBrackets() : []],
    type === "code" ? kernelCompletion(ask, options.names) : [],
    wrapping.of(wraps(options)),
    authorPlace,
    settings.lineNumbers ? [lineNumbers(), EditorView.editorAttributes.of({ class: "numbered" })] : [],
    indentUnit.of(settings.indent === "tab" ? "\t" : " ".repeat(Number(settings.indent))),
    EditorState.tabSize.of(settings.indent === "tab" ? 4 : Number(settings.indent)),
    placeholder(PLACEHOLDERS[type] ?? ""),
    refusing(options),
    undoing(options),
    drawSelection(),
    rectangularSelection(),
    crosshairCursor(),
    highlightSelectionMatches(),
    highlighting,
    theme,
    peerCarets,
    threadMarks,
    keymap.of([...closeBracketsKeymap, ...selecting, indentWithTab, ...defaultKeymap]),
    EditorView.updateListener.of((update) => {
      const isOwn = !update.transactions.some((transaction) => transaction.annotation(fromOthers));
      if (update.docChanged && isOwn) edit(update.changes, userEventOf(update));
      else if (!update.docChanged && !update.view.composing && userEventOf(update)?.startsWith("select")) texts.pause();
      if (update.focusChanged) focused(update.view.hasFocus);
      const { anchor, head } = update.state.selection.main;
      if ((update.selectionSet || update.focusChanged || update.docChanged) && update.view.hasFocus)
        moved(anchor, head, update.docChanged && isOwn);
    }),
  ];
}

function userEventOf({ transactions }: ViewUpdate): string | undefined {
  return transactions.map((transaction) => transaction.annotation(Transaction.userEvent)).find(Boolean);
}

/** Loads the parts that few editors need: Vim's keys, and languages other than Python. */
async function furnish(view: EditorView, options: EditorOptions): Promise<void> {
  const { type, settings } = options;
  const language = type === "markdown" || type === "prompt" ? await markdown() : type === "sql" ? await sql(options) : undefined;
  if (language) view.dispatch({ effects: languages.reconfigure(language) });
  if (!settings.vim) return;
  const { CodeMirror, getCM, vim } = await import("@replit/codemirror-vim");
  // Vim’s `u` and Ctrl-R use the cell's undo.
  const step = (kind: UndoKind) => (cm: { cm6: EditorView }) => stepping.get(cm.cm6)?.(kind);
  Object.assign(CodeMirror.commands, { undo: step("undo"), redo: step("redo") });
  view.dispatch({ effects: modes.reconfigure(vim({ status: true })) });
  vimModes.set(view, () => getCM(view)?.state.vim ?? undefined);
}

const markdown = () => import("@codemirror/lang-markdown").then((module) => module.markdown());

async function sql({ ask, tables }: EditorOptions): Promise<Extension> {
  const [{ language }, { sqlCompletion }] = await Promise.all([import("./sql.ts"), import("./tables.ts")]);
  return [language, sqlCompletion(ask, tables)];
}

interface VimMode {
  insertMode?: boolean;
  visualMode?: boolean;
}

const vimModes = new WeakMap<EditorView, () => VimMode | undefined>();

/** Effect of Escape: with Vim it leaves a mode, but never the cell. */
export function escapeIn(view: EditorView): "leaves the cell" | "leaves a mode" | "stays" {
  const mode = vimModes.get(view)?.();
  if (!mode) return "leaves the cell";
  return mode.insertMode || mode.visualMode ? "leaves a mode" : "stays";
}
