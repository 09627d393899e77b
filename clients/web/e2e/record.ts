// The record, whatever a page shows.
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

/** The cells of the notebook that the page shows, as the server has them. */
export async function record(server: TestServer, page: Page): Promise<RecordedCell[]> {
  const answer = await server.send("GET", `/api/notebooks/${notebookOf(page)}`);
  const { notebook } = (await answer.json()) as { notebook: State };
  return notebook.order.map((id) => ({ id, cell_type: "", source: "", ...notebook.cells[id] }));
}

/** When all that was written is there. */
export async function recorded(server: TestServer, page: Page, ...sources: string[]): Promise<void> {
  await expect.poll(async () => (await record(server, page)).map(({ source }) => source)).toEqual(sources);
}
