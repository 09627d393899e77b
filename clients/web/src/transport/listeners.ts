// Who wants to hear of a change. Listeners are called in the order in which they came.

export class Listeners<T extends unknown[]> {
  readonly #listeners = new Set<(...values: T) => void>();

  /** Returns the function that ends it. */
  add(listener: (...values: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(...values: T): void {
    for (const listener of [...this.#listeners]) listener(...values);
  }
}
