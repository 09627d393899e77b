// KaTeX with its styles and fonts. Loaded with the first formula.
import "katex/dist/katex.min.css";
import katex from "katex";

/** Renders formulas as elements, because the page's policy refuses inline styles in HTML. */
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
