// Widgets with their own module (anywidget). The module's source is in the widget's state and runs only in this frame.
import { DOMWidgetModel, DOMWidgetView } from "@jupyter-widgets/base";

type Cleanup = (() => unknown) | void;

interface Definition {
  initialize?: (props: object) => Cleanup | Promise<Cleanup>;
  render?: (props: object) => Cleanup | Promise<Cleanup>;
}

type Listener = (...values: unknown[]) => void;

const LONGEST_WAIT_MS = 60_000;

/** Imports a module from its source. The frame's policy blocks other imports. */
async function definitionOf(esm: unknown): Promise<Definition> {
  if (typeof esm !== "string" || esm.trim() === "") throw new Error("this widget brings no module");
  if (/^https?:\/\/\S+$/.test(esm.trim()))
    throw new Error("this widget's module lies at another address, and nothing is loaded here");
  const address = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  try {
    const module = (await import(/* @vite-ignore */ address)) as { default?: unknown } & Definition;
    const made = typeof module.default === "function" ? await (module.default as () => unknown)() : module.default;
    return (made ?? module) as Definition;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** The model interface given to a module; its listeners are removed when `ended` aborts. */
function handed(model: AnyModel, ended: AbortSignal): object {
  const heard: [string, Listener][] = [];
  ended.addEventListener("abort", () => {
    for (const [name, listener] of heard) model.off(name, listener);
  });
  return {
    get: (name: string) => model.get(name) as unknown,
    set: (name: string, value: unknown) => void model.set(name, value),
    save_changes: () => void model.save_changes(),
    send: (content: object, callbacks?: object, buffers?: ArrayBuffer[]) => model.send(content as never, callbacks, buffers),
    on: (name: string, listener: Listener) => {
      heard.push([name, listener]);
      model.on(name, listener);
    },
    off: (name?: string | null, listener?: Listener | null) => {
      for (const each of heard)
        if ((name == null || each[0] === name) && (listener == null || each[1] === listener)) model.off(each[0], each[1]);
    },
    widget_manager: model.widget_manager,
  };
}

let asked = 0;

/** Invokes a command of the widget's kernel side. */
function invoke(
  model: AnyModel,
  name: string,
  msg?: unknown,
  { buffers = [] as ArrayBuffer[], signal = AbortSignal.timeout(LONGEST_WAIT_MS) } = {},
) {
  const id = `${model.model_id}.${(asked += 1)}`;
  return new Promise((resolve, reject) => {
    const hear = (message: { id?: string; kind?: string; response?: unknown }, answered: unknown[]) => {
      if (message.id !== id || message.kind !== "anywidget-command-response") return;
      model.off("msg:custom", hear);
      resolve([message.response, answered]);
    };
    signal.addEventListener("abort", () => {
      model.off("msg:custom", hear);
      reject(new Error(`the kernel did not answer ${name}`));
    });
    model.on("msg:custom", hear);
    model.send({ id, kind: "anywidget-command", name, msg } as never, undefined, buffers);
  });
}

const props = (model: AnyModel, signal: AbortSignal) => ({
  model: handed(model, signal),
  signal,
  experimental: { invoke: (name: string, msg?: unknown, options?: object) => invoke(model, name, msg, options) },
});

export class AnyModel extends DOMWidgetModel {
  // `declare` only, because the base constructor calls `initialize` before field initialisers run.
  /** Module of the current state. */
  declare definition: Promise<Definition> | undefined;
  declare ended: AbortController | undefined;

  override initialize(attributes: never, options: never): void {
    super.initialize(attributes, options);
    this.on("change:_esm", () => this.begin());
    this.begin();
  }

  begin(): void {
    this.ended?.abort();
    const ended = (this.ended = new AbortController());
    this.definition = definitionOf(this.get("_esm")).then(async (definition) => {
      const cleanup = await definition.initialize?.(props(this, ended.signal));
      if (typeof cleanup === "function") ended.signal.addEventListener("abort", () => void cleanup());
      return definition;
    });
    // The view reports the error.
    this.definition.catch(() => undefined);
  }
}

export class AnyView extends DOMWidgetView {
  #ended: AbortController | undefined;
  #look: HTMLStyleElement | undefined;

  override render(): void {
    super.render();
    this.listenTo(this.model, "change:_css", () => this.dress());
    this.listenTo(this.model, "change:_esm", () => void this.draw());
    this.dress();
    void this.draw();
  }

  dress(): void {
    this.#look ??= document.head.appendChild(document.createElement("style"));
    const css: unknown = this.model.get("_css");
    this.#look.textContent = typeof css === "string" ? css : "";
  }

  async draw(): Promise<void> {
    this.#ended?.abort();
    const ended = (this.#ended = new AbortController());
    this.el.replaceChildren();
    try {
      const definition = await (this.model as AnyModel).definition;
      const cleanup = await definition?.render?.({ ...props(this.model as AnyModel, ended.signal), el: this.el });
      if (typeof cleanup === "function") ended.signal.addEventListener("abort", () => void cleanup());
    } catch (error) {
      const words = `This widget could not be drawn: ${(error as Error | undefined)?.message ?? String(error)}`;
      this.el.append(Object.assign(document.createElement("pre"), { textContent: words }));
    }
  }

  override remove(): void {
    this.#ended?.abort();
    this.#look?.remove();
    super.remove();
  }
}
