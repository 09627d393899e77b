// The databases that SQL cells can name: of the runtime agents that may see the notebook, asked once for all cells.
import type { components } from "../protocol/rest.ts";
import type { NotebookStore } from "./store.ts";

type Kernels = components["schemas"]["Kernels"];
export type Connection = components["schemas"]["OfferedConnection"];

/** DuckDB in the kernel's memory, which every kernel has. */
export const IN_KERNEL = "duckdb";

/** By its ending a file of the working folder is a connection, as in clients/python/notarium/sql/connections.py. */
const FILE = /\.(duckdb|ddb|sqlite|sqlite3|db)$/i;

export interface Way {
  /** Nobody has named it, and no file is named so. */
  isUnknown: boolean;
  /** A cell there chooses whether it may write; in the kernel's memory it always may. */
  hasChoice: boolean;
  /** Whether one that says `write` may. */
  mayWrite: boolean;
}

export function wayOf(name: string, known: readonly Connection[] | undefined): Way {
  const found = known?.find((each) => each.name === name);
  if (found) return { isUnknown: false, hasChoice: found.writes === true, mayWrite: found.writes === true };
  if (name === IN_KERNEL) return { isUnknown: false, hasChoice: false, mayWrite: true };
  if (FILE.test(name)) return { isUnknown: false, hasChoice: true, mayWrite: true };
  // Until the answer is there nothing is wrong.
  return { isUnknown: known !== undefined, hasChoice: false, mayWrite: known === undefined };
}

export class Connections {
  readonly #store: NotebookStore;
  #list: Connection[] | undefined;
  #isAsking = false;

  constructor(store: NotebookStore) {
    this.#store = store;
  }

  /** Absent: not known yet. */
  get list(): readonly Connection[] | undefined {
    return this.#list;
  }

  /** Agents come and go: asked for when somebody looks. */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { session, id } = this.#store;
    const take = ({ connections = [] }: Kernels) => {
      const isNew = JSON.stringify(connections) !== JSON.stringify(this.#list);
      this.#list = connections;
      if (isNew) this.#store.tell("connections");
    };
    // Without an answer the one that the cell names is there.
    session.rest
      .get<Kernels>(`/api/notebooks/${encodeURIComponent(id)}/kernels`)
      .then(take, () => undefined)
      .finally(() => (this.#isAsking = false));
  }
}
