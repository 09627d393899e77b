// Room for an editor's caret and for what it opens beside it: lists, signatures, descriptions.
import type { Extension } from "@codemirror/state";
import { EditorView, type Rect, tooltips } from "@codemirror/view";

/** The caret keeps away from the page's edges, and from the bar. */
const CARET = { top: 80, bottom: 120 };

/**
 * The margins hold for one scroll alone. Tooltips measure their room with the same margins: in a cell of one line they would
 * have none, and be drawn off the screen.
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

/** What of the window is in sight: below the bar, and above the keyboard of a phone. */
function inSight(): Rect {
  const { offsetLeft = 0, offsetTop = 0, width = innerWidth, height = innerHeight } = window.visualViewport ?? {};
  const bar = document.querySelector(".notebook .top")?.getBoundingClientRect().bottom ?? 0;
  return { left: offsetLeft, top: Math.max(offsetTop, bar), right: offsetLeft + width, bottom: offsetTop + height };
}

/** A cell clips what stands out of it: tooltips are put beside the cells, and within the page's landmark. */
export const room = (): Extension => [
  caretMargins(),
  tooltips({ position: "fixed", parent: document.querySelector("main") ?? document.body, tooltipSpace: inSight }),
];
