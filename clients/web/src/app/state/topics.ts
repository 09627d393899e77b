// Topics of an open notebook's changes. A component subscribes only to its topics, so that one changed cell renders one cell.
import { useSyncExternalStore } from "react";
import type { Part } from "../../protocol/touched.ts";

/** Topic of a subscription; a cell's topic is `cell:ID`. */
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

/** Timer for hidden pages, which get no animation frames but still update their title. */
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

  touch(topic: Topic): void {
    this.#counts.set(topic, this.count(topic) + 1);
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener();
  }

  /** Notifies at the next frame, which batches the many messages of a server. */
  touchSoon(topic: Topic): void {
    this.#due.add(topic);
    if (this.#due.size === 1) nextFrame(() => this.#touchDue());
  }

  #touchDue(): void {
    const due = [...this.#due];
    this.#due.clear();
    for (const topic of due) this.touch(topic);
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

/** Re-renders the component when one of the topics changes. */
export function useTopics(store: Topics, ...topics: Topic[]): void {
  useSyncExternalStore(
    (changed) => {
      const ends = topics.map((topic) => store.listen(topic, changed));
      return () => ends.forEach((end) => end());
    },
    () => topics.map((topic) => store.count(topic)).join(),
  );
}
