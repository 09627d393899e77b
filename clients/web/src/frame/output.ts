// Output widget: displays outputs that the runtime agent captures.
import { DOMWidgetModel, DOMWidgetView } from "@jupyter-widgets/base";
import { joined } from "../outputs/mime.ts";

type Bundle = Record<string, unknown>;
type Manager = { show: (model: string, place: HTMLElement) => Promise<void> };
const VIEW = "application/vnd.jupyter.widget-view+json";

export class OutputModel extends DOMWidgetModel {
  override defaults() {
    return {
      ...super.defaults(),
      _model_name: "OutputModel",
      _view_name: "OutputView",
      _model_module: "@jupyter-widgets/output",
      _view_module: "@jupyter-widgets/output",
      msg_id: "",
      outputs: [],
    };
  }
}

export class OutputView extends DOMWidgetView {
  override render(): void {
    super.render();
    this.listenTo(this.model, "change:outputs", () => this.draw());
    this.draw();
  }

  draw(): void {
    const outputs = (this.model.get("outputs") ?? []) as Bundle[];
    this.el.replaceChildren(...outputs.map((output) => this.drawn(output)));
  }

  drawn(output: Bundle): Node {
    if (output["output_type"] === "stream") return text(joined(output["text"]));
    // Tracebacks are displayed without ANSI colours.
    if (output["output_type"] === "error") return text(joined(output["traceback"]).replace(/\x1b\[[\d;]*m/g, ""));
    const data = (output["data"] ?? {}) as Bundle;
    const view = data[VIEW] as { model_id?: string } | undefined;
    const place = document.createElement("div");
    if (view?.model_id) {
      void (this.model.widget_manager as unknown as Manager)
        .show(view.model_id, place)
        .catch(() => place.append(text(joined(data["text/plain"]))));
      return place;
    }
    const image = ["image/png", "image/jpeg", "image/gif"].find((type) => data[type] !== undefined);
    if (image) return Object.assign(new Image(), { src: `data:${image};base64,${joined(data[image]).replace(/\s/g, "")}` });
    const html = data["text/html"] ?? data["image/svg+xml"];
    if (html === undefined) return text(joined(data["text/plain"]));
    place.append(document.createRange().createContextualFragment(joined(html)));
    return place;
  }
}

function text(words: string): HTMLElement {
  const pre = Object.assign(document.createElement("pre"), { textContent: words });
  pre.style.cssText = "margin: 0; white-space: pre-wrap";
  return pre;
}
