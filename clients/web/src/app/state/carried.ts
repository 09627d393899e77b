// State that goes from an open notebook to the store that replaces it after a redaction: places, and the person's own unconfirmed words. All
// else is dropped, because it may hold removed content.
import type { Entry, Panel } from "./notebook.ts";
import type { NotebookStore } from "./store.ts";

export interface Carried {
  notebook: string;
  panel: Panel;
  current: string | undefined;
  past: number | undefined;
  pastEntry: Entry | undefined;
  /** Text that the person typed and nobody confirmed, by cell. */
  typed: string[];
  /** Other changes were not confirmed. */
  isUnsure: boolean;
}

export function carriedFrom(store: NotebookStore): Carried {
  const { id: notebook, panel, current, past, pastEntry: entry, texts, replica } = store;
  const typed = texts.typed().map(({ text }) => text);
  // A text that was looked for may be what was redacted.
  const pastEntry = entry?.text === undefined ? entry : undefined;
  return { notebook, panel, current, past, pastEntry, typed, isUnsure: replica.unanswered > 0 && typed.length === 0 };
}

/** Restores the places once the new state is there, and tells the person what happened. */
export function carryOn(store: NotebookStore, { panel, current, past, pastEntry, typed, isUnsure }: Carried): void {
  store.panel = panel;
  const end = store.replica.replaced.add(() => {
    end();
    if (current !== undefined && store.document.cells.has(current)) store.select(current);
    if (past !== undefined) store.look(past, pastEntry);
  });
  const words = "Content of this notebook was redacted";
  for (const text of typed) store.toast({ text: `${words} while you typed. Your text:`, copy: text, copyLabel: "Copy your text" });
  if (typed.length === 0)
    store.toast({ text: isUnsure ? `${words}. Check your latest change: it may not be saved.` : `${words}.` });
}
