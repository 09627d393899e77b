// Conflicts with others' changes: notices with a way back. Also follows a person.
import type { Actor, Cell, CellType, EventMessage } from "../../protocol/messages.ts";
import type { Copy } from "../../collab/texts.ts";
import type { Done } from "../../transport/outbox.ts";
import { typedOn } from "../../collab/typedOn.ts";
import { takeDrafts } from "../session/drafts.ts";
import { settings } from "../session/settings.ts";
import type { Edits } from "./edits.ts";
import type { OpenNotebook, Rights, Selection, Toast, Toasts, Typing } from "./notebook.ts";
import { type Tried, missingWords } from "./rights.ts";
import { isRunnable } from "./runs.ts";
import { kindOf } from "../words/words.ts";

/** Changes that arrive this soon after a reconnect were made while offline. */
const RETURN_MS = 3_000;
/** Repeated changes of one author in one cell give one notice in this time. */
const QUIET_MS = 30_000;

/** Text that was not saved because the role was lowered, with the letters typed since. */
interface LostText {
  cellId: string;
  text: string;
  /** Recorded source of the cell at the loss; undefined if the cell is gone. */
  base: string | undefined;
  /** Place of the caret, and the letters typed there since. */
  at: number;
  typed: string;
  /** Letters are still added. */
  isOpen: boolean;
}

export class Together {
  /** The followed person's connection id. */
  following: string | undefined;
  readonly #notebook: OpenNotebook & Rights & Selection & Toasts & Typing & { readonly edits: Pick<Edits, "insert"> };
  readonly #told = new Map<string, number>();
  #returnedAt = 0;
  #hasDrafts = true;
  #lost: { toast: string; texts: LostText[] } = { toast: "", texts: [] };
  #mayEdit = false;
  /** The role was lowered and not given back. */
  #isLowered = false;

  constructor(notebook: OpenNotebook & Rights & Selection & Toasts & Typing & { readonly edits: Pick<Edits, "insert"> }) {
    this.#notebook = notebook;
    notebook.replica.folded.add((event, before) => this.#hear(event, before));
    notebook.replica.stateChanged.add(({ name }) => {
      if (name !== "live") return;
      this.#rightsMoved();
      this.#returnedAt = Date.now();
      this.#offerDrafts();
    });
    notebook.replica.changed.add(() => this.#rightsMoved());
    notebook.texts.copied.add((copy) => (copy.isForbidden || !notebook.mayEdit ? this.lostRights(copy) : this.#copied(copy)));
    notebook.focus.lost.add(({ cell, text, isUnopened }) => cell === undefined && this.#closed(text, isUnopened));
    notebook.replica.replaced.add(() => this.#missed());
  }

  follow(connection: string | undefined): void {
    this.following = this.following === connection ? undefined : connection;
    this.#notebook.touch("presence");
  }

  /** The followed person's cell. */
  get place(): string | undefined {
    return this.#notebook.replica.presence.peers.get(this.following ?? "")?.state?.cell_id ?? undefined;
  }

  #hear(event: EventMessage, before: Cell | undefined): void {
    const { cell_id } = event.payload as { cell_id?: string };
    if (cell_id === undefined) return;
    const notebook = this.#notebook;
    const isMine = notebook.isEditing && notebook.current === cell_id;
    if (event.type === "CellDeleted" && isMine && before && !notebook.replica.isOwn(event))
      void this.#deleted(cell_id, before.source, before.cell_type, event.actor);
    // Guests of one link share an actor, so their own events are known by their commands.
    if (this.#isMe(event.actor) || notebook.replica.isOwn(event)) return;
    const isTyped = notebook.texts.cells().includes(cell_id);
    const isWorthTelling = event.actor.kind === "assistant" || Date.now() - this.#returnedAt < RETURN_MS;
    if (event.type === "CellSourceEdited" && isTyped && isWorthTelling) void this.#merged(event, cell_id);
  }

  /** Text that did not reach a cell before its deletion, until its notice is shown. */
  #unsent: { cell: string; text: string; at: number } | undefined;

  /** Offers the deleted cell's full text, including keys typed until the person reacts. */
  async #deleted(cell_id: string, source: string, type?: CellType, by?: Actor): Promise<void> {
    const notebook = this.#notebook;
    const { text, at } = this.#unsent?.cell === cell_id ? this.#unsent : { text: source, at: this.#caretIn(cell_id, source) };
    this.#unsent = undefined;
    let kept = "";
    const closes = closesBrackets(type);
    const whole = () => typedOn(text, at, kept, closes);
    const toast = this.#keep(
      {
        text: "The cell you were editing was deleted",
        action: {
          label: "Restore",
          run: () => this.restore(cell_id, { caret: at + kept.length, ...(whole() !== source && { text: whole() }) }),
        },
      },
      (more) => (kept = more),
      whole,
    );
    if (by) notebook.retoast(toast, { text: `${await this.#whoElse(by)} deleted the cell you were editing` });
  }

  #caretIn(cell: string, text: string): number {
    const { marked } = this.#notebook;
    return marked?.cell === cell ? Math.min(marked.to, text.length) : text.length;
  }

  /** A snapshot lacks the cell being edited, but not the author of its deletion. */
  #missed(): void {
    const notebook = this.#notebook;
    const cell = notebook.current;
    if (cell === undefined || !notebook.isEditing || notebook.replica.document.cells.has(cell)) return;
    void this.#deleted(cell, notebook.texts.held(cell) ?? "");
  }

  /** A field disappeared while the person was typing in it, or did not open. */
  #closed(text: string, isUnopened: boolean): void {
    let kept = "";
    const whole = () => text + kept;
    const isText = text.trim() !== "";
    const told = isText
      ? `${isUnopened ? "The field you opened isn’t there yet" : "What you were writing in has closed"}. Your text:`
      : "Keys are paused, because what you were using has closed. Click, or press Esc.";
    if (isText) return void this.#keep({ text: told }, (more) => (kept = more), whole);
    const end = this.#notebook.focus.strayed.add(() => {
      end();
      if (this.#notebook.focus.isAstray) this.#notebook.toast({ text: told });
    });
  }

  /** Shows a toast whose text grows by the keys that stray. */
  #keep(toast: Omit<Toast, "id" | "copy">, grow: (kept: string) => void, whole: () => string): string {
    const notebook = this.#notebook;
    const id = notebook.toast({ ...toast, copy: whole(), copyLabel: "Copy your text" });
    // A deletion is announced before the focus is lost. Keys that stray after a later loss belong elsewhere.
    const loss = notebook.focus.losses + (notebook.focus.isAstray ? 0 : 1);
    const end = notebook.focus.strayed.add((kept) => {
      if (notebook.focus.losses > loss || !notebook.toasts.some((each) => each.id === id)) return end();
      grow(kept);
      notebook.retoast(id, { copy: whole() });
    });
    return id;
  }

  async #whoElse(actor: Actor): Promise<string> {
    return this.#isMe(actor) ? "You, in another tab," : this.name(actor);
  }

  /** Restores a cell, with the text that did not reach it, and edits it at the caret. */
  restore(cell_id: string, { text, caret = 0 }: { text?: string; caret?: number } = {}): void {
    const notebook = this.#notebook;
    const work = this.#restored(cell_id, text);
    const arrive = (isDone: boolean) => {
      if (!isDone) return;
      notebook.focus.act();
      notebook.ahead.stand(cell_id, caret);
      notebook.select(cell_id, { edit: true });
    };
    if (notebook.isLive) notebook.ahead.until(work, arrive);
    else void work.then(arrive);
  }

  async #restored(cell_id: string, text: string | undefined): Promise<boolean> {
    const done = await this.#notebook.send({ RestoreCell: { cell_id } });
    if (!done) return false;
    await this.#reached(done.version);
    if (text !== undefined) await this.#putBack(cell_id, text);
    return true;
  }

  /** Resolves when the document has this version: a replica that loads a snapshot gets the answer before the document. */
  #reached(version: number): Promise<void> {
    const { replica } = this.#notebook;
    if (replica.document.version >= version) return Promise.resolve();
    return new Promise((resolve) => {
      const end = replica.changed.add(() => {
        if (replica.document.version < version) return;
        end();
        resolve();
      });
    });
  }

  async #merged(event: EventMessage, cell_id: string): Promise<void> {
    const key = JSON.stringify([event.actor, cell_id]);
    const isQuiet = Date.now() - (this.#told.get(key) ?? 0) < QUIET_MS;
    this.#told.set(key, Date.now());
    if (isQuiet) return;
    const who = event.actor.kind === "assistant" ? "the assistant’s" : `${await this.name(event.actor)}’s`;
    const notebook = this.#notebook;
    const isMore = this.#merges.who === who && notebook.toasts.some(({ id }) => id === this.#merges.toast);
    const of = [...(isMore ? this.#merges.of : []), { cell_id, correlation_id: event.correlation_id }];
    const cells = [...new Set(of.map((each) => each.cell_id))];
    const numbers = cells.map((id) => notebook.replica.document.order.indexOf(id) + 1).sort((a, b) => a - b);
    const places = numbers.length === 1 ? `cell ${numbers[0]}` : `cells ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
    const undo = () => {
      for (const id of new Set(of.map(({ correlation_id }) => correlation_id)))
        void notebook.send({ Undo: { correlation_id: id } });
    };
    const told = {
      text: `Your text in ${places} was merged with ${who}`,
      action: { label: "Show", run: () => notebook.select(cell_id) },
      second: { label: "Undo theirs", run: undo },
    };
    if (isMore) notebook.retoast(this.#merges.toast, told);
    this.#merges = { who, of, toast: isMore ? this.#merges.toast : notebook.toast(told) };
  }

  /** The notice of merged texts, for any number of cells. */
  #merges: { who: string; toast: string; of: { cell_id: string; correlation_id: string }[] } = { who: "", toast: "", of: [] };

  /** Collects what the person goes on typing when the role is lowered; offers to insert it when the role is given back. */
  #rightsMoved(): void {
    const notebook = this.#notebook;
    if (notebook.mayEdit === this.#mayEdit) return;
    this.#mayEdit = notebook.mayEdit;
    this.#isLowered = !notebook.mayEdit;
    if (this.#isLowered) return this.#collect();
    if (this.#isLostShown && this.#lostTexts.length === 0) notebook.dismiss(this.#lost.toast);
    else if (this.#isLostShown) this.#showLost();
  }

  /** Holds back the letters typed into a cell that can no longer be edited. */
  #collect(): void {
    const notebook = this.#notebook;
    const { current: cellId, focus } = notebook;
    if (cellId === undefined || !notebook.isEditing || focus.isAstray) return;
    focus.leave(cellId);
    if (!focus.isAstray) return;
    const base = this.#source(cellId);
    const text = notebook.texts.held(cellId) ?? base ?? "";
    const lost: LostText = { cellId, text, base, at: this.#caretIn(cellId, text), typed: "", isOpen: true };
    this.#keepLost(lost);
    const loss = focus.losses;
    const end = focus.strayed.add((typed) => {
      if (focus.losses > loss) lost.isOpen = false;
      if (!this.#lost.texts.includes(lost)) lost.isOpen = false;
      if (!lost.isOpen) return end();
      lost.typed = typed;
      this.#showLost();
    });
  }

  get #isLostShown(): boolean {
    return this.#notebook.toasts.some(({ id }) => id === this.#lost.toast);
  }

  /** Lost texts with something that is not saved. */
  get #lostTexts(): LostText[] {
    return this.#lost.texts.filter(({ cellId, text, typed }) => typed !== "" || text !== this.#source(cellId));
  }

  /** Forgets the texts of a notice that was dismissed. */
  #keepLost(lost: LostText): void {
    const isKept = ({ isOpen }: LostText) => this.#isLostShown || (isOpen && this.#notebook.focus.isAstray);
    this.#lost.texts = [...this.#lost.texts.filter(isKept), lost];
  }

  /** Shows one notice with all text lost by a lowered role, for any number of cells and commands. */
  lostRights(copy?: { cellId: string; text: string }): void {
    this.#isLowered = true;
    const open = () => this.#lost.texts.find(({ cellId, isOpen }) => isOpen && cellId === copy?.cellId);
    // The server may refuse the text before it tells the new role.
    if (copy && this.#notebook.current === copy.cellId && !open()) this.#collect();
    const typing = open();
    if (copy && typing) Object.assign(typing, { text: copy.text, at: this.#caretIn(copy.cellId, copy.text) });
    else if (copy && !this.#lost.texts.some(({ cellId, text }) => cellId === copy.cellId && text === copy.text))
      this.#keepLost({ ...copy, base: this.#source(copy.cellId), at: copy.text.length, typed: "", isOpen: false });
    else if (this.#isLostShown) return;
    this.#showLost();
  }

  #showLost(): void {
    const notebook = this.#notebook;
    const { cells } = notebook.replica.document;
    const whole = ({ cellId, text, at, typed }: LostText) => typedOn(text, at, typed, closesBrackets(cells.get(cellId)?.cell_type));
    const all = this.#lostTexts.map((lost) => ({ cellId: lost.cellId, base: lost.base, text: whole(lost) }));
    const isLowered = this.#isLowered;
    const place = (id: string) => notebook.replica.document.order.indexOf(id) + 1;
    const named = all.map(({ cellId, text }) => (all.length === 1 ? text : `# Cell ${place(cellId) || "deleted"}\n${text}`));
    const what = isLowered ? "You can no longer edit this notebook." : "You can edit this notebook again.";
    const putBack = {
      label: all.length === 1 ? "Insert into cell" : "Insert into cells",
      run: () => all.forEach(({ cellId, text, base }) => void this.#insert(cellId, text, base)),
    };
    const toast = {
      text: `${what}${all.length > 0 ? " Your unsaved text:" : ""}`,
      isError: isLowered,
      ...(all.length > 0 && { copy: named.join("\n\n") }),
      ...(!isLowered && all.length > 0 && { action: putBack }),
    };
    const shown = notebook.toasts.find(({ id }) => id === this.#lost.toast);
    if (shown?.copy !== undefined && isLowered === (shown.action === undefined)) return notebook.retoast(shown.id, toast);
    // A notice with text stays, and one with an action has none while the person may not edit.
    if (shown) notebook.dismiss(shown.id);
    this.#lost.toast = notebook.toast(toast);
  }

  /** Says once that the person may not do what a key would have done; again only after a while. */
  refuse(tried: Tried): void {
    const { replica, toasts } = this.#notebook;
    const words = replica.document.archived
      ? "This notebook is archived. Unarchive it first."
      : replica.isReadOnly
        ? "This notebook is read-only."
        : missingWords(replica.role, tried);
    const isTold = words === this.#refused.words && Date.now() - this.#refused.at < QUIET_MS;
    if (words === undefined || isTold || toasts.some(({ id }) => id === this.#lost.toast)) return;
    this.#refused = { words, at: Date.now() };
    this.#notebook.toast({ text: words });
  }

  #refused = { words: "", at: 0 };

  #copied({ cellId: cell, text, reason }: Copy): void {
    const notebook = this.#notebook;
    const isBeingDeleted = notebook.isEditing && notebook.current === cell && reason.includes("deleted");
    if (isBeingDeleted) return void (this.#unsent = { cell, text, at: this.#caretIn(cell, text) });
    const isDeleted = !this.#notebook.replica.document.cells.has(cell) || reason.includes("deleted");
    const base = this.#source(cell);
    this.#notebook.toast({
      text: `${reason} Your unsaved text:`,
      copy: text,
      isError: true,
      action: isDeleted
        ? { label: "Restore cell with it", run: () => this.restore(cell, { text, caret: this.#caretIn(cell, text) }) }
        : { label: "Insert into cell", run: () => void this.#insert(cell, text, base) },
    });
  }

  #source(cell: string): string | undefined {
    return this.#notebook.replica.document.cells.get(cell)?.source;
  }

  /**
   * Puts text into its cell and goes to its end, because the cell may be out of sight. With `base`, the source on which the text
   * was written, changes of others since then stay.
   */
  async #insert(cell: string, text: string, base?: string): Promise<void> {
    const notebook = this.#notebook;
    const wasLive = notebook.isLive;
    const isChanged = base !== undefined && this.#source(cell) !== base;
    const merge = isChanged ? (await import("../cells/diff.ts")).mergedInto : undefined;
    // Read after the load: the merged text replaces this version.
    const now = this.#source(cell);
    const merged = merge && base !== undefined && now !== undefined ? merge(now, base, text) : text;
    if (!(await this.#putBack(cell, merged)) || !wasLive) return;
    notebook.focus.act();
    notebook.goTo(cell, { from: merged.length, to: merged.length });
  }

  async #putBack(cell_id: string, source: string): Promise<Done | undefined> {
    const cell = this.#notebook.replica.document.cells.get(cell_id);
    if (!cell) return void this.#notebook.edits.insert("end", "code", source, false);
    return this.#notebook.send({ ReplaceSource: { cell_id, cell_version: cell.cell_version, source } });
  }

  #offerDrafts(): void {
    if (!this.#hasDrafts) return;
    this.#hasDrafts = false;
    const notebook = this.#notebook;
    for (const { cell, text, base } of takeDrafts(notebook.id)) {
      if (notebook.replica.document.cells.get(cell)?.source === text || text === "") continue;
      const isThere = notebook.replica.document.cells.has(cell);
      notebook.toast({
        text: "Your text from last time wasn’t saved:",
        copy: text,
        ...(notebook.mayEdit && {
          action: { label: isThere ? "Insert into cell" : "Insert as cell", run: () => void this.#insert(cell, text, base) },
        }),
      });
    }
  }

  #isMe(actor: Actor): boolean {
    return this.#notebook.session.isMe(actor);
  }

  async name(actor: Actor): Promise<string> {
    if (actor.kind === "assistant") return "The assistant";
    return (await this.#notebook.session.nameOfActor(actor)?.catch(() => undefined)) ?? kindOf(actor);
  }
}

/** True if the editor of such a cell closes brackets and quotes by itself; a cell of unknown type counts as code. */
function closesBrackets(type: CellType | undefined): boolean {
  return settings().closeBrackets && (type === undefined || isRunnable(type));
}
