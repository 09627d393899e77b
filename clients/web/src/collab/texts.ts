// Texts of the cells edited in this page: sends the person's changes and maps them over those of others.
import { ChangeSet, type Text } from "@codemirror/state";
import type { ChangeSet as WireChange, Command, EventMessage, EventPayloads } from "../protocol/messages.ts";
import type { Document } from "../protocol/document.ts";
import { Listeners } from "../transport/listeners.ts";
import { newId } from "../transport/ids.ts";
import { Rejected } from "../transport/outbox.ts";
import type { Replica, UnconfirmedTexts } from "../transport/replica.ts";
import { CellText, toText } from "./text.ts";
import { type How, OwnSteps } from "./undo.ts";

/** Text that could not be merged; the person gets a copy. */
export interface Copy {
  cellId: string;
  text: string;
  reason: string;
  /** The person no longer has the right to edit. */
  isForbidden: boolean;
}

/** Limit of undo key presses that wait for a pending server undo. */
const MOST_PRESSES = 100;

export type UndoKind = "undo" | "redo";

interface Tracked {
  text: CellText;
  /** Id of the command with `text.sent`. */
  commandId: string | undefined;
  editors: Set<Shows>;
}

interface Asked {
  commandId: string;
  kind: UndoKind;
  /** Cells whose text the undo changed. */
  changed: string[];
  presses: [cellId: string, kind: UndoKind][];
}

/** Displays a change in an editor; `isStep` marks the person's own undo or redo. */
type Shows = (change: ChangeSet, isStep: boolean) => void;

/** An editor's handle of a cell's text. */
export interface OpenText {
  readonly text: Text;
  /** `userEvent` is CodeMirror's name of the person's action. */
  edit(change: ChangeSet, userEvent?: string): void;
  close(): void;
}

export class Texts implements UnconfirmedTexts {
  readonly copied = new Listeners<[Copy]>();
  /** The unconfirmed text of a cell changed. */
  readonly changed = new Listeners<[cellId: string]>();
  /** The person's undo deleted the current cell; tells the cells whose text it changed. */
  readonly left = new Listeners<[cellIds: string[]]>();
  /** An undo needs the server, which cannot be reached. */
  readonly stuck = new Listeners<[]>();
  readonly #replica: Replica;
  readonly #cells = new Map<string, Tracked>();
  /** Undo steps by cell, with or without an open editor. */
  readonly #steps = new Map<string, OwnSteps>();
  readonly #me: string | undefined;
  /** Cell of the last key press, unless the caret moved since: typing elsewhere starts a new undo step. */
  #typedIn = "";
  /** The pending server undo, with later key presses. */
  #asked: Asked | undefined;

  /**
   * `me` is the account whose steps count as own, also from other tabs. Guests of one link share an actor, so they have no own
   * steps.
   */
  constructor(replica: Replica, me?: string) {
    this.#replica = replica;
    this.#me = me;
    replica.texts = this;
  }

  /** Undoes or redoes the person's last step in a cell. Steps unknown to this page are left to the server. */
  step(cellId: string, kind: UndoKind): void {
    if (this.#asked) return void (this.#asked.presses.length < MOST_PRESSES && this.#asked.presses.push([cellId, kind]));
    const tracked = this.#track(cellId);
    const taken = this.#stepsOf(cellId).take(kind, tracked.text.shown, this.#me !== undefined && this.#replica.isInStep);
    if ("change" in taken) {
      this.#edit(cellId, tracked, taken.change, taken.how);
      this.#show(tracked, taken.change, true);
    } else if (this.#me) void this.#ask(cellId, kind, taken.ask);
    this.#forget(cellId, tracked);
  }

  async #ask(cellId: string, kind: UndoKind, id: string | undefined): Promise<void> {
    if (!this.#replica.isInStep) return this.stuck.tell();
    const commandId = newId();
    const asked: Asked = (this.#asked = { commandId, kind, changed: [], presses: [] });
    // Local undos must reach the server first.
    await this.settled([cellId]);
    const undo = id === undefined ? { cell_id: cellId } : { correlation_id: id };
    const body = kind === "undo" ? { Undo: undo } : { Redo: { cell_id: cellId } };
    await this.#replica.command(body as Command, { id: commandId }).catch(() => undefined);
    this.#asked = undefined;
    // A step without effect (overwritten or already undone) does not use up the key press.
    if (asked.changed.length === 0 && id !== undefined) {
      this.#stepsOf(cellId).forget(id);
      asked.presses.unshift([cellId, kind]);
    }
    if (asked.changed.length > 0 && !this.#replica.document.cells.has(cellId)) this.left.tell(asked.changed);
    for (const [cell, each] of asked.presses) this.step(cell, each);
  }

  #stepsOf(cellId: string): OwnSteps {
    const known = this.#steps.get(cellId) ?? new OwnSteps();
    this.#steps.set(cellId, known);
    return known;
  }

  /** Opens a cell's text for an editor, which is notified of others' changes. */
  open(cellId: string, changed: Shows): OpenText {
    const tracked = this.#track(cellId);
    tracked.editors.add(changed);
    return {
      text: tracked.text.shown,
      edit: (change, userEvent) => this.#typed(cellId, tracked, change, userEvent),
      close: () => {
        tracked.editors.delete(changed);
        this.#forget(cellId, tracked);
      },
    };
  }

  /** Ends the current undo step: the person moved the caret. */
  pause(): void {
    this.#typedIn = "";
  }

  /** Applies a change that comes from no editor, and displays it in all of them. */
  change(cellId: string, make: (text: Text) => ChangeSet): void {
    const tracked = this.#track(cellId);
    const change = make(tracked.text.shown);
    if (change.empty) return;
    this.#typed(cellId, tracked, change, "change");
    this.#show(tracked, change);
    this.#forget(cellId, tracked);
  }

  /** Displayed text of a cell; undefined if all of it is confirmed. */
  shown(cellId: string): string | undefined {
    const text = this.#cells.get(cellId)?.text;
    return text?.isUnconfirmed ? text.shown.toString() : undefined;
  }

  /** Text that an editor displays, even if its cell was deleted. */
  held(cellId: string): string | undefined {
    return this.#cells.get(cellId)?.text.shown.toString();
  }

  /** Text that the person has typed and nobody confirmed, by cell. It has nothing of the confirmed text. */
  typed(): { cellId: string; text: string }[] {
    return [...this.#cells].map(([cellId, { text }]) => ({ cellId, text: text.typed() })).filter(({ text }) => text !== "");
  }

  /** Maps a range of the server's text to the displayed text. */
  placed(cellId: string, [from, to]: readonly [number, number]): { from: number; to: number } {
    const text = this.#cells.get(cellId)?.text;
    return { from: text?.placed(from, 1) ?? from, to: text?.placed(to, -1) ?? to };
  }

  /** Resolves when the text of these cells is confirmed or given up. */
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
    if (!cellId) return;
    const tracked = this.#cells.get(cellId);
    if (event.type === "CellSourceEdited" && "change" in payload && payload.change)
      return this.#edited(cellId, tracked, event, ChangeSet.fromJSON(payload.change));
    if (event.type === "CellDeleted" || "cell" in payload) this.#steps.delete(cellId);
    if (!tracked) return;
    if (event.type === "CellDeleted") this.giveUp(cellId, "This cell was deleted.");
    else if ("cell" in payload && payload.cell) this.#show(tracked, tracked.text.reset(toText(payload.cell.source)));
  }

  giveUp(cellId: string, reason: string, isForbidden = false): void {
    const tracked = this.#cells.get(cellId);
    if (!tracked?.text.isUnconfirmed) return;
    const text = tracked.text.shown.toString();
    tracked.commandId = undefined;
    this.#steps.delete(cellId);
    // Before the editor drops the text, because that moves the caret.
    this.copied.tell({ cellId, text, reason, isForbidden });
    this.#show(tracked, tracked.text.drop());
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  caughtUp(document: Document, isSnapshot: boolean): void {
    // A snapshot does not tell the changes it contains, so the undo steps are dropped.
    if (isSnapshot) this.#steps.clear();
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

  #show({ editors }: Tracked, change: ChangeSet, isStep = false): void {
    if (!change.empty) for (const editor of editors) editor(change, isStep);
  }

  #typed(cellId: string, tracked: Tracked, change: ChangeSet, userEvent?: string): void {
    const steps = this.#stepsOf(cellId);
    if (this.#typedIn !== cellId) steps.pause();
    this.#typedIn = cellId;
    this.#edit(cellId, tracked, change, steps.typed(change, tracked.text.shown, userEvent));
  }

  #edit(cellId: string, tracked: Tracked, change: ChangeSet, how: How): void {
    tracked.text.edit(change, how);
    this.#send(cellId, tracked);
    this.changed.tell(cellId);
  }

  #edited(cellId: string, tracked: Tracked | undefined, event: EventMessage, change: ChangeSet): void {
    const isOwn = tracked?.commandId !== undefined && event.command_id === tracked.commandId;
    if (!isOwn) {
      const over = tracked?.text.receive(change) ?? change;
      const steps = this.#isMine(event) ? this.#stepsOf(cellId) : this.#steps.get(cellId);
      const asked = event.command_id === this.#asked?.commandId ? this.#asked : undefined;
      asked?.changed.push(cellId);
      if (this.#isMine(event)) steps?.noted(event.correlation_id, event.undoes, asked?.kind, tracked?.text.unrecorded);
      steps?.map(over, event.undoes);
      if (tracked) this.#show(tracked, over, asked !== undefined);
      return;
    }
    tracked.text.confirm();
    tracked.commandId = undefined;
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  #send(cellId: string, tracked: Tracked): void {
    if (!this.#replica.isInStep) return;
    const part = tracked.text.take();
    if (!part) return;
    const { group, ...takenBack } = part.how;
    const id = newId();
    tracked.commandId = id;
    const change = part.change.toJSON() as WireChange;
    const edit = { cell_id: cellId, base: this.#replica.document.version, change, ...takenBack };
    const done = this.#replica.command({ EditSource: edit }, { id, correlationId: group });
    done.then(
      () => this.#acked(cellId, tracked, id),
      (error: unknown) => {
        if (tracked.commandId !== id) return;
        if (error instanceof Rejected && error.code === "base_too_old") this.#sendAgain(tracked);
        else if (error instanceof Rejected) this.giveUp(cellId, error.message, error.code === "forbidden");
        else this.giveUp(cellId, String(error));
      },
    );
  }

  /** The server has no longer the changes since the base: subscribes again, after which the mapped change is sent. */
  #sendAgain(tracked: Tracked): void {
    tracked.text.takeBack();
    tracked.commandId = undefined;
    this.#replica.catchUp();
  }

  /** A change that was mapped to nothing gets an ack but no event. */
  #acked(cellId: string, tracked: Tracked, id: string): void {
    if (tracked.commandId !== id) return;
    if (!tracked.text.sent?.change.empty) return this.giveUp(cellId, "the server did not take the change");
    tracked.text.confirm();
    tracked.commandId = undefined;
    this.#send(cellId, tracked);
    this.#forget(cellId, tracked);
    this.changed.tell(cellId);
  }

  /** Adopts the snapshot's text as the confirmed text. */
  #align(cellId: string, tracked: Tracked, document: Document): void {
    const source = document.cells.get(cellId)?.source;
    if (source === undefined || tracked.text.confirmed.toString() === source) return;
    this.giveUp(cellId, "the text has changed in a way that cannot be merged");
    this.#show(tracked, tracked.text.reset(toText(source)));
  }

  #isMine({ actor }: EventMessage): boolean {
    return actor.kind === "user" && actor.id === this.#me;
  }
}
