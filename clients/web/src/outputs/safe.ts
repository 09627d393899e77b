// Markdown and HTML of others, made harmless: no script, no style, no address but http(s), mail and data images.
import DOMPurify from "dompurify";
import { marked } from "marked";

const RULES = {
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "iframe", "object", "embed", "link", "meta"],
  FORBID_ATTR: ["style", "id", "name", "srcset"],
  ALLOW_DATA_ATTR: false,
};

export function safeHtml(html: string): string {
  return DOMPurify.sanitize(html, RULES);
}

export function renderMarkdown(text: string, attachments: Record<string, unknown> | null | undefined): string {
  const html = marked.parse(text, { async: false, gfm: true });
  return DOMPurify.sanitize(withAttachments(html, attachments ?? {}), { ...RULES, ADD_ATTR: ["target"] });
}

/** nbformat's `attachment:NAME`. */
function withAttachments(html: string, attachments: Record<string, unknown>): string {
  return html.replace(/src="attachment:([^"]+)"/g, (whole, name: string) => {
    const bundle = attachments[decodeURIComponent(name)] as Record<string, string> | undefined;
    const [type, data] = Object.entries(bundle ?? {})[0] ?? [];
    return type?.startsWith("image/") ? `src="data:${type};base64,${String(data).replace(/\s/g, "")}"` : whole;
  });
}

// Links of others open beside the page, and learn nothing of it.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});
