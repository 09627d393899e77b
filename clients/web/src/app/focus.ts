// Focus of a notebook's page: decides which element gets the letters that are typed. If a dialog, panel, field or cell with the focus goes
// away without the person's doing, letters are held back until the person acts (a click, an arrow, Tab, Escape …). The text typed into
// it is kept, and listeners offer it. If the person closes it, the focus returns to its place in the notebook.
import { Listeners } from "../transport/listeners.ts";

/** What takes text. Of a frame the page hears no key: what is typed there counts as text. */
const FIELDS =
  "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file], [type=range], [type=color]), " +
  "textarea, [contenteditable=true], iframe";
const OVER = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=search]";

const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock", "Fn", "ScrollLock"]);
const WRITING = new Set(["Enter", "Backspace", "Delete", "Process", "Dead", "Unidentified"]);
/** With Ctrl or ⌘: what edits text, or cells. */
const EDITING = new Set(["v", "x", "z", "y", "d", "a", "b", "i", "m", "/", "Enter", "Backspace", "Delete"]);
/** What is opened has come by then, or does not come. */
const OPENING_MS = 5_000;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

interface Place {
  element: Element | undefined;
  kind: "text" | "cell" | "control" | "none";
  /** The cell that it is in. */
  cell: string | undefined;
  /** Of a field what was in it last, unless it is a secret. */
  text: string;
  /** What the person pressed last here leads away from it: Enter in a field, a button. */
  isDone: boolean;
}

/** A place that went while somebody was there. */
export interface Lost {
  /** The cell whose editor it was. */
  cell: string | undefined;
  text: string;
}

const NOWHERE: Place = { element: undefined, kind: "none", cell: undefined, text: "", isDone: false };

export class Focus {
  readonly lost = new Listeners<[Lost]>();
  /** Another letter went nowhere. */
  readonly strayed = new Listeners<[kept: string]>();
  /** Letters go nowhere. */
  isAstray = false;
  /** How often it came to that. */
  losses = 0;
  /** What was typed since. */
  kept = "";
  /** Work that the person began may move the focus. */
  isAtWork: () => boolean = () => false;
  /** Where the focus belongs in the notebook. */
  home: () => HTMLElement | null | undefined = () => undefined;
  #place = NOWHERE;
  #acting: ReturnType<typeof setTimeout> | undefined;
  #opening: { held: string; timer: ReturnType<typeof setTimeout> } | undefined;

  listen(): () => void {
    const listeners: [string, (event: never) => void][] = [
      ["keydown", (event: KeyboardEvent) => this.#press(event)],
      ["pointerdown", () => this.#point()],
      ["click", ({ target }: Event) => this.#click(target)],
      // A frame had the keyboard without the person's doing, and gives it back (frameKeys.ts).
      ["notarium-keys-back", () => this.#point()],
      ["input", ({ target }: Event) => this.#write(target)],
      ["focusin", () => this.#move()],
      ["focusout", () => this.#move()],
      // The focus is in a frame now, or elsewhere on the machine.
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

  /** The person does something: where the focus goes because of it, it was meant to go. */
  act(): void {
    clearTimeout(this.#acting);
    this.#acting = setTimeout(() => this.#rest());
  }

  /** The person goes to a cell, which may be drawn later. */
  expect(cell: string | undefined): void {
    if (this.#isOwn()) this.#expected = cell;
  }

  #expected: string | undefined;

  /** Something opens for what the person types next: until it is there, letters wait for it. */
  open(): void {
    this.#wake();
    this.act();
    this.#arrive();
    this.#opening = { held: "", timer: setTimeout(() => this.#arrive(), OPENING_MS) };
  }

  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  /** Focuses what the person asked for. */
  take(element: HTMLElement | null | undefined, options?: FocusOptions): void {
    this.act();
    element?.focus(options);
  }

  /** Nobody writes: what asks for text may take the focus by itself. */
  get isFree(): boolean {
    return !this.isAstray && (this.#place.kind === "none" || this.#place.kind === "cell" || this.#place.isDone);
  }

  /** Whether a cell may take the focus from where it is: not from a field elsewhere, nor from what is open over the page. */
  mayTake(cell: Element): boolean {
    const { activeElement } = document;
    if (!activeElement || activeElement === document.body || cell.contains(activeElement)) return true;
    if (this.isOpening) return false;
    const isInCell = activeElement.closest("[data-cell]") !== null;
    return isInCell || !(activeElement.matches(FIELDS) || (activeElement.closest(OVER) && this.#acting === undefined));
  }

  /** Others have taken a cell away: what is typed was meant for it, unless the focus is elsewhere. */
  leave(cell: string): void {
    this.#settle(false);
    const { kind } = this.#place;
    if (kind === "none" || this.#place.cell === cell) this.#lose(this.#place);
  }

  #lose({ kind, element, cell, text }: Place): void {
    if (this.isAstray) return;
    this.isAstray = true;
    this.losses += 1;
    this.kept = "";
    const isEditor = kind === "text" && element?.closest(".cm-editor") !== null;
    this.lost.tell({ cell: isEditor ? cell : undefined, text });
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
      // It closes what is open: only in the notebook it would do more than to wake.
      if (event.key === "Escape" && !document.activeElement?.closest(OVER)) swallow(event);
    }
    const isText = this.#place.kind === "text";
    const isSent = leads(event);
    if (isText || this.#place.kind === "control") this.#place.isDone = isSent;
    if (!isText || isSent || !isTyped(event)) this.act();
  }

  /** Letters wait for what is opened; Escape gives it up. */
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

  /** A place that is drawn anew has the focus again a moment later. */
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
    // On its way from one element to the next the focus is nowhere for a moment.
    if (!isOwn && now.kind === "none" && isThere(before)) return;
    const isSame = now.kind === before.kind && now.cell !== undefined && now.cell === before.cell && now.kind !== "control";
    this.#place = isSame ? { ...now, isDone: before.isDone } : now;
    if (this.#opening && now.element && isOver(now.element)) {
      const { element, kind } = now;
      queueMicrotask(() => this.#arrive(kind === "text" ? element : undefined));
    }
    if (isSame) return;
    // Who clicks into a frame, or leaves one by a key, is heard there alone.
    const isFrame = now.element?.matches("iframe") || (before.element?.matches("iframe") && isThere(before));
    const isMeant = isFrame || (now.cell !== undefined && now.cell === this.#expected);
    if (isOwn || isMeant || this.#isOwn()) {
      // It is seen at the end of the act that it went.
      if (now.kind === "none" && !isThere(before)) this.#left = before;
      return;
    }
    if (isLoss(before, now)) this.#lose(before);
    if (now.kind === "none") this.#goHome();
  }

  /** What the person closed. */
  #left: Place | undefined;

  /** The act is over, and what it led to. */
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

/** Opened over the notebook, or a field of a cell that is no editor. */
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

/** Whether the focus went elsewhere without the person. */
function isLoss(before: Place, now: Place): boolean {
  if (before.kind === "none" || before.isDone) return false;
  // A form may lead from one of its fields to the next.
  if (before.kind === "text") return !isThere(before) || now.kind === "cell";
  if (before.kind === "cell") return now.cell !== before.cell;
  return !isThere(before);
}

function isTyped(press: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey } = press;
  const isLetter = [...key].length === 1;
  // Windows says Ctrl and Alt of a letter that AltGr writes.
  if (isLetter && press.getModifierState("AltGraph")) return true;
  return !ctrlKey && !metaKey && (isLetter || WRITING.has(key));
}

function isEdit({ key, ctrlKey, metaKey, altKey, shiftKey }: Press): boolean {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && EDITING.has(key);
}

/** Enter sends a field or presses a button; with another key it runs a cell or posts a comment. Escape leaves. */
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

/** Types as a person does, so that whoever draws the field hears of it. Enter is a key of its own in a field of one line. */
function write(field: Element, text: string): void {
  const end = field instanceof HTMLInputElement ? text.indexOf("\n") : -1;
  document.execCommand("insertText", false, end < 0 ? text : text.slice(0, end));
  if (end < 0) return;
  // After the field was drawn with the text.
  queueMicrotask(() => {
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", bubbles: true, cancelable: true }));
  });
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}
