// Cells on the clipboard: nbformat, so that they go into other notebooks, tabs and programs.
import type { CellType } from "../protocol/messages.ts";

export interface CopiedCell {
  cell_type: CellType;
  source: string;
  /** Pictures of a text cell, as nbformat has them. */
  attachments?: Record<string, unknown>;
}

/** What JupyterLab names cells on the clipboard. */
export const CELLS_MIME = "application/vnd.jupyter.cells";
/** For the key `v`, which may not read the system's clipboard; the tabs of one browser share it. */
const KEY = "notarium.clipboard";

interface NbformatCell {
  cell_type: string;
  source: string | string[];
  metadata?: { notarium?: { cell_type?: string } };
  attachments?: unknown;
}

/** Cells that nbformat does not know are Markdown there, and say here what they were. */
export function toNbformat(cells: readonly CopiedCell[]): string {
  const all = cells.map(({ cell_type, source, attachments }) => {
    if (cell_type === "code") return { cell_type, source, metadata: {}, outputs: [], execution_count: null };
    if (cell_type === "markdown" || cell_type === "raw")
      return { cell_type, source, metadata: {}, ...(attachments && { attachments }) };
    return { cell_type: "markdown", source, metadata: { notarium: { cell_type } } };
  });
  return JSON.stringify(all);
}

/** Cells of nbformat: a list of cells, or a whole notebook. Nothing where it is neither. */
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
  return (["code", "markdown", "raw", "sql", "prompt"] as const).find((each) => each === word) ?? "raw";
}

const KINDS: Record<string, CellType> = { py: "code", sql: "sql", md: "markdown", markdown: "markdown", txt: "raw" };

/** What a file becomes in a notebook; nothing where it is no text that a cell could hold. */
export function cellsOfFile(name: string, text: string): CopiedCell[] {
  const ending = name.toLowerCase().split(".").at(-1) ?? "";
  if (ending === "ipynb") return fromNbformat(text) ?? [];
  const cell_type = KINDS[ending];
  return cell_type === undefined || text.includes("\0") ? [] : [{ cell_type, source: text.replaceAll(/\r\n?/g, "\n").trimEnd() }];
}

let copied: CopiedCell[] = [];

export function keep(cells: CopiedCell[]): void {
  copied = cells;
  try {
    localStorage.setItem(KEY, toNbformat(cells));
  } catch {
    // More than the browser keeps: it goes to this tab alone.
    localStorage.removeItem(KEY);
  }
}

export function kept(): CopiedCell[] {
  const shared = localStorage.getItem(KEY);
  return (shared !== null ? fromNbformat(shared) : undefined) ?? copied;
}

/** What was pasted into the notebook: cells, or text, which becomes one. */
export function pasted(data: Pick<DataTransfer, "getData"> | null): CopiedCell[] {
  const cells = fromNbformat(data?.getData(CELLS_MIME) ?? "") ?? fromNbformat(data?.getData("text/plain") ?? "");
  const text = data?.getData("text/plain") ?? "";
  return cells ?? (text.trim() === "" ? [] : [{ cell_type: "code", source: text.replaceAll(/\r\n?/g, "\n") }]);
}
