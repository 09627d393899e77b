// Headings of a notebook for its table of contents.
import type { Cell } from "../../protocol/messages.ts";

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
