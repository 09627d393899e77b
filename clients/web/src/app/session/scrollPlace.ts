// Place at which a notebook was left, stored for the tab: after a reload the page returns there.

export interface ScrollPlace {
  notebook: string;
  /** The first cell in sight, and the pixels of its top below the top of the window. */
  cell: string;
  top: number;
  /** The selected cell, if it was in sight. */
  current?: string | undefined;
}

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const KEY = "notarium.place";

export function keepPlace(place: ScrollPlace, storage: TabStorage = sessionStorage): void {
  try {
    storage.setItem(KEY, JSON.stringify(place));
  } catch {
    // The place is optional, so a full storage is ignored.
  }
}

/** Returns the place in this notebook and forgets it. */
export function takePlace(notebook: string, storage: TabStorage = sessionStorage): ScrollPlace | undefined {
  const text = storage.getItem(KEY);
  if (text === null) return undefined;
  storage.removeItem(KEY);
  try {
    const place = JSON.parse(text) as Partial<ScrollPlace> | null;
    if (typeof place?.cell !== "string" || !Number.isFinite(place.top) || place.notebook !== notebook) return undefined;
    return place as ScrollPlace;
  } catch {
    return undefined;
  }
}
