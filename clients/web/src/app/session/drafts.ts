// Unconfirmed text, stored in this browser when the page is left and offered when the notebook opens again.

export interface Draft {
  cell: string;
  text: string;
  /** Confirmed source on which the text was written; absent in drafts of older pages. */
  base?: string | undefined;
  /** Redaction epoch of the notebook; absent: 0. */
  epoch?: number | undefined;
}

type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const key = (notebook: string) => `notarium.drafts.${notebook}`;

export function keepDrafts(notebook: string, drafts: Draft[], storage: BrowserStorage = localStorage): void {
  if (drafts.length === 0) return;
  const others = peek(notebook, storage).filter(({ cell }) => !drafts.some((draft) => draft.cell === cell));
  try {
    storage.setItem(key(notebook), JSON.stringify([...others, ...drafts]));
  } catch {
    // Above the browser's storage quota; the page has already asked before leaving.
  }
}

/** Returns the stored drafts and removes them. */
export function takeDrafts(notebook: string, storage: BrowserStorage = localStorage): Draft[] {
  const drafts = peek(notebook, storage);
  storage.removeItem(key(notebook));
  return drafts;
}

/** Removes drafts from before a redaction: their text may hold removed content. */
export function forgetDrafts(notebook: string, epoch: number, storage: BrowserStorage = localStorage): void {
  const drafts = peek(notebook, storage).filter((draft) => (draft.epoch ?? 0) >= epoch);
  storage.removeItem(key(notebook));
  keepDrafts(notebook, drafts, storage);
}

function peek(notebook: string, storage: BrowserStorage): Draft[] {
  try {
    const value: unknown = JSON.parse(storage.getItem(key(notebook)) ?? "[]");
    return Array.isArray(value) ? value.filter(isDraft) : [];
  } catch {
    return [];
  }
}

function isDraft(value: unknown): value is Draft {
  const { cell, text, base } = (value ?? {}) as Partial<Draft>;
  return typeof cell === "string" && typeof text === "string" && (base === undefined || typeof base === "string");
}
