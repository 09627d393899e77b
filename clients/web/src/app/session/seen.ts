// Time up to which a person has seen a notebook's comments, stored in this browser.
type BrowserStorage = Pick<Storage, "getItem" | "setItem">;

const KEY = "notarium.seen";
const MOST = 100;

function read(storage: BrowserStorage): Record<string, number> {
  try {
    const value: unknown = JSON.parse(storage.getItem(KEY) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, number>) : {};
  } catch {
    return {};
  }
}

/** Milliseconds since 1970; undefined if the comments were never shown here. */
export function seenAt(user: string | undefined, notebook: string, storage: BrowserStorage = localStorage): number | undefined {
  const at = read(storage)[`${user ?? "guest"} ${notebook}`];
  return typeof at === "number" ? at : undefined;
}

export function see(user: string | undefined, notebook: string, at: number, storage: BrowserStorage = localStorage): void {
  const key = `${user ?? "guest"} ${notebook}`;
  const { [key]: _, ...others } = read(storage);
  const kept = Object.entries({ ...others, [key]: at }).slice(-MOST);
  try {
    storage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // The time is optional, so a full storage is ignored.
  }
}
