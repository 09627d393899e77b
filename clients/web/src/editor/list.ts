// Completion list: its keys and its look.
import {
  type Completion,
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionStatus,
  currentCompletions,
  moveCompletionSelection,
  selectedCompletion,
  selectedCompletionIndex,
  startCompletion,
} from "@codemirror/autocomplete";
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { EditorView, type KeyBinding, type Rect, ViewPlugin } from "@codemirror/view";

/** Delay after which the list takes keys, because fast typists have not seen it before. */
const SEEN_MS = 75;

/** `asked`: the person opened the list; `chosen`: the person moved to a suggestion. */
type Choice = "none" | "asked" | "chosen";

const setChoice = StateEffect.define<Choice>();

const choice = StateField.define<Choice>({
  create: () => "none",
  update(before, { effects, state, docChanged }) {
    for (const effect of effects) if (effect.is(setChoice)) return effect.value;
    return docChanged || completionStatus(state) === null ? "none" : before;
  },
});

const setSeen = StateEffect.define<null>();

/**
 * True if the list has been open long enough to be seen. Before that no suggestion looks selected, and keys bypass the list.
 */
const seen = StateField.define<boolean>({
  create: () => false,
  update: (before, { effects, state }) => isOpen(state) && (before || effects.some((effect) => effect.is(setSeen))),
});

/** True also while more suggestions are pending. */
const isOpen = (state: EditorState) => currentCompletions(state).length > 0;

const seeing = ViewPlugin.define((view) => {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(waiting);
    waiting = undefined;
  };
  return {
    update({ state }) {
      if (!isOpen(state) || state.field(seen)) return end();
      waiting ??= setTimeout(() => view.dispatch({ effects: setSeen.of(null) }), SEEN_MS);
    },
    destroy: end,
  };
});

/** The partial name before the caret. */
function typedIn(state: EditorState): string {
  const { head } = state.selection.main;
  return /[\p{L}\p{N}_]*$/u.exec(state.sliceDoc(state.doc.lineAt(head).from, head))?.[0] ?? "";
}

/** Prefix match; a kernel may return a whole path or attribute. */
export function beginsWith({ label }: Completion, typed: string): boolean {
  const all = label.toLowerCase();
  const names = [all, all.split(/[./]/).at(-1) ?? "", all.replace(/^[^\p{L}\p{N}_]+/u, "")];
  return names.some((name) => name.startsWith(typed.toLowerCase()));
}

/** True if Enter accepts the selected suggestion. A name already typed in full is not completed to a longer one. */
export function isMeant(state: EditorState): boolean {
  const marked = selectedCompletion(state);
  if (!marked || !state.field(seen, false)) return false;
  const chosen = state.field(choice, false) ?? "none";
  const typed = typedIn(state);
  if (chosen === "chosen" || typed === "") return chosen !== "none";
  const isWhole = currentCompletions(state).some(({ label, apply }) => label === typed && apply === undefined);
  return !isWhole && beginsWith(marked, typed);
}

/** True if the list is inside the window. */
function isInSight(view: EditorView): boolean {
  const id = view.contentDOM.getAttribute("aria-controls");
  const box = id ? document.getElementById(id)?.getBoundingClientRect() : undefined;
  return box !== undefined && box.bottom > 0 && box.top < innerHeight;
}

function move(forward: boolean, by?: "page"): KeyBinding["run"] {
  const go = moveCompletionSelection(forward, by);
  return (view) => {
    if (completionStatus(view.state) !== "active" || !view.state.field(seen)) return false;
    // No suggestion looks selected at first, so the first step selects the first one.
    const isFirst = forward && selectedCompletionIndex(view.state) === 0 && !isMeant(view.state);
    if (!isFirst) go(view);
    view.dispatch({ effects: setChoice.of("chosen") });
    return true;
  };
}

function enter(view: EditorView): boolean {
  if (isMeant(view.state) && isInSight(view)) return acceptCompletion(view);
  closeCompletion(view);
  return false;
}

/** Opens the list at the person's request. */
export function ask(view: EditorView): boolean {
  const isOpen = startCompletion(view);
  if (isOpen) view.dispatch({ effects: setChoice.of("asked") });
  return isOpen;
}

/** Accepts the selected suggestion; if none looks selected, selects the first. */
export function takeOrMark(view: EditorView): void {
  if (!view.state.field(seen)) return;
  const marked = selectedCompletion(view.state);
  const isTaken = isMeant(view.state) || (marked && beginsWith(marked, typedIn(view.state)));
  if (isTaken) acceptCompletion(view);
  else view.dispatch({ effects: setChoice.of("chosen") });
}

/** Keys of the completion list; while it is open, they take precedence over other keys. */
export const listKeys: KeyBinding[] = [
  { key: "Ctrl-Space", run: ask },
  { mac: "Alt-`", run: ask },
  { mac: "Alt-i", run: ask },
  { key: "ArrowDown", run: move(true) },
  { key: "ArrowUp", run: move(false) },
  { key: "PageDown", run: move(true, "page") },
  { key: "PageUp", run: move(false, "page") },
  { key: "Enter", run: enter },
];

type Sources = NonNullable<Parameters<typeof autocompletion>[0]>["override"];

export const suggestions = (override: NonNullable<Sources>): Extension => [
  choice,
  seen,
  seeing,
  autocompletion({
    override,
    // `seen` replaces the library's delay, which would lose a choice or a key.
    interactionDelay: 0,
    defaultKeymap: false,
    positionInfo: (_, list, option, info, space) => beside(list, option, info, space),
    tooltipClass: (state) => (isMeant(state) ? "" : state.field(seen) ? "is-unchosen" : "is-unchosen is-unseen"),
  }),
  look,
];

/** Position of a suggestion's description: beside the list, or below or above if there is no room. */
function beside(list: Rect, option: Rect, info: Rect, space: Rect): { style: string; class: string } {
  const [width, height] = [info.right - info.left, info.bottom - info.top];
  const top = Math.max(space.top, Math.min(option.top, space.bottom - height)) - list.top;
  if (width <= space.right - list.right) return { style: `left: 100%; top: ${top}px`, class: "is-beside" };
  if (width <= list.left - space.left) return { style: `right: 100%; top: ${top}px`, class: "is-beside" };
  const side = list.bottom + height <= space.bottom ? "top" : "bottom";
  return { style: `${side}: 100%; left: 0; max-width: ${space.right - list.left}px`, class: "is-beside" };
}

const SHADOW = "var(--shadow)";

const look = EditorView.theme({
  ".cm-tooltip.cm-tooltip-autocomplete": { padding: "4px", boxShadow: SHADOW },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    minWidth: "min(240px, 90vw)",
    maxWidth: "min(560px, 94vw)",
    maxHeight: "min(15em, 40vh)",
    font: "12.5px/1.5 var(--mono)",
    "& > li": { display: "flex", alignItems: "baseline", gap: "8px", padding: "2px 8px", borderRadius: "5px" },
    "& > completion-section": { borderBottom: "1px solid var(--line)", color: "var(--quiet)", opacity: "1" },
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--text)",
    outline: "1px solid var(--accent)",
    outlineOffset: "-1px",
  },
  ".cm-tooltip-autocomplete.is-unchosen ul li[aria-selected]": { backgroundColor: "transparent", outline: "none" },
  ".cm-completionLabel": { overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700", color: "var(--accent)" },
  ".cm-completionDetail": {
    marginLeft: "auto",
    paddingLeft: "12px",
    fontFamily: "var(--font)",
    fontStyle: "normal",
    fontSize: "12px",
    color: "var(--quiet)",
  },
  ".cm-completionIcon": {
    flex: "none",
    width: "16px",
    padding: "0",
    font: "600 10px/15px var(--font)",
    textAlign: "center",
    borderRadius: "4px",
    backgroundColor: "var(--sunken)",
    color: "var(--quiet)",
    opacity: "1",
    "&:after": { content: "'·'" },
  },
  ...letters(),
  ".cm-tooltip.cm-completionInfo": {
    padding: "6px 10px",
    maxHeight: "min(18em, 40vh)",
    overflow: "auto",
    overflowWrap: "anywhere",
    font: "12px/1.5 var(--mono)",
    boxShadow: SHADOW,
  },
});

/** Icon letters for kinds of names. */
function letters() {
  const signs: Record<string, string> = {
    ...{ function: "f", method: "f", class: "C", variable: "v", constant: "c", property: "p", namespace: "m" },
    ...{ keyword: "k", type: "T", text: "t", enum: "E", interface: "I" },
  };
  return Object.fromEntries(
    Object.entries(signs).map(([kind, sign]) => [`.cm-completionIcon-${kind}`, { "&:after": { content: `'${sign}'` } }]),
  );
}
