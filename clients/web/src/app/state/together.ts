// Conflicts with others' changes: notices with a way back. Also follows a person.
import type { Actor, Cell, EventMessage } from "../../protocol/messages.ts";
import type { Copy } from "../../collab/texts.ts";
import { takeDrafts } from "../session/drafts.ts";
import type { NotebookStore, Toast } from "./store.ts";
import { kindOf } from "../words/words.ts";

/** Changes that arrive this soon after a reconnect were made while offline. */
const RETURN_MS = 3_000;
/** Repeated changes of one author in one cell give one notice in this time. */
const QUIET_MS = 30_000;

export class Together {
  /** The followed person's connection id. */
  following: string | undefined;
  readonly #store: NotebookStore;
  readonly #told = new Map<string, number>();
  #returnedAt = 0;
  #hasDrafts = true;
  #lost: { toast: string; texts: { cellId: string; text: string }[] } = { toast: "", texts: [] };

  constructor(store: NotebookStore) {
    this.#store = store;
    store.replica.folded.add((event, before) => this.#hear(event, before));
    store.replica.stateChanged.add(({ name }) => {
      if (name !== "live") return;
      this.#returnedAt = Date.now();
      this.#offerDrafts();
    });
    store.texts.copied.add((copy) => (copy.isForbidden || !store.mayEdit ? this.lostRights(copy) : this.#copied(copy)));
    store.focus.lost.add(({ cell, text }) => cell === undefined && this.#closed(text));
    store.replica.replaced.add(() => this.#missed());
  }

  follow(connection: string | undefined): void {
    this.following = this.following === connection ? undefined : connection;
    this.#store.tell("presence");
  }

  /** The followed person's cell. */
  get place(): string | undefined {
    return this.#store.replica.presence.peers.get(this.following ?? "")?.state?.cell_id ?? undefined;
  }

  #hear(event: EventMessage, before: Cell | undefined): void {
    const { cell_id } = event.payload as { cell_id?: string };
    if (cell_id === undefined) return;
    const store = this.#store;
    const isMine = store.isEditing && store.current === cell_id;
    if (event.type === "CellDeleted" && isMine && before && !store.replica.isOwn(event))
      void this.#deleted(cell_id, before.source, event.actor);
    if (this.#isMe(event.actor)) return;
    const isTyped = store.texts.cells().includes(cell_id);
    const isWorthTelling = event.actor.kind === "assistant" || Date.now() - this.#returnedAt < RETURN_MS;
    if (event.type === "CellSourceEdited" && isTyped && isWorthTelling) void this.#merged(event, cell_id);
  }

  /** Text that did not reach a cell before its deletion, until its notice is shown. */
  #unsent: { cell: string; text: string } | undefined;

  /** Offers the deleted cell's full text, including keys typed until the person reacts. */
  async #deleted(cell_id: string, source: string, by?: Actor): Promise<void> {
    const store = this.#store;
    const text = this.#unsent?.cell === cell_id ? this.#unsent.text : source;
    this.#unsent = undefined;
    const at = store.marked?.cell === cell_id ? Math.min(store.marked.to, text.length) : text.length;
    let kept = "";
    const whole = () => text.slice(0, at) + kept + text.slice(at);
    const toast = this.#keep(
      {
        text: "The cell you were editing was deleted",
        action: { label: "Restore", run: () => this.restore(cell_id, whole() === source ? undefined : whole()) },
      },
      (more) => (kept = more),
      whole,
    );
    if (by) store.retoast(toast, { text: `${await this.#whoElse(by)} deleted the cell you were editing` });
  }

  /** A snapshot lacks the cell being edited, but not the author of its deletion. */
  #missed(): void {
    const store = this.#store;
    const cell = store.current;
    if (cell === undefined || !store.isEditing || store.document.cells.has(cell)) return;
    void this.#deleted(cell, store.texts.held(cell) ?? "");
  }

  /** A field disappeared while the person was typing in it. */
  #closed(text: string): void {
    let kept = "";
    const whole = () => text + kept;
    const isText = text.trim() !== "";
    const told = isText
      ? "What you were writing in has closed. Your text:"
      : "Keys are paused, because what you were using has closed. Click, or press Esc.";
    if (isText) return void this.#keep({ text: told }, (more) => (kept = more), whole);
    const end = this.#store.focus.strayed.add(() => {
      end();
      if (this.#store.focus.isAstray) this.#store.toast({ text: told });
    });
  }

  /** Shows a toast whose text grows by the keys that stray. */
  #keep(toast: Omit<Toast, "id" | "copy">, grow: (kept: string) => void, whole: () => string): string {
    const store = this.#store;
    const id = store.toast({ ...toast, copy: whole(), copyLabel: "Copy your text" });
    // A deletion is announced before the focus is lost. Keys that stray after a later loss belong elsewhere.
    const loss = store.focus.losses + (store.focus.isAstray ? 0 : 1);
    const end = store.focus.strayed.add((kept) => {
      if (store.focus.losses > loss || !store.toasts.some((each) => each.id === id)) return end();
      grow(kept);
      store.retoast(id, { copy: whole() });
    });
    return id;
  }

  async #whoElse(actor: Actor): Promise<string> {
    return this.#isMe(actor) ? "You, in another tab," : this.name(actor);
  }

  /** Restores a cell, with the text that did not reach it. */
  restore(cell_id: string, text?: string): void {
    const store = this.#store;
    void store.do({ RestoreCell: { cell_id } }).then((done) => {
      if (!done) return;
      store.focus.act();
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

  /** Shows one notice with all text lost by a lowered role, for any number of cells and commands. */
  lostRights(copy?: { cellId: string; text: string }): void {
    const store = this.#store;
    const isShown = store.toasts.some(({ id }) => id === this.#lost.toast);
    const texts = isShown ? this.#lost.texts : [];
    const isNew = copy && !texts.some(({ cellId, text }) => cellId === copy.cellId && text === copy.text);
    if (isShown && !isNew) return;
    if (isShown) store.dismiss(this.#lost.toast);
    const all = isNew ? [...texts, copy] : texts;
    const place = (id: string) => store.document.order.indexOf(id) + 1;
    const named = all.map(({ cellId, text }) => (all.length === 1 ? text : `# Cell ${place(cellId) || "deleted"}\n${text}`));
    const text = `You can no longer edit this notebook.${all.length > 0 ? " Your unsaved text:" : ""}`;
    const toast = store.toast({ text, isError: true, ...(all.length > 0 && { copy: named.join("\n\n") }) });
    this.#lost = { toast, texts: all };
  }

  #copied({ cellId: cell, text, reason }: Copy): void {
    const store = this.#store;
    const isBeingDeleted = store.isEditing && store.current === cell && reason.includes("deleted");
    if (isBeingDeleted) return void (this.#unsent = { cell, text });
    const isDeleted = !this.#store.document.cells.has(cell) || reason.includes("deleted");
    this.#store.toast({
      text: `${reason} Your unsaved text:`,
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
    return this.#store.session.isMe(actor);
  }

  async name(actor: Actor): Promise<string> {
    if (actor.kind === "assistant") return "The assistant";
    return (await this.#store.session.nameOfActor(actor)?.catch(() => undefined)) ?? kindOf(actor);
  }
}
