// Layout of the dependency map: one line per cell that others read, in lanes where lines do not overlap.
import type { CellReport } from "../../protocol/rest.ts";

/** Line from a cell's row to the row of a cell that reads from it. */
export interface Link {
  from: number;
  to: number;
  /** Lane 0 is next to the cells. */
  lane: number;
}

export interface LinkMap {
  rows: CellReport[];
  links: Link[];
  lanes: number;
  /** Number of cells that neither read from others nor are read. */
  alone: number;
  /** Only the current cell and its neighbours are shown, because the full map is too large. */
  isPart: boolean;
}

/** More lanes would take too much width. */
const MOST_LANES = 7;
/** Larger maps are unreadable; they show only a part. */
const MOST_ROWS = 250;
const MOST_LINKS = 1_200;

const others = (report: CellReport) => [...(report.parents ?? []), ...(report.children ?? [])].map(({ cell_id }) => cell_id);

export function linkMap(reports: readonly CellReport[], current: string | undefined, mostRows = MOST_ROWS): LinkMap {
  const linked = reports.filter((report) => others(report).length > 0);
  const count = linked.reduce((sum, { children }) => sum + (children?.length ?? 0), 0);
  const isPart = linked.length > mostRows || count > MOST_LINKS;
  const here = linked.find(({ cell_id }) => cell_id === current);
  const near = new Set(here ? [here.cell_id, ...others(here)] : []);
  const rows = isPart ? linked.filter(({ cell_id }) => near.has(cell_id)).slice(0, mostRows) : linked;
  const places = new Map(rows.map(({ cell_id }, index) => [cell_id, index]));
  // A partial map has only the lines of the current cell.
  const isShown = (from: number, to: number) => !isPart || [rows[from], rows[to]].includes(here);
  const ways = rows.map(({ children }, from) => ({
    from,
    to: (children ?? []).flatMap(({ cell_id }) => places.get(cell_id) ?? []).filter((to) => isShown(from, to)),
  }));
  const lanes = lanesOf(ways);
  const links = ways.flatMap(({ from, to }, index) => to.map((each) => ({ from, to: each, lane: lanes[index] ?? 0 })));
  const used = links.reduce((most, { lane }) => Math.max(most, lane + 1), 0);
  return { rows, links, lanes: used, alone: reports.length - linked.length, isPart };
}

/**
 * Assigns lanes, the shortest lines nearest to the cells. Lines that meet in a row get different lanes, so that they stay
 * distinct.
 */
function lanesOf(ways: { from: number; to: number[] }[]): number[] {
  const spans = ways.map(({ from, to }, index) => ({ index, top: Math.min(from, ...to), end: Math.max(from, ...to) }));
  const busy: { top: number; end: number }[][] = [];
  const lanes: number[] = [];
  const asLong = spans.filter(({ top, end }) => end > top).sort((a, b) => a.end - a.top - (b.end - b.top) || a.top - b.top);
  for (const span of asLong) {
    const isFree = (lane: { top: number; end: number }[]) => lane.every(({ top, end }) => end < span.top || top > span.end);
    let lane = busy.findIndex(isFree);
    if (lane < 0) lane = Math.min(busy.length, MOST_LANES - 1);
    (busy[lane] ??= []).push(span);
    lanes[span.index] = lane;
  }
  return lanes;
}

/** Label of a row: the names that the cell defines, else its first line of code. */
export function labelOf({ writes }: CellReport, source: string): string {
  if (writes.length > 0) return writes.join(", ");
  const lines = source.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "" && !/^(#|--|%)/.test(line)) ?? lines.find((line) => line !== "") ?? "";
}
