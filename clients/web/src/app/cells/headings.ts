// Headings and the cells that a collapsed heading hides.
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
