// The texts of a notebook's cells that somebody edits here: sends what is typed, carries it over what others do.
import { ChangeSet, type Text } from "@codemirror/state";
import type { ChangeSet as WireChange, EventMessage, EventPayloads } from "../protocol/messages.ts";
import type { Document } from "../protocol/document.ts";
import { Listeners } from "../transport/listeners.ts";
import { newId } from "../transport/ids.ts";
import { Rejected } from "../transport/outbox.ts";
import type { Replica, UnconfirmedTexts } from "../transport/replica.ts";
import { CellText, toText } from "./text.ts";

/** Text that could not be merged: the person gets it as a copy. */
export interface Copy {
  cellId: string;
  text: string;
  reason: string;
  /** The person may not edit any more. */
  isForbidden: boolean;
}

/** One undo step holds what was typed in one cell with pauses shorter than this, … */
const PAUSE_MS = 1_500;
/** … and at most so long. */
const BURST_MS = 20_000;

interface Tracked {
  text: CellText;
  /** The command that holds `text.sent`. */
  commandId: string | undefined;
  editors: Set<(change: ChangeSet) => void>;
}

/** An editor's hold on a cell's text. */
export interface OpenText {
  readonly text: Text;
  edit(change: ChangeSet): void;
  close(): void;
}

export class Texts implements UnconfirmedTexts {
  readonly copied = new Listeners<[Copy]>();
  /** The number of cells with unconfirmed text, or what they show, has changed. */
  readonly changed = new Listeners<[cellId: string]>();
  readonly #replica: Replica;
  readonly #cells = new Map<string, Tracked>();
  #burst = { cellId: "", id: "", begun: 0, last: 0 };

  constructor(replica: Replica) {
    this.#replica = replica;
    replica.texts = this;
  }

  /** An editor shows the cell; it hears of the changes of others. */
  open(cellId: string, changed: (change: ChangeSet) => void): OpenText {
    const tracked = this.#track(cellId);
    tracked.editors.add(changed);
    return {
      text: tracked.text.shown,
      edit: (change) => this.#edit(cellId, tracked, change),
      close: () => {
        tracked.editors.delete(changed);
        this.#forget(cellId, tracked);
      },
    };
  }

  /** A change that comes from no editor: all of them show it. */
  change(cellId: string, make: (text: Text) => ChangeSet): void {
    const tracked = this.#track(cellId);
    const change = make(tracked.text.shown);
    if (change.empty) return;
    this.#edit(cellId, tracked, change);
    this.#show(tracked, change);
    this.#forget(cellId, tracked);
  }

  /** What the person sees of a cell that has unconfirmed text. */
  shown(cellId: string): string | undefined {
    const text = this.#cells.get(cellId)?.text;
    return text?.isUnconfirmed ? text.shown.toString() : undefined;
  }

  /** What an editor shows of a cell, which may be gone. */
  held(cellId: string): string | undefined {
    return this.#cells.get(cellId)?.text.shown.toString();
  }

  /** Where a stretch of the server's text is in what the person sees of it. */
  placed(cellId: string, [from, to]: readonly [number, number]): { from: number; to: number } {
    const text = this.#cells.get(cellId)?.text;
    return { from: text?.placed(from, 1) ?? from, to: text?.placed(to, -1) ?? to };
  }

  /** When what was typed in these cells is confirmed, or given up. */
  settled(cellIds: string[]): Promise<void> {
    const isOpen = () => cellIds.some((id) => this.#cells.get(id)?.text.isUnconfirmed);
    if (!isOpen()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = this.changed.add(() => {
        if (isOpen()) return;
        end();
        resolve();
      });
    });
  }

  cells(): string[] {
    return [...this.#cells].filter(([, { text }]) => text.isUnconfirmed).map(([id]) => id);
  }

  receive(event: EventMessage): void {
    const payload = event.payload as Partial<NonNullable<EventPayloads["CellSourceEdited" | "CellInserted" | "CellDeleted"]>>;
    const cellId = payload.cell_id;
    const tracked = cellId === undefined ? undefined : this.#cells.get(cellId);
    if (!cellId || !tracked) return;
    if (event.type === "CellSourceEdited" && "change" in payload && payload.change)
      this.#edited(cellId, tracked, event, payload.change);
    else if (event.type === "CellDeleted") this.giveUp(cellId, "This cell was deleted.");
    else if ("cell" in payload && payload.cell) this.#show(tracked, tracked.text.reset(toText(payload.cell.source)));
  }

  giveUp(cellId: string, reason: string, isForbidden = false): void {
    const tracked = this.#cells.get(cellId);
    if (!tracked?.text.isUnconfirmed) return;
    const text = tracked.text.shown.toString();
    tracked.commandId = undefined;
    this.#show(tracked, tracked.text.drop());
    this.copied.tell({ cellId, text, reason, isForbidden });
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  caughtUp(document: Document, isSnapshot: boolean): void {
    for (const [cellId, tracked] of [...this.#cells]) {
      if (isSnapshot) this.#align(cellId, tracked, document);
      this.#send(cellId, tracked);
    }
  }

  #track(cellId: string): Tracked {
    const known = this.#cells.get(cellId);
    if (known) return known;
    const source = this.#replica.document.cells.get(cellId)?.source ?? "";
    const tracked: Tracked = { text: new CellText(toText(source)), commandId: undefined, editors: new Set() };
    this.#cells.set(cellId, tracked);
    return tracked;
  }

  #forget(cellId: string, { text, editors }: Tracked): void {
    if (editors.size === 0 && !text.isUnconfirmed) this.#cells.delete(cellId);
  }

  #show({ editors }: Tracked, change: ChangeSet): void {
    if (!change.empty) for (const editor of editors) editor(change);
  }

  #edit(cellId: string, tracked: Tracked, change: ChangeSet): void {
    tracked.text.edit(change);
    this.#send(cellId, tracked);
    this.changed.tell(cellId);
  }

  #edited(cellId: string, tracked: Tracked, event: EventMessage, change: WireChange): void {
    const isOwn = tracked.commandId !== undefined && event.command_id === tracked.commandId;
    if (!isOwn) return this.#show(tracked, tracked.text.receive(ChangeSet.fromJSON(change)));
    tracked.text.confirm();
    tracked.commandId = undefined;
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  #send(cellId: string, tracked: Tracked): void {
    if (!this.#replica.isInStep) return;
    const change = tracked.text.take();
    if (!change) return;
    const id = newId();
    tracked.commandId = id;
    const edit = { cell_id: cellId, base: this.#replica.document.version, change: change.toJSON() as WireChange };
    const done = this.#replica.command({ EditSource: edit }, { id, correlationId: this.#burstOf(cellId) });
    done.then(
      () => this.#acked(cellId, tracked, id),
      (error: unknown) => {
        if (tracked.commandId !== id) return;
        if (error instanceof Rejected) this.giveUp(cellId, error.message, error.code === "forbidden");
        else this.giveUp(cellId, String(error));
      },
    );
  }

  /** A change that came to nothing has an ack and no event. */
  #acked(cellId: string, tracked: Tracked, id: string): void {
    if (tracked.commandId !== id) return;
    if (!tracked.text.sent?.empty) return this.giveUp(cellId, "the server did not take the change");
    tracked.text.confirm();
    tracked.commandId = undefined;
    this.#send(cellId, tracked);
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  /** After a snapshot the confirmed text is the snapshot's. */
  #align(cellId: string, tracked: Tracked, document: Document): void {
    const source = document.cells.get(cellId)?.source;
    if (source === undefined || tracked.text.confirmed.toString() === source) return;
    this.giveUp(cellId, "the text has changed in a way that cannot be merged");
    this.#show(tracked, tracked.text.reset(toText(source)));
  }

  #burstOf(cellId: string): string {
    const now = Date.now();
    const { begun, last } = this.#burst;
    const goesOn = this.#burst.cellId === cellId && now - last < PAUSE_MS && now - begun < BURST_MS;
    this.#burst = goesOn ? { ...this.#burst, last: now } : { cellId, id: newId(), begun: now, last: now };
    return this.#burst.id;
  }
}
