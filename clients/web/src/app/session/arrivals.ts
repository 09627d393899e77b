// Facts about a notebook before it opens: changes made by its import, and that it is new.
import type { Notice } from "../../protocol/rest.ts";

const told = new Map<string, string>();

/** Example: “The import changed 2 things: …”; undefined without notices. */
export function importWords(notices: readonly Notice[]): string | undefined {
  if (notices.length === 0) return undefined;
  const count = notices.length === 1 ? "1 thing" : `${notices.length} things`;
  const where = ({ cell }: Notice) => (typeof cell === "number" ? ` (cell ${cell + 1})` : "");
  return `The import changed ${count}: ${notices.map((notice) => `${notice.message}${where(notice)}`).join("; ")}`;
}

export function arrived(notebook: string, notices: readonly Notice[]): void {
  const words = importWords(notices);
  if (words) told.set(notebook, words);
}

/** Returns the import's words and forgets them. */
export function takeArrival(notebook: string): string | undefined {
  const words = told.get(notebook);
  told.delete(notebook);
  return words;
}

let made: string | undefined;

export function madeNew(notebook: string): void {
  made = notebook;
}

/** Returns true once for a new notebook. */
export function takeNew(notebook: string): boolean {
  const isNew = made === notebook;
  if (isNew) made = undefined;
  return isNew;
}
