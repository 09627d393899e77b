// What the kernel knows about the code in an editor: names that could stand there, signatures, descriptions.
//
// A kernel answers late, or not at all while it runs something. So what the editor knows by itself never waits long for it,
// and what comes too late is dropped without a word.
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionKeymap,
  completionStatus,
  startCompletion,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { type EditorState, type Extension, Facet, StateEffect, StateField, type Transaction } from "@codemirror/state";
import { EditorView, type KeyBinding, type Tooltip, type ViewUpdate, showTooltip } from "@codemirror/view";
import { parts } from "../outputs/text.ts";
import type { CompletionMatch, KernelAnswer, QuestionKind } from "../protocol/messages.ts";

/** Who answers. Nothing: there is nobody. */
export type Ask = (kind: QuestionKind, code: string, cursor: number) => Promise<KernelAnswer | undefined>;

/** What the editor knows by itself is shown without the kernel's names after so long. */
const PATIENCE_MS = 500;

const asking = Facet.define<Ask>();

/** Of code cells: the kernel's names beside those of the language. */
export function kernelCompletion(ask: Ask): Extension {
  return [
    asking.of(ask),
    autocompletion({ override: [completionSource(ask)], defaultKeymap: false }),
    note,
    EditorView.updateListener.of(signatureAtBracket),
    noteTheme,
  ];
}

/** While a list is open its keys come before all others; Escape closes what is open, and else is for others. */
export const listKeys: KeyBinding[] = [
  ...completionKeymap.filter(({ key }) => key !== "Escape"),
  {
    key: "Escape",
    run: (view) => {
      const hadNote = closeNote(view);
      const hadList = completionStatus(view.state) === "active";
      return (closeCompletion(view) && hadList) || hadNote;
    },
  },
];

/** What the table of actions has for the editor. False: the key is for others (Tab indents). */
export const commands: Record<"complete" | "inspect", (view: EditorView) => boolean> = {
  complete(view) {
    if (completionStatus(view.state) === "active") return acceptCompletion(view) || true;
    if (!hasKernel(view.state) || !/[^\s,;(]$/.test(textBefore(view.state))) return false;
    return startCompletion(view);
  },
  inspect(view) {
    if (!hasKernel(view.state) || !/\S$/.test(textBefore(view.state))) return false;
    const shown = view.state.field(note, false);
    // Pressed again, it shows more.
    void inspect(view, shown?.kind === "description" ? 1 : 0);
    return true;
  },
};

const hasKernel = (state: EditorState) => state.facet(asking).length > 0 && state.selection.main.empty && !state.readOnly;

/** Of the line, up to the caret. */
function textBefore(state: EditorState): string {
  const { head } = state.selection.main;
  return state.sliceDoc(state.doc.lineAt(head).from, head);
}

// Completion

export function completionSource(ask: Ask, patience = PATIENCE_MS): CompletionSource {
  return async (context) => {
    if (!isWanted(context)) return null;
    const fromKernel = ask({ complete: {} }, context.state.doc.toString(), context.pos);
    const own = await ownNames(context);
    const answer = await (own ? soon(fromKernel, patience) : fromKernel);
    const kernel = answer && "completed" in answer ? fromAnswer(answer.completed, context) : null;
    return together(kernel, own);
  };
}

/** Unasked only where a name is being written or asked for; never in comments. */
function isWanted(context: CompletionContext): boolean {
  const { name } = syntaxTree(context.state).resolveInner(context.pos, -1);
  if (name === "Comment") return false;
  if (context.explicit) return true;
  if (name === "String" || name === "FormatString") return false;
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const isNumber = /(^|[^\p{L}\p{N}_.])\d[\d_]*\.?\w*$/u.test(before);
  return !isNumber && /([\p{L}\p{N}_)\]}"']\.[\p{L}\p{N}_]*|[\p{L}_][\p{L}\p{N}_]+)$/u.test(before);
}

interface Names {
  from: number;
  to?: number;
  options: Completion[];
  isWhole: boolean;
}

/** What the language knows without a kernel: names of this cell, keywords, builtins. */
async function ownNames(context: CompletionContext): Promise<Names | null> {
  const sources = context.state.languageDataAt<CompletionSource>("autocomplete", context.pos);
  const results = await Promise.all(sources.map((source) => source(context)));
  const found = results.filter((result): result is CompletionResult => result !== null);
  const [first] = found;
  if (!first) return null;
  const options = found.filter(({ from }) => from === first.from).flatMap((result) => result.options);
  return { from: first.from, options, isWhole: true };
}

/** Jupyter's words for what a name is, as the editor has icons for them. */
const ICONS: Record<string, string> = {
  instance: "variable",
  statement: "variable",
  param: "variable",
  module: "namespace",
  path: "text",
  magic: "keyword",
};

function fromAnswer(
  { from, to, matches, is_cut }: { from: number; to: number; matches: CompletionMatch[]; is_cut?: boolean },
  context: CompletionContext,
): Names | null {
  if (from > context.pos || to < context.pos || matches.length === 0) return null;
  const options = matches.map(({ text, type, signature }): Completion => ({
    label: text,
    ...(type && { type: ICONS[type] ?? type, detail: type }),
    ...(signature && { info: text + signature }),
  }));
  return { from, to, options, isWhole: is_cut !== true };
}

/** The kernel's word about a name counts, but for what the language would write more of than the name. */
function together(kernel: Names | null, own: Names | null): CompletionResult | null {
  const names = kernel ?? own;
  if (!names) return null;
  const others = kernel && own && own.from === kernel.from ? own.options : [];
  const writesMore = new Set(others.filter(({ apply }) => apply !== undefined).map(({ label }) => label));
  const known = new Set(names.options.map(({ label }) => label));
  const options = [
    ...names.options.filter(({ label }) => !writesMore.has(label)),
    ...others.filter(({ label }) => writesMore.has(label) || !known.has(label)),
  ];
  return {
    from: names.from,
    ...(names.to !== undefined && { to: names.to }),
    options,
    ...(names.isWhole && { validFor: /^[\p{L}\p{N}_]*$/u }),
  };
}

function soon<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return Promise.race([promise, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms))]);
}

// Signatures and descriptions

interface Note {
  kind: "signature" | "description" | "refusal";
  /** Where it points at; of a signature: behind the open bracket. */
  at: number;
  text: string;
}

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
  return isInside(transaction.state, at) ? { ...shown, at } : undefined;
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

function closeNote(view: EditorView): boolean {
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
  return isSame ? (answer ?? { refused: { code: "unavailable", message: "the kernel cannot be asked here and now" } }) : undefined;
}

/** Shows what stands at the caret, or why that cannot be told. */
async function inspect(view: EditorView, detail: number): Promise<void> {
  const answer = await ask(view, detail);
  if (!answer) return;
  const at = view.state.selection.main.head;
  const refused = (text: string): Note => ({ kind: "refusal", at, text });
  let shown = refused("The kernel knows nothing about this.");
  if ("refused" in answer) shown = refused(sentence(answer.refused.message));
  else if ("inspected" in answer && answer.inspected.found)
    shown = { kind: "description", at, text: answer.inspected.data?.["text/plain"] ?? "" };
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
  if (text) view.dispatch({ effects: setNote.of({ kind: "signature", at: view.state.selection.main.head, text }) });
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

function tooltip(shown: Note): Tooltip {
  const create = () => {
    const dom = document.createElement("div");
    dom.className = `cm-kernel-note cm-kernel-${shown.kind}`;
    dom.setAttribute("role", "status");
    for (const { text, className } of parts(shown.text.trim())) {
      const span = document.createElement("span");
      span.className = className;
      span.textContent = text;
      dom.append(span);
    }
    return { dom };
  };
  return { pos: shown.at, above: true, create };
}

const noteTheme = EditorView.baseTheme({
  ".cm-kernel-note": {
    maxWidth: "min(80ch, 90vw)",
    maxHeight: "min(18em, 40vh)",
    overflow: "auto",
    padding: "6px 10px",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
    fontFamily: "var(--mono)",
    fontSize: "12px",
    lineHeight: "1.5",
  },
  ".cm-kernel-refusal": { fontFamily: "inherit", color: "var(--quiet)" },
});
