// Groups of neighbouring cells. The page leaves out the layout of groups that are out of sight; a cell stays in its group, or it
// would be mounted anew whenever a cell is inserted above.

const SIZE = 50;
const MOST = 100;

export interface Chunk {
  id: number;
  cells: string[];
}

let ids = 0;

/** The groups of an order, as near to the earlier groups as may be. Groups that are as they were are the same objects. */
export function rechunk(order: readonly string[], before: readonly Chunk[]): Chunk[] {
  const home = new Map(before.flatMap((chunk) => chunk.cells.map((cell) => [cell, chunk.id] as const)));
  const chunks: Chunk[] = [];
  const taken = new Set<number>();
  for (const cell of order) {
    const current = chunks.at(-1);
    const id = home.get(cell);
    const opens = !current || (id !== undefined && id !== current.id && !taken.has(id)) || current.cells.length >= limit(id);
    if (!opens) current.cells.push(cell);
    else chunks.push({ id: id !== undefined && !taken.has(id) ? id : ++ids, cells: [cell] });
    taken.add(chunks.at(-1)?.id ?? 0);
  }
  return chunks.map((chunk) => before.find((old) => old.id === chunk.id && isSame(old.cells, chunk.cells)) ?? chunk);
}

/** A new cell joins a group that is not full; a cell of the group stays until the group is twice its size. */
function limit(home: number | undefined): number {
  return home === undefined ? SIZE : MOST;
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((cell, index) => cell === b[index]);
}
