// Signatures and descriptions, as the kernel knows them: at the caret, at an open bracket, and under the pointer.
import { completionStatus } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { type EditorState, type Extension, StateEffect, StateField, type Text, type Transaction } from "@codemirror/state";
import { EditorView, type Tooltip, type ViewUpdate, hoverTooltip, showTooltip } from "@codemirror/view";
import { parts } from "../outputs/text.ts";
import type { KernelAnswer } from "../protocol/messages.ts";
import { asking, hasKernel, textBefore } from "./kernel.ts";

interface Note {
  kind: "signature" | "description" | "refusal";
  /** Where it points at; of a signature: behind the open bracket. */
  at: number;
  text: string;
  /** The same as long as the text is: what is drawn anew is read aloud anew. */
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

/** A signature stays while its arguments are written; everything else goes with the next key. */
function follow(shown: Note, transaction: Transaction): Note | undefined {
  if (shown.kind !== "signature") return transaction.docChanged || transaction.selection ? undefined : shown;
  const at = transaction.changes.mapPos(shown.at, -1);
  if (!isInside(transaction.state, at)) return undefined;
  return at === shown.at ? shown : { ...shown, at };
}

/** The longest call whose end is looked for. */
const MOST_UNITS = 2_000;

/** Whether the caret is still between this open bracket and its end. */
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
  // Somebody has gone on meanwhile.
  const isSame = view.dom.isConnected && view.state.doc.eq(doc) && view.state.selection.main.head === head;
  return isSame ? (answer ?? { refused: { code: "unavailable", message: "The kernel can’t be asked right now." } }) : undefined;
}

/** Pressed again, it shows more. */
export function inspectAtCaret(view: EditorView): void {
  void inspect(view, view.state.field(note, false)?.kind === "description" ? 1 : 0);
}

/** Shows what stands at the caret, or why that cannot be told. */
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

/** Somebody has opened the bracket of a call. What cannot be told is not. */
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

/** The signature in a description of IPython's, with the first line of its documentation; else the first lines. */
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

/** The pointer rests so long on a name before the kernel is asked. */
const HOVER_MS = 500;

export interface Name {
  from: number;
  to: number;
}

/** The name that stands there, as the kernel may know it: no keyword, no text, no comment. */
export function nameAt(state: EditorState, at: number, side: -1 | 1): Name | undefined {
  const { name, from, to } = syntaxTree(state).resolveInner(at, side);
  return name === "VariableName" || name === "PropertyName" ? { from, to } : undefined;
}

/** What the pointer rests on. What cannot be told is not, and whoever writes is not disturbed. */
function underPointer(): (view: EditorView, at: number, side: -1 | 1) => Promise<Tooltip | null> {
  let last: { doc: Text; to: number; answer: Promise<KernelAnswer | undefined> } | undefined;
  return async ({ state }, at, side) => {
    const name = nameAt(state, at, side);
    const ask = state.facet(asking)[0];
    if (!name || !ask || completionStatus(state) !== null || state.field(note, false)) return null;
    // The editor asks again at each change elsewhere: a caret that moves, another's colours.
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

/** Text alone: what the kernel says is nobody's HTML. */
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

/** Of code cells. */
export const notes = (): Extension => [
  note,
  hoverTooltip(underPointer(), { hoverTime: HOVER_MS, hideOnChange: true }),
  EditorView.updateListener.of(signatureAtBracket),
  EditorView.domEventHandlers({ blur: (_, view) => void closeNote(view) }),
  noteTheme,
];
