// Databases that SQL cells can name, offered by the runtime agents with access to the notebook; one list for all cells.
import type { OfferedConnection as Connection } from "../../protocol/messages.ts";
import type { Kernels } from "../../protocol/rest.ts";
import type { OpenNotebook } from "./notebook.ts";

export type { Connection };

/** The in-memory DuckDB that every kernel has. */
export const IN_KERNEL = "duckdb";

/** A file of the working folder with such an ending is a connection, as in clients/python/notarium_kernel/sql/connections.py. */
const FILE = /\.(duckdb|ddb|sqlite|sqlite3|db)$/i;

export interface Way {
  /** Neither an offered connection nor a database file. */
  isUnknown: boolean;
  /** The cell chooses between reading and writing; the in-memory database is always writable. */
  hasChoice: boolean;
  /** A cell with `write` may write. */
  mayWrite: boolean;
}

export function wayOf(name: string, known: readonly Connection[] | undefined): Way {
  const found = known?.find((each) => each.name === name);
  if (found) return { isUnknown: false, hasChoice: found.writes === true, mayWrite: found.writes === true };
  if (name === IN_KERNEL) return { isUnknown: false, hasChoice: false, mayWrite: true };
  if (FILE.test(name)) return { isUnknown: false, hasChoice: true, mayWrite: true };
  // Nothing is unknown until the list has been loaded.
  return { isUnknown: known !== undefined, hasChoice: false, mayWrite: known === undefined };
}

export class Connections {
  readonly #notebook: OpenNotebook;
  #list: Connection[] | undefined;
  #isAsking = false;

  constructor(notebook: OpenNotebook) {
    this.#notebook = notebook;
  }

  /** Undefined until loaded. */
  get list(): readonly Connection[] | undefined {
    return this.#list;
  }

  /** Loads the list again, because agents come and go. Call when it is about to be shown. */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { session, id } = this.#notebook;
    const take = ({ connections = [] }: Kernels) => {
      const isNew = JSON.stringify(connections) !== JSON.stringify(this.#list);
      this.#list = connections;
      if (isNew) this.#notebook.touch("connections");
    };
    // If the request fails, the cell's own connection remains available.
    session.rest
      .get<Kernels>(`/api/notebooks/${encodeURIComponent(id)}/kernels`)
      .then(take, () => undefined)
      .finally(() => (this.#isAsking = false));
  }
}
