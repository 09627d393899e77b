// The editor of a cell, with the carets of peers. Lazy: loads after the page has painted.
import { useEffect, useRef } from "react";
import type { EditorView, KeyBinding } from "@codemirror/view";
import { namesOf } from "../../app/cells/depends.ts";
import { useSettings } from "../../app/session/settings.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { hueOf, kindOf, peerName } from "../../app/words/words.ts";
import { keysOf } from "../../commands/keys.ts";
import { actions, editorKey, isAllowed, page, refuse } from "../../commands/table.ts";
import { commands } from "../../editor/completion.ts";
import { type CellEditor, createEditor, escapeIn } from "../../editor/mount.ts";
import { showAuthors } from "../../editor/authors.ts";
import { setPeers } from "../../editor/peers.ts";
import { setThreads } from "../../editor/threads.ts";
import type { Cell, CellType, PeerState } from "../../protocol/messages.ts";
import { usePython } from "./usePython.ts";

export interface EditorProps {
  store: NotebookStore;
  id: string;
  type: CellType;
  isEditing: boolean;
  at: { x: number; y: number } | undefined;
  peers: PeerState[];
}

const TYPING_MS = 2_000;

export default function Editor({ store, id, type, isEditing, at, peers }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const mounted = useRef<CellEditor>(undefined);
  /** Selection of the previous editor: a change of settings or cell type creates a new one. */
  const kept = useRef<{ anchor: number; head: number }>(undefined);
  const settings = useSettings();
  useTopics(store, "access", "notebook");

  useEffect(() => {
    let typing: ReturnType<typeof setTimeout> | undefined;
    const show = (anchor: number, head: number, isTyping: boolean) => {
      store.replica.presence.show({ cell_id: id, selection: [anchor, head], ...(isTyping && { typing: true }) });
      clearTimeout(typing);
      if (isTyping) typing = setTimeout(() => show(anchor, head, false), TYPING_MS);
    };
    const editor = createEditor({
      ...{ texts: store.texts, cellId: id, type, isReadOnly: !store.mayEdit, label: `Source of a ${type} cell` },
      settings,
      keys: keys(store, id),
      // SQL asks the kernel for variables only, and sends no cell id.
      ask: async (kind, code, cursor) =>
        store.mayRun ? store.questions.ask({ ...(type === "code" && { cell_id: id }), code, cursor, kind }) : undefined,
      names: () => namesBeside(store, id),
      tables: (connection) => store.schemas.tables(connection),
      unwritable: () => store.together.refuse("edit"),
      refused: (bytes, most) => store.toast({ text: tooLong(bytes, most), isError: true }),
      mostBytes: () => store.session.connection.limits.max_source_bytes,
      moved: (anchor, head, typed) => {
        store.marked = { cell: id, from: Math.min(anchor, head), to: Math.max(anchor, head) };
        show(anchor, head, typed);
      },
      focused: (isFocused) => {
        if (isFocused && !(store.current === id && store.isEditing)) store.select(id, { edit: true });
      },
    });
    view.current = editor.view;
    mounted.current = editor;
    // A cell that was moved or remounted keeps its caret.
    if (store.caret?.cell === id) kept.current = store.caret;
    store.caret = undefined;
    const within = (at: number) => Math.min(at, editor.view.state.doc.length);
    if (kept.current) editor.view.dispatch({ selection: { anchor: within(kept.current.anchor), head: within(kept.current.head) } });
    place.current?.append(editor.view.dom);
    return () => {
      clearTimeout(typing);
      const { anchor, head } = editor.view.state.selection.main;
      kept.current = { anchor, head };
      if (store.isEditing && store.current === id) store.caret = { cell: id, anchor, head };
      editor.close();
    };
  }, [store, id, type, settings]);

  const { mayEdit } = store;
  useEffect(() => {
    mounted.current?.setReadOnly(!mayEdit);
  }, [mayEdit]);

  usePython(view, { store, id, type, isEditing, settings });

  /** The last click that moved the caret. */
  const met = useRef<EditorProps["at"]>(undefined);
  useEffect(() => {
    const editor = view.current;
    if (!isEditing || !editor) return;
    const cell = editor.dom.closest("[data-cell]");
    if (!editor.hasFocus && cell && store.focus.mayTake(cell)) editor.focus();
    const clicked = at && at !== met.current ? editor.posAtCoords(at, false) : undefined;
    met.current = at;
    if (clicked !== undefined) editor.dispatch({ selection: { anchor: clicked } });
    const written = store.ahead.arrive(id);
    const anchor = Math.min(written ?? 0, editor.state.doc.length);
    if (written !== undefined) editor.dispatch({ selection: { anchor }, scrollIntoView: true });
  }, [store, id, isEditing, at, type, settings]);

  useEffect(() => {
    if (!isEditing) return;
    page.inEditor = (command) => {
      view.current?.focus();
      if (view.current) commands[command](view.current);
    };
    return () => void delete page.inEditor;
  }, [isEditing]);

  // An on-screen keyboard covers half of the page: keep the caret in the visible viewport.
  useEffect(() => {
    const { visualViewport } = window;
    if (!isEditing || !visualViewport) return;
    const show = () => {
      const caret = view.current?.dom.querySelector(".cm-cursor-primary, .cm-activeLine");
      const box = caret?.getBoundingClientRect();
      const { offsetTop, height } = visualViewport;
      if (box && (box.bottom > offsetTop + height || box.top < offsetTop)) caret?.scrollIntoView({ block: "center" });
    };
    visualViewport.addEventListener("resize", show);
    return () => visualViewport.removeEventListener("resize", show);
  }, [isEditing]);

  const { reveal } = store;
  useEffect(() => {
    const editor = view.current;
    if (!isEditing || !editor || reveal?.cell !== id) return;
    store.reveal = undefined;
    const { doc } = editor.state;
    const range = "line" in reveal.place ? doc.line(Math.max(1, Math.min(reveal.place.line, doc.lines))) : reveal.place;
    const within = (at: number) => Math.min(at, doc.length);
    editor.dispatch({ selection: { anchor: within(range.from), head: within(range.to) }, scrollIntoView: true });
  }, [store, id, isEditing, reveal]);

  useEffect(() => {
    const carets = peers.flatMap((peer) => {
      const [anchor, head] = peer.state?.selection ?? [];
      if (anchor === undefined || head === undefined) return [];
      const name = peerName(peer, (actor) => store.session.isMe(actor));
      return [{ name, hue: hueOf(peer.name || kindOf(peer.actor)), anchor, head }];
    });
    view.current?.dispatch({ effects: setPeers.of(carets) });
  }, [store, peers]);

  // Authors refer to the confirmed text; unconfirmed edits have none yet.
  const authors = store.authors.of(id);
  useEffect(() => {
    const editor = view.current;
    if (!editor || (authors && editor.state.doc.toString() !== store.document.cells.get(id)?.source)) return;
    showAuthors(editor, authors, (version) => store.look(version));
  }, [store, id, type, settings, JSON.stringify(authors)]);

  const marked = store.comments.marked(id);
  useEffect(() => {
    view.current?.dispatch({ effects: setThreads.of(marked) });
  }, [store, id, type, settings, JSON.stringify(marked)]);

  return <div className="source" ref={place} />;
}

/** Most cells whose names are suggested without a kernel, the nearest above first. */
const MAX_CELLS = 200;
const defined = new WeakMap<Cell, { source: string; names: string[] }>();

/** Names that the other code cells define, by their syntax. */
function namesBeside({ document: { order, cells } }: NotebookStore, id: string): string[] {
  const at = order.indexOf(id);
  const beside = [...order.slice(0, at).reverse(), ...order.slice(at + 1)].flatMap((each) => cells.get(each) ?? []);
  const code = beside.filter(({ cell_type }) => cell_type === "code").slice(0, MAX_CELLS);
  return [...new Set(code.flatMap(definedIn))];
}

function definedIn(cell: Cell): string[] {
  const { source } = cell;
  const known = defined.get(cell);
  if (known?.source === source) return known.names;
  const names = [...namesOf(source).defined];
  defined.set(cell, { source, names });
  return names;
}

function tooLong(bytes: number, most: number): string {
  const size = (count: number) => (count / 1_000_000).toFixed(1);
  return `Too long to insert (${size(bytes)} MB; a cell holds ${size(most)} MB). Put large text in a file instead.`;
}

/** Key bindings: Escape leaves, arrows at the text's ends go to the neighbours, and the run keys work here too. */
function keys(store: NotebookStore, id: string): KeyBinding[] {
  const leave = (step: -1 | 1) => (view: EditorView) => {
    const { main } = view.state.selection;
    const line = view.state.doc.lineAt(main.head).number;
    const isAtEnd = step < 0 ? line === 1 : line === view.state.doc.lines;
    const next = store.neighbour(step, id);
    if (!isAtEnd || !main.empty || next === id) return false;
    store.select(next, { edit: true });
    return true;
  };
  const table = actions.flatMap((action) =>
    keysOf(action).editKeys.map((press) => ({
      key: editorKey(press),
      run: (view: EditorView) => {
        if (action.inEditor) return commands[action.inEditor](view);
        if (isAllowed(action, store)) action.run(store);
        else refuse(action, store);
        return true;
      },
    })),
  );
  const escape = {
    key: "Escape",
    run: (view: EditorView) => {
      const meaning = escapeIn(view);
      if (meaning === "leaves the cell") store.select(id);
      return meaning !== "leaves a mode";
    },
    shift: () => (store.select(id), true),
  };
  return [...table, escape, { key: "ArrowUp", run: leave(-1) }, { key: "ArrowDown", run: leave(1) }];
}
