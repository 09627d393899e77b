// KaTeX's settings, and the macros that MathJax has and KaTeX lacks. Loaded with the first formula.
import katex, { type KatexOptions } from "katex";
import { type FormulaPlace, isBlock, numbered } from "./equations.ts";

interface Token {
  text: string;
}

/** The part of KaTeX's macro expander that macros may use. */
interface Expander {
  consumeArg(): { tokens: Token[] };
  consumeSpaces(): void;
  future(): Token;
  popToken(): Token;
  pushTokens(tokens: Token[]): void;
  isDefined(name: string): boolean;
  macros: { set(name: string, value: Macro, isGlobal?: boolean): void };
}

type Expansion = { tokens: Token[]; numArgs: number };
type Macro = string | Expansion | ((expander: Expander) => string | Expansion);
type Macros = Record<string, Macro>;

/** Tokens of `[…]` in reverse order, as KaTeX keeps them; undefined if no option follows. */
function option(expander: Expander): Token[] | undefined {
  expander.consumeSpaces();
  if (expander.future().text !== "[") return undefined;
  expander.popToken();
  const tokens: Token[] = [];
  for (let depth = 0; expander.future().text !== "EOF";) {
    const token = expander.popToken();
    if (token.text === "]" && depth === 0) break;
    depth += token.text === "{" ? 1 : token.text === "}" ? -1 : 0;
    tokens.unshift(token);
  }
  return tokens;
}

/**
 * `\newcommand` as MathJax has it: in a notebook a cell is set again and again, so a name may be defined again. A first argument
 * may have a default.
 */
function newCommand(isKept: boolean): Macro {
  return (expander) => {
    if (expander.future().text === "*") expander.popToken();
    const [name, ...others] = expander.consumeArg().tokens;
    if (!name || others.length > 0) throw new katex.ParseError("\\newcommand needs the name of a command");
    const count = option(expander);
    const numArgs = Number(count?.map(({ text }) => text).join("") ?? 0);
    if (!(numArgs >= 0 && numArgs <= 9)) throw new katex.ParseError("\\newcommand takes up to 9 arguments");
    const first = count && option(expander);
    const { tokens } = expander.consumeArg();
    const body = { tokens, numArgs };
    if (isKept && expander.isDefined(name.text)) return "";
    expander.macros.set(name.text, first ? withDefault(body, first) : body, true);
    return "";
  };
}

function withDefault(body: Expansion, first: Token[]): Macro {
  return (expander) => {
    const given = option(expander) ?? first;
    // Tokens are pushed last to first: the argument becomes a group.
    expander.pushTokens([{ text: "}" }, ...given, { text: "{" }]);
    return body;
  };
}

const MACROS: Macros = {
  "\\newcommand": newCommand(false),
  "\\renewcommand": newCommand(false),
  "\\providecommand": newCommand(true),
  "\\DeclareMathOperator": "\\@ifstar\\nb@limits\\nb@operator",
  "\\nb@operator": "\\gdef#1{\\operatorname{#2}}",
  "\\nb@limits": "\\gdef#1{\\operatorname*{#2}}",
  "\\require": { tokens: [], numArgs: 1 },
};

function options(macros: Macros, displayMode: boolean): KatexOptions {
  return {
    displayMode,
    macros: macros as NonNullable<KatexOptions["macros"]>,
    globalGroup: true,
    throwOnError: false,
    strict: "ignore",
    maxSize: 50,
    maxExpand: 2_000,
    trust: ({ command, url }: { command: string; url?: string }) => command === "\\href" && url?.startsWith("#") === true,
  };
}

const known = new WeakMap<readonly string[], Macros>();

/** A copy of the macros that the formulas above define. */
function macrosOf(definitions: readonly string[]): Macros {
  const before = known.get(definitions);
  if (before) return { ...before };
  const macros = { ...MACROS };
  for (const each of definitions) katex.renderToString(each, options(macros, false));
  known.set(definitions, macros);
  return { ...macros };
}

export interface Setting {
  tex: string;
  labels: string[];
  options: KatexOptions;
}

/** Prepares the formulas of a text in their order. They share macros and numbers. */
export function settingsOf(formulas: readonly { tex: string; isDisplay: boolean }[], place: FormulaPlace): Setting[] {
  const macros = macrosOf(place.definitions);
  const references = new Map(place.references);
  let number = place.number;
  for (const { tex } of formulas) {
    const { next, labels } = numbered(tex, number, references);
    number = next;
    for (const [label, shown] of labels) references.set(label, shown);
  }
  number = place.number;
  return formulas.map(({ tex, isDisplay }) => {
    const done = numbered(tex, number, references);
    number = done.next;
    return { tex: done.tex, labels: [...done.labels.keys()], options: options(macros, isDisplay || isBlock(tex)) };
  });
}

/** True for formulas of chemistry, whose commands load on demand. */
export const needsChemistry = (formulas: readonly string[]) => formulas.some((tex) => /\\(?:ce|pu)(?![a-zA-Z])/.test(tex));
