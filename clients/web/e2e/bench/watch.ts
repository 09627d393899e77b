// What runs inside the measured page: notes when it can be typed in, and how long keys and changes take to the screen.

export interface Marks {
  /** Milliseconds since the page began. */
  ready?: number;
  /** From each key to the paint after it. */
  keys: number[];
  /** Who waits for the next change of the first cell that is painted, by the machine's clock. */
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
  /** The text of a cell. */
  source: string;
  /** What one clicks to open a cell's editor, where there is none before. */
  closed?: string;
  /** What one types in. */
  editor: string;
}

/** Goes into the first cell as soon as it is there. Given to the browser as text: it refers to nothing outside. */
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
      // A person's click begins with a pointer, and only a person's click gives letters a place.
      node.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
      node.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
    } else node.focus();
  };
  const lengthNow = () => document.querySelector(source)?.textContent?.length ?? 0;
  let known = lengthNow();
  new MutationObserver(() => {
    if (location.pathname !== "/" || location.hash.includes("/n/") || !closed) open();
    if (!marks.ready && document.activeElement?.closest(editor)) painted(() => (marks.ready ??= performance.now()));
    const length = lengthNow();
    // A caret that moves is no edit.
    if (length !== known) painted(() => marks.told?.(performance.timeOrigin + performance.now()));
    known = length;
  }).observe(document, { childList: true, subtree: true, characterData: true });
  addEventListener("keydown", (event) => painted(() => marks.keys.push(performance.now() - event.timeStamp)), true);
}

/** The longest frame while the list of cells is scrolled through. */
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
