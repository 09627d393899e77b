// Notebooks opened recently in this browser.
import { serverNow } from "./clock.ts";

export interface Recent {
  id: string;
  title: string;
  at: number;
}

type BrowserStorage = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.recent";
const MOST = 6;

export function recent(user: string | undefined, storage: BrowserStorage = localStorage): Recent[] {
  try {
    const value: unknown = JSON.parse(storage.getItem(`${KEY}.${user ?? "guest"}`) ?? "[]");
    return Array.isArray(value) ? value.filter((each: Partial<Recent> | null) => typeof each?.id === "string") : [];
  } catch {
    return [];
  }
}

export function opened(user: string | undefined, id: string, title: string, storage: BrowserStorage = localStorage): void {
  const others = recent(user, storage).filter((each) => each.id !== id);
  const all = [{ id, title, at: serverNow() }, ...others].slice(0, MOST);
  try {
    storage.setItem(`${KEY}.${user ?? "guest"}`, JSON.stringify(all));
  } catch {
    // The list is optional, so a full storage is ignored.
  }
}

export function forgetRecent(user: string | undefined, id: string, storage: BrowserStorage = localStorage): void {
  storage.setItem(`${KEY}.${user ?? "guest"}`, JSON.stringify(recent(user, storage).filter((each) => each.id !== id)));
}
