// Dependency graph of a notebook's cells; requested from the server after changes that may affect it.
import type { CellReport, NotebookGraph } from "../../protocol/rest.ts";
import type { OpenNotebook } from "./notebook.ts";

export type { CellReport };

/** Throttle: typing requests the graph at most once in this time. */
const REST_MS = 600;

/** Events after which the graph may differ: of cells, plans of runs, kernels and the notebook, but not of outputs. */
const CHANGES = /^(Cell|Execution(?!Output|Input)|Kernel|Notebook)/;

export class Graph {
  readonly #notebook: OpenNotebook;
  #cells = new Map<string, CellReport>();
  /** By cell: names that other cells define too, with those cells. */
  #clashes = new Map<string, [name: string, cells: string[]][]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watching = 0;
  /** Version of the newest answer; answers may arrive out of order. */
  #version = -1;
  /** All cells that run, in page order; while watched, also in a notebook that is not reactive. */
  reports: readonly CellReport[] = [];

  constructor(notebook: OpenNotebook) {
    this.#notebook = notebook;
    notebook.replica.folded.add(({ type }) => CHANGES.test(type) && this.#later());
    notebook.replica.stateChanged.add(({ name }) => name === "live" && this.#later());
    notebook.replica.replaced.add(() => {
      this.#version = -1;
      this.#later();
    });
  }

  /** Report of a cell; undefined if the notebook is not reactive. */
  of(cell: string): CellReport | undefined {
    return this.#cells.get(cell);
  }

  clashesOf(cell: string): [name: string, cells: string[]][] {
    return this.#clashes.get(cell) ?? [];
  }

  /** Keeps the graph loaded for the dependency map until the returned function is called. */
  watch(): () => void {
    this.#watching += 1;
    void this.#ask();
    return () => void (this.#watching -= 1);
  }

  get #isReactive(): boolean {
    return this.#notebook.replica.document.reactivity !== "off";
  }

  #later(): void {
    if (!this.#isReactive && this.#cells.size > 0) this.#mark([], []);
    if (!this.#isReactive && this.#watching === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#ask();
    }, REST_MS);
  }

  async #ask(): Promise<void> {
    const { session, id } = this.#notebook;
    try {
      this.#take(await session.rest.get<NotebookGraph>(`/api/notebooks/${encodeURIComponent(id)}/graph`));
    } catch {
      // If the request fails, the marks stay; the next change requests the graph again.
    }
  }

  #take({ version, cells, defined_twice }: NotebookGraph): void {
    if (version < this.#version) return;
    this.#version = version;
    this.reports = cells;
    if (this.#isReactive) this.#mark(cells, defined_twice ?? []);
    this.#notebook.touch("graph");
  }

  #mark(cells: CellReport[], clashes: NonNullable<NotebookGraph["defined_twice"]>): void {
    const before = this.#marks();
    this.#cells = new Map(cells.map((cell) => [cell.cell_id, cell]));
    this.#clashes = new Map();
    for (const { name, cells } of clashes) {
      for (const cell of cells) {
        const others = cells.filter((other) => other !== cell);
        this.#clashes.set(cell, [...(this.#clashes.get(cell) ?? []), [name, others]]);
      }
    }
    const after = this.#marks();
    for (const cell of new Set([...before.keys(), ...after.keys()])) {
      if (before.get(cell) !== after.get(cell)) this.#notebook.touch(`cell:${cell}`);
    }
  }

  /** Displayed state of each cell as a string, for comparison. */
  #marks(): Map<string, string> {
    const mark = ([id, cell]: [string, CellReport]): [string, string] => [
      id,
      JSON.stringify([cell.standing, cell.reason, cell.missing, cell.outdated, this.#clashes.get(id)]),
    ];
    return new Map([...this.#cells].map(mark));
  }
}
