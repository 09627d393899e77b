// Threads of comments whose text goes to another cell: what takes them along, in the batch that splits or merges.
import type { Document } from "../protocol/document.ts";
import type { Command } from "../protocol/messages.ts";

/** Of a cell whose text from `at` on becomes that of the cell `to`. Comes before the text goes. */
export function withSplit({ threads }: Document, cell: string, at: number, to: string): Command[] {
  return [...threads].flatMap(([thread_id, { cell_id, range }]) => {
    if (cell_id !== cell || !range || range[0] < at) return [];
    return [{ MoveThread: { thread_id, place: { cell_id: to, range: [range[0] - at, range[1] - at] } } }];
  });
}

/** Of a cell whose text stands in the cell `to` from `at` on. Comes before the cell goes. */
export function withMerge({ threads }: Document, cell: string, at: number, to: string): Command[] {
  return [...threads].flatMap(([thread_id, { cell_id, range }]) => {
    if (cell_id !== cell) return [];
    const place = range ? { cell_id: to, range: [range[0] + at, range[1] + at] as [number, number] } : { cell_id: to };
    return [{ MoveThread: { thread_id, place } }];
  });
}
