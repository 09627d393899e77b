// Guest name: stored in this browser and sent to the server when a connection opens.

type BrowserStorage = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.guest";
/** The server's limit. */
export const MOST_NAME = 40;

export function guestName(storage: BrowserStorage = localStorage): string | undefined {
  try {
    return tidy(storage.getItem(KEY) ?? "");
  } catch {
    return undefined;
  }
}

export function keepGuestName(text: string, storage: BrowserStorage = localStorage): string | undefined {
  const name = tidy(text);
  try {
    storage.setItem(KEY, name ?? "");
  } catch {
    // Storage is full: the name lasts until the page is left.
  }
  return name;
}

/** Removes invisible characters and line breaks, and limits the length. */
function tidy(text: string): string | undefined {
  const seen = text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, " ").trim();
  return [...seen].slice(0, MOST_NAME).join("").trim() || undefined;
}
