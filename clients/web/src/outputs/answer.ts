// Splits an assistant's answer into text and code blocks, which a person may copy or turn into cells.
import type { CellType } from "../protocol/messages.ts";

export type AnswerPart = { text: string } | { code: string; language: string; fenced: string };

const OPENING = /^(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/;

/** Splits at closed, unindented code fences. Fences in lists and Mermaid diagrams stay in the text. */
export function answerParts(answer: string): AnswerPart[] {
  const lines = answer.split("\n");
  const parts: AnswerPart[] = [];
  let text: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, fence, language = ""] = OPENING.exec(line) ?? [];
    const end = fence === undefined || language === "mermaid" ? -1 : closing(lines, at, fence);
    if (end < 0) {
      text.push(line);
      continue;
    }
    if (text.some((each) => each.trim() !== "")) parts.push({ text: text.join("\n") });
    text = [];
    const code = lines.slice(at + 1, end).join("\n");
    parts.push({ code, language: language.toLowerCase(), fenced: lines.slice(at, end + 1).join("\n") });
    at = end;
  }
  if (text.some((each) => each.trim() !== "")) parts.push({ text: text.join("\n") });
  return parts;
}

function closing(lines: string[], opened: number, fence: string): number {
  const isEnd = (line: string) => line.startsWith(fence) && new RegExp(`^\\${fence[0]}+\\s*$`).test(line);
  return lines.findIndex((line, at) => at > opened && isEnd(line));
}

const TYPES: Record<string, CellType> = {
  ...{ "": "code", python: "code", python3: "code", py: "code", ipython: "code" },
  ...{ sql: "sql", duckdb: "sql", postgresql: "sql", sqlite: "sql" },
  ...{ markdown: "markdown", md: "markdown" },
  ...{ text: "raw", txt: "raw", console: "raw", output: "raw", plaintext: "raw" },
};

/** Cell made from a code block. Code in a language that no cell runs becomes a Markdown cell. */
export function cellOfCode({ code, language, fenced }: { code: string; language: string; fenced: string }): {
  type: CellType;
  source: string;
} {
  const type = Object.hasOwn(TYPES, language) ? TYPES[language] : undefined;
  return type === undefined ? { type: "markdown", source: fenced } : { type, source: code };
}
