// Groups of neighbouring cells. The page leaves out the layout of groups that are out of sight; a cell stays in its group, or it
// would be mounted anew whenever a cell is inserted above.

// A frame lays out the groups that come into sight: of 50 cells that took 100 ms, of 10 a fifth. A group for each cell would take 20 ms
// of each frame to find out which of 10,000 are in sight.
const SIZE = 10;
const MOST = 20;

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
  const earlier = new Map(before.map((chunk) => [chunk.id, chunk]));
  return chunks.map((chunk) => {
    const old = earlier.get(chunk.id);
    return old && isSame(old.cells, chunk.cells) ? old : chunk;
  });
}

/** A new cell joins a group that is not full; a cell of the group stays until the group is twice its size. */
function limit(home: number | undefined): number {
  return home === undefined ? SIZE : MOST;
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((cell, index) => cell === b[index]);
}
