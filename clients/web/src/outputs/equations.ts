// Commands of LaTeX that concern other formulas too: definitions of macros, numbers, labels and references. KaTeX knows one formula
// at a time, so numbers are written as tags and references as links.

/** Macros, labels and numbers that the formulas above give to a formula. */
export interface FormulaPlace {
  /** Definitions in LaTeX, in their order. */
  definitions: readonly string[];
  /** Number of the next equation. */
  number: number;
  /** Texts of the equations' numbers, by label. */
  references: ReadonlyMap<string, string>;
}

export const NOWHERE: FormulaPlace = { definitions: [], number: 1, references: new Map() };

const COMMANDS = "newcommand|renewcommand|providecommand|DeclareMathOperator";
const DEFINING = new RegExp(`^\\\\(?:(${COMMANDS})(?![a-zA-Z])\\*?|([gex]?def|let)(?![a-zA-Z]))`);

/** Definitions in a formula, each one with all its arguments. */
export function definitionsIn(tex: string): string[] {
  const found: string[] = [];
  for (let at = tex.indexOf("\\"); at >= 0;) {
    const [whole = "", command, other] = DEFINING.exec(tex.slice(at, at + 30)) ?? [];
    const from = at + whole.length;
    const end = command ? commandEnd(tex, from) : other ? definitionEnd(tex, from, other === "let") : undefined;
    if (end !== undefined) found.push(tex.slice(at, end));
    at = tex.indexOf("\\", end ?? at + 2);
  }
  return found;
}

/** End of `{\name}[2][default]{body}`. */
function commandEnd(tex: string, from: number): number | undefined {
  let at = argumentEnd(tex, from);
  for (let option = 0; option < 2 && at !== undefined; option++) {
    const open = /^\s*\[/.exec(tex.slice(at));
    if (!open) break;
    at = closingEnd(tex, at + open[0].length, "[", "]");
  }
  return at === undefined ? undefined : argumentEnd(tex, at);
}

/** End of `\name#1#2{body}`, or for `\let` of `\name=\other`. */
function definitionEnd(tex: string, from: number, isLet: boolean): number | undefined {
  const name = /^\s*(?:\\[a-zA-Z]+|\\[^]|[^\s\\{}])/.exec(tex.slice(from));
  if (!name) return undefined;
  const at = from + name[0].length;
  if (isLet) {
    const other = /^\s*=?\s*(?:\\[a-zA-Z]+|\\[^]|[^\s\\])/.exec(tex.slice(at));
    return other ? at + other[0].length : undefined;
  }
  const parameters = /^[^{}\\]*/.exec(tex.slice(at))?.[0] ?? "";
  return tex[at + parameters.length] === "{" ? argumentEnd(tex, at + parameters.length) : undefined;
}

/** End of one argument: a group, a command or a character. */
function argumentEnd(tex: string, from: number): number | undefined {
  const start = /^\s*(\\[a-zA-Z]+|\\[^]|[^\s])/.exec(tex.slice(from));
  if (!start) return undefined;
  const at = from + start[0].length;
  return start[1] === "{" ? closingEnd(tex, at, "{", "}") : start[1] === "}" ? undefined : at;
}

function closingEnd(tex: string, from: number, open: string, close: string): number | undefined {
  let depth = 1;
  for (let at = from; at < tex.length; at++) {
    if (tex[at] === "\\") at += 1;
    else if (tex[at] === open) depth += 1;
    else if (tex[at] === close && --depth === 0) return at + 1;
  }
  return undefined;
}

export interface Numbered {
  /** The formula with tags and links. */
  tex: string;
  /** Number of the next equation. */
  next: number;
  labels: Map<string, string>;
}

/** Environments with a number for each line; the values are their names in KaTeX. */
const ENVIRONMENTS: Record<string, string> = {
  ...{ equation: "equation", align: "align", gather: "gather", alignat: "alignat" },
  ...{ multline: "gather", eqnarray: "align", flalign: "align" },
};
const BEGIN = new RegExp(`\\\\begin\\{(${Object.keys(ENVIRONMENTS).join("|")})(\\*?)\\}`, "g");
const LABEL = /\\label\s*\{([^{}]*)\}/g;
const TAG = /\\tag(\*?)\s*\{((?:[^{}\\]|\\[^]|\{[^{}]*\})*)\}/;
const REFERENCE = /\\(eqref|ref)\s*\{([^{}]*)\}/g;

/** True if a formula has parts that KaTeX shows only as a block. */
export const isBlock = (tex: string) => tex.search(BEGIN) >= 0;

/** Numbers a formula's equations as AMS-LaTeX does, beginning with `number`. */
export function numbered(tex: string, number: number, references: ReadonlyMap<string, string>): Numbered {
  const done: Numbered = { tex: "", next: number, labels: new Map() };
  let at = 0;
  BEGIN.lastIndex = 0;
  for (let begin = BEGIN.exec(tex); begin; begin = BEGIN.exec(tex)) {
    const [, name = "", star = ""] = begin;
    const end = tex.indexOf(`\\end{${name}${star}}`, BEGIN.lastIndex);
    if (end < 0) break;
    const katexName = (ENVIRONMENTS[name] ?? name) + star;
    done.tex += labelled(tex.slice(at, begin.index), done.labels) + `\\begin{${katexName}}`;
    const lines = linesOf(tex.slice(BEGIN.lastIndex, end), name === "equation");
    done.tex += numberedLines(lines, name, star === "", done) + `\\end{${katexName}}`;
    at = BEGIN.lastIndex = end + `\\end{${name}${star}}`.length;
  }
  done.tex += labelled(tex.slice(at), done.labels);
  done.tex = readable(linked(done.tex, references));
  return done;
}

interface Line {
  text: string;
  /** `\\` with its options. */
  end: string;
}

/** Lines of an environment; those of environments within are not counted. */
function linesOf(body: string, isOne: boolean): Line[] {
  const lines: Line[] = [];
  let [depth, from] = [0, 0];
  const signs = /\\\\\*?(?:\[[^\]]*\])?|\\(?:begin|end)\{|\\[^]|[{}]|%[^\n]*/g;
  for (const { 0: sign, index } of body.matchAll(signs)) {
    // The name's closing brace follows: an environment's begin adds one level for good, its end takes one away.
    depth += { "{": 1, "}": -1, "\\begin{": 2, "\\end{": 0 }[sign] ?? 0;
    if (sign.startsWith("\\\\") && depth === 0 && !isOne) {
      lines.push({ text: body.slice(from, index), end: sign });
      from = index + sign.length;
    }
  }
  return [...lines, { text: body.slice(from), end: "" }];
}

function numberedLines(lines: Line[], name: string, isNumbered: boolean, done: Numbered): string {
  const last = lines.at(-1);
  const isEmpty = (line: Line) => line === last && lines.length > 1 && line.text.trim() === "";
  const lastFull = lines.findLast((line) => !isEmpty(line));
  return lines
    .map((line) => {
      const labels = [...line.text.matchAll(LABEL)].map(([, label = ""]) => label.trim());
      const text = ofLine(line.text.replace(LABEL, ""), name);
      const tag = TAG.exec(text);
      const hasNumber = isNumbered && !tag && !/\\(?:notag|nonumber)(?![a-zA-Z])/.test(text) && !isEmpty(line);
      const isOther = hasNumber && name === "multline" && line !== lastFull;
      const shown = tag ? (tag[2] ?? "") : hasNumber && !isOther ? String(done.next++) : undefined;
      if (shown !== undefined) for (const label of labels) done.labels.set(label, shown);
      const more = isOther ? "\\notag " : hasNumber ? `\\tag{${shown}}` : "";
      // A comment ends with its line.
      return `${text}${more && text.includes("%") ? "\n" : ""}${more}${line.end}`;
    })
    .join("");
}

/** `a &=& b` of eqnarray is `a &= b` of align. */
function ofLine(text: string, name: string): string {
  if (name !== "eqnarray") return text;
  let count = 0;
  return text.replace(/\\[^]|&/g, (sign) => (sign === "&" && ++count === 2 ? "" : sign));
}

/** Text without labels; they stand for the text's tag. */
function labelled(text: string, labels: Map<string, string>): string {
  const tag = TAG.exec(text)?.[2];
  return text.replace(LABEL, (_, label: string) => {
    if (tag !== undefined) labels.set(label.trim(), tag);
    return "";
  });
}

const WORDS = /\\(?:text(?:it|bf|rm|sf|tt|up|md|normal)?|mbox)\s*\{[^{}$]*\}/g;

/** Underlines in text need no backslash in MathJax. */
const readable = (tex: string) =>
  tex.replace(WORDS, (words) => words.replace(/(?<!\\)[_^]/g, (sign) => (sign === "_" ? "\\_" : "\\^{}")));

function linked(tex: string, references: ReadonlyMap<string, string>): string {
  return tex.replace(REFERENCE, (_, command: string, label: string) => {
    const shown = references.get(label.trim());
    const text = command === "eqref" ? `(${shown ?? "???"})` : (shown ?? "???");
    if (shown === undefined) return `\\text{${text}}`;
    return `\\href{#${encodeURIComponent(label.trim())}}{\\text{${text}}}`;
  });
}
