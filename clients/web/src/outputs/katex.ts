// KaTeX with its styles and fonts. Loaded at the first formula.
import "katex/dist/katex.min.css";
import katex from "katex";

/** It builds elements: inline styles in HTML would be refused by the page's policy. */
export function setFormulas(places: HTMLElement[]): void {
  for (const place of places) {
    if (place.dataset.formula !== undefined) continue;
    const formula = place.textContent ?? "";
    place.dataset.formula = formula;
    katex.render(formula, place, {
      displayMode: place.classList.contains("display"),
      throwOnError: false,
      maxSize: 50,
      maxExpand: 500,
    });
  }
}
