// Layout of margin notes: each at the height of its anchor, without overlap. Does not use the DOM.

export interface Note {
  /** Top of the anchor; undefined if it is not shown. */
  wanted: number | undefined;
  height: number;
}

/**
 * Tops of the notes in their order. The current note is at its anchor, and those above it move up. Without a current note each
 * is at its anchor or below the previous note.
 */
export function tops(notes: readonly Note[], gap: number, current = -1): number[] {
  const found: number[] = [];
  let free = 0;
  for (const { wanted, height } of notes) {
    const top = Math.max(free, wanted ?? free);
    found.push(top);
    free = top + height + gap;
  }
  return current < 0 ? found : around(notes, found, gap, current);
}

function around(notes: readonly Note[], found: number[], gap: number, current: number): number[] {
  const result = [...found];
  // Notes above must not move beyond the top.
  const least = notes.slice(0, current).reduce((sum, { height }) => sum + height + gap, 0);
  result[current] = Math.max(least, notes[current]?.wanted ?? result[current] ?? 0);
  for (let at = current - 1; at >= 0; at--)
    result[at] = Math.min(result[at] ?? 0, (result[at + 1] ?? 0) - gap - (notes[at]?.height ?? 0));
  for (let at = current + 1; at < notes.length; at++) {
    const below = (result[at - 1] ?? 0) + (notes[at - 1]?.height ?? 0) + gap;
    result[at] = Math.max(below, notes[at]?.wanted ?? below);
  }
  return result;
}
