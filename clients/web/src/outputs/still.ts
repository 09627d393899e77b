// HTML of an imported file with styles and without scripts, displayed until a person allows its scripts.
import DOMPurify from "dompurify";

const RULES = { ADD_TAGS: ["style"], FORCE_BODY: true, FORBID_TAGS: ["iframe", "object", "embed", "link", "meta", "form"] };

/** True if the HTML has active content: scripts, handlers, embedded documents, `javascript:` addresses. */
export function isActiveHtml(html: string): boolean {
  return /<(script|iframe|object|embed|form)\b|[\s"'/]on\w+\s*=|javascript\s*:/i.test(html);
}

export function stillHtml(html: string): string {
  return DOMPurify.sanitize(html, RULES);
}
