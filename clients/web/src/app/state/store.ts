// Store of an open notebook: replica, texts, selection, notifications of components, and the person's actions.
import type { Command, Execution, ToolCall } from "../../protocol/messages.ts";
import { Texts } from "../../collab/texts.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import { newId } from "../../transport/ids.ts";
import { type Done, Rejected } from "../../transport/outbox.ts";
import { Comms } from "../../transport/comms.ts";
import { Questions } from "../../transport/questions.ts";
import { sentenceOf } from "../../transport/refusals.ts";
import { Replica } from "../../transport/replica.ts";
import { Ahead } from "./ahead.ts";
import { Authors } from "./authors.ts";
import { type Chunk, rechunk } from "../cells/chunks.ts";
import { Comments } from "./comments.ts";
import { Edits } from "./edits.ts";
import { Connections } from "./connections.ts";
import { Inputs } from "./inputs.ts";
import { Graph } from "./graph.ts";
import { type Right, hasRight } from "./rights.ts";
import { nextStepWords } from "../words/nextStep.ts";
import { numbered, rejectionWords } from "../words/sentences.ts";
import { Focus } from "./focus.ts";
import { forgetErased, forgetOlder } from "./forgetting.ts";
import { type Folds, foldsOf, headingAbove, headingLevel } from "../cells/headings.ts";
import { Outage } from "./outage.ts";
import { Places } from "./places.ts";
import { Progress } from "./progress.ts";
import { type AssistantAtWork, CallEffects, assistantsAtWork, proposalsIn } from "./assistants.ts";
import { missingIn } from "./missingFunctions.ts";
import { Runs } from "./runs.ts";
import { Schemas } from "./schemas.ts";
import { type Session, isNotProved } from "../session/session.ts";
import { Review } from "./review.ts";
import { Groups } from "../words/steps.ts";
import { InlineField } from "./inlineField.ts";
import type {
  Asking,
  Entry,
  MarkedRange,
  OpenNotebook,
  Panel,
  Panels,
  Rights,
  Selection,
  Toast,
  Toasts,
  Typing,
} from "./notebook.ts";
import { Together } from "./together.ts";
import { Topics } from "./topics.ts";
import { Writings } from "./writings.ts";

/** Names of commands that need the right to edit. */
const EDITS =
  /^(Insert|Edit|Delete|Restore|Move|SetCell)|^(ReplaceSource|ChangeCellType|ClearOutputs|Undo|Redo|RenameNotebook|Batch)$/;

/** Views with cells only: zen for work, present (without code) for an audience. */
export type View = "zen" | "present";

type Reveal = { cell: string; place: { line: number } | { from: number; to: number } };

export class NotebookStore extends Topics implements OpenNotebook, Asking, Panels, Rights, Selection, Toasts, Typing {
  readonly replica: Replica;
  readonly texts: Texts;
  readonly questions: Questions;
  readonly comms: Comms;
  chunks: Chunk[] = [];
  /** The focused cell. */
  current: string | undefined;
  /** Other end of the selection; undefined if only `current` is selected. */
  anchor: string | undefined;
  isEditing = false;
  toasts: Toast[] = [];
  /** Earlier version on display; undefined for the present. */
  past: number | undefined;
  /** History entry on display, if any. */
  pastEntry: Entry | undefined;
  historyTab: "Trash" | "Timeline" | undefined;
  panel: Panel;
  /** Shows the progress of dropped or pasted files over the cells. */
  isMoving = false;
  readonly inline = new InlineField(this);
  readonly places = new Places();
  readonly progress = new Progress();
  readonly groups = new Groups();
  readonly review = new Review();
  readonly effects = new CallEffects();
  readonly writings = new Writings();
  readonly together: Together;
  /** Answers to input requests of runs, without passwords. */
  readonly answers: string[] = [];
  /** Buffer for keys whose target does not exist yet. */
  readonly ahead = new Ahead();
  /** Decides which element gets typed letters. */
  readonly focus = new Focus();
  readonly edits: Edits;
  readonly runs: Runs;
  readonly inputs: Inputs;
  readonly comments: Comments;
  readonly authors: Authors;
  readonly graph: Graph;
  readonly connections: Connections;
  readonly schemas: Schemas;
  readonly outage: Outage;
  folds: Folds = { hidden: new Set(), counts: new Map() };
  /** Headings folded or unfolded by a person without the right to edit; only in this page. */
  readonly #foldedHere = new Map<string, boolean>();

  constructor(
    readonly session: Session,
    readonly id: string,
  ) {
    super();
    this.replica = new Replica(session.connection, id);
    this.texts = new Texts(this.replica, session.userId);
    this.questions = new Questions(session.connection, id);
    this.comms = new Comms(session.connection, id);
    this.replica.redacted.add((epoch) => (forgetOlder({ notebook: id, epoch }), session.rest.forgetBlobs()));
    this.replica.changed.add((touched) => {
      if (touched.parts.has("assistants")) (this.#propose(), this.#assistantsMoved());
      if (touched.parts.has("order")) this.#reorder();
      this.#fold(touched.parts.has("order") || [...touched.cells].some((id) => this.#mayFold(id)));
      for (const cell of touched.cells) this.touchSoon(`cell:${cell}`);
      for (const part of touched.parts) this.touchSoon(part);
    });
    for (const listeners of [
      this.replica.stateChanged,
      this.replica.statusChanged,
      session.connection.changed,
      this.texts.changed,
    ]) {
      (listeners as typeof this.replica.statusChanged).add(() => this.touchSoon("status"));
    }
    this.outage = new Outage(session.connection, this.replica);
    this.focus.isAtWork = () => this.ahead.isWaiting;
    this.ahead.act = () => this.focus.act();
    this.replica.folded.add((event, before) => {
      const { cell_id } = event.payload as { cell_id?: string };
      if (event.type === "NotebookErased") forgetErased(id, session.userId);
      if (event.type === "CellDeleted" && cell_id === this.current) this.#isDeletedHere = this.replica.isOwn(event);
      for (const part of [this.progress, this.groups, this.inputs]) part.hear(event);
      this.#reviewed(this.review.hear(event, before));
      if (this.effects.hear(event)) this.touchSoon("assistants");
      for (const missing of missingIn(event)) this.runs.tellMissing(missing);
    });
    this.replica.replaced.add(() => this.progress.begin(this.queue.length, this.queue[0]?.[1].requested_at ?? 0));
    this.writings.listen(this.replica, session.connection);
    this.replica.presence.changed.add(() => this.#peersMoved());
    this.texts.changed.add((cell) => this.isEditing && this.current === cell && this.places.visit(cell));
    this.texts.left.add((cells) =>
      this.select(
        cells.find((cell) => this.document.cells.has(cell)),
        { edit: true },
      ),
    );
    this.texts.stuck.add(() => this.toast({ text: "You’re offline. Earlier changes can be undone once you’re connected again." }));
    this.together = new Together(this);
    this.edits = new Edits(this);
    this.runs = new Runs(this);
    this.inputs = new Inputs(this);
    this.comments = new Comments(this);
    this.authors = new Authors(this);
    this.graph = new Graph(this);
    this.connections = new Connections(this);
    this.schemas = new Schemas(this);
  }

  get document() {
    return this.replica.document;
  }

  get mayEdit(): boolean {
    return this.#may("edit");
  }

  get mayOrganise(): boolean {
    return this.#may("organise");
  }

  /** Also in an archived notebook. */
  get mayRedact(): boolean {
    return hasRight(this.replica.role, "redact") && this.session.mayManage && !this.replica.isReadOnly;
  }

  get mayConverse(): boolean {
    return this.#may("converse");
  }

  get mayRun(): boolean {
    return this.#may("run");
  }

  #may(right: Right): boolean {
    return hasRight(this.replica.role, right) && !this.document.archived && !this.replica.isReadOnly;
  }

  get isLive(): boolean {
    return this.session.connection.state.name === "live" && this.replica.state.name === "live";
  }

  /** Number of changes that the server has not confirmed. */
  get unsent(): number {
    return Math.max(this.texts.cells().length, this.replica.unanswered);
  }

  close(): void {
    this.questions.close();
    this.comms.close();
    this.replica.close();
  }

  // Changes

  #reorder(): void {
    this.chunks = rechunk(this.document.order, this.chunks);
    if (this.current === undefined || this.document.cells.has(this.current)) return;
    // Keys still being typed were meant for the deleted cell, and must not become commands for its neighbour.
    if (this.#isDeletedHere) this.focus.act();
    else this.focus.leave(this.current);
    this.#isDeletedHere = false;
    // Selects the neighbour of the deleted cell.
    this.select(this.document.order[Math.min(this.#lastIndex, this.document.order.length - 1)]);
  }

  /** True if the person deleted the current cell in this page. */
  #isDeletedHere = false;

  #peerCells = new Set<string>();

  /** Assistants by the cell in which they work or wait for a person. */
  working: ReadonlyMap<string, AssistantAtWork[]> = new Map();

  #assistantsMoved(): void {
    const before = this.working;
    const working = new Map<string, AssistantAtWork[]>();
    for (const assistant of assistantsAtWork(this.document))
      for (const cell of assistant.cells) working.set(cell, [...(working.get(cell) ?? []), assistant]);
    this.working = working;
    for (const cell of new Set([...before.keys(), ...working.keys()])) this.touch(`cell:${cell}`);
  }

  /** Re-renders only the cells that peers entered or left. */
  #peersMoved(): void {
    const here = new Set([...this.replica.presence.peers.values()].flatMap(({ state }) => state?.cell_id ?? []));
    for (const cell of new Set([...this.#peerCells, ...here])) this.touchSoon(`cell:${cell}`);
    this.#peerCells = here;
    this.touchSoon("presence");
  }

  // Selection

  #lastIndex = 0;

  select(cell: string | undefined, { edit = false, extend = false } = {}): void {
    this.focus.expect(cell);
    const previous = this.current;
    const touched = new Set([...this.selected, ...(previous === undefined ? [] : [previous])]);
    if (cell !== undefined && this.folds.hidden.has(cell)) this.#reveal(cell);
    this.anchor = extend ? (this.anchor ?? previous) : undefined;
    this.current = cell;
    this.isEditing = edit && cell !== undefined;
    if (cell !== undefined) this.#lastIndex = Math.max(0, this.document.order.indexOf(cell));
    for (const id of new Set([...touched, ...this.selected])) this.touch(`cell:${id}`);
    if (previous !== cell) this.touch("current");
    if (!this.isEditing) this.replica.presence.show(cell === undefined ? {} : { cell_id: cell });
  }

  /** Unfolds the headings above a cell, in this page only. */
  #reveal(cell: string): void {
    const { order, cells } = this.document;
    for (let above = headingAbove(order, cells, cell); above; above = headingAbove(order, cells, above))
      if (this.isCollapsed(above)) this.#foldedHere.set(above, false);
    this.#fold(true);
  }

  /** The ids of the selected cells, from top to bottom. */
  get selected(): string[] {
    const { order } = this.document;
    if (this.current === undefined) return [];
    const ends = [this.current, this.anchor ?? this.current].map((cell) => order.indexOf(cell)).sort((a, b) => a - b);
    return order.slice(ends[0], (ends[1] ?? 0) + 1);
  }

  isSelected(cell: string): boolean {
    return cell === this.current || (this.anchor !== undefined && this.selected.includes(cell));
  }

  /** Selection of the editor focused last, or in the text of a cell. */
  marked: MarkedRange | undefined;

  /** Caret to restore in an editor that is remounted. */
  caret: { cell: string; anchor: number; head: number } | undefined;

  /** Position that a cell's editor scrolls to. */
  reveal: Reveal | undefined;

  /** Opens a cell's editor at a line, or with a range selected. */
  goTo(cell: string, place: Reveal["place"]): void {
    this.reveal = { cell, place };
    this.select(cell, { edit: true });
    this.touch(`cell:${cell}`);
  }

  /** Cell whose source is shown because it contains a search match. */
  found: string | undefined;

  find(cell: string | undefined): void {
    const before = this.found;
    this.found = cell;
    if (cell !== undefined) this.unfold(cell);
    for (const id of new Set([before, cell])) if (id !== undefined) this.touch(`cell:${id}`);
  }

  /** Unfolds the headings that hide a cell. */
  unfold(cell: string): void {
    if (!this.folds.hidden.has(cell)) return;
    const { order, cells } = this.document;
    for (let id = headingAbove(order, cells, cell); id !== undefined; id = headingAbove(order, cells, id)) {
      if (this.isCollapsed(id)) this.collapse(false, id);
    }
  }

  /** The nearest visible cell `step` cells up or down, limited to the first and last. */
  neighbour(step: number, from = this.current): string | undefined {
    const shown =
      this.folds.hidden.size === 0 ? this.document.order : this.document.order.filter((id) => !this.folds.hidden.has(id));
    const index = from === undefined ? -1 : shown.indexOf(from);
    return shown[Math.max(0, Math.min(shown.length - 1, index + step))];
  }

  /** Goes back or forward through the cells that the person edited. */
  revisit(step: 1 | -1): void {
    const cell = this.places.go(step, this.current, (id) => this.document.cells.has(id));
    if (cell !== undefined) this.select(cell, { edit: true });
  }

  // Headings

  isCollapsed(id: string): boolean {
    return this.#foldedHere.get(id) ?? this.document.cells.get(id)?.flags?.heading_collapsed ?? false;
  }

  /** Folds or unfolds a heading. Folding from a cell below a heading selects that heading. */
  collapse(isCollapsed: boolean, id = this.current): void {
    if (id === undefined) return;
    const { order, cells } = this.document;
    if (headingLevel(cells.get(id)) === undefined || (isCollapsed && this.isCollapsed(id))) {
      const above = isCollapsed ? headingAbove(order, cells, id) : undefined;
      if (above !== undefined) this.select(above);
    } else if (this.mayEdit) {
      void this.send({ SetCellFlags: { cell_id: id, flags: { heading_collapsed: isCollapsed } } });
    } else {
      this.#foldedHere.set(id, isCollapsed);
      this.#fold(true);
    }
  }

  #mayFold(id: string): boolean {
    return this.folds.counts.has(id) || headingLevel(this.document.cells.get(id)) !== undefined;
  }

  #fold(isDue: boolean): void {
    if (!isDue) return;
    const { order, cells } = this.document;
    this.folds = foldsOf(order, cells, (id) => this.isCollapsed(id));
    // A cell being edited is not hidden.
    if (this.isEditing && this.current !== undefined && this.folds.hidden.has(this.current)) return this.#reveal(this.current);
    this.touch("folds");
  }

  // Commands

  /** Sends a command; shows a refusal as a toast. */
  async send(body: Command, options?: { correlationId?: string }): Promise<Done | undefined> {
    try {
      const done = await this.replica.command(body, options);
      for (const notice of done.outcome.notices ?? []) this.toast({ text: sentenceOf(numbered(notice, this.document.order)) });
      return done;
    } catch (error) {
      // After a lowered role, refused commands and unsaved text share one notice.
      if (error instanceof Rejected && error.code === "forbidden" && EDITS.test(Object.keys(body)[0] ?? ""))
        this.together.lostRights();
      else
        this.toast({ text: error instanceof Rejected ? rejectionWords(error, this.document.order) : String(error), isError: true });
      return undefined;
    }
  }

  /** Sends a command that the stored token does not allow, after asking for the password. Returns true if it succeeded. */
  async decide(body: Command): Promise<boolean> {
    if (this.session.me.asks_again !== true) return (await this.send(body)) !== undefined;
    try {
      const rest = await this.session.deciding();
      await rest.json("POST", `/api/notebooks/${encodeURIComponent(this.id)}/commands`, { body });
      return true;
    } catch (error) {
      if (!isNotProved(error)) this.toast({ text: (error as Error).message, isError: true });
      return false;
    }
  }

  /** Example: “Undo: deleted 2 cells”, from the server's next undo step. */
  nextWords(command: "undo" | "redo"): string | undefined {
    const next = this.replica.next?.[command];
    return next ? nextStepWords(command, next, this.groups, this.document) : undefined;
  }

  // Review of an assistant's changes

  #reviewed(cells: string[]): void {
    if (cells.length === 0) return;
    for (const cell of cells) this.touch(`cell:${cell}`);
    this.touch("review");
    const last = cells.at(-1);
    if (this.review.isFollowing && !this.isEditing && last !== undefined && this.document.cells.has(last)) this.select(last);
  }

  keepReviewed(cell?: string): void {
    this.#reviewed(this.review.keep(cell));
  }

  /** Undoes the assistant's changes in a cell, the latest call first. */
  async undoReviewed(cell: string): Promise<void> {
    for (const correlation_id of [...(this.review.cells.get(cell)?.calls ?? [])].reverse())
      await this.send({ Undo: { correlation_id } });
  }

  /** The newest conversation that is not an outside assistant's. */
  get conversation(): string | undefined {
    const own = [...this.document.conversations].filter(([, each]) => !each.is_outside);
    return own.sort(([, a], [, b]) => b.started_at - a.started_at)[0]?.[0];
  }

  /** Unfinished runs in queue order. */
  get queue(): [string, Execution][] {
    const open = [...this.document.executions].filter(([, run]) => !isFinished(run.status));
    return open.sort(([, a], [, b]) => a.requested_version - b.requested_version);
  }

  /** Calls that wait for a person, oldest first. */
  get waiting(): [string, ToolCall][] {
    const waiting = [...this.document.tool_calls].filter(([, call]) => call.phase.phase === "waiting");
    return waiting.sort(([, a], [, b]) => a.requested_version - b.requested_version);
  }

  /** Calls that wait for a person, by the cell that they would change. */
  proposals: ReadonlyMap<string, [string, ToolCall][]> = new Map();

  #propose(): void {
    const before = this.proposals;
    this.proposals = proposalsIn(this.waiting, (cell) => this.document.cells.has(cell));
    for (const cell of new Set([...before.keys(), ...this.proposals.keys()])) this.touch(`cell:${cell}`);
    this.touch("review");
  }

  /** Shows an earlier version, or the present. */
  look(version: number | undefined, entry?: Entry): void {
    this.past = version === this.document.version && !entry ? undefined : version;
    this.pastEntry = entry;
    this.touch("past");
  }

  /** Current view; undefined shows the full page. */
  view: View | undefined;

  turnTo(view: View | undefined): void {
    this.view = view;
    if (view !== undefined) this.panel = undefined;
    if (view === "present" && this.isEditing) this.select(this.current);
    this.touch("panel");
  }

  show(panel: Panel): void {
    if (this.panel !== panel) this.view = undefined;
    this.panel = this.panel === panel ? undefined : panel;
    this.touch("panel");
  }

  toast(toast: Omit<Toast, "id">): string {
    const id = newId();
    // Toasts with a person's text stay until dismissed.
    const rest = this.toasts.filter(({ copy }) => copy === undefined).slice(-3);
    this.toasts = [...this.toasts.filter((each) => each.copy !== undefined || rest.includes(each)), { id, ...toast }];
    this.touch("toasts");
    if (!toast.copy) setTimeout(() => this.dismiss(id), toast.action || toast.isError ? 12_000 : 6_000);
    return id;
  }

  /** Changes a toast that is shown. */
  retoast(id: string, more: Partial<Omit<Toast, "id">>): void {
    this.toasts = this.toasts.map((toast) => (toast.id === id ? { ...toast, ...more } : toast));
    this.touch("toasts");
  }

  dismiss(id: string): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
    this.touch("toasts");
  }
}
