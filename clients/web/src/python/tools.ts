// Python tools in the page: formatting, definitions, diagnostics. Ruff is loaded on first use.
import type { ChangeSet } from "@codemirror/state";
import type { ChangeSet as Wire, Command } from "../protocol/messages.ts";
import { newId } from "../transport/ids.ts";
import * as ruff from "./client.ts";
import type { Finding } from "./notebook.ts";
import { changesBetween } from "../app/cells/diff.ts";
import { type CodeCell, definitionOf } from "./definitions.ts";
import { defaultKernel, statusOf } from "../app/state/kernels.ts";
import { settings } from "../app/session/settings.ts";
import { readHeader } from "../app/cells/sqlHeader.ts";
import type { NotebookStore } from "../app/state/store.ts";

/** Code cells with their displayed text, unconfirmed edits included. */
function codeCells(store: NotebookStore): CodeCell[] {
  const { order, cells } = store.document;
  return order
    .filter((id) => cells.get(id)?.cell_type === "code")
    .map((id) => ({ id, source: store.texts.shown(id) ?? cells.get(id)?.source ?? "" }));
}

/** Variables to which SQL cells assign results. */
function queryNames(store: NotebookStore): string[] {
  return [...store.document.cells.values()].flatMap(({ cell_type, source }) =>
    cell_type === "sql" ? (readHeader(source).variable ?? []) : [],
  );
}

/** Findings in one cell, checked with all others; empty if Ruff cannot be loaded. */
export async function findings(store: NotebookStore, cell: string): Promise<Finding[]> {
  const found = await ruff.check(codeCells(store), queryNames(store));
  return found?.get(cell) ?? [];
}

/** Opens the definition of the name at the caret; returns false if there is none. */
export function goToDefinition(store: NotebookStore, cell: string, at: number): boolean {
  const definition = definitionOf(codeCells(store), cell, at);
  if (!definition) return false;
  // Adds the current cell to the navigation history.
  store.places.visit(cell);
  store.unfold(definition.cell);
  store.goTo(definition.cell, definition);
  return true;
}

/**
 * Formats cells as one undo step. `edit` takes the change of the cell with an open editor, so that the editor's history has it.
 */
export async function formatCells(
  store: NotebookStore,
  ids: readonly string[],
  edit?: (cell: string, change: ChangeSet) => boolean,
): Promise<void> {
  const wanted = new Set(ids);
  const cells = codeCells(store).filter(({ id }) => wanted.has(id));
  if (cells.length === 0) return void store.toast({ text: "Only Python code cells can be formatted." });
  const { indent } = settings();
  try {
    const byKernel = await formattedByKernel(store, cells, indent);
    const all = await Promise.all(
      cells.map(async ({ id, source }) => ({ id, source, after: byKernel.get(id) ?? (await ruff.format(source, indent)) })),
    );
    const changed = all.flatMap(({ id, source, after }) =>
      after === undefined || after === source ? [] : [{ id, source, after }],
    );
    const unread = all.filter(({ source, after }) => after === undefined && source.trim() !== "").length;
    if (changed.length > 0) await write(store, changed, edit);
    else
      store.toast({
        text: unread === all.length && unread > 0 ? "Can’t format: fix the syntax errors first." : "Already formatted.",
      });
  } catch {
    store.toast({ text: "Couldn’t load the formatter. Check your connection and try again.", isError: true });
  }
}

/** Limits of one question to a kernel. */
const MOST_CELLS = 500;
const MOST_BYTES = 256 * 1024;

/** Formats with Black, if an idle kernel has it, because it reads the project's settings. Ruff formats the remaining cells. */
async function formattedByKernel(store: NotebookStore, cells: readonly CodeCell[], indent: string): Promise<Map<string, string>> {
  const kernel = defaultKernel(store);
  const bytes = cells.reduce((sum, { source }) => sum + new TextEncoder().encode(source).length, 0);
  const isMuch = cells.length > MOST_CELLS || bytes > MOST_BYTES;
  const isFree = kernel !== undefined && store.mayRun && !statusOf(store, kernel)?.busy;
  if (!isFree || isMuch || indent !== "4") return new Map();
  const kind = { format: { cells: cells.map(({ source }) => source) } };
  const answer = await store.questions.ask({ code: "", cursor: 0, kernel_session: kernel, kind });
  if (!answer || !("formatted" in answer)) return new Map();
  const { cells: after } = answer.formatted;
  return new Map(cells.flatMap(({ id }, at) => (typeof after[at] === "string" ? [[id, after[at]] as const] : [])));
}

async function write(
  store: NotebookStore,
  changed: { id: string; source: string; after: string }[],
  edit?: (cell: string, change: ChangeSet) => boolean,
): Promise<void> {
  const [only] = changed;
  const isSame = (id: string, source: string) => (store.texts.shown(id) ?? store.document.cells.get(id)?.source) === source;
  // Text typed meanwhile is not overwritten.
  if (changed.length === 1 && only && isSame(only.id, only.source) && edit?.(only.id, changesBetween(only.source, only.after)))
    return;
  await store.texts.settled(changed.map(({ id }) => id));
  const base = store.document.version;
  const commands: Command[] = changed.flatMap(({ id, source, after }) => {
    if (store.document.cells.get(id)?.source !== source) return [];
    return [{ EditSource: { cell_id: id, base, change: changesBetween(source, after).toJSON() as Wire } }];
  });
  if (commands.length > 0) await store.send({ Batch: { commands } }, { correlationId: newId() });
}
