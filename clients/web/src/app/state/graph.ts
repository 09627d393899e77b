// Dependency graph of a notebook's cells; requested from the server after changes that may affect it.
import type { components } from "../../protocol/rest.ts";
import type { NotebookStore } from "./store.ts";

export type CellReport = components["schemas"]["CellReport"];
type NotebookGraph = components["schemas"]["NotebookGraph"];

/** Throttle: typing requests the graph at most once in this time. */
const REST_MS = 600;

export class Graph {
  readonly #store: NotebookStore;
  #cells = new Map<string, CellReport>();
  /** By cell: names that other cells define too, with those cells. */
  #clashes = new Map<string, [name: string, cells: string[]][]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watching = 0;
  /** Version of the newest answer; answers may arrive out of order. */
  #version = -1;
  /** All cells that run, in page order; while watched, also in a notebook that is not reactive. */
  reports: readonly CellReport[] = [];

  constructor(store: NotebookStore) {
    this.#store = store;
    store.replica.changed.add(() => this.#later());
    store.replica.replaced.add(() => {
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
    return this.#store.document.reactivity !== "off";
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
    const { session, id } = this.#store;
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
    this.#store.tell("graph");
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
      if (before.get(cell) !== after.get(cell)) this.#store.tell(`cell:${cell}`);
    }
  }

  /** Displayed state of each cell as a string, for comparison. */
  #marks(): Map<string, string> {
    const mark = ([id, cell]: [string, CellReport]): [string, string] => [
      id,
      JSON.stringify([cell.standing, cell.why, cell.missing, cell.outdated, this.#clashes.get(id)]),
    ];
    return new Map([...this.#cells].map(mark));
  }
}

export type SentencePart = { text: string } | { code: string } | { cell: string; number: number };

const WHYS: [RegExp, string][] = [
  [/^it has not run here$/, "not run yet"],
  [/^the kernel that ran it is gone$/, "its kernel has stopped"],
  [/^its text has changed since it ran$/, "edited since last run"],
  [/^its run failed$/, "its last run failed"],
  [/^it was deleted and came back, and its variables did not$/, "restored without its variables"],
  [/^cells read from each other in a circle: /, "circular dependency: "],
  [/^(cell \S+), from which it reads, has run since$/, "$1 has run since"],
  [/^(cell \S+), from which it reads, is not up to date$/, "depends on $1"],
  [/^(cell \S+), from which it reads, did not succeed$/, "$1 failed"],
  [/^a cell from which it reads did not succeed$/, "a cell it depends on failed"],
];

/** Reason why a cell is stale, shorter than the server's (src/core/reactivity/report.rs). */
export function whyWords(why: string): string {
  const [from, to] = WHYS.find(([pattern]) => pattern.test(why)) ?? [/^$/, ""];
  return why.replace(from, to);
}

/** Splits a server's sentence into parts and replaces cell ids by cell numbers. */
export function partsOf(sentence: string, order: readonly string[]): SentencePart[] {
  const parts: SentencePart[] = [];
  let at = 0;
  for (const found of sentence.matchAll(/`([^`]+)`|(?:\bcell )?(?<![\w-])([\w-]{4,64})/g)) {
    const [all, code, id = ""] = found;
    const number = order.indexOf(id) + 1;
    if (code === undefined && number === 0) continue;
    if (found.index > at) parts.push({ text: sentence.slice(at, found.index) });
    parts.push(code === undefined ? { cell: id, number } : { code });
    at = found.index + all.length;
  }
  if (at < sentence.length) parts.push({ text: sentence.slice(at) });
  return parts;
}

/** The same sentence as plain text. */
export function numbered(sentence: string, order: readonly string[]): string {
  const words = (part: SentencePart) => ("cell" in part ? `cell ${part.number}` : "code" in part ? part.code : part.text);
  return partsOf(sentence, order).map(words).join("");
}
