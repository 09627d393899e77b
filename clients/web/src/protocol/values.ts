// Values in the document's shape, without empty optional fields.
import type { CellContent, CellFlags, CellReply, MessageFlags, Output, PastExecution, Target, UserFunction } from "./messages.ts";

/** True for an empty optional field: absent, null, false, or an empty object or list. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Copy without those of the named fields that are empty. */
export function without<T extends object>(value: T, ...optional: (keyof T)[]): T {
  const kept = { ...value };
  for (const name of optional) if (isNothing(kept[name])) delete kept[name];
  return kept;
}

/** Copy without absent and null fields. */
export function present<T extends object>(value: T): T {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(fields) as T;
}

export function cellContent(cell: CellContent): CellContent {
  const content = without({ ...cell, flags: cellFlags(cell.flags ?? {}) }, "metadata", "flags");
  // Attachments set to an empty object are kept.
  return present(content);
}

const SQL_LINE = "%%notarium_sql\n";

/** Text sent to a kernel for a cell, as recorded in a run. */
export function textToRun({ cell_type, source }: Pick<CellContent, "cell_type" | "source">): string {
  return cell_type === "sql" ? SQL_LINE + source : source;
}

/** Source as written by people, from the text sent to a kernel. */
export function writtenText(source: string): string {
  return source.startsWith(SQL_LINE) ? source.slice(SQL_LINE.length) : source;
}

export function cellFlags(flags: CellFlags): CellFlags {
  return without(flags, "pinned", "skipped", "source_hidden", "outputs_hidden", "heading_collapsed", "exported", "bookmark");
}

export function messageFlags(flags: MessageFlags): MessageFlags {
  return without(flags, "pinned", "skipped");
}

export function output({ content, blobs, display_id }: Output): Output {
  const parts = blobs?.map((blob) => without(blob, "json")) ?? [];
  return present({ content, display_id, ...(parts.length > 0 && { blobs: parts }) });
}

export function reply(value: CellReply): CellReply {
  return present(without(value, "is_cut"));
}

export function target(value: Target): Target {
  return present(value);
}

export function pastExecution(past: PastExecution): PastExecution {
  return present(without({ ...past, outputs: past.outputs?.map(output) }, "outputs", "refused"));
}

export function userFunction({ name, version, description, schema, risk, effects }: UserFunction): UserFunction {
  return without({ name, version: version ?? "", description: description ?? "", schema, risk, effects }, "effects");
}
