// Syntax highlighting outside editors, with the same classes.
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/python";

export interface Token {
  text: string;
  className: string;
}

/** Longer code is not highlighted. */
const MOST_UNITS = 100_000;

/** Classes with a colour (ui/code.css). Elements for all others would be two thirds of the page's nodes. */
const COLOURED = /\btok-(?:keyword|operatorKeyword|string2?|number|bool|atom|comment|definition|className|meta)\b/;

export const highlight = (source: string): Token[] => tokensOf(source, parser);

export function tokensOf(source: string, language: Pick<typeof parser, "parse">): Token[] {
  if (source.length > MOST_UNITS) return [{ text: source, className: "" }];
  const tokens: Token[] = [];
  const put = (text: string, classes: string) => {
    const className = COLOURED.test(classes) ? classes : "";
    const last = tokens.at(-1);
    if (last?.className === className) last.text += text;
    else tokens.push({ text, className });
  };
  highlightCode(source, language.parse(source), classHighlighter, put, () => put("\n", ""));
  return tokens;
}

/** Splits tokens into lines that keep their line breaks. */
export function linesOf(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { text, className } of tokens) {
    for (const piece of text.split(/(?<=\n)/)) {
      lines.at(-1)?.push({ text: piece, className });
      if (piece.endsWith("\n")) lines.push([]);
    }
  }
  return lines;
}
