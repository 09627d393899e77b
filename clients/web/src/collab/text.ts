// The text of one cell: what the server has confirmed, what was sent and not confirmed, and what was typed since.
// `@codemirror/collab` diverges when its updates are sent as one change; this is its fold, on one change each.
import { ChangeSet, Text } from "@codemirror/state";
import type { How } from "./undo.ts";

/** A change that goes as one command. */
export interface Part {
  change: ChangeSet;
  how: How;
}

export class CellText {
  sent: Part | undefined;
  /** In the order in which they were made; each its own undo group. */
  waiting: Part[] = [];
  /** Groups of which something was sent. */
  readonly #begun = new Set<string>();
  /** Groups of which the log has a change. */
  readonly #recorded = new Set<string>();

  constructor(public confirmed: Text) {}

  get isUnconfirmed(): boolean {
    return this.sent !== undefined || this.waiting.length > 0;
  }

  /** Groups of which the log has no change yet. An event that arrives before they are confirmed comes before them there. */
  get unrecorded(): string[] {
    const groups = [...(this.sent ? [this.sent] : []), ...this.waiting].map(({ how }) => how.group);
    return groups.filter((group) => !this.#recorded.has(group));
  }

  /** What the person sees. */
  get shown(): Text {
    const sent = this.sent?.change.apply(this.confirmed) ?? this.confirmed;
    return this.waiting.reduce((text, { change }) => change.apply(text), sent);
  }

  /** Where a place in the confirmed text is in what is shown. */
  placed(at: number, side: -1 | 1): number {
    const sent = this.sent?.change.mapPos(at, side) ?? at;
    return this.waiting.reduce((place, { change }) => change.mapPos(place, side), sent);
  }

  /** The person's own change, of what is shown. */
  edit(change: ChangeSet, how: How): void {
    const last = this.waiting.at(-1);
    const isUnsent = last !== undefined && !this.#begun.has(last.how.group);
    const goesOn = last !== undefined && last.how.group === how.group;
    // What was typed and taken back before any of it was sent has not been.
    if (!last || !(goesOn || (isUnsent && last.how.group === how.undoes))) return void this.waiting.push({ change, how });
    last.change = last.change.compose(change);
    if (last.change.empty) this.waiting.pop();
  }

  /** What is to be sent now, if nothing is under way. */
  take(): Part | undefined {
    if (this.sent) return undefined;
    this.sent = this.waiting.shift();
    if (this.sent) this.#begun.add(this.sent.how.group);
    return this.sent;
  }

  /** The sent change came back as it was recorded. */
  confirm(): void {
    if (this.sent && !this.sent.change.empty) this.#recorded.add(this.sent.how.group);
    this.confirmed = this.sent?.change.apply(this.confirmed) ?? this.confirmed;
    this.sent = undefined;
  }

  /** Another's change of the confirmed text. Returns it as it applies to what is shown. */
  receive(change: ChangeSet): ChangeSet {
    this.confirmed = change.apply(this.confirmed);
    let over = change;
    for (const part of [...(this.sent ? [this.sent] : []), ...this.waiting]) {
      const own = part.change;
      part.change = own.map(over, false);
      over = over.map(own, true);
    }
    return over;
  }

  /** Forgets what is not confirmed. Returns the change of what is shown. */
  drop(): ChangeSet {
    const { shown } = this;
    this.sent = undefined;
    this.waiting = [];
    return replacement(shown, this.confirmed);
  }

  /** Takes the server's text as it is. Returns the change of what is shown; only for a text without unconfirmed changes. */
  reset(text: Text): ChangeSet {
    const change = replacement(this.confirmed, text);
    this.confirmed = text;
    return change;
  }
}

export function toText(source: string): Text {
  return Text.of(source.split("\n"));
}

/** One change that leads from a text to another: what both begin and end with stays. */
export function replacement(before: Text, after: Text): ChangeSet {
  const [old, next] = [before.toString(), after.toString()];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old[old.length - 1 - end] === next[next.length - 1 - end])
    end += 1;
  // Neither half of a surrogate pair is left alone.
  if (isInsidePair(old, start) || isInsidePair(next, start)) start -= 1;
  if (isInsidePair(old, old.length - end) || isInsidePair(next, next.length - end)) end -= 1;
  const insert = toText(next.slice(start, next.length - end));
  return ChangeSet.of({ from: start, to: old.length - end, insert }, old.length);
}

function isInsidePair(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
