// Navigation history of the cells in which a person edited.

const MOST = 50;

export class Places {
  #visited: string[] = [];
  #at = -1;

  /** Adds a cell and discards the forward history. */
  visit(cell: string): void {
    if (this.#visited[this.#at] === cell) return;
    this.#visited = [...this.#visited.slice(0, this.#at + 1), cell].slice(-MOST);
    this.#at = this.#visited.length - 1;
  }

  /** Previous (-1) or next (1) cell. From a cell outside the history, -1 leads to the latest edited cell. */
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
