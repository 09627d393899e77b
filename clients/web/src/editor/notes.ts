// Signatures and documentation from the kernel: at the caret, at an opening bracket, and on hover.
import { completionStatus } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { type EditorState, type Extension, StateEffect, StateField, type Text, type Transaction } from "@codemirror/state";
import { EditorView, type Tooltip, type ViewUpdate, hoverTooltip, showTooltip } from "@codemirror/view";
import { parts } from "../outputs/text.ts";
import type { KernelAnswer } from "../protocol/messages.ts";
import { asking, hasKernel, textBefore } from "./kernel.ts";

interface Note {
  kind: "signature" | "description" | "refusal";
  /** Anchor position; for a signature, the position after the opening bracket. */
  at: number;
  text: string;
  /** Same function while the text is unchanged, because a re-created tooltip is read aloud again. */
  create: Tooltip["create"];
}

const drawn = (note: Omit<Note, "create">): Note => ({ ...note, create: () => ({ dom: noteElement(note.kind, note.text) }) });

const setNote = StateEffect.define<Note | undefined>();

const note = StateField.define<Note | undefined>({
  create: () => undefined,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setNote)) return effect.value;
    return shown && follow(shown, transaction);
  },
  provide: (field) => showTooltip.from(field, (shown) => (shown ? tooltip(shown) : null)),
});

/** Signatures stay while arguments are typed; other notes close on the next change or caret move. */
function follow(shown: Note, transaction: Transaction): Note | undefined {
  if (shown.kind !== "signature") return transaction.docChanged || transaction.selection ? undefined : shown;
  const at = transaction.changes.mapPos(shown.at, -1);
  if (!isInside(transaction.state, at)) return undefined;
  return at === shown.at ? shown : { ...shown, at };
}

/** Limit of the search for the end of a call. */
const MOST_UNITS = 2_000;

/** True if the caret is between this opening bracket and its closing bracket. */
export function isInside(state: EditorState, open: number): boolean {
  const { head } = state.selection.main;
  if (head < open || head - open > MOST_UNITS || state.sliceDoc(open - 1, open) !== "(") return false;
  let depth = 0;
  for (const bracket of state.sliceDoc(open, head).match(/[()[\]{}]/g) ?? []) depth += "([{".includes(bracket) ? 1 : -1;
  return depth >= 0;
}

export function closeNote(view: EditorView): boolean {
  if (!view.state.field(note, false)) return false;
  view.dispatch({ effects: setNote.of(undefined) });
  return true;
}

async function ask(view: EditorView, detail: number): Promise<KernelAnswer | undefined> {
  const { doc, selection } = view.state;
  const { head } = selection.main;
  const answer = await view.state.facet(asking)[0]?.({ inspect: { detail } }, doc.toString(), head);
  // The person has continued typing meanwhile.
  const isSame = view.dom.isConnected && view.state.doc.eq(doc) && view.state.selection.main.head === head;
  return isSame ? (answer ?? { refused: { code: "unavailable", message: "The kernel can’t be asked right now." } }) : undefined;
}

/** Shows documentation at the caret; pressed again, with more detail. */
export function inspectAtCaret(view: EditorView): void {
  void inspect(view, view.state.field(note, false)?.kind === "description" ? 1 : 0);
}

/** Shows documentation at the caret, or the reason why there is none. */
async function inspect(view: EditorView, detail: number): Promise<void> {
  const answer = await ask(view, detail);
  if (!answer) return;
  const at = view.state.selection.main.head;
  const refused = (text: string): Note => drawn({ kind: "refusal", at, text });
  let shown = refused("No documentation found.");
  if ("refused" in answer) shown = refused(sentence(answer.refused.message));
  else if ("inspected" in answer && answer.inspected.found)
    shown = drawn({ kind: "description", at, text: answer.inspected.data?.["text/plain"] ?? "" });
  view.dispatch({ effects: setNote.of(shown) });
}

/** Shows a signature after the opening bracket of a call is typed; fails silently. */
function signatureAtBracket(update: ViewUpdate): void {
  const { view, state } = update;
  const isTyped = update.transactions.some((transaction) => transaction.isUserEvent("input.type"));
  if (!update.docChanged || !isTyped || !hasKernel(state)) return;
  const before = textBefore(state);
  if (!/[\p{L}\p{N}_)\]]\($/u.test(before) || /^\s*(async\s+)?(def|class)\b/.test(before)) return;
  void showSignature(view);
}

async function showSignature(view: EditorView): Promise<void> {
  const answer = await ask(view, 0);
  if (!answer || !("inspected" in answer) || !answer.inspected.found) return;
  const text = signatureOf(answer.inspected.data?.["text/plain"] ?? "");
  if (text) view.dispatch({ effects: setNote.of(drawn({ kind: "signature", at: view.state.selection.main.head, text })) });
}

const ESCAPES = /\u001b\[[\d;]*m/g;

/** Signature in IPython's description with the first line of documentation; else the first lines. */
export function signatureOf(description: string): string | undefined {
  const text = description.replace(ESCAPES, "");
  const section = (name: string) =>
    new RegExp(`^${name}:[ \\t]*\\n?([^]*?)(?=^[A-Z][\\w ]*:|$(?![^]))`, "m").exec(text)?.[1]?.trim();
  const signature = section("(?:Init signature|Call signature|Signature)");
  const documentation = section("(?:Docstring|Init docstring)")?.split("\n")[0];
  if (signature) return documentation ? `${signature}\n${documentation}` : signature;
  return documentation ?? (text.trim().split("\n").slice(0, 3).join("\n") || undefined);
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** Hover time before the kernel is asked. */
const HOVER_MS = 500;

export interface Name {
  from: number;
  to: number;
}

/** The variable or property name at a position; undefined for keywords, strings and comments. */
export function nameAt(state: EditorState, at: number, side: -1 | 1): Name | undefined {
  const { name, from, to } = syntaxTree(state).resolveInner(at, side);
  return name === "VariableName" || name === "PropertyName" ? { from, to } : undefined;
}

/** Documentation on hover. Fails silently, and is off while a list or note is open. */
function underPointer(): (view: EditorView, at: number, side: -1 | 1) => Promise<Tooltip | null> {
  let last: { doc: Text; to: number; answer: Promise<KernelAnswer | undefined> } | undefined;
  return async ({ state }, at, side) => {
    const name = nameAt(state, at, side);
    const ask = state.facet(asking)[0];
    if (!name || !ask || completionStatus(state) !== null || state.field(note, false)) return null;
    // The editor repeats the hover at each update, such as a caret move or others' colours, so the pending answer is shared.
    if (!last || last.to !== name.to || !last.doc.eq(state.doc))
      last = { doc: state.doc, to: name.to, answer: ask({ inspect: { detail: 0 } }, state.doc.toString(), name.to) };
    const asked = last;
    const answer = await asked.answer;
    if (last === asked) last = undefined;
    if (!answer || !("inspected" in answer) || !answer.inspected.found) return null;
    const text = answer.inspected.data?.["text/plain"];
    return text ? { pos: name.from, end: name.to, above: true, create: () => ({ dom: noteElement("description", text) }) } : null;
  };
}

const tooltip = ({ at, create }: Note): Tooltip => ({ pos: at, above: true, create });

/** Element with plain text: the kernel's output is never inserted as HTML. */
function noteElement(kind: Note["kind"], text: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = `cm-kernel-note cm-kernel-${kind}`;
  dom.setAttribute("role", "status");
  for (const part of parts(text.trim())) {
    const span = document.createElement("span");
    span.className = part.className;
    span.textContent = part.text;
    dom.append(span);
  }
  return dom;
}

const noteTheme = EditorView.baseTheme({
  ".cm-kernel-note": {
    maxWidth: "min(80ch, 90vw)",
    maxHeight: "min(18em, 40vh)",
    overflow: "auto",
    padding: "6px 10px",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
    boxShadow: "var(--shadow)",
    fontFamily: "var(--mono)",
    fontSize: "12px",
    lineHeight: "1.5",
  },
  ".cm-kernel-refusal": { fontFamily: "inherit", color: "var(--quiet)" },
});

/** Extension for code cells. */
export const notes = (): Extension => [
  note,
  hoverTooltip(underPointer(), { hoverTime: HOVER_MS, hideOnChange: true }),
  EditorView.updateListener.of(signatureAtBracket),
  EditorView.domEventHandlers({ blur: (_, view) => void closeNote(view) }),
  noteTheme,
];
