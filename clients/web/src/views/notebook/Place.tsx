// Scroll position of the notebook: the place after a reload, and the selected cell while outputs above it grow.
import { useEffect, useRef } from "react";
import { type ScrollPlace, keepPlace, takePlace } from "../../app/session/scrollPlace.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";

/** Actions that end the wait for the place of the last visit. */
const ACTIONS = ["wheel", "keydown", "pointerdown", "touchmove"];
/** Time after which the place is no longer awaited. */
const AWAITED_MS = 10_000;
/** Time for which the place is kept once its cell is there: cells near it get their real heights when they come into sight. */
const KEPT_MS = 1_000;
/** Vertical distance of the points at which a cell is looked for. */
const STEP_PX = 16;

const cellOf = (id: string | undefined) => (id === undefined ? null : document.getElementById(`cell-${id}`));

/** The part of the window below the bar. */
function sight(): { top: number; bottom: number } {
  return { top: document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0, bottom: innerHeight };
}

function isInSight(element: Element | null): element is Element {
  const box = element?.getBoundingClientRect();
  const { top, bottom } = sight();
  return box !== undefined && box.bottom > top && box.top < bottom;
}

/** The place now; undefined at the top of the page. Looks at points, because measuring each cell would lay out all of them. */
export function placeNow({ id, current }: NotebookStore): ScrollPlace | undefined {
  const list = document.querySelector(".page");
  if (scrollY <= 0 || !list) return undefined;
  const { left, width } = list.getBoundingClientRect();
  const { top, bottom } = sight();
  for (let y = top + 1; y < bottom; y += STEP_PX) {
    const cell = document.elementFromPoint(left + width / 2, y)?.closest<HTMLElement>(".cell[data-cell]");
    if (cell?.dataset.cell === undefined) continue;
    const place = { notebook: id, cell: cell.dataset.cell, top: cell.getBoundingClientRect().top };
    return { ...place, ...(isInSight(cellOf(current)) && { current }) };
  }
  return undefined;
}

/** A component of its own, so that it renders no other. `isWanted`: the address names no other place. */
export function Place({ store, isWanted }: { store: NotebookStore; isWanted: boolean }) {
  useTopics(store, "notebook", "current", "order");
  useLastPlace(store, isWanted);
  useHeldCell(store);
  return null;
}

/** Returns to the place of the last visit once its cell is rendered, unless the person acts before. */
function useLastPlace(store: NotebookStore, isWanted: boolean): void {
  useEffect(() => {
    const keep = () => {
      const place = store.past === undefined ? placeNow(store) : undefined;
      if (place) keepPlace(place);
    };
    addEventListener("pagehide", keep);
    return () => removeEventListener("pagehide", keep);
  }, [store]);
  const isOpen = store.document.version > 0;
  useEffect(() => {
    const place = isOpen ? takePlace(store.id) : undefined;
    if (!place || !isWanted || !store.document.cells.has(place.cell)) return;
    let frame = 0;
    const end = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      seen.disconnect();
      for (const kind of ACTIONS) removeEventListener(kind, end, true);
    };
    let timer = setTimeout(end, AWAITED_MS);
    const stay = () => {
      const drift = (cellOf(place.cell)?.getBoundingClientRect().top ?? place.top) - place.top;
      if (Math.abs(drift) >= 1) scrollBy({ top: drift, behavior: "instant" });
      frame = requestAnimationFrame(stay);
    };
    const go = () => {
      const cell = cellOf(place.cell);
      if (!cell) return;
      seen.disconnect();
      clearTimeout(timer);
      timer = setTimeout(end, KEPT_MS);
      cell.scrollIntoView({ block: "start", behavior: "instant" });
      stay();
      // A selected cell scrolls itself into view.
      if (place.current !== undefined && store.document.cells.has(place.current)) store.select(place.current);
    };
    const seen = new MutationObserver(go);
    for (const kind of ACTIONS) addEventListener(kind, end, { capture: true, passive: true });
    const list = document.querySelector(".page");
    if (list) seen.observe(list, { childList: true, subtree: true });
    go();
    return end;
  }, [store, isOpen]);
}

/** Keeps the selected cell in sight while outputs above it grow or shrink, without moving it further than that needs. */
function useHeldCell(store: NotebookStore): void {
  /** The selected cell in sight, with its top and the height of its visible part. */
  const held = useRef<{ cell: Element; top: number; visible: number }>(undefined);
  const look = () => {
    const cell = cellOf(store.current);
    held.current = undefined;
    if (!isInSight(cell)) return;
    const box = cell.getBoundingClientRect();
    const { top, bottom } = sight();
    held.current = { cell, top: box.top, visible: Math.min(box.bottom, bottom) - Math.max(box.top, top) };
  };
  useEffect(() => {
    const frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => {
    const list = document.querySelector(".page");
    if (!list) return;
    const grown = new ResizeObserver(() => {
      const before = held.current;
      if (before && before.cell === cellOf(store.current)) keepInSight(before);
      look();
    });
    grown.observe(list);
    addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", look);
    };
  }, [store]);
}

function keepInSight({ cell, top: before, visible }: { cell: Element; top: number; visible: number }): void {
  const { top, bottom } = sight();
  const now = cell.getBoundingClientRect().top;
  const drift = now - before;
  const below = Math.max(0, now + Math.min(visible, cell.clientHeight) - bottom);
  const above = Math.max(0, top - now);
  if (drift > 0 && below > 0) scrollBy({ top: Math.min(drift, below), behavior: "instant" });
  else if (drift < 0 && above > 0) scrollBy({ top: Math.max(drift, -above), behavior: "instant" });
}
