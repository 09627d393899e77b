// Handles clicks on `#` links between cells: selects the target, since the page uses the URL's hash for routing.
import { useEffect } from "react";
import { targetOf } from "../../app/cells/headings.ts";
import type { NotebookStore } from "../../app/state/store.ts";

export function useAnchors(store: NotebookStore): void {
  useEffect(() => {
    const go = (event: MouseEvent) => {
      const href = (event.target as HTMLElement)
        .closest?.<HTMLElement>('.rendered a[href^="#"], .math a[href^="#"]')
        ?.getAttribute("href");
      if (!href) return;
      event.preventDefault();
      const target = targetOf(href, store.document.order, store.document.cells);
      if (!target) return store.toast({ text: `Nothing here is called “${href.slice(1)}”` });
      store.unfold(target.cell);
      store.select(target.cell);
      const { label } = target;
      if (label !== undefined) {
        const formulas = document.querySelectorAll<HTMLElement>(`#cell-${CSS.escape(target.cell)} .rendered .math[data-labels]`);
        const labelled = [...formulas].find(({ dataset }) => (JSON.parse(dataset.labels ?? "[]") as string[]).includes(label));
        return void labelled?.scrollIntoView({ block: "center" });
      }
      const headings = document.querySelectorAll(`#cell-${CSS.escape(target.cell)} .rendered :is(h1, h2, h3, h4, h5, h6)`);
      const shown = [...headings].find(({ textContent }) => textContent.trim() === target.heading?.text);
      shown?.scrollIntoView({ block: "start" });
    };
    document.addEventListener("click", go);
    return () => document.removeEventListener("click", go);
  }, [store]);
}
