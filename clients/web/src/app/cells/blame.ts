// Blame: the author of each line of a cell, computed from the notebook's events.
import { ChangeSet, Text } from "@codemirror/state";
import type { Actor, EventMessage } from "../../protocol/messages.ts";

export interface BlamedLine {
  text: string;
  actor: Actor;
  version: number;
  at: number;
}

type Owner = Omit<BlamedLine, "text">;

interface Written {
  text: Text;
  owners: Owner[];
}

/** Authors of the lines of all cells, updated with each event. */
export class Blame {
  readonly #cells = new Map<string, Written>();

  /** Applies the notebook's next event; returns the cell whose authors changed. */
  hear(event: EventMessage): string | undefined {
    const payload = event.payload as { cell_id?: string; cell?: { source: string }; source?: string; change?: unknown };
    const { cell_id: cell } = payload;
    if (cell === undefined) return undefined;
    const before = this.#cells.get(cell) ?? { text: Text.empty, owners: [] };
    const owner = { actor: event.actor, version: event.version, at: event.recorded_at };
    if (event.type === "CellInserted" || event.type === "CellRestored") {
      const text = Text.of((payload.cell?.source ?? payload.source ?? "").split("\n"));
      // A restored cell with the same text keeps its authors.
      if (event.type === "CellRestored" && text.eq(before.text)) return undefined;
      this.#cells.set(cell, { text, owners: Array.from({ length: text.lines }, () => owner) });
    } else if (event.type === "CellSourceEdited") {
      const change = ChangeSet.fromJSON(payload.change);
      if (change.length !== before.text.length) return undefined;
      this.#cells.set(cell, { text: change.apply(before.text), owners: moved(before.owners, change, before.text, owner) });
    } else {
      return undefined;
    }
    return cell;
  }

  lines(cell: string): BlamedLine[] {
    const { text, owners } = this.#cells.get(cell) ?? { text: Text.empty, owners: [] };
    return owners.map((owner, index) => ({ ...owner, text: text.line(index + 1).text }));
  }
}

/** Blame of one cell from the notebook's events in order; events of other cells are skipped. */
export function blame(events: readonly EventMessage[], cell: string): BlamedLine[] {
  const all = new Blame();
  for (const event of events) if ((event.payload as { cell_id?: string }).cell_id === cell) all.hear(event);
  return all.lines(cell);
}

/** A changed line gets the change's author; a line that only moves keeps its owner. */
function moved(owners: Owner[], change: ChangeSet, text: Text, owner: Owner): Owner[] {
  const after = change.apply(text);
  const spans: [from: number, to: number, count: number, keepsFirst: boolean, keepsLast: boolean][] = [];
  change.iterChanges((fromA, toA, fromB, toB, inserted) => {
    const [first, last] = [text.lineAt(fromA), text.lineAt(toA)];
    const [from, to] = [first.number, last.number];
    const [begin, end] = [after.lineAt(fromB).number, after.lineAt(toB).number];
    // Inserting new lines after the end or before the start of a line leaves that line's owner.
    const keepsFirst =
      fromA === toA && fromA === first.to && inserted.lines > 1 && inserted.line(1).length === 0 && first.length > 0;
    const keepsLast = fromA === toA && fromA === last.from && inserted.lines > 1 && inserted.line(inserted.lines).length === 0;
    spans.push([from, to, end - begin + 1, keepsFirst, keepsLast]);
  });
  const all = [...owners];
  for (const [from, to, count, keepsFirst, keepsLast] of spans.reverse()) {
    const mine = Array.from({ length: count }, () => owner);
    if (keepsFirst) mine[0] = owners[from - 1] ?? owner;
    else if (keepsLast) mine[count - 1] = owners[to - 1] ?? owner;
    all.splice(from - 1, to - from + 1, ...mine);
  }
  return all.slice(0, after.lines);
}
