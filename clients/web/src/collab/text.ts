// Text of one cell: confirmed text, the change sent to the server, and changes waiting to be sent. `@codemirror/collab`
// diverges when its updates are sent as one change; this is the same algorithm on single changes.
import { ChangeSet, Text } from "@codemirror/state";
import type { How } from "./undo.ts";

/** A change that is sent as one command. */
export interface Part {
  change: ChangeSet;
  how: How;
  /** An undo or redo is in the change: its insertions may be text of before. */
  bringsBack?: boolean;
}

export class CellText {
  sent: Part | undefined;
  /** Unsent changes in order, one per undo group. */
  waiting: Part[] = [];
  /** Groups of which a part was sent. */
  readonly #begun = new Set<string>();
  /** Groups of which the log has a change. */
  readonly #recorded = new Set<string>();

  constructor(public confirmed: Text) {}

  get isUnconfirmed(): boolean {
    return this.sent !== undefined || this.waiting.length > 0;
  }

  /** Groups without a change in the log yet. An event that arrives before their confirmation precedes them in the log. */
  get unrecorded(): string[] {
    const groups = [...(this.sent ? [this.sent] : []), ...this.waiting].map(({ how }) => how.group);
    return groups.filter((group) => !this.#recorded.has(group));
  }

  /** The displayed text. */
  get shown(): Text {
    const sent = this.sent?.change.apply(this.confirmed) ?? this.confirmed;
    return this.waiting.reduce((text, { change }) => change.apply(text), sent);
  }

  /** Unconfirmed insertions of the person, without what an undo brings back and without lines of the confirmed text. */
  typed(): string {
    const parts = [...(this.sent ? [this.sent] : []), ...this.waiting].filter(({ bringsBack }) => !bringsBack);
    const known = new Set([...this.confirmed.iterLines()].map((line) => line.trim()));
    let text = "";
    for (const { change } of parts)
      change.iterChanges((_from, _to, _start, _end, inserted) => {
        const lines = [...inserted.iterLines()];
        text += lines.filter((line) => line.trim() === "" || !known.has(line.trim())).join("\n");
      });
    return text.trim() === "" ? "" : text;
  }

  /** Maps a position of the confirmed text to the displayed text. */
  placed(at: number, side: -1 | 1): number {
    const sent = this.sent?.change.mapPos(at, side) ?? at;
    return this.waiting.reduce((place, { change }) => change.mapPos(place, side), sent);
  }

  /** Applies the person's change to the displayed text. */
  edit(change: ChangeSet, how: How): void {
    const last = this.waiting.at(-1);
    const isUnsent = last !== undefined && !this.#begun.has(last.how.group);
    const goesOn = last !== undefined && last.how.group === how.group;
    // An unsent change and its undo cancel out and are never sent.
    const bringsBack = (how.undoes ?? how.redoes) !== undefined;
    if (!last || !(goesOn || (isUnsent && last.how.group === how.undoes)))
      return void this.waiting.push({ change, how, ...(bringsBack && { bringsBack }) });
    if (bringsBack) last.bringsBack = true;
    last.change = last.change.compose(change);
    if (last.change.empty) this.waiting.pop();
  }

  /** The next change to send, unless one is pending. */
  take(): Part | undefined {
    if (this.sent) return undefined;
    this.sent = this.waiting.shift();
    if (this.sent) this.#begun.add(this.sent.how.group);
    return this.sent;
  }

  /** Confirms the sent change, when its event arrives. */
  confirm(): void {
    if (this.sent && !this.sent.change.empty) this.#recorded.add(this.sent.how.group);
    this.confirmed = this.sent?.change.apply(this.confirmed) ?? this.confirmed;
    this.sent = undefined;
  }

  /** Puts the sent change back before the waiting ones: the server refused it, and it is sent again as another command. */
  takeBack(): void {
    if (this.sent) this.waiting.unshift(this.sent);
    this.sent = undefined;
  }

  /** Applies another author's change to the confirmed text; returns it mapped to the displayed text. */
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

  /** Discards unconfirmed changes; returns the change of the displayed text. */
  drop(): ChangeSet {
    const { shown } = this;
    this.sent = undefined;
    this.waiting = [];
    return replacement(shown, this.confirmed);
  }

  /** Replaces the text by the server's; returns the change of the displayed text. Requires that no change is unconfirmed. */
  reset(text: Text): ChangeSet {
    const change = replacement(this.confirmed, text);
    this.confirmed = text;
    return change;
  }
}

export function toText(source: string): Text {
  return Text.of(source.split("\n"));
}

/** A single change between two texts, without their common prefix and suffix. */
export function replacement(before: Text, after: Text): ChangeSet {
  const [old, next] = [before.toString(), after.toString()];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old[old.length - 1 - end] === next[next.length - 1 - end])
    end += 1;
  // Surrogate pairs are not split.
  if (isInsidePair(old, start) || isInsidePair(next, start)) start -= 1;
  if (isInsidePair(old, old.length - end) || isInsidePair(next, next.length - end)) end -= 1;
  const insert = toText(next.slice(start, next.length - end));
  return ChangeSet.of({ from: start, to: old.length - end, insert }, old.length);
}

function isInsidePair(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
