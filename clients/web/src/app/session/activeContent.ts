// Notebooks whose imported scripts this person allowed to run, remembered in this browser. Imported outputs come from unknown
// sources, so their scripts run only with permission.
import { useSyncExternalStore } from "react";
import type { Execution } from "../../protocol/messages.ts";

type BrowserStorage = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.active";
const MOST = 500;
const listeners = new Set<() => void>();

function read(storage: BrowserStorage): string[] {
  try {
    const value: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

const entry = (user: string | undefined, notebook: string) => `${user ?? "guest"} ${notebook}`;

export function showsActive(user: string | undefined, notebook: string, storage: BrowserStorage = localStorage): boolean {
  return read(storage).includes(entry(user, notebook));
}

export function showActive(user: string | undefined, notebook: string, storage: BrowserStorage = localStorage): void {
  const others = read(storage).filter((each) => each !== entry(user, notebook));
  try {
    storage.setItem(KEY, JSON.stringify([...others, entry(user, notebook)].slice(-MOST)));
  } catch {
    // Storage is full: the page asks again when the notebook is next opened.
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

/** The output was imported with a file, not produced by a run here. */
export function isImported(run: Execution | undefined): boolean {
  return run?.cause === "imported";
}
