// Edits of the cell list. New cells arrive with the server's answer, so keys typed for them are buffered.
import { ChangeSet } from "@codemirror/state";
import type { CellType, ChangeSet as WireChange, Command, Place } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
import type { Done } from "../../transport/outbox.ts";
import { keep, kept, type CopiedCell } from "../cells/clipboard.ts";
import { type Loss, lossOf, lossWords } from "../cells/depends.ts";
import type { OpenNotebook, Selection, Toasts, Typing } from "./notebook.ts";
import { withMerge, withSplit } from "../cells/threads.ts";

export class Edits {
  readonly #notebook: OpenNotebook & Selection & Toasts & Typing;

  constructor(notebook: OpenNotebook & Selection & Toasts & Typing) {
    this.#notebook = notebook;
  }

  insert(place: Place, cell_type: CellType = "code", source = "", edit = true): void {
    const cell_id = newId();
    this.#goTo(cell_id, this.#notebook.send({ InsertCell: { cell_id, cell_type, source, place } }), edit);
  }

  delete(cells: string[]): void {
    if (cells.length === 0) return;
    const notebook = this.#notebook;
    const correlationId = newId();
    const commands: Command[] = cells.map((cell_id) => ({ DeleteCell: { cell_id } }));
    const loss = lossOf(notebook.replica.document, cells);
    const work = notebook.send({ Batch: { commands } }, { correlationId });
    this.#wait(work);
    void work.then((done) => done && this.#tellLoss(cells.length, loss, correlationId));
  }

  /**
   * Moves the displayed text after `at`, with its threads, into a new cell below. One undo step, sent after pending text is
   * confirmed.
   */
  split(cell: string, at: number): void {
    const shown = this.#notebook.texts.shown(cell) ?? this.#notebook.replica.document.cells.get(cell)?.source;
    if (shown === undefined) return;
    const cell_id = newId();
    const [head, rest] = [shown.slice(0, at), shown.slice(at)];
    this.#goTo(cell_id, this.#split(cell, cell_id, head, rest), true);
  }

  async #split(cell: string, cell_id: string, head: string, rest: string): Promise<Done | undefined> {
    const notebook = this.#notebook;
    await notebook.texts.settled([cell]);
    const { document } = notebook.replica;
    const is = document.cells.get(cell);
    if (!is) return undefined;
    // Others may have edited meanwhile: split where the text after or before the caret is unchanged.
    const { source } = is;
    const at = source.endsWith(rest) ? source.length - rest.length : source.startsWith(head) ? head.length : undefined;
    if (at === undefined) return void notebook.toast({ text: "The text was changed meanwhile. Split again." });
    const from = source[at] === "\n" ? at + 1 : at;
    const insert: Command = {
      InsertCell: { cell_id, cell_type: is.cell_type, source: source.slice(from), place: { after: cell } },
    };
    const change = ChangeSet.of({ from: at, to: source.length }, source.length).toJSON() as WireChange;
    const edit: Command = { EditSource: { cell_id: cell, base: document.version, change } };
    return notebook.send({ Batch: { commands: [insert, ...withSplit(document, cell, from, cell_id), edit] } });
  }

  /** Inserts copies of the selected cells below the last of them. */
  duplicate(): void {
    const { selected, replica } = this.#notebook;
    const { document } = replica;
    let place: Place | undefined = selected.length === 0 ? undefined : { after: selected.at(-1) ?? "" };
    if (place === undefined) return;
    const work = this.#notebook.texts.settled(selected).then(() => {
      const commands: Command[] = selected.flatMap((id) => {
        const cell = document.cells.get(id);
        if (!cell || place === undefined) return [];
        const { cell_type, source, metadata, attachments, flags } = cell;
        const cell_id = newId();
        const insert = { InsertCell: { cell_id, cell_type, source, metadata, attachments, flags, place } } as Command;
        place = { after: cell_id };
        return [insert];
      });
      return commands.length > 0 ? this.#notebook.send({ Batch: { commands } }) : undefined;
    });
    this.#wait(work, (done) => done?.outcome.cells?.[0] !== undefined && this.#notebook.select(done.outcome.cells[0]));
  }

  /** Clears the outputs of cells; the runs stay in the log. */
  clearOutputs(cells: readonly string[]): void {
    const shows = cells.filter((id) => this.#notebook.replica.document.latestExecution(id));
    const commands: Command[] = shows.map((cell_id) => ({ ClearOutputs: { cell_id } }));
    if (commands.length > 0) void this.#notebook.send({ Batch: { commands } });
  }

  #tellLoss(count: number, loss: Loss, correlation_id: string): void {
    const notebook = this.#notebook;
    const { document } = notebook.replica;
    const what = count === 1 ? "Cell deleted" : `${count} cells deleted`;
    const user = loss.users.find(({ cell }) => document.cells.has(cell))?.cell;
    notebook.toast({
      text: [what, ...lossWords(loss, document.order)].join(" · "),
      action: { label: "Undo", run: () => void notebook.send({ Undo: { correlation_id } }) },
      ...(user && { second: { label: `Go to cell ${document.order.indexOf(user) + 1}`, run: () => notebook.select(user) } }),
    });
  }

  move(step: 1 | -1): void {
    const cell_id = this.#notebook.current;
    const other = this.#notebook.neighbour(step);
    if (cell_id === undefined || other === undefined || other === cell_id) return;
    this.#wait(this.#notebook.send({ MoveCell: { cell_id, place: step > 0 ? { after: other } : { before: other } } }));
  }

  /** Moves cells to a place, in their order. */
  moveTo(cells: readonly string[], place: Place): void {
    const beside = typeof place === "string" ? undefined : "before" in place ? place.before : place.after;
    if (beside !== undefined && cells.includes(beside)) return;
    let at = place;
    const commands: Command[] = cells.map((cell_id) => {
      const move = { MoveCell: { cell_id, place: at } };
      at = { after: cell_id };
      return move;
    });
    if (commands.length > 0) this.#wait(this.#notebook.send({ Batch: { commands } }));
  }

  changeType(cell_type: CellType): void {
    const commands: Command[] = this.#notebook.selected.map((cell_id) => ({ ChangeCellType: { cell_id, cell_type } }));
    if (commands.length > 0) this.#wait(this.#notebook.send({ Batch: { commands } }));
  }

  copy(): void {
    const { id: notebook, replica } = this.#notebook;
    const cells = this.#notebook.selected.flatMap((id) => replica.document.cells.get(id) ?? []);
    const copied = cells.map(({ cell_type, source, attachments }) => ({ cell_type, source, ...(attachments && { attachments }) }));
    keep(copied, { notebook, epoch: replica.redactionEpoch });
  }

  /** Joins the selected cells into the first, with its type. A single cell is joined with the next one. */
  merge(): void {
    const { selected, current, replica } = this.#notebook;
    const { document } = replica;
    const chosen = selected.length > 1 ? selected : [current, this.#notebook.neighbour(1)];
    const [first, ...others] = chosen.flatMap((id) => (id === undefined ? [] : [[id, document.cells.get(id)] as const]));
    if (!first?.[1] || others.length === 0 || others[0]?.[0] === first[0]) return;
    const source = [first, ...others].map(([, cell]) => cell?.source ?? "").join("\n");
    const replace: Command = { ReplaceSource: { cell_id: first[0], cell_version: first[1].cell_version, source } };
    let at = first[1].source.length;
    const threads = others.flatMap(([cell_id, cell]) => {
      const commands = withMerge(document, cell_id, at + 1, first[0]);
      at += 1 + (cell?.source.length ?? 0);
      return commands;
    });
    const deletions = others.map(([cell_id]): Command => ({ DeleteCell: { cell_id } }));
    this.#goTo(first[0], this.#notebook.send({ Batch: { commands: [replace, ...threads, ...deletions] } }));
  }

  /** Inserts the cells below the selection, or at `to`; returns the place after them. */
  paste(cells: CopiedCell[] = kept(), to?: Place): Place {
    const after = this.#notebook.selected.at(-1);
    let place: Place = to ?? (after === undefined ? "end" : { after });
    const commands: Command[] = cells.map(({ cell_type, source, attachments }) => {
      const cell_id = newId();
      const insert = { InsertCell: { cell_id, cell_type, source, place, ...(attachments && { attachments }) } };
      place = { after: cell_id };
      return insert;
    });
    const last = typeof place === "object" && "after" in place ? place.after : undefined;
    if (commands.length > 0) this.#goTo(last, this.#notebook.send({ Batch: { commands } }));
    return place;
  }

  /** Undoes the person's last change, or redoes it, and selects a cell that it touched. */
  step(command: "Undo" | "Redo"): void {
    const notebook = this.#notebook;
    const next = notebook.replica.next?.[command === "Undo" ? "undo" : "redo"];
    // Unconfirmed text is the last change, so it is sent first.
    const work = notebook.texts
      .settled(notebook.texts.cells())
      .then(() => notebook.send(command === "Undo" ? { Undo: {} } : { Redo: {} }));
    const select = (done: Done | undefined) => {
      const cell = next?.cells?.find((id) => notebook.replica.document.cells.has(id));
      if (done && cell !== undefined) notebook.select(cell);
    };
    this.#wait(work, select);
  }

  /** Selects the cell when it arrives, unless the person has moved elsewhere meanwhile. */
  #goTo(cell: string | undefined, work: Promise<Done | undefined>, edit = false): void {
    const notebook = this.#notebook;
    // Leaves the current editor: keys typed from now on are meant for the new cell.
    if (notebook.isEditing && notebook.isLive) notebook.select(notebook.current);
    const { current, isEditing } = notebook;
    const select = (done: Done | undefined) => {
      const isGone = current === undefined || !notebook.replica.document.cells.has(current);
      const isWhereItWas = isGone || (notebook.current === current && notebook.isEditing === isEditing);
      if (done && isWhereItWas) notebook.select(cell, { edit });
    };
    this.#wait(work, select);
  }

  #wait(work: Promise<Done | undefined>, arrive?: (done: Done | undefined) => void): void {
    const notebook = this.#notebook;
    if (notebook.isLive) return notebook.ahead.until(work, arrive);
    void work.then((done) => {
      notebook.focus.act();
      arrive?.(done);
    });
  }
}
