// What of an open notebook is another now: a component waits for its topics alone, so that one cell's change renders one cell.
import { useSyncExternalStore } from "react";
import type { Part } from "../protocol/touched.ts";

/** What a component may wait for. A cell is `cell:ID`. */
export type Topic =
  | Part
  | `cell:${string}`
  | "status"
  | "presence"
  | "toasts"
  | "panel"
  | "folds"
  | "review"
  | "past"
  | "current"
  | "connections"
  | "graph"
  | "inputs";

/** A page that is out of sight has no frames, and its title still tells how a run goes. */
const HIDDEN_MS = 100;

function nextFrame(then: () => void): void {
  if (typeof requestAnimationFrame === "undefined") return then();
  const timer = setTimeout(() => (cancelAnimationFrame(frame), then()), HIDDEN_MS);
  const frame = requestAnimationFrame(() => (clearTimeout(timer), then()));
}

export class Topics {
  readonly #counts = new Map<Topic, number>();
  readonly #listeners = new Map<Topic, Set<() => void>>();
  readonly #due = new Set<Topic>();

  tell(topic: Topic): void {
    this.#counts.set(topic, this.count(topic) + 1);
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener();
  }

  /** With the next frame, all that came before it together: what a server sends is many messages between two. */
  tellSoon(topic: Topic): void {
    this.#due.add(topic);
    if (this.#due.size === 1) nextFrame(() => this.#tellDue());
  }

  #tellDue(): void {
    const due = [...this.#due];
    this.#due.clear();
    for (const topic of due) this.tell(topic);
  }

  count(topic: Topic): number {
    return this.#counts.get(topic) ?? 0;
  }

  listen(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => void listeners.delete(listener);
  }
}

/** Renders again when one of these changes. */
export function useTopics(store: Topics, ...topics: Topic[]): void {
  useSyncExternalStore(
    (changed) => {
      const ends = topics.map((topic) => store.listen(topic, changed));
      return () => ends.forEach((end) => end());
    },
    () => topics.map((topic) => store.count(topic)).join(),
  );
}
