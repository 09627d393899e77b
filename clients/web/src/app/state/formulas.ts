// Places of a notebook's formulas, for the cells that show some.
import { useSyncExternalStore } from "react";
import { type FormulaPlace } from "../../outputs/equations.ts";
import { keptPlaces, mayHaveFormulas, placesOf } from "../../outputs/places.ts";
import type { OpenNotebook, Typing } from "./notebook.ts";

type Notebook = OpenNotebook & Typing;

/** A cell, or an output of it: outputs take macros and references over, not numbers. */
export interface FormulaSource {
  store: Notebook;
  cell: string;
  isOutput?: boolean;
}

class Formulas {
  readonly #store: Notebook;
  readonly #listeners = new Set<() => void>();
  #places = new Map<string, FormulaPlace>();
  #outputs = new WeakMap<FormulaPlace, FormulaPlace>();
  #isOld = true;
  #frame: number | undefined;

  constructor(store: Notebook) {
    this.#store = store;
    const soon = () => {
      this.#isOld = true;
      if (this.#listeners.size > 0) this.#frame ??= requestAnimationFrame(() => this.#tell());
    };
    store.replica.changed.add(soon);
    store.texts.changed.add(soon);
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #tell(): void {
    this.#frame = undefined;
    for (const listener of this.#listeners) listener();
  }

  of({ cell, isOutput = false }: FormulaSource): FormulaPlace | undefined {
    if (this.#isOld) this.#places = keptPlaces(this.#places, placesOf(this.#texts()));
    this.#isOld = false;
    const place = this.#places.get(cell);
    if (!place || !isOutput) return place;
    const known = this.#outputs.get(place) ?? { ...place, number: 1 };
    this.#outputs.set(place, known);
    return known;
  }

  *#texts(): Generator<[string, string]> {
    const { texts, replica } = this.#store;
    const { document } = replica;
    for (const id of document.order) {
      const cell = document.cells.get(id);
      yield [id, cell?.cell_type === "markdown" ? (texts.shown(id) ?? cell.source) : ""];
    }
  }
}

const known = new WeakMap<Notebook, Formulas>();

function formulasOf(store: Notebook): Formulas {
  const before = known.get(store);
  if (before) return before;
  const formulas = new Formulas(store);
  known.set(store, formulas);
  return formulas;
}

const never = () => () => {};

/** Macros, labels and numbers that the cells above give to the formulas of a text; the component renders again when that changes. */
export function useFormulaPlace(of: FormulaSource | undefined, text: string): FormulaPlace | undefined {
  const formulas = of && mayHaveFormulas(text) ? formulasOf(of.store) : undefined;
  return useSyncExternalStore(formulas?.listen ?? never, () => of && formulas?.of(of));
}
