// Focus of the notebook's page: decides which element gets typed letters. If an element with the focus disappears without the
// person's doing, letters are held back until they act (click, arrow, Tab, Escape …). The text typed into it is kept, and
// listeners offer it. If the person closes it, the focus returns to its place in the notebook.
import { Listeners } from "../../transport/listeners.ts";

/** Elements that take text. Keys in a frame do not reach the page, so frames count as text fields. */
const FIELDS =
  "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file], [type=range], [type=color]), " +
  "textarea, [contenteditable=true], iframe";
const OVER = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=search]";

const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock", "Fn", "ScrollLock"]);
const WRITING = new Set(["Enter", "Backspace", "Delete", "Process", "Dead", "Unidentified"]);
/** Keys that with Ctrl or ⌘ edit text or cells. */
const EDITING = new Set(["v", "x", "z", "y", "d", "a", "b", "i", "m", "/", "Enter", "Backspace", "Delete"]);
/** Timeout for a field that is being opened. */
const OPENING_MS = 5_000;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

interface Place {
  element: Element | undefined;
  kind: "text" | "cell" | "control" | "none";
  /** The cell that contains the element. */
  cell: string | undefined;
  /** Last value of a field, unless it is secret. */
  text: string;
  /** The last key or click leads away from the element: Enter in a field, a button. */
  isDone: boolean;
}

/** An element that disappeared while it had the focus, or that did not open for the letters typed for it. */
export interface Lost {
  /** The cell, if the element was its editor. */
  cell: string | undefined;
  text: string;
  isUnopened: boolean;
}

/** Event that hands the keyboard to a frame (frameKeys.ts). */
export const GIVE_KEYS = "notarium-give-keys";

/** Hands the keyboard to a frame, by a key or button of the page. */
export function giveKeys(frame: Element | null): void {
  frame?.dispatchEvent(new Event(GIVE_KEYS));
}

const NOWHERE: Place = { element: undefined, kind: "none", cell: undefined, text: "", isDone: false };

export class Focus {
  readonly lost = new Listeners<[Lost]>();
  /** Another held-back letter; tells all text held back so far. */
  readonly strayed = new Listeners<[kept: string]>();
  /** Letters are held back. */
  isAstray = false;
  /** Number of losses so far. */
  losses = 0;
  /** Text typed since the loss. */
  kept = "";
  /** Work started by the person is pending and may move the focus. */
  isAtWork: () => boolean = () => false;
  /** The notebook's element to which the focus belongs. */
  home: () => HTMLElement | null | undefined = () => undefined;
  #place = NOWHERE;
  #acting: ReturnType<typeof setTimeout> | undefined;
  #opening: { held: string; timer: ReturnType<typeof setTimeout> } | undefined;

  listen(): () => void {
    const listeners: [string, (event: never) => void][] = [
      ["keydown", (event: KeyboardEvent) => this.#press(event)],
      ["pointerdown", () => this.#point()],
      ["click", ({ target }: Event) => this.#click(target)],
      // A frame had taken the keyboard by itself and returns it (frameKeys.ts).
      ["notarium-keys-back", () => this.#point()],
      ["input", ({ target }: Event) => this.#write(target)],
      ["focusin", () => this.#move()],
      ["focusout", () => this.#move()],
      // The focus went into a frame, or to another window.
      ["blur", ({ target }: Event) => target === window && this.#settle(true)],
    ];
    for (const [type, listener] of listeners) addEventListener(type, listener as EventListener, true);
    this.#place = placeOf(document.activeElement);
    return () => {
      for (const [type, listener] of listeners) removeEventListener(type, listener as EventListener, true);
      clearTimeout(this.#acting);
      this.#arrive();
    };
  }

  /** Marks an action of the person: focus changes that follow from it are intended. */
  act(): void {
    clearTimeout(this.#acting);
    this.#acting = setTimeout(() => this.#rest());
  }

  /** Records the cell to which the person goes; it may be rendered later. */
  expect(cell: string | undefined): void {
    if (this.#isOwn()) this.#expected = cell;
  }

  #expected: string | undefined;

  /** Call when a field is about to open for the person: letters are buffered until it has the focus. */
  open(): void {
    this.#wake();
    this.act();
    this.#arrive();
    this.#opening = { held: "", timer: setTimeout(() => this.#tooLate(), OPENING_MS) };
  }

  /** The field did not open in time: the letters for it are offered. */
  #tooLate(): void {
    const { held = "" } = this.#opening ?? {};
    this.#arrive();
    if (held !== "") this.#lose({ ...NOWHERE, text: held }, true);
  }

  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  /** Focuses an element at the person's request. */
  take(element: HTMLElement | null | undefined, options?: FocusOptions): void {
    this.act();
    element?.focus(options);
  }

  /** No text is being typed, so a field may take the focus by itself. */
  get isFree(): boolean {
    return !this.isAstray && (this.#place.kind === "none" || this.#place.kind === "cell" || this.#place.isDone);
  }

  /** True if a cell may take the focus from the active element: not from a field elsewhere, nor from an overlay. */
  mayTake(cell: Element): boolean {
    const { activeElement } = document;
    if (!activeElement || activeElement === document.body || cell.contains(activeElement)) return true;
    if (this.isOpening) return false;
    const isInCell = activeElement.closest("[data-cell]") !== null;
    return isInCell || !(activeElement.matches(FIELDS) || (activeElement.closest(OVER) && this.#acting === undefined));
  }

  /** Another person removed the cell: its focus is lost, unless the focus is elsewhere. */
  leave(cell: string): void {
    this.#settle(false);
    const { kind } = this.#place;
    if (kind === "none" || this.#place.cell === cell) this.#lose(this.#place);
  }

  #lose({ kind, element, cell, text }: Place, isUnopened = false): void {
    if (this.isAstray) return;
    this.isAstray = true;
    this.losses += 1;
    this.kept = "";
    const isEditor = kind === "text" && element?.closest(".cm-editor") !== null;
    this.lost.tell({ cell: isEditor ? cell : undefined, text, isUnopened });
  }

  #wake(): void {
    this.isAstray = false;
  }

  #point(): void {
    this.#wake();
    this.#arrive();
    this.act();
  }

  #click(target: EventTarget | null): void {
    const place = this.#place;
    if (place.kind === "control" && target instanceof Node && place.element?.contains(target)) place.isDone = true;
    this.act();
  }

  #press(event: KeyboardEvent): void {
    if (MODIFIERS.has(event.key)) return;
    this.#settle(false);
    if (this.#opening && this.#waits(event)) return swallow(event);
    if (this.isAstray && (isTyped(event) || isEdit(event))) {
      this.kept = typed(this.kept, event);
      this.strayed.tell(this.kept);
      return swallow(event);
    }
    if (this.isAstray) {
      this.#wake();
      // Escape closes an overlay as usual; in the notebook it only ends the holding back of letters.
      if (event.key === "Escape" && !document.activeElement?.closest(OVER)) swallow(event);
    }
    const isText = this.#place.kind === "text";
    const isSent = leads(event);
    if (isText || this.#place.kind === "control") this.#place.isDone = isSent;
    if (!isText || isSent || !isTyped(event)) this.act();
  }

  /** Buffers letters for a field that is being opened; Escape cancels. */
  #waits(event: KeyboardEvent): boolean {
    const { activeElement } = document;
    if (event.key === "Escape") this.#arrive();
    const isThere = activeElement?.matches(FIELDS) === true && isOver(activeElement);
    if (!this.#opening || isThere || !isTyped(event)) return false;
    this.#opening.held = typed(this.#opening.held, event);
    return true;
  }

  #arrive(field?: Element): void {
    const { held = "", timer } = this.#opening ?? {};
    clearTimeout(timer);
    this.#opening = undefined;
    if (field && held !== "" && document.activeElement === field) write(field, held);
  }

  #write(target: EventTarget | null): void {
    const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (isField && target === this.#place.element && target.type !== "password") this.#place.text = target.value;
  }

  /** Settles in a microtask, because a re-rendered element regains the focus shortly after. */
  #move(): void {
    const isOwn = this.#isOwn();
    queueMicrotask(() => this.#settle(isOwn));
  }

  #isOwn(): boolean {
    return this.#acting !== undefined || this.isOpening || this.isAtWork();
  }

  #settle(isOwn: boolean): void {
    const before = this.#place;
    const now = placeOf(document.activeElement);
    if (now.element === before.element) return;
    // Between two elements the focus is briefly on none.
    if (!isOwn && now.kind === "none" && isThere(before)) return;
    const isSame = now.kind === before.kind && now.cell !== undefined && now.cell === before.cell && now.kind !== "control";
    this.#place = isSame ? { ...now, isDone: before.isDone } : now;
    if (this.#opening && now.element && isOver(now.element)) {
      const { element, kind } = now;
      queueMicrotask(() => this.#arrive(kind === "text" ? element : undefined));
    }
    if (isSame) return;
    // A click into a frame, or a key that leaves it, is seen only inside that frame.
    const isFrame = now.element?.matches("iframe") || (before.element?.matches("iframe") && isThere(before));
    const isMeant = isFrame || (now.cell !== undefined && now.cell === this.#expected);
    if (isOwn || isMeant || this.#isOwn()) {
      // The end of the action shows whether the focus stays nowhere.
      if (now.kind === "none" && !isThere(before)) this.#left = before;
      return;
    }
    if (isLoss(before, now)) this.#lose(before);
    if (now.kind === "none") this.#goHome();
  }

  /** The element that the person closed. */
  #left: Place | undefined;

  /** Ends the person's action: if nothing has the focus, it goes home. */
  #rest(): void {
    this.#acting = undefined;
    this.#settle(true);
    const left = this.#left;
    this.#left = undefined;
    if (left && this.#place.kind === "none" && !this.isOpening) this.#goHome();
  }

  #goHome(): void {
    const over = [...document.querySelectorAll<HTMLElement>("[role=dialog], [role=alertdialog]")].at(-1);
    const element = over ?? this.home();
    if (!element || element === document.activeElement) return;
    element.focus({ preventScroll: true });
    this.#place = placeOf(document.activeElement);
  }
}

/** True for an element over the notebook, or a field in a cell that is not the editor. */
function isOver(element: Element): boolean {
  return !element.closest("[data-cell]") || element.matches("[data-opened]");
}

function placeOf(element: Element | null): Place {
  if (!element || element === document.body || element === document.documentElement) return NOWHERE;
  const cell = element.closest<HTMLElement>("[data-cell]")?.dataset.cell;
  const isField = element.matches(FIELDS) && !(element as HTMLInputElement).readOnly;
  const kind = isField ? "text" : (element as HTMLElement).dataset.cell !== undefined ? "cell" : "control";
  return { element, kind, cell, text: "", isDone: false };
}

const isThere = ({ element }: Place) => element?.isConnected === true && element.getClientRects().length > 0;

/** True if the focus moved without the person's doing. */
function isLoss(before: Place, now: Place): boolean {
  if (before.kind === "none" || before.isDone) return false;
  // A form may move the focus between its own fields.
  if (before.kind === "text") return !isThere(before) || now.kind === "cell";
  if (before.kind === "cell") return now.cell !== before.cell;
  return !isThere(before);
}

function isTyped(press: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey } = press;
  const isLetter = [...key].length === 1;
  // On Windows AltGr is reported as Ctrl and Alt.
  if (isLetter && press.getModifierState("AltGraph")) return true;
  return !ctrlKey && !metaKey && (isLetter || WRITING.has(key));
}

function isEdit({ key, ctrlKey, metaKey, altKey, shiftKey }: Press): boolean {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && EDITING.has(key);
}

/**
 * Keys that leave an element: Enter sends a field or presses a button, with modifiers it runs a cell or posts a comment. Escape
 * closes.
 */
function leads({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
  const isButton = target instanceof Element && target.closest("button, a, summary, [role=option], [role^=menuitem]") !== null;
  if (key === "Escape" || (key === " " && isButton)) return true;
  return key === "Enter" && (isButton || target instanceof HTMLInputElement || ctrlKey || metaKey || altKey || shiftKey);
}

function typed(before: string, { key }: Press): string {
  if (key === "Backspace") return before.slice(0, -1);
  if (key === "Enter") return `${before}\n`;
  return [...key].length === 1 ? before + key : before;
}

/** Types through the browser, so that the field's component gets its events. A one-line field gets Enter as a key. */
function write(field: Element, text: string): void {
  const end = field instanceof HTMLInputElement ? text.indexOf("\n") : -1;
  document.execCommand("insertText", false, end < 0 ? text : text.slice(0, end));
  if (end < 0) return;
  // Waits until the field has been rendered with the text.
  queueMicrotask(() => {
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", bubbles: true, cancelable: true }));
  });
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}
