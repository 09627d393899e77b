// Chunks of neighbouring cells: the page skips the layout of chunks outside the viewport. A cell stays in its chunk, because a
// move would remount it whenever a cell is inserted above.

// Chunk size, measured: laying out a chunk that enters the viewport took 100 ms with 50 cells, a fifth with 10. One chunk per
// cell would cost 20 ms a frame to find the visible ones among 10,000.
const SIZE = 10;
const MOST = 20;

export interface Chunk {
  id: number;
  cells: string[];
}

let ids = 0;

/** Chunks of an order, as close as possible to the previous chunks. Unchanged chunks are the same objects. */
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

/** A new cell joins a chunk below SIZE; a chunk keeps its own cells up to MOST. */
function limit(home: number | undefined): number {
  return home === undefined ? SIZE : MOST;
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((cell, index) => cell === b[index]);
}
