// What the kernel knows about the code in an editor: names that could stand there. What it knows of a name is in notes.ts.
//
// A kernel answers late, or not at all while it runs something. So what the editor knows by itself never waits long for it,
// and what comes too late is dropped without a word.
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

/** What the editor knows by itself is shown without the kernel's names after so long. */
const PATIENCE_MS = 500;

/** Of code cells: the kernel's names beside those of the language, and what it knows of them. */
export function kernelCompletion(ask: Ask): Extension {
  return [asking.of(ask), suggestions([completionSource(ask)]), notes()];
}

/** Keys of what is open beside the caret. Escape closes it, and else is for others. */
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

/** What the table of actions has for the editor. False: the key is for others (Tab indents). */
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
