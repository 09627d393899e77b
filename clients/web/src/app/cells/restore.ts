// Commands that restore a notebook's earlier content as one undo step. Replaced content stays in the log.
import type { Cell, Command } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";

export interface Content {
  title: string;
  order: readonly string[];
  cells: ReadonlyMap<string, Cell>;
}

/** Commands from `now` to `past`. `trash` has the sources of deleted cells; unchanged ones are restored with their outputs. */
export function restoreCommands(past: Content, now: Content, trash: ReadonlyMap<string, string>, makeId = newId): Command[] {
  const commands: Command[] = [];
  if (past.title !== now.title) commands.push({ RenameNotebook: { title: past.title } });
  const order = now.order.filter((id) => past.cells.has(id));
  for (const id of now.order) if (!past.cells.has(id)) commands.push({ DeleteCell: { cell_id: id } });
  let before: string | undefined;
  past.order.forEach((id, index) => {
    const was = past.cells.get(id);
    if (!was) return;
    const place = before === undefined ? ("start" as const) : { after: before };
    const is = now.cells.get(id);
    const isBack = !is && trash.get(id) === was.source;
    const cell_id = is || isBack ? id : makeId();
    if (is) {
      if (is.source !== was.source)
        commands.push({ ReplaceSource: { cell_id: id, cell_version: is.cell_version, source: was.source } });
      if (is.cell_type !== was.cell_type) commands.push({ ChangeCellType: { cell_id: id, cell_type: was.cell_type } });
    } else if (isBack) {
      commands.push({ RestoreCell: { cell_id: id } }, { MoveCell: { cell_id: id, place } });
      order.splice(index, 0, id);
    } else {
      commands.push({ InsertCell: { cell_id, cell_type: was.cell_type, source: was.source, place } });
      order.splice(index, 0, cell_id);
    }
    if (is && order[index] !== id) {
      commands.push({ MoveCell: { cell_id: id, place } });
      order.splice(order.indexOf(id), 1);
      order.splice(index, 0, id);
    }
    before = cell_id;
  });
  return commands;
}
