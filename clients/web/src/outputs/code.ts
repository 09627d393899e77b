// Syntax highlighting of Python code blocks in Markdown.
import type { MarkedExtension } from "marked";
import { highlight } from "./highlight.ts";

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const PYTHON = /^(python|py|python3|ipython|ipython3|pycon)$/i;

export const colouredCode: MarkedExtension = {
  renderer: {
    code({ text, lang }) {
      const language = lang?.split(/\s/, 1)[0] ?? "";
      if (!PYTHON.test(language)) return false;
      const spans = highlight(text).map(({ text: piece, className }) =>
        className ? `<span class="${className}">${escaped(piece)}</span>` : escaped(piece),
      );
      return `<pre><code>${spans.join("")}</code></pre>`;
    },
  },
};
