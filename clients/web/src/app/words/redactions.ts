// Redactions in words: what one removes, and which events it has removed.
import type { Actor, EventMessage } from "../../protocol/messages.ts";

/** Content to remove from the record, as the server takes it. */
export type RedactionTarget = { event: { version: number } } | { text: { text: string } } | { cell: { cell_id: string } };

/** The server's answer. The epoch is missing in a preview. */
export interface Redacted {
  versions: number[];
  blobs: number;
  epoch?: number;
}

/** Shortest and longest text that can be removed wherever it stands, in UTF-16 code units. */
export const LEAST_TEXT = 4;
export const MOST_TEXT = 10_000;
export const MOST_REASON = 500;

/** Removed characters, one block for each UTF-16 code unit. */
const BLOCKS = /(█{2,})/;

/** Versions that are listed one by one. */
const MOST_LISTED = 5;

export interface RedactedBy {
  actor: Actor;
  reason: string;
}

interface Payload {
  reason?: string;
  redactions?: { version: number }[];
}

const payloadOf = ({ payload }: EventMessage) => payload as Payload;

/** Redacted events by version, with the latest redaction of each. */
export function redactedIn(events: readonly EventMessage[]): Map<number, RedactedBy> {
  const redacted = new Map<number, RedactedBy>();
  for (const event of events) {
    if (event.type !== "ContentRedacted") continue;
    const { reason = "", redactions = [] } = payloadOf(event);
    for (const { version } of redactions) redacted.set(version, { actor: event.actor, reason });
  }
  return redacted;
}

/** Example: “redacted content of 3 events: a key was in it”. A large redaction has several events. */
export function redactionWords(events: readonly EventMessage[]): string | undefined {
  const own = events.filter(({ type }) => type === "ContentRedacted").map(payloadOf);
  const [first] = own;
  if (!first) return undefined;
  const count = own.reduce((sum, { redactions = [] }) => sum + redactions.length, 0);
  return `redacted content of ${eventsOf(count)}: ${first.reason}`;
}

/** Example: “3 events (versions 3, 7 and 12)”. */
export function previewWords({ versions, blobs }: Redacted): string {
  const { length } = versions;
  const listed = length > 1 ? `${versions.slice(0, -1).join(", ")} and ${versions.at(-1)}` : versions.join("");
  const span = length > MOST_LISTED ? `${versions[0]} to ${versions.at(-1)}` : listed;
  const outputs = blobs === 0 ? "" : `, and ${blobs === 1 ? "1 stored output" : `${blobs.toLocaleString()} stored outputs`}`;
  return `${eventsOf(length)} (version${length === 1 ? "" : "s"} ${span})${outputs}`;
}

export function eventsOf(count: number): string {
  return count === 1 ? "1 event" : `${count.toLocaleString()} events`;
}

/** Cuts a text at its removed stretches. */
export function withBlocks(text: string): { text: string; isRedacted: boolean }[] {
  const parts = text.split(BLOCKS).map((part, index) => ({ text: part, isRedacted: index % 2 === 1 }));
  return parts.filter((part) => part.text !== "");
}
