// Where notes stand in a margin: each at the height of what it is about, none over another. Knows no DOM.

export interface Note {
  /** Where what it is about begins; nothing where that is not shown. */
  wanted: number | undefined;
  height: number;
}

/**
 * The top of each, in their order. The current one stands at its place, and those above it make room for it; without one each
 * stands at its place or below the one before.
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
  // There is no room above the first.
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
