// Script of the sandboxed frame, sent by the page: renders live widgets, or their last state.
import icons from "@fortawesome/fontawesome-free/css/fontawesome.min.css?inline";
import regular from "@fortawesome/fontawesome-free/css/regular.min.css?inline";
import solid from "@fortawesome/fontawesome-free/css/solid.min.css?inline";
import earlier from "@fortawesome/fontawesome-free/css/v4-shims.min.css?inline";
import * as base from "@jupyter-widgets/base";
import { ManagerBase } from "@jupyter-widgets/base-manager";
import * as controls from "@jupyter-widgets/controls";
import variables from "@jupyter-widgets/controls/css/labvariables.css?inline";
import look from "@jupyter-widgets/controls/css/widgets.css?inline";
import lumino from "@lumino/widgets/style/index.css?inline";
import { MessageLoop } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import type { WidgetChange, WidgetDrawing, WidgetState } from "../outputs/widgets.ts";
import { AnyModel, AnyView } from "./any.ts";
import { OutputModel, OutputView } from "./output.ts";

type Post = (message: unknown) => void;
type Heard = (message: unknown) => void;

/** Delay of a simulated idle status after each message, because the frame gets no kernel status. */
const PAUSE_MS = 50;

function bytes(base64: string): DataView {
  return new DataView(Uint8Array.from(atob(base64), (each) => each.charCodeAt(0)).buffer);
}

function withBuffers({ state, buffers }: WidgetState): Record<string, unknown> {
  const whole = structuredClone(state);
  for (const { path, base64 } of buffers ?? []) {
    let place: Record<string, unknown> = whole;
    for (const step of path.slice(0, -1)) place = (place[step] ??= {}) as Record<string, unknown>;
    place[path.at(-1) ?? ""] = bytes(base64);
  }
  return whole;
}

/** A widget's comm to the kernel, through the page. */
class Comm {
  #heard: Heard | undefined;
  #closed: Heard | undefined;
  readonly target_name = "jupyter.widget";
  readonly jsServicesComm = undefined;

  constructor(
    readonly comm_id: string,
    readonly manager: Manager,
  ) {}

  open = () => "";
  close = () => "";
  on_msg = (heard: Heard) => void (this.#heard = heard);
  on_close = (closed: Heard) => void (this.#closed = closed);

  send(data: unknown, callbacks?: { iopub?: { status?: Heard } }, _metadata?: unknown, buffers: unknown[] = []): string {
    const id = this.manager.say(this.comm_id, data, buffers);
    setTimeout(() => callbacks?.iopub?.status?.({ content: { execution_state: "idle" } }), PAUSE_MS);
    return id;
  }

  hear(data: unknown, buffers: DataView[], parent: string): void {
    this.#heard?.({ content: { comm_id: this.comm_id, data }, buffers, parent_header: { msg_id: parent }, metadata: {} });
  }

  end(): void {
    this.#closed?.({ content: { comm_id: this.comm_id, data: {} } });
  }
}

export class Manager extends ManagerBase {
  readonly #comms = new Map<string, Comm>();
  #last = 0;

  constructor(
    readonly post: Post,
    readonly isLive: boolean,
    readonly mayMove: boolean,
  ) {
    super();
  }

  say(comm_id: string, data: unknown, buffers: unknown[]): string {
    const id = (this.#last += 1);
    if (this.mayMove) this.post({ comm: { id, comm_id, data, buffers } });
    return String(id);
  }

  open(comm_id: string, widget: WidgetState): void {
    if (this.has_model(comm_id)) return;
    const state = withBuffers(widget);
    const comm = new Comm(comm_id, this);
    this.#comms.set(comm_id, comm);
    const options = {
      model_name: String(state["_model_name"]),
      model_module: String(state["_model_module"]),
      model_module_version: String(state["_model_module_version"]),
      model_id: comm_id,
      ...(this.isLive && { comm }),
    };
    this.new_model(options as never, state as never).catch(() => undefined);
  }

  async hear(change: WidgetChange): Promise<void> {
    if ("opened" in change) return this.open(change.opened.comm_id, change.opened as WidgetState);
    const { comm_id } = "closed" in change ? change.closed : change.message;
    if (!this.has_model(comm_id)) return;
    await this.get_model(comm_id);
    const comm = this.#comms.get(comm_id);
    if ("closed" in change) return comm?.end();
    const { data, buffers, parent } = change.message;
    comm?.hear(data, (buffers ?? []).map(bytes), parent ?? "");
  }

  /** Renders a widget's view into an element. */
  async show(model: string, place: HTMLElement): Promise<void> {
    const view = await this.create_view(await this.get_model(model));
    const { luminoWidget } = view as unknown as { luminoWidget: Widget };
    MessageLoop.sendMessage(luminoWidget, Widget.Msg.BeforeAttach);
    place.appendChild(view.el);
    MessageLoop.sendMessage(luminoWidget, Widget.Msg.AfterAttach);
  }

  protected override async loadClass(name: string, module: string): Promise<never> {
    const modules: Record<string, unknown> = {
      "@jupyter-widgets/base": base,
      "@jupyter-widgets/controls": controls,
      "@jupyter-widgets/output": { OutputModel, OutputView },
      anywidget: { AnyModel, AnyView },
    };
    const found = (modules[module] as Record<string, unknown> | undefined)?.[name];
    if (!found)
      throw new Error(
        `this page has no ${name} of ${module}: it knows the widgets of ipywidgets, and those that bring their own module (anywidget)`,
      );
    return found as never;
  }

  protected override _create_comm(): Promise<never> {
    return Promise.reject(new Error("widgets are made by the kernel"));
  }

  protected override _get_comm_info(): Promise<Record<string, never>> {
    return Promise.resolve({});
  }
}

/** Jupyter's colour variables for the dark theme. */
const DARK = `
  body.dark {
    color-scheme: dark;
    --jp-layout-color0: #18191b; --jp-layout-color1: #18191b; --jp-layout-color2: #2a2d31; --jp-layout-color3: #3a3e44;
    --jp-layout-color4: #4a4f56; --jp-content-font-color0: #fff; --jp-content-font-color1: #edeef0;
    --jp-content-font-color2: #c8ccd2; --jp-content-font-color3: #8d939b; --jp-ui-font-color0: #fff;
    --jp-ui-font-color1: #edeef0; --jp-ui-font-color2: #c8ccd2; --jp-ui-font-color3: #8d939b;
    --jp-border-color0: #5a5e66; --jp-border-color1: #4a4f56; --jp-border-color2: #3a3e44; --jp-border-color3: #2a2d31;
    --jp-widgets-color: #edeef0; --jp-widgets-label-color: #edeef0; --jp-widgets-readout-color: #edeef0;
    --jp-widgets-font-color: #edeef0; --jp-widgets-border-color: #5a5e66; --jp-widgets-input-color: #edeef0;
    --jp-widgets-input-background-color: #222427; --jp-widgets-input-border-color: #5a5e66;
    --jp-widgets-slider-handle-background-color: #c8ccd2; --jp-widgets-slider-track-color: #4a4f56;
    --jp-widgets-container-background-color: #18191b;
  }
  body.dark .jupyter-widgets, body.dark .widget-html-content { color: #edeef0; }
  body.dark .jupyter-button:not(.mod-primary, .mod-success, .mod-info, .mod-warning, .mod-danger) { background: #34383e; color: #edeef0; }
`;

let manager: Manager | undefined;

/** Renders the widgets of a frame again. */
export async function show(drawing: WidgetDrawing, post: Post): Promise<void> {
  document.head.querySelector("#widgets")?.remove();
  document.head.appendChild(
    Object.assign(document.createElement("style"), {
      id: "widgets",
      textContent: [icons, solid, regular, earlier, lumino, variables, look, DARK].join("\n"),
    }),
  );
  const place = document.body.appendChild(document.createElement("div"));
  place.style.padding = "4px";
  place.inert = !drawing.mayMove;
  manager = new Manager(post, drawing.isLive, drawing.mayMove);
  for (const [id, widget] of drawing.widgets) manager.open(id, widget);
  await manager.show(drawing.model, place);
}

export function hear(changes: WidgetChange[]): void {
  for (const change of changes) void manager?.hear(change);
}
