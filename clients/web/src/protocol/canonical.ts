// Canonical JSON (RFC 8785) and digests, equal for all replicas of a document.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

const MAX_LEVELS = 127;

/** The value has no canonical form: half of a surrogate pair, a number beyond a double, too many levels. */
export class NoCanonicalForm extends Error {}

export function canonicalJson(value: unknown, level = 0): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new NoCanonicalForm("a number is beyond a double");
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (level >= MAX_LEVELS) throw new NoCanonicalForm(`more than ${MAX_LEVELS} levels`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, level + 1)).join(",")}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  // The default order of strings compares UTF-16 units.
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${quoted(name)}:${canonicalJson(field, level + 1)}`).join(",")}}`;
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new NoCanonicalForm("half of a surrogate pair");
  return JSON.stringify(text);
}

/** Lower-case hex SHA-256 of the canonical JSON. Synchronous, because browsers offer their own hash only over HTTPS. */
export function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));
}
