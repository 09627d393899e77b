// KaTeX with its styles and fonts. Loaded with the first formula.
import "katex/dist/katex.min.css";
import katex from "katex";
import type { FormulaPlace } from "./equations.ts";
import { type Setting, needsChemistry, settingsOf } from "./macros.ts";

let hasChemistry = false;

/**
 * Renders a text's formulas as elements, because the page's policy refuses inline styles in HTML. Returns a promise if their
 * commands have to be loaded before.
 */
export function setFormulas(places: HTMLElement[], above: FormulaPlace): Promise<void> | undefined {
  const formulas = places.map((place) => {
    place.dataset.formula ??= place.textContent ?? "";
    return { tex: place.dataset.formula, isDisplay: place.classList.contains("display") };
  });
  if (!hasChemistry && needsChemistry([...above.definitions, ...formulas.map(({ tex }) => tex)]))
    return import("./chemistry.ts").then(() => {
      hasChemistry = true;
      return setFormulas(places, above);
    });
  const settings = settingsOf(formulas, above);
  places.forEach((place, at) => settings[at] && set(place, settings[at]));
  return undefined;
}

function set(place: HTMLElement, { tex, labels, options }: Setting): void {
  if (labels.length > 0) place.dataset.labels = JSON.stringify(labels);
  place.classList.toggle("display", options.displayMode === true);
  try {
    katex.render(tex, place, options);
  } catch {
    // Not LaTeX's fault, such as too many levels for the stack.
    place.textContent = tex;
  }
}
