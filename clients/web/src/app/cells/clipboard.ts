// Cells on the clipboard as nbformat, for other notebooks, tabs and programs.
import { CELL_TYPES } from "../../protocol/schemas.ts";
import type { CellType } from "../../protocol/messages.ts";

export interface CopiedCell {
  cell_type: CellType;
  source: string;
  /** Attachments of a Markdown cell in nbformat's shape. */
  attachments?: Record<string, unknown>;
}

/** JupyterLab's MIME type for cells. */
export const CELLS_MIME = "application/vnd.jupyter.cells";
/** Storage for the key `v`, which may not read the system clipboard; shared by the tabs of a browser. */
const KEY = "notarium.clipboard";

interface NbformatCell {
  cell_type: string;
  source: string | string[];
  metadata?: { notarium?: { cell_type?: string } };
  attachments?: unknown;
}

/** Cell types unknown to nbformat become Markdown and keep their type in metadata. */
export function toNbformat(cells: readonly CopiedCell[]): string {
  const all = cells.map(({ cell_type, source, attachments }) => {
    if (cell_type === "code") return { cell_type, source, metadata: {}, outputs: [], execution_count: null };
    if (cell_type === "markdown" || cell_type === "raw")
      return { cell_type, source, metadata: {}, ...(attachments && { attachments }) };
    return { cell_type: "markdown", source, metadata: { notarium: { cell_type } } };
  });
  return JSON.stringify(all);
}

/** Parses nbformat: a list of cells or a whole notebook. Returns undefined for anything else. */
export function fromNbformat(text: string): CopiedCell[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const cells = Array.isArray(value) ? value : (value as { cells?: unknown } | null)?.cells;
  if (!Array.isArray(cells) || cells.length === 0 || !cells.every(isCell)) return undefined;
  return cells.map(({ cell_type, source, metadata, attachments }) => ({
    cell_type: kind(metadata?.notarium?.cell_type ?? cell_type),
    source: (Array.isArray(source) ? source.join("") : source).replaceAll(/\r\n?/g, "\n"),
    ...(isBundles(attachments) && { attachments }),
  }));
}

function isCell(value: unknown): value is NbformatCell {
  const { cell_type, source } = (value ?? {}) as Partial<NbformatCell>;
  const isText = typeof source === "string" || (Array.isArray(source) && source.every((line) => typeof line === "string"));
  return typeof cell_type === "string" && isText;
}

function isBundles(value: unknown): value is Record<string, unknown> {
  const isObject = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);
  return isObject(value) && Object.values(value as object).every(isObject) && Object.keys(value as object).length > 0;
}

function kind(word: string): CellType {
  return CELL_TYPES.find((each) => each === word) ?? "raw";
}

const KINDS: Record<string, CellType> = { py: "code", sql: "sql", md: "markdown", markdown: "markdown", txt: "raw" };

/** Cells made from a file; empty if no cell can hold its content. */
export function cellsOfFile(name: string, text: string): CopiedCell[] {
  const ending = name.toLowerCase().split(".").at(-1) ?? "";
  if (ending === "ipynb") return fromNbformat(text) ?? [];
  const cell_type = KINDS[ending];
  return cell_type === undefined || text.includes("\0") ? [] : [{ cell_type, source: text.replaceAll(/\r\n?/g, "\n").trimEnd() }];
}

/** Notebook of copied cells, with its redaction epoch. */
export interface Origin {
  notebook: string;
  epoch: number;
}

let copied: CopiedCell[] = [];
let copiedFrom: Origin | undefined;

export function keep(cells: CopiedCell[], from?: Origin): void {
  [copied, copiedFrom] = [cells, from];
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...from, cells: JSON.parse(toNbformat(cells)) as unknown }));
  } catch {
    // Above the browser's storage quota: the cells stay in this tab only.
    localStorage.removeItem(KEY);
  }
}

/** Forgets cells that were copied from a notebook before a redaction. */
export function forgetCopied(notebook: string, epoch: number): void {
  const isOlder = (from: Partial<Origin> | undefined) => from?.notebook === notebook && (from.epoch ?? 0) < epoch;
  if (isOlder(copiedFrom)) [copied, copiedFrom] = [[], undefined];
  try {
    if (isOlder(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Origin>)) localStorage.removeItem(KEY);
  } catch {
    localStorage.removeItem(KEY);
  }
}

export function kept(): CopiedCell[] {
  const shared = localStorage.getItem(KEY);
  return (shared !== null ? fromNbformat(shared) : undefined) ?? copied;
}

/** Pasted cells; plain text becomes one code cell. */
export function pasted(data: Pick<DataTransfer, "getData"> | null): CopiedCell[] {
  const cells = fromNbformat(data?.getData(CELLS_MIME) ?? "") ?? fromNbformat(data?.getData("text/plain") ?? "");
  const text = data?.getData("text/plain") ?? "";
  return cells ?? (text.trim() === "" ? [] : [{ cell_type: "code", source: text.replaceAll(/\r\n?/g, "\n") }]);
}
