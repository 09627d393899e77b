// Keys of actions: defaults of the table, or a person's own, stored in this browser.
import type { Action } from "./table.ts";

interface Own {
  keys?: string[];
  editKeys?: string[];
}

const STORE = "notarium.keys";
const listeners = new Set<() => void>();
let own: Record<string, Own> | undefined;

function read(): Record<string, Own> {
  try {
    own ??= JSON.parse(globalThis.localStorage?.getItem(STORE) ?? "{}") as Record<string, Own>;
  } catch {
    own = {};
  }
  return own;
}

export function onKeysChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The person's keys; a new object after each change. */
export function ownKeys(): Record<string, Own> {
  return read();
}

export function keysOf(action: Action): { keys: string[]; editKeys: string[] } {
  const { keys = action.keys ?? [], editKeys = action.editKeys ?? [] } = read()[action.id] ?? {};
  return { keys, editKeys };
}

/** Sets an action's keys; undefined restores the defaults. */
export function setKeys(action: Action, presses: string[] | undefined): void {
  const { [action.id]: _, ...others } = read();
  const works = (press: string) => /^(F\d+|(\$mod|Control|Alt|Meta)\+.*|Shift\+Enter)$/.test(press);
  own = presses
    ? { ...others, [action.id]: { keys: presses.filter((each) => !works(each)), editKeys: presses.filter(works) } }
    : others;
  globalThis.localStorage?.setItem(STORE, JSON.stringify(own));
  for (const listener of listeners) listener();
}

interface Bound {
  press: string;
  id: string;
  /** Scope of the key: the list of cells, an edited cell, or both. */
  places: readonly ("cells" | "editor")[];
}

function boundBy(action: Action): Bound[] {
  const { keys, editKeys } = keysOf(action);
  const { id } = action;
  const isEditors = action.isOfEditor === true || action.inEditor !== undefined;
  return [
    ...keys.map((press): Bound => ({ press, id, places: ["cells"] })),
    ...editKeys.map((press): Bound => ({ press, id, places: isEditors ? ["editor"] : ["cells", "editor"] })),
  ];
}

/** Keys bound to several actions in one scope, or starting with another action's key, with the actions' ids. */
export function duplicates(actions: readonly Action[]): Map<string, string[]> {
  const all = actions.flatMap(boundBy);
  const found = new Map<string, string[]>();
  for (const { press, id, places } of all) {
    const others = all.filter((other) => {
      const isSame = other.press === press || press.startsWith(`${other.press} `);
      return other.id !== id && isSame && other.places.some((place) => places.includes(place));
    });
    if (others.length > 0) found.set(press, [id, ...others.map((other) => other.id)]);
  }
  return found;
}

const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process"]);

/** A key press in the table's notation; undefined for a modifier alone. */
export function pressOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
  isMac: boolean,
): string | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (MODIFIERS.has(key)) return undefined;
  const mod = isMac ? metaKey : ctrlKey;
  const other = isMac ? ctrlKey && "Control" : metaKey && "Meta";
  const name = key === " " ? "Space" : key.length === 1 ? key.toLowerCase() : key;
  const isCapital = shiftKey && name.length === 1 && name !== key;
  const parts = [mod && "$mod", other, altKey && "Alt", shiftKey && "Shift", isCapital ? name.toUpperCase() : name];
  return parts.filter(Boolean).join("+");
}

/** The key at this position of a Latin keyboard, for layouts of other scripts. */
export function latinKey(key: string, code: string, shift: boolean): string {
  if (key.length !== 1 || (key >= " " && key <= "~")) return key;
  const letter = /^Key([A-Z])$/.exec(code)?.[1] ?? /^Digit(\d)$/.exec(code)?.[1];
  if (letter === undefined) return key;
  return shift ? letter : letter.toLowerCase();
}
