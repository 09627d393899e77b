// Keyboard shortcuts of command mode and of the whole page, and the clipboard of cells.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { createKeybindingsHandler } from "tinykeys";
import type { Press } from "../../app/state/ahead.ts";
import { CELLS_MIME, kept, pasted, toNbformat } from "../../app/cells/clipboard.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { keysOf, latinKey, onKeysChanged, ownKeys } from "../../commands/keys.ts";
import { actions, isAllowed, refuse } from "../../commands/table.ts";
import { isInEditor, pastedFiles } from "../cell/fileDrop.ts";

/** Actions whose shortcuts also work in input fields. */
const OVERALL: ReadonlySet<string> = new Set(["assistant", "find", "palette"]);
const OVER = "[role=dialog], [role=menu]";
/** Input fields outside dialogs. Cell editors are absent: they bind these keys themselves. */
const FIELDS = "input, textarea, select, .composer, .find, .comment-field";
const ELSEWHERE = `input, textarea, select, [contenteditable=true], ${OVER}`;

export function useKeys(store: NotebookStore): void {
  const own = useSyncExternalStore(onKeysChanged, ownKeys);
  const handler = useMemo(() => createKeybindingsHandler(bindings(store)), [store, own]);
  const overall = useMemo(() => createKeybindingsHandler(bindings(store, OVERALL)), [store, own]);
  useEffect(() => {
    store.focus.home = () => {
      const { current, isEditing } = store;
      if (current === undefined) return undefined;
      const editor = isEditing ? document.querySelector<HTMLElement>(".editing .cm-content") : undefined;
      return editor ?? document.getElementById(`cell-${current}`);
    };
    return store.focus.listen();
  }, [store]);
  useEffect(() => {
    store.ahead.play = (press) => {
      if (store.isEditing && !isChord(press)) writeAhead(store, press);
      else handler(asMeant(press));
    };
    const hear = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const isButton = target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ");
      if (target.closest(FIELDS) && !target.closest(OVER) && isChord(event)) return overall(event);
      if (target.closest(ELSEWHERE) || isButton || event.defaultPrevented || event.isComposing) return;
      if (store.past !== undefined && event.key === "Escape") return store.look(undefined);
      if (store.view !== undefined && event.key === "Escape" && !store.isEditing) return store.turnTo(undefined);
      // Escape takes back runs that wait for the connection.
      if (event.key === "Escape" && !store.isEditing && store.runs.takeBack(store.selected)) return;
      // An earlier version is shown: single keys would edit the hidden current one.
      if (store.past !== undefined && !event.ctrlKey && !event.metaKey) return;
      if (isSelectAll(event) && selectOutput(target)) return event.preventDefault();
      if (isForLater(store, event)) return event.preventDefault();
      const meant = asMeant(event);
      handler(meant);
      if (meant.defaultPrevented) event.preventDefault();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, [store, handler, overall]);
  useEffect(() => {
    const isOurs = (event: Event) => !(event.target as HTMLElement).closest?.(ELSEWHERE);
    const copy = (event: ClipboardEvent) => {
      // Selected text uses the browser's own copy.
      if (!isOurs(event) || getSelection()?.isCollapsed === false || store.selected.length === 0) return;
      const isCut = event.type === "cut" && store.mayEdit;
      if (event.type === "cut" && !isCut) store.together.refuse("edit");
      store.edits.copy();
      if (isCut) store.edits.delete(store.selected);
      event.clipboardData?.setData(CELLS_MIME, toNbformat(kept()));
      event.clipboardData?.setData(
        "text/plain",
        kept()
          .map(({ source }) => source)
          .join("\n\n"),
      );
      event.preventDefault();
    };
    const paste = (event: ClipboardEvent) => {
      if (!isOurs(event)) return;
      if (!store.mayEdit) return store.together.refuse("edit");
      event.preventDefault();
      store.edits.paste(pasted(event.clipboardData));
    };
    // Capture phase: an editor would otherwise consume the paste without using the file.
    const bring = (event: ClipboardEvent) => void ((isOurs(event) || isInEditor(event)) && pastedFiles(store, event));
    document.addEventListener("paste", bring, true);
    const listeners = { copy, cut: copy, paste };
    for (const [type, listener] of Object.entries(listeners)) document.addEventListener(type as "copy", listener);
    return () => {
      document.removeEventListener("paste", bring, true);
      for (const [type, listener] of Object.entries(listeners)) document.removeEventListener(type as "copy", listener);
    };
  }, [store]);
}

function bindings(store: NotebookStore, only?: ReadonlySet<string>): Record<string, (event: KeyboardEvent) => void> {
  const all = actions.flatMap((action) => {
    if (action.inEditor || action.isOfEditor || only?.has(action.id) === false) return [];
    const run = (event: KeyboardEvent) => {
      if (!isAllowed(action, store)) return refuse(action, store);
      if (action.once && event.repeat) return;
      event.preventDefault();
      action.run(store);
    };
    const { keys, editKeys } = keysOf(action);
    return [...keys, ...editKeys].map((press) => [press, run] as const);
  });
  return Object.fromEntries(all);
}

const isChord = ({ ctrlKey, metaKey, altKey }: Press) => ctrlKey || metaKey || altKey;

/** Buffers keys while the target cell or its editor is not mounted, or after the focus has left an open editor. */
function isForLater(store: NotebookStore, press: Press): boolean {
  // Other chords belong to the browser or open something outside the list.
  const isOurs = !isChord(press) || press.key === "Enter" || press.key.startsWith("Arrow");
  if (store.ahead.isWaiting && isOurs) store.ahead.hold(pressOnly(press));
  else if (!store.isEditing || isChord(press)) return false;
  else if (press.key === "Escape" || !document.querySelector(".editing .cm-content")) writeAhead(store, press);
  else return press.key.length === 1 || press.key === "Enter";
  return true;
}

function writeAhead(store: NotebookStore, press: Press): void {
  if (store.current === undefined) return;
  if (press.key === "Escape") store.select(store.current);
  else if (store.mayEdit) store.ahead.write(store.texts, store.current, press);
  else if (press.key.length === 1 || press.key === "Enter") store.together.refuse("edit");
}

const pressOnly = ({ key, code, ctrlKey, metaKey, altKey, shiftKey, repeat }: Press): Press => ({
  ...{ key, code, ctrlKey, metaKey, altKey, shiftKey, repeat },
});

/** Maps keys of non-Latin layouts to the Latin letter of the same key. */
function asMeant(event: Press): KeyboardEvent {
  const key = latinKey(event.key, event.code, event.shiftKey);
  const { code, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
  return new KeyboardEvent("keydown", { key, code, ctrlKey, metaKey, altKey, shiftKey, repeat, cancelable: true });
}

function isSelectAll(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && latinKey(event.key, event.code, false).toLowerCase() === "a";
}

/** Select all inside an output selects only that output. */
function selectOutput(target: HTMLElement): boolean {
  const anchor = getSelection()?.anchorNode;
  const within = target.closest(".outputs") ?? (anchor instanceof Element ? anchor : anchor?.parentElement)?.closest(".outputs");
  if (!within || target.closest(".cm-editor")) return false;
  getSelection()?.selectAllChildren(within);
  return true;
}
