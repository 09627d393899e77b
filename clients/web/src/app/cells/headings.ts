// Headings of a notebook: the cells that a collapsed heading hides, the table of contents, and links such as `[Results](#Results)`.
import type { Cell } from "../../protocol/messages.ts";

/** The level, 1 to 6, of a Markdown cell that begins with a heading. */
export function headingLevel(cell: Cell | undefined): number | undefined {
  if (cell?.cell_type !== "markdown") return undefined;
  return /^\s{0,3}(#{1,6})\s/.exec(cell.source)?.[1]?.length;
}

export interface Folds {
  hidden: ReadonlySet<string>;
  /** By collapsed heading: the number of cells it hides. */
  counts: ReadonlyMap<string, number>;
}

/** A collapsed heading hides the cells below it, up to the next heading of its level or above. */
export function foldsOf(
  order: readonly string[],
  cells: ReadonlyMap<string, Cell>,
  isCollapsed: (id: string, cell: Cell) => boolean,
): Folds {
  const hidden = new Set<string>();
  const counts = new Map<string, number>();
  let folded: { id: string; level: number } | undefined;
  for (const id of order) {
    const cell = cells.get(id);
    const level = headingLevel(cell);
    if (folded && (level === undefined || level > folded.level)) {
      hidden.add(id);
      counts.set(folded.id, (counts.get(folded.id) ?? 0) + 1);
      continue;
    }
    folded = cell && level !== undefined && isCollapsed(id, cell) ? { id, level } : undefined;
    if (folded) counts.set(id, 0);
  }
  return { hidden, counts };
}

/** The nearest heading above with a higher level. */
export function headingAbove(order: readonly string[], cells: ReadonlyMap<string, Cell>, id: string): string | undefined {
  const own = headingLevel(cells.get(id)) ?? 7;
  for (let index = order.indexOf(id) - 1; index >= 0; index -= 1) {
    const level = headingLevel(cells.get(order[index] ?? ""));
    if (level !== undefined && level < own) return order[index];
  }
  return undefined;
}

export interface Heading {
  cell: string;
  level: number;
  text: string;
}

/** Cache by cell; cells are immutable, so a changed cell is another object. */
const known = new WeakMap<Cell, { level: number; text: string }[]>();

export function outlineOf(order: readonly string[], cells: ReadonlyMap<string, Cell>): Heading[] {
  return order.flatMap((id) => {
    const cell = cells.get(id);
    return cell?.cell_type === "markdown" ? headingsIn(cell).map((heading) => ({ cell: id, ...heading })) : [];
  });
}

function headingsIn(cell: Cell): { level: number; text: string }[] {
  const before = known.get(cell);
  if (before) return before;
  const headings: { level: number; text: string }[] = [];
  let fence: string | undefined;
  for (const line of cell.source.split("\n")) {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    const heading = fence === undefined ? /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) : null;
    if (heading) headings.push({ level: heading[1]?.length ?? 1, text: plain(heading[2] ?? "") });
  }
  known.set(cell, headings);
  return headings;
}

/** Removes Markdown's marks. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__|\*|`|~~)(.+?)\1/g, "$2")
    .trim();
}

/** Anchor of a heading, normalised because Jupyter and GitHub differ in case and punctuation. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
}

export interface Target {
  cell: string;
  heading?: Heading;
  /** Label of an equation. */
  label?: string;
}

export function targetOf(href: string, order: readonly string[], cells: ReadonlyMap<string, Cell>): Target | undefined {
  const name = decoded(href.replace(/^#/, ""));
  if (name === "") return undefined;
  const wanted = slug(name.replaceAll("-", " "));
  const heading = outlineOf(order, cells).find(({ text }) => slug(text.replaceAll("-", " ")) === wanted);
  if (heading) return { cell: heading.cell, heading };
  const isOfText = (test: (source: string) => boolean) =>
    order.find((id) => cells.get(id)?.cell_type === "markdown" && test(cells.get(id)?.source ?? ""));
  const mark = new RegExp(`\\b(?:id|name)\\s*=\\s*["']?${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["'\\s>]`);
  const cell = isOfText((source) => mark.test(source));
  if (cell !== undefined) return { cell };
  const labelled = isOfText((source) => labelsIn(source).includes(name));
  return labelled === undefined ? undefined : { cell: labelled, label: name };
}

const labelsIn = (source: string) => [...source.matchAll(/\\label\s*\{([^{}]*)\}/g)].map(([, label = ""]) => label.trim());

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
