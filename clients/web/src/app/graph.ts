// How the cells of a reactive notebook hang together: asked of the server when something changed that may change it.
import type { components } from "../protocol/rest.ts";
import type { NotebookStore } from "./store.ts";

export type CellReport = components["schemas"]["CellReport"];
type NotebookGraph = components["schemas"]["NotebookGraph"];

/** Typing asks seldom: the graph of what is being typed is nobody's need. */
const REST_MS = 600;

export class Graph {
  readonly #store: NotebookStore;
  #cells = new Map<string, CellReport>();
  /** By cell, the names that others define as well, with these. */
  #clashes = new Map<string, [name: string, cells: string[]][]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: NotebookStore) {
    this.#store = store;
    store.replica.changed.add(() => this.#later());
    store.replica.replaced.add(() => this.#later());
  }

  of(cell: string): CellReport | undefined {
    return this.#cells.get(cell);
  }

  clashesOf(cell: string): [name: string, cells: string[]][] {
    return this.#clashes.get(cell) ?? [];
  }

  #later(): void {
    if (this.#store.document.reactivity === "off") {
      if (this.#cells.size > 0) this.#take({ cells: [], defined_twice: [] });
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#ask();
    }, REST_MS);
  }

  async #ask(): Promise<void> {
    const { session, id } = this.#store;
    try {
      this.#take(await session.rest.get<NotebookGraph>(`/api/notebooks/${id}/graph`));
    } catch {
      // Without an answer the marks stay as they were; the next change asks again.
    }
  }

  #take({ cells, defined_twice }: Pick<NotebookGraph, "cells" | "defined_twice">): void {
    const before = this.#marks();
    this.#cells = new Map(cells.map((cell) => [cell.cell_id, cell]));
    this.#clashes = new Map();
    for (const { name, cells } of defined_twice ?? []) {
      for (const cell of cells) {
        const others = cells.filter((other) => other !== cell);
        this.#clashes.set(cell, [...(this.#clashes.get(cell) ?? []), [name, others]]);
      }
    }
    const after = this.#marks();
    for (const cell of new Set([...before.keys(), ...after.keys()])) {
      if (before.get(cell) !== after.get(cell)) this.#store.tell(`cell:${cell}`);
    }
  }

  /** What is shown of each cell, as one word that can be compared. */
  #marks(): Map<string, string> {
    const mark = ([id, cell]: [string, CellReport]): [string, string] => [
      id,
      JSON.stringify([cell.standing, cell.why, cell.missing, cell.outdated, this.#clashes.get(id)]),
    ];
    return new Map([...this.#cells].map(mark));
  }
}
