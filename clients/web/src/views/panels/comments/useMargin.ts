// Positions the notes of a panel at the height of their cells, and keeps them there.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { type Note, tops } from "../../../app/cells/margin.ts";

const GAP = 10;
/** Minimum width for notes beside cells; on a phone the panel covers the cells. */
const BESIDE = "(min-width: 721px)";

export function useIsBeside(): boolean {
  const [is, setIs] = useState(() => matchMedia(BESIDE).matches);
  useEffect(() => {
    const query = matchMedia(BESIDE);
    const look = () => setIs(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return is;
}

/** `place` contains the notes: elements with `data-about` (cell id) and optionally `data-line` (line of the cell). */
export function useMargin(place: RefObject<HTMLElement | null>, isBeside: boolean): void {
  const arrange = useCallback(() => {
    const node = place.current;
    if (!node || !isBeside) return;
    const top = node.getBoundingClientRect().top;
    const all = [...node.querySelectorAll<HTMLElement>("[data-about]")];
    const notes = all.map((each): Note => ({ wanted: placeOf(each, top), height: each.offsetHeight }));
    const current = all.findIndex((each) => each.matches("[aria-current], .begun, :focus-within"));
    const found = tops(notes, GAP, current);
    all.forEach((each, at) => each.style.setProperty("top", `${found[at] ?? 0}px`));
    node.style.setProperty("height", `${(found.at(-1) ?? 0) + (notes.at(-1)?.height ?? 0)}px`);
  }, [place, isBeside]);
  // Arranges after each render, and when a cell or note changes its height.
  useLayoutEffect(arrange);
  useEffect(() => {
    const node = place.current;
    if (!node || !isBeside) return;
    const observer = new ResizeObserver(() => requestAnimationFrame(arrange));
    const page = document.querySelector("main.page");
    const follow = () => {
      observer.disconnect();
      if (page) observer.observe(page);
      for (const each of node.querySelectorAll("[data-about]")) observer.observe(each);
    };
    const changes = new MutationObserver(follow);
    changes.observe(node, { childList: true });
    node.addEventListener("focusin", arrange);
    follow();
    return () => {
      observer.disconnect();
      changes.disconnect();
      node.removeEventListener("focusin", arrange);
      for (const each of node.querySelectorAll<HTMLElement>("[data-about]")) each.style.removeProperty("top");
      node.style.removeProperty("height");
    };
  }, [arrange, place, isBeside]);
}

function placeOf(note: HTMLElement, top: number): number | undefined {
  const source = document.getElementById(`cell-${note.dataset.about}`)?.querySelector(".source, .cm-editor");
  const box = source?.getBoundingClientRect();
  // The cell is folded, or hidden behind an earlier version.
  if (!source || !box || box.height === 0) return undefined;
  const style = getComputedStyle(source);
  const line = Number(note.dataset.line ?? 0) * (Number.parseFloat(style.lineHeight) || 0);
  return box.top - top + Math.min(line, Math.max(0, box.height - 20));
}
