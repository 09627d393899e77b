// Reference server in memory by the rules of protocol/README.md: one notebook, text edits, catch-up, resends.
import { ChangeSet } from "@codemirror/state";
import { apply } from "../../src/protocol/apply.ts";
import { DOCUMENT, Document } from "../../src/protocol/document.ts";
import type {
  ChangeSet as Wire,
  ClientMessage,
  Command,
  CommandMessage,
  EventMessage,
  ServerMessage,
  SubscribeMessage,
} from "../../src/protocol/messages.ts";

export const NOTEBOOK = "nb";
export const HEARTBEAT_MS = 20_000;

export interface Client {
  connection: string;
  user: string;
  isSubscribed: boolean;
  send: (message: ServerMessage) => void;
}

export interface Undoing {
  /** Group that an edit undoes or redoes, if any. */
  takenBack(user: string, edit: { undoes?: string | null; redoes?: string | null }): string | undefined;
  /** Change of an undo or redo of the cell's last group, or of the group with this id. */
  step(user: string, kind: "undo" | "redo", id?: string): { change: Wire; undoes: string } | undefined;
  /** Receives each recorded edit. */
  note(event: EventMessage): void;
}

type Answer = { ack: { id: string; notebook: string; version: number } };

export class ReferenceServer {
  document = new Document(NOTEBOOK);
  events: EventMessage[] = [];
  readonly clients = new Set<Client>();
  connections = 0;
  /** Sends snapshots even if the client could resume. */
  alwaysSnapshots = false;
  /** Refuses every token. */
  refuses = false;
  answersChecks = true;
  /** Features in `welcome`. */
  features: string[] = [];
  /** Count of decided commands, without repeats. */
  decided = 0;
  /** Undo model. Without it Undo and Redo have no effect. */
  undoing: Undoing | undefined;
  readonly #answers = new Map<string, Answer>();
  #ids = 0;

  constructor(cells: Record<string, string> = { a: "one\ntwo", b: "" }) {
    this.append("ann", "setup", "NotebookCreated", { title: "T", metadata: {}, owner: { kind: "user", id: "ann" } });
    for (const [index, [cell_id, source]] of Object.entries(cells).entries()) {
      const cell = { cell_type: "code", source, order_key: `a${index}` };
      this.append("ann", "setup", "CellInserted", { cell_id, cell });
    }
  }

  source(cell: string): string {
    return this.document.cells.get(cell)?.source ?? "";
  }

  append(user: string, command_id: string, type: string, payload: unknown): EventMessage {
    const version = this.document.version + 1;
    const event: EventMessage = {
      ...{ version, id: `e${++this.#ids}`, type, schema: 1, command_id, correlation_id: command_id, payload },
      actor: { kind: "user", id: user },
      recorded_at: 1_000 + version,
    };
    apply(this.document, event);
    this.events.push(event);
    return event;
  }

  /** Appends an event and broadcasts it. */
  publish(user: string, type: string, payload: unknown, commandId = "other"): void {
    this.broadcast([this.append(user, commandId, type, payload)]);
  }

  /** Removes a text from a cell and its past, tells it, and gives every client the state anew. */
  redact(cell_id: string, text: string): void {
    const version = this.document.version + 1;
    const blocks = "█".repeat(text.length);
    for (const event of this.events) event.payload = JSON.parse(JSON.stringify(event.payload).replaceAll(text, blocks));
    const cell = this.document.cells.get(cell_id);
    if (cell) this.document.cells.set(cell_id, { ...cell, source: cell.source.replaceAll(text, blocks) });
    const event = {
      ...{ version, id: `e${++this.#ids}`, type: "ContentRedacted", schema: 1, correlation_id: "r", command_id: "r" },
      ...{ actor: { kind: "user" as const, id: "ann" }, recorded_at: 1_000 + version },
      payload: { reason: "a key", target: { text: {} }, redactions: [] },
    };
    Object.assign(this.document, { version, redaction_epoch: version, updated_at: event.recorded_at });
    this.events.push(event);
    this.broadcast([event]);
    for (const client of this.clients) {
      if (!client.isSubscribed) continue;
      client.send({ resync: { notebook: NOTEBOOK, reason: "content was redacted" } } as ServerMessage);
      this.subscribe(client, {} as SubscribeMessage);
    }
  }

  broadcast(events: EventMessage[]): void {
    if (events.length === 0) return;
    const message: ServerMessage = { events: { notebook: NOTEBOOK, from: events[0]?.version ?? 0, events } };
    for (const client of this.clients) if (client.isSubscribed) client.send(message);
  }

  hear(client: Client, message: ClientMessage): void {
    if ("hello" in message) this.#welcome(client, message.hello.token ?? "");
    else if ("subscribe" in message) this.subscribe(client, message.subscribe);
    else if ("unsubscribe" in message) client.isSubscribed = false;
    else if ("command" in message) this.#command(client, message.command);
    else if ("check" in message && this.answersChecks) this.#check(client, message.check.version);
    else if ("presence" in message) {
      const peer = {
        connection: client.connection,
        actor: { kind: "user" as const, id: client.user },
        name: client.user,
        state: message.presence.state,
      };
      for (const each of this.clients)
        if (each.isSubscribed) each.send({ presence: { notebook: NOTEBOOK, peers: [peer], left: [] } });
    }
  }

  #welcome(client: Client, token: string): void {
    if (this.refuses || token === "") {
      client.send({ error: { code: "unauthenticated", message: "sign in again", fatal: true } });
      return;
    }
    client.user = token;
    client.send({
      welcome: {
        ...{ protocol: 1, server: "reference", connection: client.connection, scopes: [], features: this.features },
        actor: { kind: "user", id: token },
        max_frame_bytes: 1 << 23,
        heartbeat_ms: HEARTBEAT_MS,
      },
    });
  }

  subscribe(client: Client, { since, unconfirmed = [] }: SubscribeMessage): void {
    client.isSubscribed = true;
    const { version } = this.document;
    const last = this.events.at(-1)?.id ?? "";
    const { redaction_epoch } = this.document;
    const isOlder = since !== undefined && since !== null && since.version < redaction_epoch;
    const resumes = since && !isOlder && this.events[since.version - 1]?.id === since.event_id && !this.alwaysSnapshots;
    const common = {
      ...{ notebook: NOTEBOOK, role: "editor" as const, document: DOCUMENT, peers: [], kernels: [] },
      ...(redaction_epoch !== 0 && { redaction_epoch }),
    };
    if (resumes) {
      client.send({ subscribed: { ...common, version: since.version, event_id: since.event_id } });
      const missed = this.events.slice(since.version);
      if (missed.length > 0) client.send({ events: { notebook: NOTEBOOK, from: since.version + 1, events: missed } });
      return;
    }
    const diverged = since !== undefined && since !== null && this.events[since.version - 1]?.id !== since.event_id;
    const base_too_old = diverged ? unconfirmed.map(({ cell_id }) => cell_id) : [];
    const unconfirmed_events = this.events.filter((event) => {
      const cell = (event.payload as { cell_id?: string }).cell_id;
      return !diverged && unconfirmed.some(({ cell_id, base }) => cell === cell_id && event.version > base);
    });
    const snapshot = structuredClone(this.document.toJSON());
    client.send({ subscribed: { ...common, version, event_id: last, snapshot, unconfirmed_events, base_too_old, diverged } });
  }

  #check(client: Client, version: number): void {
    const digest = version === this.document.version ? this.document.digest() : undefined;
    client.send({ checked: { notebook: NOTEBOOK, version, ...(digest && { digest }) } } as ServerMessage);
  }

  #command(client: Client, { id, body, correlation_id }: CommandMessage): void {
    const known = this.#answers.get(id);
    if (known) return client.send(known);
    this.decided += 1;
    const before = this.events.length;
    const refusal = this.#decide(client.user, id, body as Command);
    if (refusal) return client.send({ reject: { id, notebook: NOTEBOOK, code: refusal, message: refusal } } as ServerMessage);
    const events = this.events.slice(before);
    for (const event of events) {
      event.correlation_id = correlation_id ?? id;
      this.undoing?.note(event);
    }
    this.broadcast(events);
    const answer = { ack: { id, notebook: NOTEBOOK, version: this.document.version } };
    this.#answers.set(id, answer);
    client.send(answer);
  }

  #decide(user: string, id: string, body: Command): string | undefined {
    if ("RenameNotebook" in body) this.append(user, id, "NotebookRenamed", { title: body.RenameNotebook.title, previous: "" });
    if ("DeleteCell" in body) this.append(user, id, "CellDeleted", { cell_id: body.DeleteCell.cell_id, cell: {} });
    if ("Undo" in body) return this.#step(user, id, "undo", body.Undo.correlation_id ?? undefined);
    if ("Redo" in body) return this.#step(user, id, "redo");
    if (!("EditSource" in body)) return undefined;
    const { cell_id, base, change } = body.EditSource;
    const cell = this.document.cells.get(cell_id);
    if (!cell) return "cell_deleted";
    let carried = ChangeSet.fromJSON(change);
    for (const event of this.events.slice(base)) {
      const payload = event.payload as { cell_id?: string; change?: Wire };
      if (event.type === "CellSourceEdited" && payload.cell_id === cell_id) {
        carried = carried.map(ChangeSet.fromJSON(payload.change), false);
      }
    }
    if (carried.length !== cell.source.length) return "invalid_change";
    if (carried.empty) return undefined;
    const event = this.append(user, id, "CellSourceEdited", { cell_id, change: carried.toJSON() });
    const undoes = this.undoing?.takenBack(user, body.EditSource as { undoes?: string });
    if (undoes !== undefined) event.undoes = undoes;
    return undefined;
  }

  #step(user: string, id: string, kind: "undo" | "redo", group?: string): string | undefined {
    const step = this.undoing?.step(user, kind, group);
    if (!step) return "nothing_to_undo";
    this.append(user, id, "CellSourceEdited", { cell_id: "a", change: step.change }).undoes = step.undoes;
    return undefined;
  }
}
