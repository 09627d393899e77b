// Completion for SQL: keywords, the connection's tables, columns of the tables in the statement, and kernel variables in
// braces.
import { type Completion, type CompletionContext, type CompletionResult, type CompletionSource } from "@codemirror/autocomplete";
import { PostgreSQL, type SQLNamespace, keywordCompletionSource, schemaCompletionSource } from "@codemirror/lang-sql";
import { syntaxTree } from "@codemirror/language";
import type { EditorState, Extension } from "@codemirror/state";
import { IN_KERNEL } from "../app/state/connections.ts";
import { readHeader } from "../app/cells/sqlHeader.ts";
import type { ConnectionSchema } from "../protocol/messages.ts";
import type { Ask } from "./kernel.ts";
import { suggestions } from "./list.ts";

/** Tables of a connection; undefined if unknown or not permitted. */
export type Tables = (connection: string) => Promise<ConnectionSchema | undefined>;

type Table = ConnectionSchema["tables"][number];

export function sqlCompletion(ask: Ask, tables: Tables): Extension {
  const names = [named(tables), mentioned(tables)];
  return suggestions([variables(ask), ...names.map(outside), outside(words(names))]);
}

/** Time that keywords wait for names, which replace equal keywords. */
const PATIENCE_MS = 300;

/** SQL keywords, without those that are also unquoted names of tables or columns here. */
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

/** Partial name after an open brace; undefined without an open brace. */
function inBraces({ state, pos }: Pick<CompletionContext, "state" | "pos">): string | undefined {
  const found = IN_BRACES.exec(state.sliceDoc(state.doc.lineAt(pos).from, pos));
  return found ? (found[1] ?? "") : undefined;
}

/** Kernel variables only, because just values can be bound: no functions, modules or Python keywords. */
export function variables(ask: Ask): CompletionSource {
  return async (context) => {
    const word = inBraces(context);
    if (word === undefined) return null;
    const answer = await ask({ complete: {} }, word, word.length);
    if (!answer || !("completed" in answer)) return null;
    const options = answer.completed.matches
      .filter(({ text, type }) => type === "instance" && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text))
      .map(({ text }): Completion => ({ label: text, type: "variable", detail: "variable" }));
    // The kernel shortened the list, so the next letter asks again.
    const validFor = answer.completed.is_cut ? undefined : /^[\p{L}\p{N}_]*$/u;
    return { from: context.pos - word.length, options, validFor };
  };
}

/** Limits a source to SQL text, outside braces and the header line. */
function outside(source: CompletionSource): CompletionSource {
  return (context) => {
    const { from, to } = readHeader(context.state.doc.toString());
    const isHeader = to > from && context.pos >= from && context.pos <= to;
    return isHeader || inBraces(context) !== undefined ? null : source(context);
  };
}

// Tables

/** Tables by name, and members after the dot of a schema, table or alias. */
export function named(tables: Tables): CompletionSource {
  return async (context) => {
    if (!isWanted(context)) return null;
    const schema = await tablesOf(context.state, tables);
    return schema ? sourceOf(schema)(context) : null;
  };
}

/** Unqualified columns of the tables in this statement. */
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

/** True if completion is useful: automatically only while a name is typed, never in comments and strings. */
function isWanted(context: CompletionContext): boolean {
  const { name } = syntaxTree(context.state).resolveInner(context.pos, -1);
  if (/Comment$|^String$/.test(name)) return false;
  return context.explicit || /[\p{L}\p{N}_."]$/u.test(context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos));
}

function tablesOf(state: EditorState, tables: Tables): Promise<ConnectionSchema | undefined> {
  return tables(readHeader(state.doc.toString()).connection ?? IN_KERNEL);
}

/** All names of the surrounding statement, in lower case. */
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
      // The parser takes some names for keywords.
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

/** Tables as CodeMirror's namespace: by name if SQL finds them unqualified, and all by schema. */
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

/** Namespace below a level; undefined if a table already has that name. */
function below(level: Level | undefined, name: string): Level | undefined {
  if (!level) return undefined;
  const there = (level[escaped(name)] ??= {});
  return "self" in there && "children" in there ? undefined : (there as Level);
}

/** Escapes dots, because CodeMirror splits names at dots. */
const escaped = (name: string) => name.replaceAll(".", "\\.");

function columnOf({ name, type }: Table["columns"][number], kind: string, table?: Table): Completion {
  const detail = [type, table && `of ${table.name}`].filter(Boolean).join(" · ");
  return { label: name, type: "property", ...(detail && { detail }), ...applied(name, kind) };
}

const applied = (name: string, kind: string) => (isPlain(name, kind) ? {} : { apply: `"${name.replaceAll('"', '""')}"` });

/** True for names without quotes: PostgreSQL folds unquoted names to lower case, the others ignore case. */
function isPlain(name: string, kind: string): boolean {
  const fits = kind === "postgresql" ? /^[a-z_][a-z0-9_]*$/ : /^[a-z_][a-z0-9_]*$/i;
  return fits.test(name) && !RESERVED.has(name.toLowerCase());
}

/** Reserved words, which are not names in PostgreSQL. */
const RESERVED = new Set(
  (
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_date current_role " +
    "current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign from grant " +
    "group having in initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing " +
    "primary references returning select session_user some symmetric system_user table then to trailing true union unique user using " +
    "variadic when where window with"
  ).split(" "),
);
