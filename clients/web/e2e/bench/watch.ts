// Script inside the measured page: records when typing is possible, and the latency of keys and changes to the screen.

export interface Marks {
  /** Milliseconds from navigation until typing is possible. */
  ready?: number;
  /** Milliseconds from each key to the next paint. */
  keys: number[];
  /** Callback for the next painted change of the first cell, with the machine's time. */
  told?: (at: number) => void;
}

declare global {
  interface Window {
    marks: Marks;
    painted?: Promise<number>;
    pressed?: number;
  }
}

export interface Watched {
  /** Selector of a cell's text. */
  source: string;
  /** Selector of the element that opens a cell's editor, if cells have none before. */
  closed?: string;
  /** Selector of the editor. */
  editor: string;
}

/** Selectors of this page. */
export const OURS: Watched = { source: ".cell .source", closed: ".cell .source.still", editor: ".cm-content" };

/** Focuses the first cell as soon as it exists. Runs in the browser as text, so it refers to no outer names. */
export function watch({ source, closed, editor }: Watched): void {
  const marks: Marks = { keys: [] };
  window.marks = marks;
  const painted = (note: () => void) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = note;
      port2.postMessage(0);
    });
  let isOpened = false;
  const open = () => {
    const node = document.querySelector<HTMLElement>(closed ?? editor);
    if (!node || isOpened) return;
    isOpened = true;
    if (closed) {
      // The page focuses an editor only after a pointer event, as of a person's click.
      node.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
      node.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
    } else node.focus();
  };
  const lengthNow = () => document.querySelector(source)?.textContent?.length ?? 0;
  let known = lengthNow();
  new MutationObserver(() => {
    if (location.pathname !== "/" || location.hash.includes("/n/") || !closed) open();
    if (!marks.ready && document.activeElement?.closest(editor))
      painted(() => {
        if (!marks.ready) performance.mark("ready");
        marks.ready ??= performance.now();
      });
    const length = lengthNow();
    // Compare lengths: caret movements also mutate the DOM.
    if (length !== known) painted(() => marks.told?.(performance.timeOrigin + performance.now()));
    known = length;
  }).observe(document, { childList: true, subtree: true, characterData: true });
  addEventListener("keydown", (event) => painted(() => marks.keys.push(performance.now() - event.timeStamp)), true);
}

/** Milliseconds of the longest frame while scrolling through the cells. */
export async function longestFrame(source: string): Promise<number> {
  let box: Element | null = document.querySelector(source);
  while (box && !(box.scrollHeight > box.clientHeight + 2_000 && /auto|scroll/.test(getComputedStyle(box).overflowY)))
    box = box.parentElement;
  const scroller = box ?? document.scrollingElement;
  let [last, most] = [0, 0];
  for (let frame = 0; frame < 240; frame++) {
    const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
    if (last > 0) most = Math.max(most, now - last);
    last = now;
    scroller?.scrollBy(0, 2_000);
  }
  return most;
}
