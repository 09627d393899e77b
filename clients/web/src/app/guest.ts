// What a guest wants to be called: kept in this browser, told to the server when a connection begins.

type Kept = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.guest";
/** As long as the server takes it. */
export const MOST_NAME = 40;

export function guestName(storage: Kept = localStorage): string | undefined {
  try {
    return tidy(storage.getItem(KEY) ?? "");
  } catch {
    return undefined;
  }
}

export function keepGuestName(text: string, storage: Kept = localStorage): string | undefined {
  const name = tidy(text);
  try {
    storage.setItem(KEY, name ?? "");
  } catch {
    // It holds until the page is left.
  }
  return name;
}

/** On one line, as long as may be, without what is not seen. */
function tidy(text: string): string | undefined {
  const seen = text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, " ").trim();
  return [...seen].slice(0, MOST_NAME).join("").trim() || undefined;
}
