// HTML of a file with its look and without its scripts: what the frame shows of an import before anybody let its scripts run.
import DOMPurify from "dompurify";

const RULES = { ADD_TAGS: ["style"], FORCE_BODY: true, FORBID_TAGS: ["iframe", "object", "embed", "link", "meta", "form"] };

/** Something in it runs: scripts, handlers, documents of their own, addresses that are code. */
export function isActiveHtml(html: string): boolean {
  return /<(script|iframe|object|embed|form)\b|[\s"'/]on\w+\s*=|javascript\s*:/i.test(html);
}

export function stillHtml(html: string): string {
  return DOMPurify.sanitize(html, RULES);
}
