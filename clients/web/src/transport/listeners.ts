// Listeners of an event, called in order of registration.

export class Listeners<T extends unknown[]> {
  readonly #listeners = new Set<(...values: T) => void>();

  /** Adds a listener; returns the function that removes it. */
  add(listener: (...values: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(...values: T): void {
    for (const listener of [...this.#listeners]) listener(...values);
  }
}
