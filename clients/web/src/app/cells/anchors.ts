// Links within a notebook: `[Results](#Results)` leads to the heading, `#fig-1` to the cell whose text has that id.
import type { Cell } from "../../protocol/messages.ts";
import { type Heading, outlineOf } from "./outline.ts";

/** Anchor of a heading, normalised because Jupyter and GitHub differ in case and punctuation. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
}

export interface Target {
  cell: string;
  heading?: Heading;
}

export function targetOf(href: string, order: readonly string[], cells: ReadonlyMap<string, Cell>): Target | undefined {
  const name = decoded(href.replace(/^#/, ""));
  if (name === "") return undefined;
  const wanted = slug(name.replaceAll("-", " "));
  const heading = outlineOf(order, cells).find(({ text }) => slug(text.replaceAll("-", " ")) === wanted);
  if (heading) return { cell: heading.cell, heading };
  const mark = new RegExp(`\\b(?:id|name)\\s*=\\s*["']?${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["'\\s>]`);
  const cell = order.find((id) => cells.get(id)?.cell_type === "markdown" && mark.test(cells.get(id)?.source ?? ""));
  return cell === undefined ? undefined : { cell };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
