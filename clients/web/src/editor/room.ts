// Space for an editor's caret and its tooltips: lists, signatures, documentation.
import type { Extension } from "@codemirror/state";
import { EditorView, type Rect, tooltips } from "@codemirror/view";

/** Distance of the caret from the window's edges and the bar. */
const CARET = { top: 80, bottom: 120 };

/**
 * The margins apply to a single scroll only. Tooltips use the same margins, and beside a one-line cell they would be placed off
 * screen.
 */
function caretMargins(): Extension {
  let isScrolling = false;
  return [
    EditorView.scrollHandler.of(() => {
      isScrolling = true;
      queueMicrotask(() => (isScrolling = false));
      return false;
    }),
    EditorView.scrollMargins.of(() => {
      const margins = isScrolling ? CARET : null;
      isScrolling = false;
      return margins;
    }),
  ];
}

/** Visible part of the window: below the bar and above a phone's keyboard. */
function inSight(): Rect {
  const { offsetLeft = 0, offsetTop = 0, width = innerWidth, height = innerHeight } = window.visualViewport ?? {};
  const bar = document.querySelector(".notebook .top")?.getBoundingClientRect().bottom ?? 0;
  return { left: offsetLeft, top: Math.max(offsetTop, bar), right: offsetLeft + width, bottom: offsetTop + height };
}

/** Tooltips are placed outside the cells, which clip their content, but inside the page's main landmark. */
export const room = (): Extension => [
  caretMargins(),
  tooltips({ position: "fixed", parent: document.querySelector("main") ?? document.body, tooltipSpace: inSight }),
];
