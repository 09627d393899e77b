// Keyboard shortcuts, compared with Jupyter's.
import { afterEach, expect, test, vi } from "vitest";
import { duplicates, keysOf, latinKey, pressOf, setKeys } from "../../src/commands/keys.ts";
import { actions, editorKey, keyLabel } from "../../src/commands/table.ts";

afterEach(() => vi.unstubAllGlobals());

const JUPYTER = {
  Enter: "edit",
  ArrowUp: "up",
  k: "up",
  ArrowDown: "down",
  j: "down",
  "Shift+ArrowUp": "extend-up",
  "Shift+ArrowDown": "extend-down",
  "Shift+Home": "extend-first",
  "Shift+End": "extend-last",
  "$mod+a": "select-all",
  ArrowLeft: "collapse",
  ArrowRight: "open",
  "Shift+M": "merge",
  a: "insert-above",
  b: "insert-below",
  x: "cut",
  c: "copy",
  v: "paste",
  "d d": "delete",
  z: "undo",
  "Shift+Z": "redo",
  y: "type-code",
  m: "type-markdown",
  r: "type-raw",
  "1": "heading-1",
  "2": "heading-2",
  "3": "heading-3",
  "4": "heading-4",
  "5": "heading-5",
  "6": "heading-6",
  o: "toggle-outputs",
  "i i": "interrupt",
  "0 0": "restart",
  h: "help",
  "Shift+Enter": "run-next",
  "$mod+Enter": "run",
  "Alt+Enter": "run-insert",
  "$mod+Shift+p": "palette",
  Tab: "complete",
  "Shift+Tab": "inspect",
};

test("Jupyter's keys do what they do there", () => {
  const bound = new Map(
    actions.flatMap(({ id, keys = [], editKeys = [] }) => [...keys, ...editKeys].map((press) => [press, id] as const)),
  );
  for (const [press, id] of Object.entries(JUPYTER)) expect([press, bound.get(press)]).toEqual([press, id]);
});

test("no id stands twice, and no key within the editor or the list of cells", () => {
  expect(duplicates(actions).size).toBe(0);
  const ofEditors = actions.filter(({ inEditor, isOfEditor }) => inEditor !== undefined || isOfEditor);
  const inCells = actions.flatMap((action) =>
    ofEditors.includes(action) ? [] : [...(action.keys ?? []), ...(action.editKeys ?? [])],
  );
  expect(inCells.filter((press, index) => inCells.indexOf(press) !== index)).toEqual([]);
  const inEditor = actions.flatMap(({ editKeys = [] }) => editKeys);
  expect(inEditor.filter((press, index) => inEditor.indexOf(press) !== index)).toEqual([]);
  expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
});

const press = (key: string, held: Partial<Record<"ctrlKey" | "shiftKey" | "altKey" | "metaKey", boolean>> = {}) =>
  pressOf({ key, ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, ...held }, false);

test("what is pressed is written as the table has it", () => {
  expect(press("x")).toBe("x");
  expect(press("Control", { ctrlKey: true })).toBeUndefined();
  expect(press("P", { ctrlKey: true, shiftKey: true })).toBe("$mod+Shift+P");
  expect(press("M", { shiftKey: true })).toBe("Shift+M");
  expect(press("ArrowUp", { altKey: true })).toBe("Alt+ArrowUp");
});

test("a person's own keys take the place of the usual ones, duplicates are named, and the usual ones come back", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  const find = (id: string) => actions.find((action) => action.id === id)!;
  expect(duplicates(actions).size).toBe(0);
  setKeys(find("merge"), ["a"]);
  expect(keysOf(find("merge"))).toEqual({ keys: ["a"], editKeys: [] });
  expect(duplicates(actions).get("a")).toEqual(expect.arrayContaining(["merge", "insert-above"]));
  setKeys(find("merge"), ["$mod+j"]);
  expect(keysOf(find("merge"))).toEqual({ keys: [], editKeys: ["$mod+j"] });
  // The palette's key has another meaning in the editor: a third meaning conflicts with both.
  setKeys(find("merge"), ["$mod+k"]);
  expect(duplicates(actions).get("$mod+k")).toEqual(expect.arrayContaining(["merge", "palette"]));
  expect(duplicates(actions.filter(({ id }) => id !== "palette")).get("$mod+k")).toContain("ask-inline");
  // A key that is the prefix of another shortcut makes that one unreachable.
  setKeys(find("merge"), ["d"]);
  expect(duplicates(actions).get("d d")).toEqual(expect.arrayContaining(["merge", "delete"]));
  setKeys(find("merge"), undefined);
  expect(keysOf(find("merge")).keys).toEqual(["Shift+M"]);
  expect(duplicates(actions).size).toBe(0);
});

test("letters of another script count as the Latin ones of the same key; what is Latin stays", () => {
  expect(latinKey("ф", "KeyA", false)).toBe("a");
  expect(latinKey("Ф", "KeyA", true)).toBe("A");
  expect(latinKey("é", "Digit2", false)).toBe("2");
  expect(latinKey("a", "KeyQ", false)).toBe("a");
  expect(latinKey("ArrowUp", "ArrowUp", false)).toBe("ArrowUp");
});

test("keys by place have names for people and for the editor", () => {
  expect(keyLabel("Control+Alt+Minus")).toBe("Ctrl Alt −");
  expect(editorKey("Control+Alt+Minus")).toBe("Ctrl-Alt--");
  expect(editorKey("$mod+Shift+p")).toBe("Mod-Shift-p");
});
