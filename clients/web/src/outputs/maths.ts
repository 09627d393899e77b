// Formulas in Markdown: turns `$…$`, `$$…$$`, `\(…\)` and `\[…\]` into elements for KaTeX.
import type { MarkedExtension, TokenizerAndRendererExtension } from "marked";

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Pandoc's rule, by which `$5 and $6` are prices. */
const INLINE = /^(?:\$(?![\s$])((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d)|\\\(((?:[^\\]|\\(?!\)))+?)\\\))/;
const BLOCK =
  /^ {0,3}(?:\$\$((?:\\.|[^\\$]|\$(?!\$))+?)\$\$|\\\[((?:[^\\]|\\(?!\]))+?)\\\]|(\\begin\{(\w+\*?)\}[^]+?\\end\{\4\}))[ \t]*(?:\n|$)/;

function extension(name: string, level: "block" | "inline", rule: RegExp, start: RegExp): TokenizerAndRendererExtension {
  const isBlock = level === "block";
  return {
    name,
    level,
    start: (source: string) => start.exec(source)?.index,
    tokenizer: (source: string) => {
      const found = rule.exec(source);
      return found ? { type: name, raw: found[0], text: (found[1] ?? found[2] ?? found[3] ?? "").trim() } : undefined;
    },
    renderer: ({ text }) =>
      isBlock ? `<div class="math display">${escaped(String(text))}</div>` : `<span class="math">${escaped(String(text))}</span>`,
  };
}

export const maths: MarkedExtension = {
  extensions: [
    extension("mathBlock", "block", BLOCK, /(?:^|\n) {0,3}(?:\$\$|\\\[|\\begin\{)/),
    extension("mathInline", "inline", INLINE, /\$|\\\(/),
    // Inline `$$…$$` is displayed as a block.
    {
      ...extension("mathDisplay", "inline", /^\$\$((?:\\.|[^\\$])+?)\$\$/, /\$\$/),
      renderer: ({ text }) => `<span class="math display">${escaped(String(text))}</span>`,
    },
  ],
};

/** Formula of `text/latex` without its delimiters. */
export function bareLatex(latex: string): string {
  const text = latex.trim();
  const found =
    /^\$\$([^]*)\$\$$/.exec(text) ?? /^\$([^]*)\$$/.exec(text) ?? /^\\\[([^]*)\\\]$/.exec(text) ?? /^\\\(([^]*)\\\)$/.exec(text);
  return (found?.[1] ?? text).replace(/^\\displaystyle\s*/, "").trim();
}
