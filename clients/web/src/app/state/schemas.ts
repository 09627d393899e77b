// Table schemas of the databases of SQL cells: cached for all cells, reloaded after runs that may change them.
import type { ConnectionSchema, KernelAnswer } from "../../protocol/messages.ts";
import { pageWords } from "../../transport/refusals.ts";
import type { Asking, OpenNotebook, Rights } from "./notebook.ts";

/** Events after which a database may have other tables. */
const CHANGES = new Set(["ExecutionCompleted", "ExecutionLost", "KernelSessionStarted", "KernelSessionEnded"]);

/** Cache time of a refusal, because completion asks again with each typed letter. */
const REFUSED_MS = 5_000;

export type SchemaAnswer = { schema: ConnectionSchema } | { problem: string };

interface CachedSchema {
  told: Promise<SchemaAnswer>;
  generation: number;
  /** Time of the refusal. */
  refusedAt?: number;
}

export class Schemas {
  readonly #notebook: OpenNotebook & Asking & Rights;
  readonly #kept = new Map<string, CachedSchema>();
  #generation = 0;

  constructor(notebook: OpenNotebook & Asking & Rights) {
    this.#notebook = notebook;
    notebook.replica.folded.add(({ type }) => CHANGES.has(type) && (this.#generation += 1));
  }

  /** True if this person may run code and the server supports the question. */
  get isOpen(): boolean {
    return this.#notebook.mayRun && (this.#notebook.session.connection.welcome?.features.includes("connection_schemas") ?? false);
  }

  /** Tables for an editor's completion, from the cache if it is still valid. */
  async tables(connection: string): Promise<ConnectionSchema | undefined> {
    if (!this.isOpen) return undefined;
    const kept = this.#kept.get(connection);
    const isGood = kept?.generation === this.#generation && !(kept.refusedAt && Date.now() - kept.refusedAt > REFUSED_MS);
    const told = await (kept && isGood ? kept.told : this.ask(connection));
    return "schema" in told ? told.schema : undefined;
  }

  /** Loads the schema without the cache. */
  ask(connection: string, matching = ""): Promise<SchemaAnswer> {
    const kept: CachedSchema = { told: this.#ask(connection, matching), generation: this.#generation };
    if (matching === "") this.#kept.set(connection, kept);
    void kept.told.then((told) => "problem" in told && (kept.refusedAt = Date.now()));
    return kept.told;
  }

  async #ask(connection: string, matching: string): Promise<SchemaAnswer> {
    return toldBy(await this.#notebook.questions.ask({ code: "", cursor: 0, kind: { describe: { connection, matching } } }));
  }
}

function toldBy(answer: KernelAnswer | undefined): SchemaAnswer {
  if (answer && "described" in answer) return { schema: answer.described };
  if (answer && "refused" in answer)
    return { problem: pageWords(answer.refused.code, answer.refused.message, answer.refused.details) };
  return { problem: "No answer: the server can’t be reached. Try again." };
}

export type Table = ConnectionSchema["tables"][number];

/** Name as SQL resolves it, unquoted. */
export function shortName({ catalog, schema, name, is_visible }: Table): string {
  return is_visible ? name : [catalog, schema, name].filter(Boolean).join(".");
}

/** Tables whose name contains the text, then those with a matching column. */
export function found(tables: readonly Table[], text: string): Table[] {
  const word = text.trim().toLowerCase();
  const isNamed = (table: Table) => `${table.schema}.${table.name}`.toLowerCase().includes(word);
  const hasColumn = ({ columns }: Table) => columns.some(({ name }) => name.toLowerCase().includes(word));
  return [...tables.filter(isNamed), ...tables.filter((table) => !isNamed(table) && hasColumn(table))];
}
