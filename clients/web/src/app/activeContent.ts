// Notebooks whose imported scripts a person lets run, in this browser. A run in this product says who asked for it; outputs of a file
// came from anywhere, so their scripts wait for a word of the person.
import { useSyncExternalStore } from "react";
import type { Execution } from "../protocol/messages.ts";

type Kept = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.active";
const MOST = 500;
const listeners = new Set<() => void>();

function read(storage: Kept): string[] {
  try {
    const value: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

const entry = (user: string | undefined, notebook: string) => `${user ?? "guest"} ${notebook}`;

export function showsActive(user: string | undefined, notebook: string, storage: Kept = localStorage): boolean {
  return read(storage).includes(entry(user, notebook));
}

export function showActive(user: string | undefined, notebook: string, storage: Kept = localStorage): void {
  const others = read(storage).filter((each) => each !== entry(user, notebook));
  try {
    storage.setItem(KEY, JSON.stringify([...others, entry(user, notebook)].slice(-MOST)));
  } catch {
    // Without room it is asked again at the next notebook.
  }
  for (const listener of listeners) listener();
}

export function useShowsActive(user: string | undefined, notebook: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      addEventListener("storage", listener);
      return () => {
        listeners.delete(listener);
        removeEventListener("storage", listener);
      };
    },
    () => showsActive(user, notebook),
  );
}

/** A file brought the output; nobody ran it here. */
export function isImported(run: Execution | undefined): boolean {
  return run?.cause === "imported";
}
