// Masks IPython magics and shell commands with names, so that Ruff can parse the cell. Does not use the DOM.

export interface Masked {
  /** Python code with the same number of lines. */
  code: string;
  /** Masked texts, by the number in their name. */
  taken: string[];
}

const NAME = "__notarium_magic_";
/** Cell magics with a Python body. */
const PYTHON_BODY = /^%%(?:time|timeit|capture|prun|python3?|debug|notarium_\w+)\b/;
const LINE_MAGIC = /^(\s*)([%!?].*|[\w.]+\?{1,2}\s*)$/;
const ASSIGNED = /^(\s*[\w., *()[\]]+?\s*=\s*)([%!].*)$/;

/** Masks a cell; undefined for cells in another language, such as `%%bash`. */
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

/** Restores the masked texts. */
export function unmasked(code: string, { taken }: Masked): string {
  return taken.reduce((text, magic, index) => text.replace(`${NAME}${index}__`, () => magic), code);
}

/** For each line: true if a triple-quoted string is open at its start. */
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
