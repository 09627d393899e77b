// Checks a notebook with Ruff as one file, so that names of earlier cells are known; reports findings by cell. Runs in a worker
// and in Node; the caller provides Ruff.
import { namesOf } from "../app/cells/depends.ts";
import { type Masked, masked, unmasked } from "./magics.ts";

export interface PythonCell {
  id: string;
  source: string;
}

export interface Finding {
  /** Position in UTF-16 units of the cell's source. */
  from: number;
  to: number;
  message: string;
  /** Rule, for example `F821`; undefined for syntax errors. */
  code?: string;
}

interface Diagnostic {
  code: string | null;
  message: string;
  start_location: { row: number; column: number };
  end_location: { row: number; column: number };
}

export interface Workspace {
  check: (code: string) => Diagnostic[];
  format: (code: string) => string;
  free: () => void;
}

/** Creates a workspace with Ruff's options. */
export type Ruff = (options: object) => Workspace;

const BUILTINS = ["display", "get_ipython", "In", "Out", "exit", "quit", "_", "__", "___", "_i", "_ih", "_oh", "_dh"];
/** Rules for patterns common in notebooks: unused, repeated or star imports, and top-level `await`. */
const IGNORED = ["F401", "F403", "F405", "F704", "F811", "E902"];
/** Magics that define names invisible to Ruff. */
const BRINGS_NAMES = /^\s*%(?:run|pylab|load|loadpy|store|autoload)\b/m;

/** Findings by cell. `others` has names that cells in other languages define. */
export function check(ruff: Ruff, cells: readonly PythonCell[], others: readonly string[]): Map<string, Finding[]> {
  const found = new Map<string, Finding[]>();
  const syntax = ruff({ lint: { select: [] } });
  const whole: { cell: PythonCell; code: string; row: number }[] = [];
  const known = new Set([...BUILTINS, ...others]);
  let row = 0;
  for (const cell of cells) {
    const code = masked(cell.source)?.code;
    if (code === undefined) continue;
    const wrong = syntax.check(code);
    if (wrong.length > 0) {
      found.set(
        cell.id,
        wrong.map((each) => finding(each, cell.source, 0)),
      );
      // Names of a broken cell count as defined, so that other cells get no findings for them.
      for (const name of namesOf(code).defined) known.add(name);
      continue;
    }
    whole.push({ cell, code, row });
    row += code.split("\n").length;
  }
  syntax.free();
  const isOpen = cells.some(({ source }) => BRINGS_NAMES.test(source));
  const ignore = isOpen ? [...IGNORED, "F821"] : IGNORED;
  const own = whole.flatMap(({ code }) => [...code.matchAll(/__notarium_magic_\d+__/g)].map(([name]) => name));
  const lint = ruff({ builtins: [...known, ...own], lint: { select: ["F", "E9"], ignore } });
  for (const each of lint.check(whole.map(({ code }) => code).join("\n"))) {
    const place = whole.findLast((one) => one.row < each.start_location.row);
    if (place) found.set(place.cell.id, [...(found.get(place.cell.id) ?? []), finding(each, place.cell.source, place.row)]);
  }
  lint.free();
  return found;
}

function finding({ code, message, start_location: start, end_location: end }: Diagnostic, text: string, row: number): Finding {
  const [from, to] = [start, end].map((at) => offsetOf(text, at.row - row, at.column)) as [number, number];
  const isSyntax = code === null || code === "invalid-syntax" || code === "E999";
  const words = message.replace(/^SyntaxError: /, "").replaceAll("`", "");
  return { from, to: Math.max(to, Math.min(from + 1, text.length)), message: words, ...(!isSyntax && { code }) };
}

/** Offset of a row and column, which count from 1. */
function offsetOf(text: string, row: number, column: number): number {
  const lines = text.split("\n");
  const at = Math.max(0, Math.min(row - 1, lines.length - 1));
  const before = lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0);
  return Math.min(text.length, before + (row - 1 > at ? (lines[at]?.length ?? 0) : column - 1));
}

/** Cell formatted by Ruff; undefined if it is not valid Python. */
export function format(ruff: Ruff, source: string, indent: string): string | undefined {
  const { head, body } = headed(source);
  const python: Masked | undefined = masked(source) && masked(body);
  if (!python || body.trim() === "") return undefined;
  const isTab = indent === "tab";
  const workspace = ruff({
    "indent-width": isTab ? 4 : Number(indent),
    format: { "indent-style": isTab ? "tab" : "space" },
  });
  try {
    const formatted = workspace.format(python.code).replace(/\n+$/, "");
    return head + unmasked(withSemicolon(body, formatted), python);
  } catch {
    return undefined;
  } finally {
    workspace.free();
  }
}

/** Separates the line of a cell magic, which stays unchanged. */
function headed(source: string): { head: string; body: string } {
  const head = /^\s*%%[^\n]*(?:\n|$)/.exec(source)?.[0] ?? "";
  return { head, body: source.slice(head.length) };
}

/** Restores a final semicolon, which suppresses the cell's result. */
function withSemicolon(source: string, formatted: string): string {
  const last = (text: string) => text.split("\n").findLast((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  const line = last(formatted);
  if (!/;\s*(?:#.*)?$/.test(last(source) ?? "") || line === undefined || line.includes("#")) return formatted;
  const at = formatted.lastIndexOf(line);
  return `${formatted.slice(0, at)}${line};${formatted.slice(at + line.length)}`;
}
