// Table of all actions in a notebook; used by the keyboard, the palette and the help.
import { allowNotifications } from "../app/session/attention.ts";
import type { FileFormat } from "../app/files/download.ts";
import { headingLevel } from "../app/cells/headings.ts";
import { go } from "../app/session/route.ts";
import { change } from "../app/session/settings.ts";
import type { NotebookStore } from "../app/state/store.ts";
import type { CellType } from "../protocol/messages.ts";
import { type EditingPage, type EditorCommand, editing } from "./editing.ts";
import { type PythonPage, python } from "./python.ts";

export interface Action {
  id: string;
  title: string;
  /** Keys in command mode, in tinykeys notation. */
  keys?: string[];
  /** Keys that also work while a cell is edited. */
  editKeys?: string[];
  /** Ignores repeated events of a held key. */
  once?: boolean;
  needs?: "edit" | "run" | "comment";
  /** The editor handles the keys, and may pass them on. */
  inEditor?: EditorCommand;
  /** The keys have this meaning only in the editor, and another one in the list of cells. */
  isOfEditor?: boolean;
  run: (store: NotebookStore) => void;
}

/** Functions of the page, registered when it is mounted. */
export interface PageActions extends EditingPage, PythonPage {
  copy: () => void;
  keys: () => void;
  share: () => void;
  files: () => void;
  chooseFiles: () => void;
  functions: () => void;
  palette: () => void;
  help: () => void;
  home: () => void;
  kernel: () => void;
  records: () => void;
  theme: () => void;
  schedules: () => void;
}

export const page: Partial<PageActions> = {};

function runAnd(store: NotebookStore, next: "next" | "stay" | "insert"): void {
  const cells = store.selected;
  const last = cells.at(-1);
  if (last === undefined) return;
  void store.runs.start(
    cells.filter((cell) => ["code", "sql", "prompt"].includes(store.document.cells.get(cell)?.cell_type ?? "")),
  );
  if (next === "stay") return store.select(store.current);
  const following = store.neighbour(1, last);
  if (next === "insert" || following === last) return store.edits.insert({ after: last });
  store.select(following);
}

function insertBeside(store: NotebookStore, side: "before" | "after", type: CellType = "code"): void {
  const cell = store.current;
  store.edits.insert(cell === undefined ? "end" : side === "before" ? { before: cell } : { after: cell }, type, "", false);
}

function heading(store: NotebookStore, level: number): void {
  const cell_id = store.current;
  const cell = cell_id === undefined ? undefined : store.document.cells.get(cell_id);
  if (!cell || cell_id === undefined) return;
  const source = `${"#".repeat(level)} ${cell.source.replace(/^#{1,6} /, "")}`;
  const replace = { ReplaceSource: { cell_id, cell_version: cell.cell_version, source } };
  void store.send({ Batch: { commands: [replace, { ChangeCellType: { cell_id, cell_type: "markdown" } }] } });
}

/** Opens the editor. Without the right to edit it can be read and copied from. */
function edit(store: NotebookStore): void {
  store.select(store.current, { edit: true });
  if (!store.mayEdit) store.together.refuse("edit");
}

function selectTo(store: NotebookStore, cell: string | undefined): void {
  if (cell !== undefined) store.select(cell, { extend: true });
}

/** Collapses or opens all headings. */
function collapseAll(store: NotebookStore, isCollapsed: boolean): void {
  const headings = store.document.order.filter((id) => headingLevel(store.document.cells.get(id)) !== undefined);
  for (const id of headings) if (store.isCollapsed(id) !== isCollapsed) store.collapse(isCollapsed, id);
}

function toggleFlag(store: NotebookStore, flag: "outputs_hidden" | "source_hidden" | "pinned" | "skipped"): void {
  for (const cell_id of store.selected) {
    const isSet = store.document.cells.get(cell_id)?.flags?.[flag] ?? false;
    void store.send({ SetCellFlags: { cell_id, flags: { [flag]: !isSet } } });
  }
}

/** Downloads the notebook, or the earlier version on display. */
async function save(store: NotebookStore, format: FileFormat): Promise<void> {
  const { id, document, past, session } = store;
  const done = import("../app/files/download.ts").then(({ download }) => download(session.rest, id, document.title, past, format));
  const words = await done.catch((error: Error) => error.message);
  if (words) store.toast({ text: words, isError: true });
}

async function fork(store: NotebookStore): Promise<void> {
  const title = `${store.document.title || "Untitled"} (copy)`;
  try {
    const { notebook } = await store.session.rest.json<{ notebook: string }>("POST", `/api/notebooks/${store.id}/fork`, { title });
    go({ name: "notebook", id: notebook, cell: undefined });
  } catch (error) {
    store.toast({ text: (error as Error).message, isError: true });
  }
}

/** Focuses the assistant's field, and opens the panel if needed; from the field, closes the panel. */
function toAssistant(store: NotebookStore): void {
  const field = document.querySelector<HTMLElement>(".assistant-panel .composer textarea");
  const isThere = store.panel === "assistant" && field !== null && field !== document.activeElement;
  if (isThere) return store.focus.take(field);
  if (store.panel !== "assistant") store.focus.open();
  store.show("assistant");
}

const types: [CellType, string, string[]][] = [
  ["code", "Change to code", ["y"]],
  ["markdown", "Change to text (Markdown)", ["m"]],
  ["raw", "Change to raw text", ["r"]],
  ["sql", "Change to SQL", []],
  ["prompt", "Change to prompt", []],
];

export const actions: Action[] = [
  {
    id: "run-next",
    title: "Run and select next cell",
    editKeys: ["Shift+Enter"],
    needs: "run",
    run: (store) => runAnd(store, "next"),
  },
  { id: "run", title: "Run selected cells", editKeys: ["$mod+Enter"], needs: "run", run: (store) => runAnd(store, "stay") },
  {
    id: "run-insert",
    title: "Run and insert cell below",
    editKeys: ["Alt+Enter"],
    needs: "run",
    run: (store) => runAnd(store, "insert"),
  },
  { id: "run-all", title: "Run all cells", needs: "run", run: (store) => void store.runs.start(store.document.order) },
  {
    id: "run-above",
    title: "Run all cells above",
    needs: "run",
    run: (store) => void store.runs.start(store.document.order.slice(0, store.document.order.indexOf(store.current ?? ""))),
  },
  {
    id: "run-below",
    title: "Run the cell and all below",
    needs: "run",
    run: (store) =>
      void store.runs.start(store.document.order.slice(Math.max(0, store.document.order.indexOf(store.current ?? "")))),
  },
  ...editing(page),
  ...python(page),
  { id: "interrupt", title: "Interrupt the kernel", keys: ["i i"], needs: "run", run: (store) => store.runs.interrupt() },
  { id: "restart", title: "Restart the kernel", keys: ["0 0"], needs: "run", run: (store) => void store.runs.restart() },
  {
    id: "restart-run-all",
    title: "Restart the kernel and run all cells",
    keys: ["0 a"],
    needs: "run",
    run: (store) => void store.runs.restartAndRun(),
  },
  { id: "kernel", title: "Kernel details", run: () => page.kernel?.() },
  { id: "stop-all", title: "Stop all runs", needs: "run", run: (store) => store.runs.stopAll() },
  { id: "edit", title: "Edit cell", keys: ["Enter"], run: edit },
  { id: "up", title: "Cell above", keys: ["ArrowUp", "k"], run: (store) => store.select(store.neighbour(-1)) },
  { id: "down", title: "Cell below", keys: ["ArrowDown", "j"], run: (store) => store.select(store.neighbour(1)) },
  {
    id: "extend-up",
    title: "Extend the selection up",
    keys: ["Shift+ArrowUp", "Shift+K"],
    run: (store) => store.select(store.neighbour(-1), { extend: true }),
  },
  {
    id: "extend-down",
    title: "Extend the selection down",
    keys: ["Shift+ArrowDown", "Shift+J"],
    run: (store) => store.select(store.neighbour(1), { extend: true }),
  },
  {
    id: "extend-first",
    title: "Extend the selection to the first cell",
    keys: ["Shift+Home"],
    run: (store) => selectTo(store, store.document.order[0]),
  },
  {
    id: "extend-last",
    title: "Extend the selection to the last cell",
    keys: ["Shift+End"],
    run: (store) => selectTo(store, store.document.order.at(-1)),
  },
  {
    id: "select-all",
    title: "Select all cells",
    keys: ["$mod+a"],
    run: (store) => {
      store.select(store.document.order[0]);
      selectTo(store, store.document.order.at(-1));
    },
  },
  { id: "collapse", title: "Collapse heading", keys: ["ArrowLeft"], run: (store) => store.collapse(true) },
  { id: "open", title: "Expand heading", keys: ["ArrowRight"], run: (store) => store.collapse(false) },
  { id: "collapse-all", title: "Collapse all headings", run: (store) => collapseAll(store, true) },
  { id: "open-all", title: "Expand all headings", run: (store) => collapseAll(store, false) },
  { id: "back", title: "Go back to the previous edit", editKeys: ["Control+Alt+Minus"], run: (store) => store.revisit(-1) },
  { id: "forward", title: "Go forward to the next edit", editKeys: ["Control+Alt+Equal"], run: (store) => store.revisit(1) },
  { id: "first", title: "Go to first cell", keys: ["$mod+Home", "g g"], run: (store) => store.select(store.document.order[0]) },
  {
    id: "last",
    title: "Go to last cell",
    keys: ["$mod+End", "Shift+G"],
    run: (store) => store.select(store.document.order.at(-1)),
  },
  { id: "insert-above", title: "Insert cell above", keys: ["a"], needs: "edit", run: (store) => insertBeside(store, "before") },
  { id: "insert-below", title: "Insert cell below", keys: ["b"], needs: "edit", run: (store) => insertBeside(store, "after") },
  {
    id: "insert-prompt",
    title: "Insert prompt below",
    needs: "edit",
    run: (store) => insertBeside(store, "after", "prompt"),
  },
  {
    id: "delete",
    title: "Delete cell",
    keys: ["d d"],
    once: true,
    needs: "edit",
    run: (store) => store.edits.delete(store.selected),
  },
  { id: "undo", title: "Undo", keys: ["z", "$mod+z"], needs: "edit", run: (store) => store.edits.step("Undo") },
  { id: "redo", title: "Redo", keys: ["Shift+Z", "$mod+Shift+z"], needs: "edit", run: (store) => store.edits.step("Redo") },
  {
    id: "move-up",
    title: "Move cell up",
    keys: ["Alt+ArrowUp", "$mod+Shift+ArrowUp"],
    needs: "edit",
    run: (store) => store.edits.move(-1),
  },
  {
    id: "move-down",
    title: "Move cell down",
    keys: ["Alt+ArrowDown", "$mod+Shift+ArrowDown"],
    needs: "edit",
    run: (store) => store.edits.move(1),
  },
  { id: "copy", title: "Copy cells", keys: ["c"], run: (store) => (store.edits.copy(), page.copy?.()) },
  {
    id: "cut",
    title: "Cut cells",
    keys: ["x"],
    needs: "edit",
    run: (store) => (store.edits.copy(), page.copy?.(), store.edits.delete(store.selected)),
  },
  { id: "merge", title: "Merge cells", keys: ["Shift+M"], needs: "edit", run: (store) => store.edits.merge() },
  {
    id: "split",
    title: "Split cell at cursor",
    editKeys: ["Control+Shift+Minus"],
    needs: "edit",
    run: (store) => {
      const { current, marked } = store;
      if (current !== undefined && marked?.cell === current) store.edits.split(current, marked.from);
      else store.toast({ text: "Put the cursor where the cell should be split." });
    },
  },
  { id: "duplicate", title: "Duplicate cells", keys: ["Shift+D"], needs: "edit", run: (store) => store.edits.duplicate() },
  { id: "paste", title: "Paste cells below", keys: ["v"], needs: "edit", run: (store) => store.edits.paste() },
  ...types.map(([type, title, keys]): Action => ({
    id: `type-${type}`,
    title,
    keys,
    needs: "edit",
    run: (store) => store.edits.changeType(type),
  })),
  ...[1, 2, 3, 4, 5, 6].map((level): Action => ({
    id: `heading-${level}`,
    title: `Change to heading ${level}`,
    keys: [String(level)],
    needs: "edit",
    run: (store) => heading(store, level),
  })),
  {
    id: "toggle-outputs",
    title: "Hide or show outputs",
    keys: ["o"],
    needs: "edit",
    run: (store) => toggleFlag(store, "outputs_hidden"),
  },
  { id: "toggle-source", title: "Hide or show code", needs: "edit", run: (store) => toggleFlag(store, "source_hidden") },
  {
    id: "pin",
    title: "Always include in assistant context",
    needs: "edit",
    run: (store) => toggleFlag(store, "pinned"),
  },
  {
    id: "skip",
    title: "Never include in assistant context",
    needs: "edit",
    run: (store) => toggleFlag(store, "skipped"),
  },
  {
    id: "clear-outputs",
    title: "Clear outputs",
    needs: "edit",
    run: (store) => store.edits.clearOutputs(store.selected),
  },
  {
    id: "clear-all-outputs",
    title: "Clear all outputs",
    keys: ["Shift+O"],
    needs: "edit",
    run: (store) => store.edits.clearOutputs(store.document.order),
  },
  {
    id: "ask-inline",
    title: "Ask the assistant about this cell",
    editKeys: ["$mod+k"],
    isOfEditor: true,
    needs: "comment",
    run: (store) => store.current !== undefined && store.inline.open(store.current),
  },
  { id: "assistant", title: "Show or hide assistant", editKeys: ["$mod+Shift+a"], run: toAssistant },
  {
    id: "comment",
    title: "Add comment",
    editKeys: ["$mod+Alt+m"],
    needs: "comment",
    run: (store) => page.comment?.(store),
  },
  { id: "comments", title: "Show or hide comments", run: (store) => store.show("comments") },
  { id: "history", title: "Show or hide history", run: (store) => store.show("history") },
  {
    id: "trash",
    title: "Deleted cells",
    run: (store) => {
      store.historyTab = "Trash";
      if (store.panel === "history") store.show("history");
      store.show("history");
    },
  },
  { id: "authors", title: "Show or hide authors of lines", run: (store) => store.authors.toggle() },
  {
    id: "zen",
    title: "Zen mode (Esc leaves)",
    editKeys: ["Control+Alt+z"],
    run: (store) => store.turnTo(store.view === "zen" ? undefined : "zen"),
  },
  {
    id: "present",
    title: "Presentation mode (Esc leaves)",
    editKeys: ["Control+Alt+p"],
    run: (store) => store.turnTo(store.view === "present" ? undefined : "present"),
  },
  { id: "palette", title: "All commands", keys: ["$mod+k"], editKeys: ["$mod+Shift+p"], run: () => page.palette?.() },
  { id: "help", title: "Keyboard shortcuts", keys: ["Shift+?", "h"], run: () => page.help?.() },
  {
    id: "copy-link",
    title: "Copy link to cell",
    run: (store) =>
      void navigator.clipboard
        .writeText(`${location.origin}/#/n/${store.id}${store.current === undefined ? "" : `/${store.current}`}`)
        .then(() => store.toast({ text: "Link copied" })),
  },
  { id: "download", title: "Download as .ipynb", run: (store) => void save(store, "ipynb") },
  { id: "download-html", title: "Download as HTML", run: (store) => void save(store, "html") },
  { id: "download-md", title: "Download as Markdown", run: (store) => void save(store, "md") },
  { id: "download-py", title: "Download as Python (.py)", run: (store) => void save(store, "py") },
  { id: "report", title: "Report for auditors…", run: () => page.records?.() },
  { id: "export-record", title: "Export the record…", run: () => page.records?.() },
  {
    id: "fork",
    title: "Make a copy",
    run: (store) => void fork(store),
  },
  { id: "print", title: "Print or save as PDF", run: () => print() },
  { id: "schedules", title: "Schedules…", run: () => page.schedules?.() },
  { id: "share", title: "Share", run: () => page.share?.() },
  { id: "functions", title: "Call a function", needs: "run", run: () => page.functions?.() },
  { id: "variables", title: "Show or hide variables", needs: "run", run: (store) => store.show("variables") },
  { id: "files", title: "Files", needs: "run", run: () => page.files?.() },
  { id: "add-files", title: "Add files or pictures below the cell", needs: "edit", run: () => page.chooseFiles?.() },
  {
    id: "notify",
    title: "Notify me when runs finish and of notices",
    run: (store) =>
      void allowNotifications().then((isOn) => {
        change({ notify: isOn });
        store.toast({ text: isOn ? "Notifications are on" : "This browser blocks notifications for this site" });
      }),
  },
  { id: "edit-keys", title: "Customize keyboard shortcuts", run: () => page.keys?.() },
  { id: "theme", title: "Theme: light / dark / system", run: () => page.theme?.() },
  { id: "home", title: "All notebooks", run: () => page.home?.() },
];

export function isAllowed(action: Action, store: NotebookStore): boolean {
  const rights = { edit: store.mayEdit, run: store.mayRun, comment: store.mayConverse };
  return action.needs === undefined || rights[action.needs];
}

/** Says why an action that is not allowed does nothing. */
export function refuse({ needs }: Action, store: NotebookStore): void {
  if (needs !== undefined) store.together.refuse(needs === "comment" ? "converse" : needs);
}

export const isMac = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.platform);

/** Readable label of a key: `Ctrl Shift P`. */
export function keyLabel(keys: string): string {
  const arrows = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
  const names: Record<string, string> = {
    $mod: isMac ? "⌘" : "Ctrl",
    Control: "Ctrl",
    Enter: "↵",
    Minus: "−",
    Equal: "=",
    ...arrows,
  };
  return keys
    .split(" ")
    .map((press) =>
      press
        .split("+")
        .map((name) => names[name] ?? (name.length === 1 ? name.toUpperCase() : name))
        .join(" "),
    )
    .join(", ");
}

/** Key in CodeMirror's notation, from `Shift+Enter`. */
export function editorKey(keys: string): string {
  const names: Record<string, string> = { $mod: "Mod", Control: "Ctrl", Minus: "-", Equal: "=" };
  return keys
    .split("+")
    .map((name) => names[name] ?? name)
    .join("-");
}
