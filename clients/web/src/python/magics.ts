// IPython's magics and commands in a cell: what is not Python stands as a name while ruff reads the rest. Knows no DOM.

export interface Masked {
  /** As many lines as before. */
  code: string;
  /** What each name of ours stands for, in order. */
  taken: string[];
}

const NAME = "__notarium_magic_";
/** Cell magics whose body is Python. */
const PYTHON_BODY = /^%%(?:time|timeit|capture|prun|python3?|debug|notarium_\w+)\b/;
const LINE_MAGIC = /^(\s*)([%!?].*|[\w.]+\?{1,2}\s*)$/;
const ASSIGNED = /^(\s*[\w., *()[\]]+?\s*=\s*)([%!].*)$/;

/** Nothing where the cell is another language's: `%%bash`. */
export function masked(source: string): Masked | undefined {
  const lines = source.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const head = lines[first]?.trim() ?? "";
  if (head.startsWith("%%") && !PYTHON_BODY.test(head)) return undefined;
  const taken: string[] = [];
  const quotes = openStrings(lines);
  const take = (text: string) => `${NAME}${taken.push(text) - 1}__`;
  let isContinued = false;
  const code = lines.map((line, index) => {
    if (quotes[index]) return line;
    if (isContinued) {
      isContinued = line.endsWith("\\");
      taken[taken.length - 1] += `\n${line}`;
      return "";
    }
    const [, before, magic] = ASSIGNED.exec(line) ?? LINE_MAGIC.exec(line) ?? [];
    if (before === undefined || magic === undefined) return line;
    isContinued = line.endsWith("\\");
    return before + take(magic);
  });
  return { code: code.join("\n"), taken };
}

/** Puts back what was taken, wherever it stands by now. */
export function unmasked(code: string, { taken }: Masked): string {
  return taken.reduce((text, magic, index) => text.replace(`${NAME}${index}__`, () => magic), code);
}

/** For each line: whether a string of three quotes is open where it begins. */
function openStrings(lines: string[]): boolean[] {
  let open: string | undefined;
  return lines.map((line) => {
    const was = open !== undefined;
    for (const [quote] of line.replace(/\\./g, "").matchAll(/"""|'''|#/g)) {
      if (quote === "#" && open === undefined) break;
      if (open === undefined && quote !== "#") open = quote;
      else if (open === quote) open = undefined;
    }
    return was;
  });
}
