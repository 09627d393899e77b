// Completion with the kernel's names; notes.ts shows documentation. A kernel may answer late, or not while it is busy. The
// names of the notebook's cells and of the language wait only briefly for it. A late answer joins the list if the text goes on
// as it was asked about, and is dropped otherwise.
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  closeCompletion,
  completionStatus,
  startCompletion,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import type { EditorView, KeyBinding } from "@codemirror/view";
import type { CompletionMatch, KernelAnswer } from "../protocol/messages.ts";
import { type Ask, asking, hasKernel, textBefore } from "./kernel.ts";
import { ask as openList, listKeys, suggestions, takeOrMark } from "./list.ts";
import { closeNote, inspectAtCaret, notes } from "./notes.ts";

/** Time after which the editor's own suggestions are shown without the kernel's. */
const PATIENCE_MS = 500;

/** Extension for code cells: names of the kernel and the language, and the kernel's documentation. */
export function kernelCompletion(ask: Ask, others: () => readonly string[]): Extension {
  return [asking.of(ask), suggestions([completionSource(ask, others)]), notes()];
}

/** Keys of lists and notes at the caret. Escape closes them, and otherwise is passed on. */
export const openKeys: KeyBinding[] = [
  ...listKeys,
  {
    key: "Escape",
    run: (view) => {
      const hadNote = closeNote(view);
      const hadList = completionStatus(view.state) === "active";
      return (closeCompletion(view) && hadList) || hadNote;
    },
  },
];

/** Editor commands of the action table. False passes the key on, for example Tab to indent. */
export const commands: Record<"complete" | "inspect", (view: EditorView) => boolean> = {
  complete(view) {
    if (completionStatus(view.state) === "active") return (takeOrMark(view), true);
    if (!hasKernel(view.state) || !/[^\s,;(]$/.test(textBefore(view.state))) return false;
    return openList(view);
  },
  inspect(view) {
    if (!hasKernel(view.state) || !/\S$/.test(textBefore(view.state))) return false;
    inspectAtCaret(view);
    return true;
  },
};

// Completion

/** An answer that came after the list, with the text and the caret of its question. */
interface Late {
  asked: string;
  pos: number;
  names: Names;
}

const late = new WeakMap<EditorView, Late>();

/** `others` lists the names that the notebook's other cells define. */
export function completionSource(ask: Ask, others: () => readonly string[] = () => [], patience = PATIENCE_MS): CompletionSource {
  return async (context) => {
    if (!isWanted(context)) return null;
    const known = context.view && joining(context.view, context);
    const own = withOthers(await ownNames(context), others(), context);
    if (known) return together(known, own);
    const fromKernel = ask({ complete: {} }, context.state.doc.toString(), context.pos);
    const answer = await (own ? soon(fromKernel, patience) : fromKernel);
    if (own && answer === undefined) void follow(context, ask, fromKernel);
    const kernel = answer && "completed" in answer ? fromAnswer(answer.completed, context) : null;
    return together(kernel, own);
  };
}

/** Questions to a kernel that stays busy, while the list is open: the server lets each wait for some seconds. */
const MOST_QUESTIONS = 100;
/** A refusal that comes sooner is not one of a question that waited. */
const WAITED_MS = 1_000;
/** Refusals after which the kernel may still answer. Its first completion loads a library, which can take longer than the wait. */
const LATE: ReadonlySet<string> = new Set(["kernel_busy", "timeout"]);

async function follow(context: CompletionContext, ask: Ask, first: Promise<KernelAnswer | undefined>): Promise<void> {
  const isOpen = () => context.view !== undefined && completionStatus(context.view.state) !== null;
  let [question, askedAt] = [first, performance.now() - PATIENCE_MS];
  for (let count = 1; count <= MOST_QUESTIONS; count += 1) {
    const answer = await question;
    const isBusy = answer !== undefined && "refused" in answer && LATE.has(answer.refused.code);
    if (!isBusy || performance.now() - askedAt < WAITED_MS || !isOpen()) return join(context, answer);
    askedAt = performance.now();
    question = ask({ complete: {} }, context.state.doc.toString(), context.pos);
  }
}

/** Adds a late answer to the list, unless the person has closed it or the text is another one. */
function join(context: CompletionContext, answer: KernelAnswer | undefined): void {
  const { view, pos, state } = context;
  const names = answer && "completed" in answer ? fromAnswer(answer.completed, context) : null;
  if (!view || !names || completionStatus(view.state) === null) return;
  late.set(view, { asked: state.doc.toString(), pos, names });
  if (joining(view, { state: view.state, pos: view.state.selection.main.head })) startCompletion(view);
  else late.delete(view);
}

/** The late answer, if the text is the one asked about, or goes on with more letters of the name. */
function joining(view: EditorView, { state, pos }: Pick<CompletionContext, "state" | "pos">): Names | undefined {
  const answer = late.get(view);
  if (!answer || pos < answer.pos) return undefined;
  const text = state.doc.toString();
  const { asked, names } = answer;
  const more = text.slice(answer.pos, pos);
  const isSame = text === asked.slice(0, answer.pos) + more + asked.slice(answer.pos);
  if (!isSame || !/^[\p{L}\p{N}_]*$/u.test(more)) return undefined;
  // A cut answer lists only names of the shorter text.
  if (more !== "" && !names.isWhole) return undefined;
  return { ...names, ...(names.to !== undefined && { to: names.to + more.length }) };
}

/** Adds the notebook's names where a name begins: not behind a dot. */
function withOthers(own: Names | null, others: readonly string[], context: CompletionContext): Names | null {
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*$/u);
  const isMember = word !== null && /\.\s*$/.test(context.state.sliceDoc(Math.max(0, word.from - 20), word.from));
  if (!word || isMember || (own && own.from !== word.from)) return own;
  const known = new Set(own?.options.map(({ label }) => label));
  const more = others.filter((name) => !known.has(name)).map((label): Completion => ({ label, type: "variable" }));
  if (!own && more.length === 0) return null;
  return { from: word.from, options: [...(own?.options ?? []), ...more], isWhole: true };
}

/** True if completion is useful: automatically only after part of a name, never in comments. */
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

/** Names known without a kernel: names of this cell, keywords, builtins. */
async function ownNames(context: CompletionContext): Promise<Names | null> {
  const sources = context.state.languageDataAt<CompletionSource>("autocomplete", context.pos);
  const results = await Promise.all(sources.map((source) => source(context)));
  const found = results.filter((result): result is CompletionResult => result !== null);
  const [first] = found;
  if (!first) return null;
  const options = found.filter(({ from }) => from === first.from).flatMap((result) => result.options);
  return { from: first.from, options, isWhole: true };
}

/** Editor icons for Jupyter's kinds of names. */
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

/** Merges suggestions. The kernel's win, except where the language would insert more than the name. */
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
