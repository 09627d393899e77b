// Comms of a notebook's kernels: current state of widgets and progress, and messages to them. Ephemeral; requested again with
// each subscription.
import type { CommChange, OpenComm, ServerMessage } from "../protocol/messages.ts";
import type { WidgetChange, WidgetMessage, WidgetState } from "../outputs/widgets.ts";
import type { Connection } from "./connection.ts";
import { Listeners } from "./listeners.ts";

/** The widgets of one kernel. */
export interface KernelWidgets {
  /** Undefined until received. */
  widgets: Map<string, WidgetState> | undefined;
  /** Reason why the widgets are unknown. */
  problem: string | undefined;
}

export class Comms {
  readonly #connection: Connection;
  readonly #notebook: string;
  readonly #kernels = new Map<string, KernelWidgets>();
  readonly #end: () => void;
  /** All widgets of a kernel were replaced. */
  readonly replaced = new Listeners<[kernel: string]>();
  readonly changed = new Listeners<[kernel: string, changes: WidgetChange[]]>();
  /** Number of the last message sent. */
  #last = 0;

  constructor(connection: Connection, notebook: string) {
    this.#connection = connection;
    this.#notebook = notebook;
    this.#end = connection.received.add((message) => this.#hear(message));
  }

  /** Known widgets of a kernel; the first call requests them. */
  of(kernel: string): KernelWidgets {
    const known = this.#kernels.get(kernel);
    if (known) return known;
    const fresh: KernelWidgets = { widgets: undefined, problem: undefined };
    this.#kernels.set(kernel, fresh);
    this.#follow(kernel);
    return fresh;
  }

  /** Sends a message; returns the id that the kernel's answers refer to, or undefined if it was not sent. */
  send(kernel: string, { comm_id, data, buffers }: WidgetMessage): string | undefined {
    const id = (this.#last += 1);
    const message = { comm_id, data, ...(buffers.length > 0 && { buffers }) };
    const sent = this.#connection.send({ send_comm: { notebook: this.#notebook, kernel_session: kernel, id, message } });
    return sent ? `${this.#connection.welcome?.connection}.${id}` : undefined;
  }

  close(): void {
    this.#end();
  }

  #follow(kernel: string): void {
    const { welcome } = this.#connection;
    // Older servers would answer with an error.
    if (!welcome?.features.includes("comms")) return;
    this.#connection.send({ follow_comms: { notebook: this.#notebook, kernel_session: kernel } });
  }

  #hear(message: ServerMessage): void {
    if ("subscribed" in message && message.subscribed.notebook === this.#notebook) {
      for (const kernel of this.#kernels.keys()) this.#follow(kernel);
    } else if ("comms" in message && message.comms.notebook === this.#notebook) {
      const { kernel_session, comms, problem } = message.comms;
      const known = this.#kernels.get(kernel_session);
      if (!known) return;
      known.problem = problem ?? undefined;
      if (!problem) known.widgets = new Map((comms as OpenComm[]).map((comm) => [comm.comm_id, comm as WidgetState]));
      this.replaced.tell(kernel_session);
    } else if ("comm" in message && message.comm.notebook === this.#notebook) {
      const { kernel_session, changes } = message.comm;
      const widgets = this.#kernels.get(kernel_session)?.widgets;
      if (!widgets) return;
      for (const change of changes as CommChange[]) fold(widgets, change as WidgetChange);
      this.changed.tell(kernel_session, changes as WidgetChange[]);
    }
  }
}

function fold(widgets: Map<string, WidgetState>, change: WidgetChange): void {
  if ("opened" in change) widgets.set(change.opened.comm_id, change.opened);
  else if ("closed" in change) widgets.delete(change.closed.comm_id);
  else {
    const { comm_id, data, buffers } = change.message;
    const widget = widgets.get(comm_id);
    if (!widget || data["method"] === "custom") return;
    const state = (data["state"] ?? {}) as Record<string, unknown>;
    const paths = (data["buffer_paths"] ?? []) as (string | number)[][];
    const placed = paths.map((path, index) => ({ path: path.map(String), base64: buffers?.[index] ?? "" }));
    const names = new Set([...Object.keys(state), ...placed.map(({ path }) => path[0])]);
    const kept = (widget.buffers ?? []).filter(({ path }) => !names.has(path[0]));
    widgets.set(comm_id, { ...widget, state: { ...widget.state, ...state }, buffers: [...kept, ...placed] });
  }
}
