// Replica of a notebook: subscribes, applies events, repairs gaps and divergence, sends commands. Does not use the DOM.
import type {
  AckMessage,
  Cell,
  Command,
  EventMessage,
  EventsMessage,
  KernelStatus,
  NextSteps,
  RejectMessage,
  Role,
  ServerMessage,
  SubscribedMessage,
} from "../protocol/messages.ts";
import { apply, knows } from "../protocol/apply.ts";
import { DOCUMENT, Document } from "../protocol/document.ts";
import { Touched } from "../protocol/touched.ts";
import { type Connection, backoff } from "./connection.ts";
import { Listeners } from "./listeners.ts";
import { erasedWords, pageWords } from "./refusals.ts";
import { type CommandOptions, type Done, Outbox } from "./outbox.ts";
import { Presence } from "./presence.ts";

/** Holder of unconfirmed text (see collab/). It receives each event before the document does. */
export interface UnconfirmedTexts {
  /** Cells with unconfirmed text. */
  cells(): string[];
  receive(event: EventMessage): void;
  /** The text can no longer be merged; the person gets a copy. */
  giveUp(cellId: string, reason: string): void;
  /** The document has caught up, so that text may be sent. */
  caughtUp(document: Document, isSnapshot: boolean): void;
}

export type ReplicaState =
  | { name: "loading" }
  | { name: "live" }
  /** The document is outdated, and changes wait. */
  | { name: "behind" }
  | { name: "gone"; message: string };

/** Quiet heartbeats without an answer to a `subscribe`, after which it is sent again: large notebooks take a while to load. */
const PATIENT_HEARTBEATS = 3;

/** Minimum interval of snapshots, which replace events that this client cannot apply. */
const SNAPSHOT_MS = 1_000;

/** What a `subscribe` asks for: events after the last one that is known, or a snapshot. */
type Since = "resume" | "anew";

export class Replica {
  readonly changed = new Listeners<[Touched]>();
  readonly stateChanged = new Listeners<[ReplicaState]>();
  readonly statusChanged = new Listeners<[]>();
  /** Each applied event with its cell before the event. */
  readonly folded = new Listeners<[EventMessage, Cell | undefined]>();
  /** Content was redacted: what this page holds of the notebook may have it. A listener that closes the replica ends it here. */
  readonly redacted = new Listeners<[epoch: number]>();
  /** A snapshot replaced the document. */
  readonly replaced = new Listeners<[]>();
  readonly message = new Listeners<[ServerMessage]>();
  readonly presence: Presence;
  document: Document;
  role: Role | undefined;
  isReadOnly = false;
  /** Version of the last redaction that the server has told; 0 if there is none. */
  redactionEpoch = 0;
  kernels: KernelStatus[] = [];
  /** The person's next undo and redo steps, from the server's latest message. */
  next: NextSteps | undefined;
  texts: UnconfirmedTexts | undefined;
  /** Number of digest mismatches; each one was repaired by a snapshot. */
  differences = 0;
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  #state: ReplicaState = { name: "loading" };
  #lastEvent: string | undefined;
  /** Cells named in the pending `subscribe`; undefined if none is pending. */
  #asked: ReadonlySet<string> | undefined;
  /** Kind of the pending `subscribe`, how often the server could not answer it, and heartbeats since it was sent. */
  #since: Since = "resume";
  #refusals = 0;
  #heartbeats = 0;
  #againTimer: ReturnType<typeof setTimeout> | undefined;
  #folds = true;
  #checked = 0;
  #isClosed = false;
  #snapshotTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #ends: (() => void)[];

  constructor(
    connection: Connection,
    readonly notebook: string,
  ) {
    this.#connection = connection;
    this.document = new Document(notebook);
    const send = (text: string) => this.isInStep && connection.sendText(text);
    this.#outbox = new Outbox(notebook, send, () => connection.maxFrameBytes);
    this.presence = new Presence(connection, notebook);
    this.#ends = [
      connection.received.add((message) => this.#hear(message)),
      connection.changed.add((state) => (state.name === "live" ? this.#subscribe() : this.#lose())),
      connection.quiet.add((probed) => this.#probe(probed)),
    ];
    if (connection.state.name === "live") this.#subscribe();
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /** True if the document is current, so that a change may refer to its version. */
  get isInStep(): boolean {
    return this.#state.name === "live";
  }

  /** Number of unanswered commands. */
  get unanswered(): number {
    return this.#outbox.size;
  }

  /** Time of the oldest unanswered command. */
  get askedAt(): number | undefined {
    return this.#outbox.since;
  }

  /** True if the event comes from a command of this page; another tab of the same person does not count. */
  isOwn(event: EventMessage): boolean {
    return event.command_id != null && this.#outbox.has(event.command_id);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const end of this.#ends) end();
    clearTimeout(this.#snapshotTimer);
    clearTimeout(this.#againTimer);
    this.presence.close();
    this.#connection.send({ unsubscribe: { notebook: this.notebook } });
  }

  /** Sends a command; resolves when it is stored on the server's disk, or rejects with `Rejected`. Waits while disconnected. */
  command(body: Command, options?: CommandOptions): Promise<Done> {
    const done = this.#outbox.command(body, options);
    this.statusChanged.tell();
    return done;
  }

  #subscribe(since: Since = "resume"): void {
    clearTimeout(this.#againTimer);
    this.#since = since;
    this.#heartbeats = 0;
    const cells = this.texts?.cells() ?? [];
    const { version } = this.document;
    const known = since === "resume" && this.#lastEvent !== undefined && this.#folds;
    this.#asked = new Set(cells);
    this.#connection.send({
      subscribe: {
        notebook: this.notebook,
        ...(known && { since: { version, event_id: this.#lastEvent ?? "" } }),
        ...(cells.length > 0 && { unconfirmed: cells.map((cell_id) => ({ cell_id, base: version })) }),
      },
    });
  }

  #lose(): void {
    this.#outbox.lost();
    this.#fallBehind();
  }

  /** Subscribes again after a pause: the server could not read the notebook, for instance while its database moves. */
  #subscribeLater(): void {
    this.#refusals += 1;
    clearTimeout(this.#againTimer);
    this.#againTimer = setTimeout(() => this.#subscribe(this.#since), backoff(this.#refusals, Math.random()));
  }

  #fallBehind(): void {
    clearTimeout(this.#againTimer);
    this.#asked = undefined;
    if (this.#state.name === "live") this.#become({ name: "behind" });
  }

  #hear(message: ServerMessage): void {
    const about = Object.values(message)[0] as { notebook?: string } | undefined;
    if (about?.notebook !== this.notebook) return;
    if ("events" in message) this.#take(message.events);
    else if ("subscribed" in message) this.#subscribed(message.subscribed);
    else if ("ack" in message) this.#acked(message.ack);
    else if ("reject" in message) this.#rejected(message.reject);
    else if ("access" in message) this.#access(message.access.role ?? undefined);
    else if ("resync" in message) this.#fallBehind();
    else if ("checked" in message) this.#compare(message.checked);
    else if ("kernels" in message) this.#setKernels(message.kernels.kernels);
    else if ("presence" in message) this.presence.hear(message.presence.peers ?? [], message.presence.left ?? []);
    else if ("error" in message && message.error.code === "unavailable" && this.#asked) this.#subscribeLater();
    else if ("error" in message && message.error.code === "unknown_notebook")
      this.#leave(
        pageWords(
          message.error.details?.kind === "erased" ? "erased" : message.error.code,
          message.error.message,
          message.error.details,
        ),
      );
    this.message.tell(message);
  }

  #take({ from, events }: EventsMessage): void {
    if (!this.isInStep) return;
    if (!this.#folds) return this.#takeSnapshotSoon();
    if (from > this.document.version + 1) return this.#anew("resume");
    const touched = new Touched();
    for (const event of events) {
      if (event.version <= this.document.version) continue;
      if (event.type === "ContentRedacted") {
        this.changed.tell(touched);
        return this.#redact(event.version);
      }
      if (!knows(event)) {
        this.changed.tell(touched);
        return this.#anew("anew");
      }
      this.#fold(event, touched);
    }
    this.texts?.caughtUp(this.document, false);
    this.changed.tell(touched);
  }

  /** Drops content that was redacted: the state comes anew. */
  #redact(epoch: number): void {
    this.redactionEpoch = epoch;
    this.redacted.tell(epoch);
    if (!this.#isClosed) this.#anew("anew");
  }

  #fold(event: EventMessage, touched: Touched): void {
    this.texts?.receive(event);
    const { cell_id } = event.payload as { cell_id?: string };
    const before = cell_id === undefined ? undefined : this.document.cells.get(cell_id);
    touched.add(apply(this.document, event));
    this.#lastEvent = event.id;
    this.folded.tell(event, before);
  }

  /** Subscribes again with the unconfirmed texts, unless that is under way. */
  catchUp(): void {
    if (this.isInStep) this.#anew("resume");
  }

  /** Subscribes again, and ignores events until the server has answered. */
  #anew(since: Since): void {
    this.#become({ name: "behind" });
    this.#subscribe(since);
  }

  #subscribed(answer: SubscribedMessage): void {
    const { snapshot, base_too_old, event_id, role, read_only, peers, kernels } = answer;
    const { redaction_epoch: epoch = 0 } = answer as SubscribedMessage & { redaction_epoch?: number };
    if (epoch > this.redactionEpoch) {
      this.redactionEpoch = epoch;
      this.redacted.tell(epoch);
      if (this.#isClosed) return;
      // Without a snapshot the server relies on a state from before the redaction.
      if (!snapshot) return this.#anew("anew");
    }
    const asked = this.#asked ?? new Set();
    const isBlind = snapshot && this.texts?.cells().some((cell) => !asked.has(cell));
    if (isBlind) return this.#anew("resume");
    clearTimeout(this.#againTimer);
    this.#asked = undefined;
    this.#refusals = 0;
    this.role = role;
    this.next = answer.undo ?? undefined;
    this.isReadOnly = read_only ?? false;
    this.#folds = answer.document === DOCUMENT;
    for (const cell of base_too_old ?? []) this.texts?.giveUp(cell, "Too much has changed since.");
    if (snapshot) this.#replace(Document.from(snapshot), answer.unconfirmed_events ?? []);
    this.#lastEvent = event_id;
    this.presence.reset(peers ?? []);
    this.#setKernels(kernels ?? []);
    this.#become({ name: "live" });
    this.#outbox.flush();
    this.texts?.caughtUp(this.document, snapshot !== undefined && snapshot !== null);
    if (snapshot) this.changed.tell(everything(this.document));
  }

  #replace(document: Document, unconfirmedEvents: EventMessage[]): void {
    for (const event of unconfirmedEvents) if (event.version > this.document.version) this.texts?.receive(event);
    for (const cell of this.texts?.cells() ?? []) if (!document.cells.has(cell)) this.texts?.giveUp(cell, "This cell was deleted.");
    this.document = document;
    this.replaced.tell();
    this.#checked = 0;
  }

  #takeSnapshotSoon(): void {
    this.#snapshotTimer ??= setTimeout(() => {
      this.#snapshotTimer = undefined;
      if (this.isInStep) this.#anew("anew");
    }, SNAPSHOT_MS);
  }

  #acked(ack: AckMessage): void {
    this.next = ack.undo ?? this.next;
    this.#outbox.acked(ack);
    this.statusChanged.tell();
  }

  #rejected(rejection: RejectMessage): void {
    this.#outbox.rejected(rejection);
    this.statusChanged.tell();
  }

  #access(role: Role | undefined): void {
    this.role = role;
    if (!role) this.#leave(this.document.erased ? erasedWords(this.document.erased) : "Ask its owner for access.");
    else this.changed.tell(everything(this.document));
  }

  #leave(message: string): void {
    this.#become({ name: "gone", message });
  }

  #setKernels(kernels: KernelStatus[]): void {
    const others = this.kernels.filter((old) => !kernels.some((each) => each.kernel_session === old.kernel_session));
    this.kernels = [...others.filter((old) => this.document.kernels.has(old.kernel_session)), ...kernels];
    const touched = new Touched();
    touched.part("kernels");
    this.changed.tell(touched);
  }

  /** Requests the digest of the current version: shows that the server is alive and that both documents are equal. */
  #probe(probed: () => void): void {
    if (this.#asked && ++this.#heartbeats >= PATIENT_HEARTBEATS) {
      probed();
      return this.#subscribe(this.#since);
    }
    if (!this.isInStep || this.document.version === 0) return;
    probed();
    this.#connection.send({ check: { notebook: this.notebook, version: this.document.version } });
  }

  #compare({ version, digest }: { version: number; digest?: string | null }): void {
    if (!digest || !this.isInStep || version !== this.document.version || version === this.#checked) return;
    this.#checked = version;
    if (this.#digest() === digest) return;
    this.differences += 1;
    this.#anew("anew");
  }

  /** Digest of the document; undefined if it has no canonical form. */
  #digest(): string | undefined {
    try {
      return this.document.digest();
    } catch {
      return undefined;
    }
  }

  #become(state: ReplicaState): void {
    this.#state = state;
    this.stateChanged.tell(state);
  }
}

function everything(document: Document): Touched {
  const touched = new Touched();
  for (const part of ["notebook", "order", "access", "kernels", "executions", "comments", "assistants"] as const)
    touched.part(part);
  for (const id of document.cells.keys()) touched.cell(id);
  return touched;
}
