// Blame: the author of each line of a cell, from the server's answer and the events after it.
import { ChangeSet, Text } from "@codemirror/state";
import type { Actor, EventMessage } from "../../protocol/messages.ts";
import type { CellBlame, NotebookBlame } from "../../protocol/rest.ts";

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

  /** Authors at the version of the answer; without one, those of an empty notebook. */
  constructor(known?: NotebookBlame) {
    for (const cell of known?.cells ?? []) {
      this.#cells.set(cell.cell_id, { text: Text.of(cell.source.split("\n")), owners: ownersOf(cell, known!.events) });
    }
  }

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

/** Owner of each line: the newest event that wrote in it; of an empty line, that of its line break. */
function ownersOf({ source, runs }: CellBlame, events: NotebookBlame["events"]): Owner[] {
  const ends: [at: number, version: number][] = [];
  for (const { length, version } of runs) ends.push([(ends.at(-1)?.[0] ?? 0) + length, version]);
  let run = 0;
  const versionAt = (at: number) => {
    while (run < ends.length - 1 && ends[run]![0] <= at) run += 1;
    return ends[run]?.[1] ?? 0;
  };
  let start = 0;
  let lineBreak = 0;
  return source.split("\n").map((line) => {
    let version = 0;
    const end = start + line.length;
    for (let at = start; at < end; at = Math.max(at + 1, Math.min(end, ends[run]![0]))) version = Math.max(version, versionAt(at));
    const before = lineBreak;
    lineBreak = end < source.length ? versionAt(end) : 0;
    version ||= lineBreak || before;
    start = end + 1;
    const event = events[String(version)];
    return { actor: event?.actor ?? { kind: "system" }, version, at: event?.recorded_at ?? 0 };
  });
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
