// Sanitises Markdown and HTML: removes scripts, styles, and addresses except http(s), mail and data images.
import DOMPurify from "dompurify";
import { Marked, type Token } from "marked";
import { colouredCode } from "./code.ts";
import { withAttachments } from "./attached.ts";
import { type Formula, putFormulas, takeFormulas } from "./maths.ts";

const RULES = {
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "iframe", "object", "embed", "link", "meta"],
  FORBID_ATTR: ["style", "id", "name", "srcset"],
  ALLOW_DATA_ATTR: false,
};

/** Task list checkboxes are rendered as characters. */
const ticks = { renderer: { checkbox: ({ checked }: { checked: boolean }) => (checked ? "☑ " : "☐ ") } };

const marked = new Marked({ gfm: true, async: false }, colouredCode, ticks);

/** Removes styles before parsing, because the browser would log each one that the page's policy refuses. */
function unstyled(html: string): string {
  return html.replace(/<style\b[^>]*>[^]*?<\/style>/gi, "").replace(/\sstyle=("[^"]*"|'[^']*')/gi, "");
}

export function safeHtml(html: string): string {
  return DOMPurify.sanitize(unstyled(html), RULES);
}

export function safeFragment(html: string): DocumentFragment {
  return DOMPurify.sanitize(unstyled(html), { ...RULES, RETURN_DOM_FRAGMENT: true });
}

export type Piece = { kind: "html"; html: string } | { kind: "mermaid"; text: string };

/** Splits Markdown into HTML and Mermaid diagrams, each of which is rendered in its own frame. */
export function markdownPieces(text: string, attachments: Record<string, unknown> | null | undefined): Piece[] {
  const { text: source, formulas } = takeFormulas(text);
  const tokens = marked.lexer(source);
  const pieces: Piece[] = [];
  let from = 0;
  const put = (part: Token[]) => {
    if (part.some(({ type }) => type !== "space")) pieces.push({ kind: "html", html: harmless(part, formulas, attachments ?? {}) });
  };
  tokens.forEach((token, at) => {
    if (token.type !== "code" || token.lang !== "mermaid") return;
    put(tokens.slice(from, at));
    pieces.push({ kind: "mermaid", text: String(token.text) });
    from = at + 1;
  });
  put(tokens.slice(from));
  return pieces;
}

function harmless(tokens: Token[], formulas: readonly Formula[], attachments: Record<string, unknown>): string {
  const html = withAttachments(putFormulas(marked.parser(tokens), formulas), attachments);
  return DOMPurify.sanitize(html, { ...RULES, ADD_ATTR: ["target"] });
}

// External links open in a new tab without a referrer.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Links within the notebook stay in this tab.
  if (node.tagName !== "A" || node.getAttribute("href")?.startsWith("#")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});
