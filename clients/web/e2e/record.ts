// Reads the notebook from the server, independent of the page.
import type { Page } from "@playwright/test";
import { type TestServer, expect } from "./server.ts";

export interface RecordedCell {
  id: string;
  cell_type: string;
  source: string;
}

interface State {
  order: string[];
  version: number;
  cells: Record<string, { cell_type: string; source: string }>;
}

export const notebookOf = (page: Page): string => /n\/([^/?]+)/.exec(page.url())?.[1] ?? "";

/** Cells of the page's notebook, as the server has them. */
export async function record(server: TestServer, page: Page): Promise<RecordedCell[]> {
  const answer = await server.send("GET", `/api/notebooks/${notebookOf(page)}`);
  const { notebook } = (await answer.json()) as { notebook: State };
  return notebook.order.map((id) => ({ id, cell_type: "", source: "", ...notebook.cells[id] }));
}

/** Waits until the server has exactly these sources. */
export async function recorded(server: TestServer, page: Page, ...sources: string[]): Promise<void> {
  await expect.poll(async () => (await record(server, page)).map(({ source }) => source)).toEqual(sources);
}
