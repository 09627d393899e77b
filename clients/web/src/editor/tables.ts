// What could stand at a place in SQL: its words, the tables of the connection, columns of the tables that the statement names, and
// in braces the kernel's variables.
import { type Completion, type CompletionContext, type CompletionResult, type CompletionSource } from "@codemirror/autocomplete";
import { PostgreSQL, type SQLNamespace, keywordCompletionSource, schemaCompletionSource } from "@codemirror/lang-sql";
import { syntaxTree } from "@codemirror/language";
import type { EditorState, Extension } from "@codemirror/state";
import { IN_KERNEL } from "../app/connections.ts";
import { readHeader } from "../app/sqlHeader.ts";
import type { ConnectionSchema } from "../protocol/messages.ts";
import type { Ask } from "./kernel.ts";
import { suggestions } from "./list.ts";

/** The tables of a connection; nothing: nobody knows them, or may. */
export type Tables = (connection: string) => Promise<ConnectionSchema | undefined>;

type Table = ConnectionSchema["tables"][number];

export function sqlCompletion(ask: Ask, tables: Tables): Extension {
  const names = [named(tables), mentioned(tables)];
  return suggestions([variables(ask), ...names.map(outside), outside(words(names))]);
}

/** How long the words of SQL wait for the names that take the place of some. */
const PATIENCE_MS = 300;

/** The words of SQL; those that are names here, and may be without quotes, stand there as names alone. */
export function words(names: readonly CompletionSource[], patience = PATIENCE_MS): CompletionSource {
  const source = keywordCompletionSource(PostgreSQL);
  return async (context) => {
    const result = await source(context);
    if (!result) return null;
    const late = new Promise<[]>((resolve) => setTimeout(() => resolve([]), patience));
    const found = await Promise.race([Promise.all(names.map((each) => each(context))), late]);
    const plain = found.flatMap((each) => each?.options ?? []).filter(({ apply }) => apply === undefined);
    const taken = new Set(plain.map(({ label }) => label.toLowerCase()));
    return { ...result, options: result.options.filter(({ label }) => !taken.has(label.toLowerCase())) };
  };
}

// Variables

const IN_BRACES = /(?:^|[^{])\{[ \t]*([\p{L}_][\p{L}\p{N}_]*)?$/u;

/** What is written after an open brace; undefined: no brace is open. */
function inBraces({ state, pos }: Pick<CompletionContext, "state" | "pos">): string | undefined {
  const found = IN_BRACES.exec(state.sliceDoc(state.doc.lineAt(pos).from, pos));
  return found ? (found[1] ?? "") : undefined;
}

/** A value is bound: functions, modules and the words of Python are none. */
export function variables(ask: Ask): CompletionSource {
  return async (context) => {
    const word = inBraces(context);
    if (word === undefined) return null;
    const answer = await ask({ complete: {} }, word, word.length);
    if (!answer || !("completed" in answer)) return null;
    const options = answer.completed.matches
      .filter(({ text, type }) => type === "instance" && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text))
      .map(({ text }): Completion => ({ label: text, type: "variable", detail: "variable" }));
    // Of a long list the kernel leaves some out: the next letter asks it again.
    const validFor = answer.completed.is_cut ? undefined : /^[\p{L}\p{N}_]*$/u;
    return { from: context.pos - word.length, options, validFor };
  };
}

/** Where SQL stands: neither in braces nor in the cell's first line. */
function outside(source: CompletionSource): CompletionSource {
  return (context) => {
    const { from, to } = readHeader(context.state.doc.toString());
    const isHeader = to > from && context.pos >= from && context.pos <= to;
    return isHeader || inBraces(context) !== undefined ? null : source(context);
  };
}

// Tables

/** Tables by their names, and what stands behind the dot of a schema, a table or its alias. */
export function named(tables: Tables): CompletionSource {
  return async (context) => {
    if (!isWanted(context)) return null;
    const schema = await tablesOf(context.state, tables);
    return schema ? sourceOf(schema)(context) : null;
  };
}

/** The columns of the tables that this statement names, without a table before them. */
export function mentioned(tables: Tables): CompletionSource {
  return async (context): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
    const before = context.state.sliceDoc(Math.max(0, (word?.from ?? context.pos) - 1), word?.from ?? context.pos);
    if (before === "." || before === '"' || !isWanted(context)) return null;
    const schema = await tablesOf(context.state, tables);
    const names = namesAround(context);
    const within = schema?.tables.filter(({ name }) => names.has(name.toLowerCase())) ?? [];
    if (!schema || within.length === 0) return null;
    const options = within.flatMap((table) => table.columns.map((column) => columnOf(column, schema.kind, table)));
    const known = new Set<string>();
    const once = options.filter(({ label }) => !known.has(label) && known.add(label));
    return { from: word?.from ?? context.pos, options: once, validFor: /^[\p{L}\p{N}_]*$/u };
  };
}

/** Unasked only where a name is being written; never in comments and texts. */
function isWanted(context: CompletionContext): boolean {
  const { name } = syntaxTree(context.state).resolveInner(context.pos, -1);
  if (/Comment$|^String$/.test(name)) return false;
  return context.explicit || /[\p{L}\p{N}_."]$/u.test(context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos));
}

function tablesOf(state: EditorState, tables: Tables): Promise<ConnectionSchema | undefined> {
  return tables(readHeader(state.doc.toString()).connection ?? IN_KERNEL);
}

/** All names of the statement around the place, in small letters. */
function namesAround({ state, pos }: CompletionContext): Set<string> {
  const tree = syntaxTree(state);
  let around = tree.resolveInner(pos, -1);
  while (around.parent && around.name !== "Statement") around = around.parent;
  const names = new Set<string>();
  tree.iterate({
    from: around.from,
    to: around.to,
    enter: ({ name, from, to }) => {
      const text = state.sliceDoc(from, to);
      if (name === "QuotedIdentifier") names.add(text.slice(1, -1).replaceAll('""', '"').toLowerCase());
      // The parser takes some names for words of its own.
      else if (/^[\p{L}_][\p{L}\p{N}_$]*$/u.test(text)) names.add(text.toLowerCase());
    },
  });
  return names;
}

const sources = new WeakMap<ConnectionSchema, CompletionSource>();

function sourceOf(schema: ConnectionSchema): CompletionSource {
  const known = sources.get(schema) ?? schemaCompletionSource({ dialect: PostgreSQL, schema: namespaceOf(schema) });
  sources.set(schema, known);
  return known;
}

/** As the editor wants it: by their names where SQL finds them so, and all of them by their schemas. */
export function namespaceOf({ kind, tables }: ConnectionSchema): SQLNamespace {
  const root: Level = {};
  for (const table of tables) {
    const self = { label: table.name, type: "type", detail: table.kind.replaceAll("_", " "), ...applied(table.name, kind) };
    const entry = { self, children: table.columns.map((column) => columnOf(column, kind)) };
    if (table.is_visible) root[escaped(table.name)] ??= entry;
    const level = [table.catalog, table.schema].reduce<Level | undefined>(
      (above, name) => (name ? below(above, name) : above),
      root,
    );
    if (level) level[escaped(table.name)] = entry;
  }
  return root;
}

interface Level {
  [name: string]: Level | { self: Completion; children: Completion[] };
}

/** Nothing: a table is called as the schema. */
function below(level: Level | undefined, name: string): Level | undefined {
  if (!level) return undefined;
  const there = (level[escaped(name)] ??= {});
  return "self" in there && "children" in there ? undefined : (there as Level);
}

/** The editor takes a name apart at its dots. */
const escaped = (name: string) => name.replaceAll(".", "\\.");

function columnOf({ name, type }: Table["columns"][number], kind: string, table?: Table): Completion {
  const detail = [type, table && `of ${table.name}`].filter(Boolean).join(" · ");
  return { label: name, type: "property", ...(detail && { detail }), ...applied(name, kind) };
}

const applied = (name: string, kind: string) => (isPlain(name, kind) ? {} : { apply: `"${name.replaceAll('"', '""')}"` });

/** PostgreSQL takes capitals for small letters; the others take both for the same. */
function isPlain(name: string, kind: string): boolean {
  const fits = kind === "postgresql" ? /^[a-z_][a-z0-9_]*$/ : /^[a-z_][a-z0-9_]*$/i;
  return fits.test(name) && !RESERVED.has(name.toLowerCase());
}

/** Words that are no names in PostgreSQL. */
const RESERVED = new Set(
  (
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_date current_role " +
    "current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign from grant " +
    "group having in initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing " +
    "primary references returning select session_user some symmetric system_user table then to trailing true union unique user using " +
    "variadic when where window with"
  ).split(" "),
);
