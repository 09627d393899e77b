// What others do to what I am doing: told when it happens, with a way back. And following a person.
import type { Actor, Cell, EventMessage } from "../protocol/messages.ts";
import { takeDrafts } from "./drafts.ts";
import type { NotebookStore } from "./store.ts";
import { kindOf } from "./words.ts";

/** So soon after a return, what comes is what others did meanwhile. */
const RETURN_MS = 3_000;
/** One notice for a row of changes of one author in one cell. */
const QUIET_MS = 30_000;

export class Together {
  /** The connection of the person whose place this page shows. */
  following: string | undefined;
  readonly #store: NotebookStore;
  readonly #told = new Map<string, number>();
  #returnedAt = 0;
  #hasDrafts = true;

  constructor(store: NotebookStore) {
    this.#store = store;
    store.replica.folded.add((event, before) => this.#hear(event, before));
    store.replica.stateChanged.add(({ name }) => {
      if (name !== "live") return;
      this.#returnedAt = Date.now();
      this.#offerDrafts();
    });
    store.texts.copied.add(({ cellId, text, reason }) => this.#copied(cellId, text, reason));
  }

  follow(connection: string | undefined): void {
    this.following = this.following === connection ? undefined : connection;
    this.#store.tell("presence");
  }

  /** The cell in which the followed person is. */
  get place(): string | undefined {
    return this.#store.replica.presence.peers.get(this.following ?? "")?.state?.cell_id ?? undefined;
  }

  #hear(event: EventMessage, before: Cell | undefined): void {
    const { cell_id } = event.payload as { cell_id?: string };
    if (cell_id === undefined || this.#isMe(event.actor)) return;
    const store = this.#store;
    const isMine = store.isEditing && store.lastEdited === cell_id;
    if (event.type === "CellDeleted" && isMine && before) void this.#deleted(event, cell_id);
    const isTyped = store.texts.cells().includes(cell_id);
    const isWorthTelling = event.actor.kind === "assistant" || Date.now() - this.#returnedAt < RETURN_MS;
    if (event.type === "CellSourceEdited" && isTyped && isWorthTelling) void this.#merged(event, cell_id);
  }

  async #deleted(event: EventMessage, cell_id: string): Promise<void> {
    const name = await this.name(event.actor);
    this.#store.toast({
      text: `${name} deleted the cell you were editing`,
      action: { label: "Restore", run: () => this.restore(cell_id) },
    });
  }

  /** Brings a cell back, with the text that did not reach it. */
  restore(cell_id: string, text?: string): void {
    const store = this.#store;
    void store.do({ RestoreCell: { cell_id } }).then((done) => {
      if (!done) return;
      store.select(cell_id, { edit: true });
      if (text !== undefined) this.#putBack(cell_id, text);
    });
  }

  async #merged(event: EventMessage, cell_id: string): Promise<void> {
    const key = JSON.stringify([event.actor, cell_id]);
    const isQuiet = Date.now() - (this.#told.get(key) ?? 0) < QUIET_MS;
    this.#told.set(key, Date.now());
    if (isQuiet) return;
    const store = this.#store;
    const who = event.actor.kind === "assistant" ? "the assistant’s" : `${await this.name(event.actor)}’s`;
    store.toast({
      text: `Your text was merged with ${who}`,
      action: { label: "Show", run: () => store.select(cell_id) },
      second: { label: "Undo theirs", run: () => void store.do({ Undo: { correlation_id: event.correlation_id } }) },
    });
  }

  #copied(cell: string, text: string, reason: string): void {
    const isDeleted = !this.#store.document.cells.has(cell) || reason.includes("deleted");
    this.#store.toast({
      text: `${this.#store.mayEdit ? reason : "You can no longer edit this notebook."} Your unsaved text:`,
      copy: text,
      isError: true,
      action: isDeleted
        ? { label: "Restore cell with it", run: () => this.restore(cell, text) }
        : { label: "Insert into cell", run: () => this.#putBack(cell, text) },
    });
  }

  #putBack(cell_id: string, source: string): void {
    const cell = this.#store.document.cells.get(cell_id);
    if (!cell) return this.#store.edits.insert("end", "code", source);
    void this.#store.do({ ReplaceSource: { cell_id, cell_version: cell.cell_version, source } });
  }

  #offerDrafts(): void {
    if (!this.#hasDrafts) return;
    this.#hasDrafts = false;
    const store = this.#store;
    for (const { cell, text } of takeDrafts(store.id)) {
      if (store.document.cells.get(cell)?.source === text || text === "") continue;
      const isThere = store.document.cells.has(cell);
      store.toast({
        text: "Your text from last time wasn’t saved:",
        copy: text,
        action: { label: isThere ? "Insert into cell" : "Insert as cell", run: () => this.#putBack(cell, text) },
      });
    }
  }

  #isMe(actor: Actor): boolean {
    return actor.kind === "user" && actor.id === this.#store.session.userId;
  }

  async name(actor: Actor): Promise<string> {
    if (actor.kind === "assistant") return "The assistant";
    if (actor.kind !== "user") return kindOf(actor);
    return this.#store.session.nameOf(actor.id).catch(() => kindOf(actor));
  }
}
