// Who wrote each line of a cell, from the events of the notebook.
import { ChangeSet, Text } from "@codemirror/state";
import type { Actor, EventMessage } from "../protocol/messages.ts";

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

/** The authors of all cells' lines, told event by event. */
export class Blame {
  readonly #cells = new Map<string, Written>();

  /** The next event of the notebook. Gives the cell whose authors are others now. */
  hear(event: EventMessage): string | undefined {
    const payload = event.payload as { cell_id?: string; cell?: { source: string }; source?: string; change?: unknown };
    const { cell_id: cell } = payload;
    if (cell === undefined) return undefined;
    const before = this.#cells.get(cell) ?? { text: Text.empty, owners: [] };
    const owner = { actor: event.actor, version: event.version, at: event.recorded_at };
    if (event.type === "CellInserted" || event.type === "CellRestored") {
      const text = Text.of((payload.cell?.source ?? payload.source ?? "").split("\n"));
      // A cell that comes back is as it was when it went.
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

/** The events of a notebook in their order; those of other cells are passed over. */
export function blame(events: readonly EventMessage[], cell: string): BlamedLine[] {
  const all = new Blame();
  for (const event of events) if ((event.payload as { cell_id?: string }).cell_id === cell) all.hear(event);
  return all.lines(cell);
}

/** The lines that a change touches are its author's; those that it only pushes on stay whose they were. */
function moved(owners: Owner[], change: ChangeSet, text: Text, owner: Owner): Owner[] {
  const after = change.apply(text);
  const spans: [from: number, to: number, count: number, keepsFirst: boolean, keepsLast: boolean][] = [];
  change.iterChanges((fromA, toA, fromB, toB, inserted) => {
    const [first, last] = [text.lineAt(fromA), text.lineAt(toA)];
    const [from, to] = [first.number, last.number];
    const [begin, end] = [after.lineAt(fromB).number, after.lineAt(toB).number];
    // What is written behind the end of a line on new lines leaves that line alone; so does what is written before a line.
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
