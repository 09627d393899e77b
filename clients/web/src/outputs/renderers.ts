// Source texts of the chart libraries for the sandboxed frame, which may not load anything itself.
import type { Drawing } from "./mime.ts";
import widgets from "virtual:widgets";
import interpreter from "../../node_modules/vega-interpreter/build/vega-interpreter.js?url";
import mermaid from "../../node_modules/mermaid/dist/mermaid.min.js?url";
import plotly from "../../node_modules/plotly.js-dist-min/plotly.min.js?url";
import vega from "../../node_modules/vega/build/vega.min.js?url";
import vegaEmbed from "../../node_modules/vega-embed/build/vega-embed.min.js?url";
import vegaLite from "../../node_modules/vega-lite/build/vega-lite.min.js?url";

const ADDRESSES: Record<Drawing["kind"], string[]> = {
  html: [],
  bokeh: [],
  widgets: [widgets],
  plotly: [plotly],
  mermaid: [mermaid],
  vega: [vega, vegaLite, vegaEmbed, interpreter],
};

const texts = new Map<string, Promise<string>>();

/** Scripts of a kind of drawing, in execution order. */
export function scriptsFor(kind: Drawing["kind"]): Promise<string[]> {
  return Promise.all(ADDRESSES[kind].map(textOf));
}

function textOf(address: string): Promise<string> {
  const known = texts.get(address) ?? load(address);
  texts.set(address, known);
  known.catch(() => texts.delete(address));
  return known;
}

async function load(address: string): Promise<string> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server has no ${address}: reload the page`);
  const text = await answer.text();
  return address === interpreter ? asScript(text) : text;
}

/** Converts Vega's interpreter from a module to a script: its imports come from `vega`, and its export becomes a global. */
export function asScript(module: string): string {
  const body = module
    .replace(/^import (\{[^}]*\}) from ['"]vega-util['"];?/m, "const $1 = vega;")
    .replace(/^export \{ (\w+) as expressionInterpreter \};?/m, "globalThis.expressionInterpreter = $1;");
  return `(() => {${body}\n})();`;
}
