// Chooses the form of an output to display: the richest known MIME type. Active content goes to the sandboxed frame.

import { exactText } from "../protocol/exactJson.ts";
import { ARROW_TABLE, JSON_TABLE, readHead } from "./kernelTable.ts";
import type { WidgetDrawing } from "./widgets.ts";

/** Content rendered by the sandboxed frame. */
export type Drawing =
  | { kind: "html"; html: string }
  | { kind: "plotly"; figure: unknown }
  | { kind: "vega"; spec: unknown; mode: "vega" | "vega-lite" }
  | { kind: "mermaid"; text: string }
  | { kind: "bokeh"; html: string; script: string }
  | WidgetDrawing;

export type Shape =
  | { kind: "text"; text: string; stream: "stdout" | "stderr" | "result" }
  | { kind: "error"; name: string; value: string; traceback: string }
  | { kind: "image"; source: string; alt: string; width: number | undefined; type: string }
  | { kind: "markdown"; text: string }
  | { kind: "latex"; text: string }
  | { kind: "html"; html: string; text: string }
  | { kind: "frame"; drawing: Drawing; text: string }
  | { kind: "widget"; model: string; text: string }
  | { kind: "json"; value: unknown; text: string }
  | { kind: "table"; resource: unknown; text: string }
  /** A data frame; `arrow` is base64. */
  | { kind: "data frame"; json: unknown; arrow?: string; text: string }
  | { kind: "file"; type: string; source: string; text: string }
  | { kind: "nothing" }
  | { kind: "unknown"; types: string[] };

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const BOKEH_LOAD = "application/vnd.bokehjs_load.v0+json";

/** Joins nbformat's multi-line text. */
export function joined(value: unknown): string {
  return Array.isArray(value) ? value.join("") : String(value ?? "");
}

/** `content` is an nbformat 4 output. */
export function shapeOf(content: unknown): Shape {
  const output = (content ?? {}) as Record<string, unknown>;
  if (output.output_type === "stream") {
    return { kind: "text", text: joined(output.text), stream: output.name === "stderr" ? "stderr" : "stdout" };
  }
  if (output.output_type === "error") {
    const traceback = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
    return { kind: "error", name: String(output.ename ?? "Error"), value: String(output.evalue ?? ""), traceback };
  }
  return ofBundle(output);
}

type Bundle = Record<string, unknown>;

function ofBundle(output: Bundle): Shape {
  const data = (output.data ?? {}) as Bundle;
  const text = joined(data["text/plain"]);
  const shape =
    drawn(data, text) ?? ofHtml(data, text) ?? pictured(data, (output.metadata ?? {}) as Bundle, text) ?? written(data, text);
  return shape ?? { kind: "unknown", types: Object.keys(data) };
}

/** Charts and widgets, from their data. */
function drawn(data: Bundle, text: string): Shape | undefined {
  const frame = (drawing: Drawing): Shape => ({ kind: "frame", drawing, text });
  const view = data["application/vnd.jupyter.widget-view+json"] as { model_id?: unknown } | undefined;
  if (typeof view?.model_id === "string") return { kind: "widget", model: view.model_id, text };
  const vega = Object.keys(data).find((type) => /^application\/vnd\.vega(lite)?\.v\d+\+json$/.test(type));
  if (vega) return frame({ kind: "vega", spec: data[vega], mode: vega.includes("vegalite") ? "vega-lite" : "vega" });
  if (data["application/vnd.plotly.v1+json"]) return frame({ kind: "plotly", figure: data["application/vnd.plotly.v1+json"] });
  if (data["text/vnd.mermaid"]) return frame({ kind: "mermaid", text: joined(data["text/vnd.mermaid"]) });
  if (data["application/vnd.bokehjs_exec.v0+json"] !== undefined) {
    return frame({ kind: "bokeh", html: joined(data["text/html"]), script: joined(data["application/javascript"]) });
  }
  // Bokeh's scripts are loaded by the charts that need them (see renderers.ts).
  if (data[BOKEH_LOAD] !== undefined) return { kind: "nothing" };
  return undefined;
}

/** Scripts from Bokeh's `output_notebook(INLINE)`, needed by later charts. */
export function bokehScripts(content: unknown): string | undefined {
  const data = (content as { data?: Bundle } | null)?.data ?? {};
  return data[BOKEH_LOAD] === undefined ? undefined : joined(data["application/javascript"] ?? data[BOKEH_LOAD]);
}

function ofHtml(data: Bundle, text: string): Shape | undefined {
  if (typeof data[ARROW_TABLE] === "string") return { kind: "data frame", json: undefined, arrow: data[ARROW_TABLE], text };
  if (readHead(data[JSON_TABLE])) return { kind: "data frame", json: data[JSON_TABLE], text };
  if (data["application/vnd.dataresource+json"])
    return { kind: "table", resource: named(data["application/vnd.dataresource+json"], data[JSON_TABLE]), text };
  if (data["text/html"] === undefined) return undefined;
  const html = joined(data["text/html"]);
  const spec = altairSpec(html);
  if (spec) return { kind: "frame", drawing: { kind: "vega", spec, mode: "vega-lite" }, text };
  return needsFrame(html) ? { kind: "frame", drawing: { kind: "html", html }, text } : { kind: "html", html, text };
}

/** Adds the kernel's name of the full table to a query's rows. */
function named(resource: unknown, table: unknown): unknown {
  const name = (table as { table?: unknown } | undefined)?.table;
  return name === undefined ? resource : { ...(resource as object), table: name };
}

/** Chart specification in Altair's HTML, which would load its libraries from another host; the page uses its own. */
function altairSpec(html: string): unknown {
  const found = /vega-?lite|vegaEmbed/.test(html) && /\}\)\((\{.*\}), \{"mode": "vega-lite"[^\n]*\}\);/.exec(html)?.[1];
  try {
    return found ? JSON.parse(found) : undefined;
  } catch {
    return undefined;
  }
}

function pictured(data: Bundle, metadata: Bundle, text: string): Shape | undefined {
  if (data["text/latex"] !== undefined) return { kind: "latex", text: joined(data["text/latex"]) };
  const svg = data["image/svg+xml"];
  if (svg !== undefined) return image("image/svg+xml", base64(joined(svg)), text, metadata);
  const type = IMAGES.find((each) => data[each] !== undefined);
  if (type) return image(type, joined(data[type]).replace(/\s/g, ""), text, metadata);
  const media = Object.keys(data).find((each) => /^(audio|video)\/[\w.+-]+$/.test(each));
  if (!media) return undefined;
  const source = `data:${media};base64,${joined(data[media]).replace(/[^\w+/=]/g, "")}`;
  const html = `<${media.slice(0, 5)} controls src="${source}"></${media.slice(0, 5)}>`;
  return { kind: "frame", drawing: { kind: "html", html }, text };
}

function written(data: Bundle, text: string): Shape | undefined {
  if (data["application/javascript"] !== undefined) {
    const html = `<script>${joined(data["application/javascript"])}</script>`;
    return { kind: "frame", drawing: { kind: "html", html }, text };
  }
  if (data["text/markdown"] !== undefined) return { kind: "markdown", text: joined(data["text/markdown"]) };
  if (data["application/pdf"] !== undefined) {
    const source = `data:application/pdf;base64,${joined(data["application/pdf"]).replace(/\s/g, "")}`;
    return { kind: "file", type: "application/pdf", source, text };
  }
  const json = ["application/json", "application/geo+json"].find((type) => data[type] !== undefined);
  if (json) return { kind: "json", value: valueOf(data, json), text };
  if (data["text/plain"] !== undefined) return { kind: "text", text, stream: "result" };
  const other = Object.entries(data).find(([type, value]) => type.endsWith("+json") && typeof value === "object");
  return other && { kind: "json", value: other[1], text };
}

/** A lone integer beyond 2^53 keeps its digits. */
function valueOf(data: Bundle, type: string): unknown {
  const exact = exactText(data, type);
  return exact === undefined ? data[type] : BigInt(exact);
}

function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function image(type: string, data: string, alt: string, metadata: Bundle): Shape {
  const size = metadata[type] as { width?: number } | undefined;
  return { kind: "image", source: `data:${type};base64,${data}`, alt: alt || "Output image", width: size?.width, type };
}

/** Styles that pandas and Polars give to all their tables: where texts stand in a cell. The page's tables have their own. */
const TABLE_STYLE =
  /<style\b[^>]*>(?:\s*\.dataframe\b[^{}<,]*(?:,\s*\.dataframe\b[^{}<,]*)*\{(?:\s*(?:vertical-align|text-align|white-space):\s*[\w-]+\s*;?)*\s*\})*\s*<\/style>/gi;
const ALIGNED = /\sstyle\s*=\s*"\s*text-align:\s*\w+;?\s*"/gi;

/** True for HTML that must be rendered in the sandboxed frame: active elements, and own styles. */
export function needsFrame(html: string): boolean {
  if (/<(script|iframe|object|embed|form|canvas|svg|video|audio|link|input|button)\b|\son\w+\s*=/i.test(html)) return true;
  const isDataFrame = /<table[^>]*\bclass="[^"]*\bdataframe\b/i.test(html);
  const own = isDataFrame ? html.replace(TABLE_STYLE, "").replace(ALIGNED, "") : html;
  return /<style\b|\sstyle\s*=/i.test(own);
}
