// Commands that move comment threads with their text, for the batch that splits or merges cells.
import type { Document } from "../../protocol/document.ts";
import type { Command } from "../../protocol/messages.ts";

/** Threads of a cell whose text after `at` moves to the cell `to`. These commands precede the edit of the text. */
export function withSplit({ threads }: Document, cell: string, at: number, to: string): Command[] {
  return [...threads].flatMap(([thread_id, { cell_id, range }]) => {
    if (cell_id !== cell || !range || range[0] < at) return [];
    return [{ MoveThread: { thread_id, place: { cell_id: to, range: [range[0] - at, range[1] - at] } } }];
  });
}

/** Threads of a cell whose text is merged into the cell `to` at `at`. These commands precede the cell's deletion. */
export function withMerge({ threads }: Document, cell: string, at: number, to: string): Command[] {
  return [...threads].flatMap(([thread_id, { cell_id, range }]) => {
    if (cell_id !== cell) return [];
    const place = range ? { cell_id: to, range: [range[0] + at, range[1] + at] as [number, number] } : { cell_id: to };
    return [{ MoveThread: { thread_id, place } }];
  });
}
