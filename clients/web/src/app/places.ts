// The cells in which a person edited, one after the other: to go back to, and forward again.

const MOST = 50;

export class Places {
  #visited: string[] = [];
  #at = -1;

  /** Somebody edits here; what was ahead is forgotten. */
  visit(cell: string): void {
    if (this.#visited[this.#at] === cell) return;
    this.#visited = [...this.#visited.slice(0, this.#at + 1), cell].slice(-MOST);
    this.#at = this.#visited.length - 1;
  }

  /** The place before (-1) or after (1) this one. From somewhere else, back leads to where was edited last. */
  go(step: 1 | -1, from: string | undefined, exists: (cell: string) => boolean): string | undefined {
    if (step < 0 && this.#at >= 0 && this.#visited[this.#at] !== from && exists(this.#visited[this.#at] ?? ""))
      return this.#visited[this.#at];
    for (let index = this.#at + step; index >= 0 && index < this.#visited.length; index += step) {
      const cell = this.#visited[index] ?? "";
      if (!exists(cell) || cell === from) continue;
      this.#at = index;
      return cell;
    }
    return undefined;
  }
}
