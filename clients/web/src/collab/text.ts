// The text of one cell: what the server has confirmed, what was sent and not confirmed, and what was typed since.
// `@codemirror/collab` diverges when its updates are sent as one change; this is its fold, on one change each.
import { ChangeSet, Text } from "@codemirror/state";

export class CellText {
  sent: ChangeSet | undefined;
  buffer: ChangeSet | undefined;

  constructor(public confirmed: Text) {}

  get isUnconfirmed(): boolean {
    return this.sent !== undefined || this.buffer !== undefined;
  }

  /** What the person sees. */
  get shown(): Text {
    const sent = this.sent?.apply(this.confirmed) ?? this.confirmed;
    return this.buffer?.apply(sent) ?? sent;
  }

  /** Where a place in the confirmed text is in what is shown. */
  placed(at: number, side: -1 | 1): number {
    const sent = this.sent?.mapPos(at, side) ?? at;
    return this.buffer?.mapPos(sent, side) ?? sent;
  }

  /** The person's own change, of what is shown. */
  edit(change: ChangeSet): void {
    const buffer = this.buffer?.compose(change) ?? change;
    this.buffer = buffer.empty ? undefined : buffer;
  }

  /** What is to be sent now, if nothing is under way. */
  take(): ChangeSet | undefined {
    if (this.sent || !this.buffer) return undefined;
    this.sent = this.buffer;
    this.buffer = undefined;
    return this.sent;
  }

  /** The sent change came back as it was recorded. */
  confirm(): void {
    this.confirmed = this.sent?.apply(this.confirmed) ?? this.confirmed;
    this.sent = undefined;
  }

  /** Another's change of the confirmed text. Returns it as it applies to what is shown. */
  receive(change: ChangeSet): ChangeSet {
    const { sent, buffer } = this;
    const overSent = sent ? change.map(sent, true) : change;
    this.confirmed = change.apply(this.confirmed);
    this.sent = sent?.map(change, false);
    this.buffer = buffer?.map(overSent, false);
    return buffer ? overSent.map(buffer, true) : overSent;
  }

  /** Forgets what is not confirmed. Returns the change of what is shown. */
  drop(): ChangeSet {
    const { shown } = this;
    this.sent = this.buffer = undefined;
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
