// Completion with the kernel's names; notes.ts shows documentation. A kernel may answer late, or not while it is busy. The
// editor's own suggestions wait only briefly for it, and late answers are dropped silently.
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  closeCompletion,
  completionStatus,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import type { EditorView, KeyBinding } from "@codemirror/view";
import type { CompletionMatch } from "../protocol/messages.ts";
import { type Ask, asking, hasKernel, textBefore } from "./kernel.ts";
import { ask as openList, listKeys, suggestions, takeOrMark } from "./list.ts";
import { closeNote, inspectAtCaret, notes } from "./notes.ts";

/** Time after which the editor's own suggestions are shown without the kernel's. */
const PATIENCE_MS = 500;

/** Extension for code cells: names of the kernel and the language, and the kernel's documentation. */
export function kernelCompletion(ask: Ask): Extension {
  return [asking.of(ask), suggestions([completionSource(ask)]), notes()];
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
