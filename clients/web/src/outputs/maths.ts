// Formulas in Markdown. They are taken out before the text is parsed, as Jupyter does: a formula may have line breaks, pipes and
// signs of Markdown. Afterwards each placeholder becomes an element for KaTeX; in code and in addresses the text is put back.

export interface Formula {
  /** The text as written, with its delimiters. */
  raw: string;
  tex: string;
  isDisplay: boolean;
}

export interface TakenOut {
  /** Markdown with placeholders. */
  text: string;
  formulas: Formula[];
}

/**
 * Characters that Unicode keeps out of texts. The dollars around them are signs of punctuation to Markdown, as those of the
 * formula were.
 */
const OPEN = "\u{fdd0}";
const CLOSE = "\u{fdd1}";
const placeholder = (index: number) => `$${OPEN}${index}${CLOSE}$`;
/** A placeholder, also as an address encodes it. */
const PLACEHOLDERS = /\$(?:\u{fdd0}|%EF%B7%90)(\d+)(?:\u{fdd1}|%EF%B7%91)\$/gu;

/** A line that opens a block of code, also in a quote or a list. */
const FENCE = /(?:[ \t>]|[-*+] |\d+[.)] )*(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})[^\n]*(?:\n|$)/y;
/** Parts that are not looked into: tags, comments and addresses. */
const TAG = /<\/?[a-z][\w-]*(?:\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*\/?>/iy;
const COMMENT = /<!--[^]*?-->/y;
const ADDRESS = /<[a-z][a-z\d+.-]*:[^\s<>]*>|\bhttps?:\/\/[^\s<>)]*/iy;
const NEXT = /[\\$`<\n]|\bhttps?:/g;
const ENVIRONMENT = /\\begin\{(\w+\*?)\}/y;
const REFERENCE = /\\(?:eqref|ref)\{[^{}\n]*\}/y;
/** An empty line, or a block of code: ends what is in a paragraph. */
const BREAK = /\n[ \t>]*(?:\n|`{3}|~{3})/g;

export function takeFormulas(markdown: string): TakenOut {
  const source = markdown.replace(/[\u{fdd0}\u{fdd1}]/gu, "");
  const formulas: Formula[] = [];
  let text = "";
  let at = 0;
  const copy = (end: number) => {
    text += source.slice(at, end);
    at = end;
  };
  const fenced = fencedEnd(source, 0);
  if (fenced !== undefined) copy(fenced);
  while (at < source.length) {
    NEXT.lastIndex = at;
    const next = NEXT.exec(source)?.index ?? source.length;
    copy(next);
    if (next >= source.length) break;
    const end = verbatimEnd(source, at);
    const found = end === undefined ? formulaAt(source, at) : undefined;
    if (found) {
      text += placeholder(formulas.push(found) - 1);
      at += found.raw.length;
    } else copy(end ?? at + (source[at] === "\\" ? 2 : 1));
  }
  return { text, formulas };
}

/** End of the code, tag, comment or address that begins here. */
function verbatimEnd(source: string, at: number): number | undefined {
  const sign = source[at];
  if (sign === "\n") return fencedEnd(source, at + 1);
  if (sign === "`") return codeEnd(source, at);
  if (sign === "<" && source.startsWith("<!--", at)) return isAhead(source, at, "-->") ? endOf(COMMENT, source, at) : undefined;
  if (sign === "<") return endOf(TAG, source, at) ?? endOf(ADDRESS, source, at);
  return sign === "h" ? endOf(ADDRESS, source, at) : undefined;
}

function endOf(rule: RegExp, source: string, at: number): number | undefined {
  rule.lastIndex = at;
  return rule.test(source) ? rule.lastIndex : undefined;
}

function fencedEnd(source: string, at: number): number | undefined {
  FENCE.lastIndex = at;
  const fence = FENCE.exec(source)?.[1];
  if (fence === undefined) return undefined;
  const closing = new RegExp(`^[ \\t>]*${fence[0]}{${fence.length},}[ \\t]*$`, "gm");
  closing.lastIndex = FENCE.lastIndex;
  return closing.test(source) ? closing.lastIndex : source.length;
}

/** Code in a paragraph; a run of backticks that nothing closes is text. */
function codeEnd(source: string, at: number): number {
  const run = /`+/y;
  run.lastIndex = at;
  const marks = run.exec(source)?.[0] ?? "`";
  const from = at + marks.length;
  const found = new RegExp(`(?<!\`)${marks}(?!\`)`).exec(source.slice(from, paragraphEnd(source, at)));
  return found ? from + found.index + marks.length : from;
}

/** Longer formulas are text: looking for the end of each sign in a hostile text would take minutes. */
const MOST_UNITS = 20_000;
const MOST_LEVELS = 50;
const MOST_INDENT = 200;

/** The paragraph that was looked at last, because all its signs ask for its end. */
let paragraph = { source: "", from: 0, end: 0 };

function paragraphEnd(source: string, at: number): number {
  if (paragraph.source !== source || at < paragraph.from || at >= paragraph.end) {
    BREAK.lastIndex = at;
    paragraph = { source, from: at, end: BREAK.exec(source)?.index ?? source.length };
  }
  return Math.min(paragraph.end, at + MOST_UNITS);
}

const lasts = { source: "", places: new Map<string, number>() };

/** True if a sign follows. */
function isAhead(source: string, at: number, sign: string): boolean {
  if (lasts.source !== source) Object.assign(lasts, { source, places: new Map() });
  const last = lasts.places.get(sign) ?? source.lastIndexOf(sign);
  lasts.places.set(sign, last);
  return last > at;
}

function formulaAt(source: string, at: number): Formula | undefined {
  if (source[at] === "$") return source[at + 1] === "$" ? inDollars(source, at) : inDollar(source, at);
  if (source[at] !== "\\") return undefined;
  return bracketed(source, at) ?? environment(source, at) ?? reference(source, at);
}

function formula(source: string, at: number, end: number, delimiter: number, isDisplay: boolean): Formula {
  const raw = source.slice(at, end);
  const inside = withoutQuoteMarks(source, at, raw).slice(delimiter, delimiter === 0 ? undefined : -delimiter);
  // A blank after a backslash is a command.
  return { raw, tex: inside.trimStart().replace(/(?<!\\)\s+$/, ""), isDisplay };
}

/** Removes the `>` at the beginning of each line of a formula in a quote. */
function withoutQuoteMarks(source: string, at: number, raw: string): string {
  return /^\s*>/.test(lineBefore(source, at)) ? raw.replace(/\n[ \t]*(?:>[ \t]?)+/g, "\n") : raw;
}

/** `$$…$$`. One at the beginning of a line may have empty lines. */
function inDollars(source: string, at: number): Formula | undefined {
  const end = closing(source, at + 2, /\\[^]|\$\$/g, isFirst(source, at));
  return end === undefined || end === at + 4 ? undefined : formula(source, at, end, 2, true);
}

/** Index after the closing sign. Escaped characters are skipped. */
function closing(source: string, from: number, signs: RegExp, mayBreak: boolean): number | undefined {
  const limit = mayBreak ? from + MOST_UNITS : paragraphEnd(source, from);
  signs.lastIndex = from;
  for (let found = signs.exec(source); found && found.index < limit; found = signs.exec(source))
    if (found[0] === "$$") return mayBreak && hasFence(source, from, found.index) ? undefined : signs.lastIndex;
  return undefined;
}

const hasFence = (source: string, from: number, to: number) => /\n[ \t>]*(?:`{3}|~{3})/.test(source.slice(from, to));

const isFirst = (source: string, at: number) => /^(?:[ \t>]|[-*+] |\d+[.)] )*$/.test(lineBefore(source, at));

/** The line up to here; of a long line only its end, which no mark of a list or quote begins. */
function lineBefore(source: string, at: number): string {
  const near = source.slice(Math.max(0, at - MOST_INDENT), at);
  return near.slice(near.lastIndexOf("\n") + 1);
}

const isLast = (source: string, end: number) => /^[ \t.,;:]*(?:\n|$)/.test(source.slice(end, end + 80));

/**
 * `$…$` up to the next dollar outside of braces. Pandoc's rule, by which `$5 and $6` are prices; with blanks at its ends or on
 * several lines the text must look like a formula.
 */
function inDollar(source: string, at: number): Formula | undefined {
  const end = dollarEnd(source, at + 1);
  if (end === undefined) return undefined;
  const content = source.slice(at + 1, end - 1);
  if (content.trim() === "" || /\d/.test(source[end] ?? "")) return undefined;
  const isPlain = content === content.trim() && !content.includes("\n");
  if (!isPlain && !looksLikeFormula(content, source.slice(end, end + 20))) return undefined;
  return formula(source, at, end, 1, false);
}

function dollarEnd(source: string, from: number): number | undefined {
  const limit = paragraphEnd(source, from);
  const signs = /\\[^]|[{}$]/g;
  signs.lastIndex = from;
  let depth = 0;
  let inner: number | undefined;
  let seen = 0;
  for (let found = signs.exec(source); found && found.index < limit; found = signs.exec(source)) {
    if (found[0] === "{") depth += 1;
    else if (found[0] === "}") depth -= 1;
    else if (found[0] === "$" && depth <= 0) return signs.lastIndex;
    else if (found[0] === "$") inner ??= signs.lastIndex;
    if (found[0] === "$" && ++seen > MOST_LEVELS) break;
  }
  return inner;
}

function looksLikeFormula(content: string, after: string): boolean {
  if (/\\[a-z]|[\^_]/i.test(content)) return true;
  if (/\p{L}{4,}/u.test(content)) return false;
  if (/[={}]/.test(content)) return true;
  const isAmount = /^\s*[\d.,]/.test(content) && /^\s*\d/.test(after);
  return !/\p{L}{2,}/u.test(content) && !isAmount;
}

/** `\(…\)` and `\[…\]`, also with Jupyter's two backslashes. One backslash escapes a bracket, so `\[` needs lines of its own. */
function bracketed(source: string, at: number): Formula | undefined {
  const open = /\\\\?[([]/y;
  open.lastIndex = at;
  const sign = open.exec(source)?.[0];
  if (sign === undefined) return undefined;
  const isDisplay = sign.endsWith("[");
  const close = sign.replace(/[([]/, isDisplay ? "]" : ")");
  const mayBreak = isDisplay && isFirst(source, at);
  if (!isAhead(source, at, close)) return undefined;
  const limit = mayBreak ? at + MOST_UNITS : paragraphEnd(source, at);
  const found = source.slice(at, limit).indexOf(close, sign.length) + at;
  const end = found + close.length;
  if (found <= at + sign.length) return undefined;
  if (mayBreak && hasFence(source, at, found)) return undefined;
  if (sign === "\\[" && !(mayBreak && isLast(source, end))) return undefined;
  return formula(source, at, end, sign.length, isDisplay);
}

function environment(source: string, at: number): Formula | undefined {
  ENVIRONMENT.lastIndex = at;
  const name = ENVIRONMENT.exec(source)?.[1];
  if (name === undefined) return undefined;
  const signs = new RegExp(`\\\\(begin|end)\\{${name.replace("*", "\\*")}\\}`, "g");
  const part = source.slice(at, at + MOST_UNITS);
  let depth = 0;
  for (let found = signs.exec(part); found && depth < MOST_LEVELS; found = signs.exec(part)) {
    depth += found[1] === "begin" ? 1 : -1;
    if (depth === 0) return hasFence(part, 0, found.index) ? undefined : formula(source, at, at + signs.lastIndex, 0, true);
  }
  return undefined;
}

/** A reference in the text, as MathJax reads it. */
function reference(source: string, at: number): Formula | undefined {
  const end = endOf(REFERENCE, source, at);
  return end === undefined ? undefined : formula(source, at, end, 0, false);
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

function element({ tex, isDisplay }: Formula): string {
  return `<span class="math${isDisplay ? " display" : ""}">${escaped(tex)}</span>`;
}

const PIECES = /(<!--[^]*?-->|<(?:"[^"]*"|'[^']*'|[^<>"'])*>)/;

/** HTML with the formulas as elements. */
export function putFormulas(html: string, formulas: readonly Formula[]): string {
  if (formulas.length === 0) return html;
  const each = (text: string, put: (formula: Formula) => string) =>
    text.replace(PLACEHOLDERS, (_, index: string) => {
      const formula = formulas[Number(index)];
      return formula ? put(formula) : "";
    });
  // A displayed formula alone in its paragraph is a block.
  const blocks = html.replace(/<p>(\$\u{fdd0}(\d+)\u{fdd1}\$)<\/p>/gu, (whole, _, index: string) =>
    formulas[Number(index)]?.isDisplay ? `<div class="math display">${escaped(formulas[Number(index)]?.tex ?? "")}</div>` : whole,
  );
  let depth = 0;
  return blocks
    .split(PIECES)
    .map((piece, at) => {
      if (at % 2 === 0) return each(piece, depth > 0 ? ({ raw }) => escaped(raw) : element);
      const [, slash, tag] = /^<(\/?)(code|pre)\b/i.exec(piece) ?? [];
      if (tag) depth = Math.max(0, depth + (slash ? -1 : 1));
      return each(piece, ({ raw }) => escaped(raw));
    })
    .join("");
}

/** Formula of `text/latex` without its delimiters; undefined if it has text around formulas. */
export function bareLatex(latex: string): string | undefined {
  const whole = latex.trim();
  const { text, formulas } = takeFormulas(whole);
  const [only] = formulas;
  if (only && text === placeholder(0)) return only.tex.replace(/^\\displaystyle\s*/, "").trim();
  return only ? undefined : whole.replace(/^\\displaystyle\s*/, "").trim();
}
