// Events of cells: content, order, displayed execution.
import type { Cell, CellContent, CellReply } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { applyChange } from "../change.ts";
import { cellContent, cellFlags, pastExecution, present, reply as replyValue } from "../values.ts";
import { follow } from "./comments.ts";
import { forgetUnshown } from "./executions.ts";

export const cellEvents: Handlers = {
  CellInserted: ({ cell_id, cell, reply }, folding) => insert(folding, cell_id, cell, reply),
  CellRestored({ cell_id, cell, reply, latest_execution, execution }, folding) {
    insert(folding, cell_id, cell, reply);
    if (!latest_execution) return;
    const { latest, executions } = folding.document;
    latest.set(cell_id, latest_execution);
    if (execution && !executions.has(latest_execution)) executions.set(latest_execution, pastExecution(execution));
  },
  CellDeleted: ({ cell_id }, folding) => remove(folding, cell_id),
  CellSourceEdited({ cell_id, change: edit }, folding) {
    change(folding, cell_id, (cell) => {
      const source = applyChange(cell.source, edit);
      if (source === undefined) return cell;
      follow(folding, cell_id, edit);
      const version = folding.event.version;
      return { ...cell, source, cell_version: version, source_version: version };
    });
  },
  CellMoved({ cell_id, order_key }, folding) {
    takeOutOfOrder(folding, cell_id);
    change(folding, cell_id, (cell) => ({ ...cell, order_key, cell_version: folding.event.version }));
    place(folding, cell_id);
  },
  CellTypeChanged({ cell_id, cell_type }, folding) {
    change(folding, cell_id, (cell) => ({ ...cell, cell_type, cell_version: folding.event.version }));
  },
  CellMetadataSet({ cell_id, metadata }, folding) {
    change(folding, cell_id, (cell) => withContent(cell, { ...cell, metadata }));
  },
  CellAttachmentsSet({ cell_id, attachments }, folding) {
    change(folding, cell_id, (cell) => withContent(cell, { ...cell, attachments }));
  },
  CellFlagsSet({ cell_id, flags }, folding) {
    change(folding, cell_id, (cell) => withContent(cell, { ...cell, flags: cellFlags(flags) }));
  },
  CellOutputsCleared({ cell_id, execution_id }, folding) {
    folding.document.latest.delete(cell_id);
    forgetUnshown(folding.document, execution_id);
    folding.touched.cell(cell_id);
  },
};

function change({ document, touched }: Folding, id: string, next: (cell: Cell) => Cell): void {
  const cell = document.cells.get(id);
  if (!cell) return;
  document.cells.set(id, next(cell));
  touched.cell(id);
}

function withContent(cell: Cell, changed: Cell): Cell {
  const { reply, cell_version, source_version } = cell;
  return present({ ...cellContent(changed), reply, cell_version, source_version });
}

function insert(folding: Folding, id: string, content: CellContent, reply: CellReply | null | undefined): void {
  remove(folding, id);
  const version = folding.event.version;
  const shown = reply ? { reply: replyValue(reply) } : {};
  folding.document.cells.set(id, { ...cellContent(content), ...shown, cell_version: version, source_version: version });
  place(folding, id);
  folding.touched.cell(id);
}

/** Inserts a cell of `cells` into `order`, by order key, then id. */
function place({ document, touched }: Folding, id: string): void {
  const cell = document.cells.get(id);
  if (!cell) return;
  document.order = document.order.toSpliced(document.placeOf(cell.order_key, id), 0, id);
  touched.part("order");
}

function remove(folding: Folding, id: string): void {
  const { document, touched } = folding;
  takeOutOfOrder(folding, id);
  if (!document.cells.delete(id)) return;
  touched.cell(id);
  const shown = document.latest.get(id);
  document.latest.delete(id);
  if (shown !== undefined) forgetUnshown(document, shown);
}

function takeOutOfOrder({ document, touched }: Folding, id: string): void {
  const cell = document.cells.get(id);
  const index = cell ? document.placeOf(cell.order_key, id) : -1;
  if (document.order[index] !== id) return;
  document.order = document.order.toSpliced(index, 1);
  touched.part("order");
}
