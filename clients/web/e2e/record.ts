// Reads the notebook from the server, independent of the page.
import type { Page } from "@playwright/test";
import type { EventMessage } from "../src/protocol/messages.ts";
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

export interface Recorded extends EventMessage {
  actor: EventMessage["actor"];
}

/** Reads all events after a version. */
export async function events(server: TestServer, id: string, after: number): Promise<Recorded[]> {
  const found: Recorded[] = [];
  for (let from: number | undefined = after; from !== undefined;) {
    const answer = await server.send("GET", `/api/notebooks/${id}/events?after=${from}&limit=1000`);
    const { events: some, next } = (await answer.json()) as { events: Recorded[]; next?: number };
    found.push(...some);
    from = next;
  }
  return found;
}

/** State of a page's replica, found through React's internals: the page exports no handle. */
export function replicaOf(page: Page): Promise<{ version: number; digest: string; sources: string[] }> {
  return page.evaluate(() => {
    const root = document.querySelector(".notebook") as unknown as Record<string, unknown>;
    interface Fiber {
      return: Fiber | null;
      memoizedProps: {
        store?: { document: { version: number; digest: () => string; order: string[]; cells: Map<string, { source: string }> } };
      };
    }
    let fiber = root[Object.keys(root).find((key) => key.startsWith("__reactFiber$")) ?? ""] as Fiber | null;
    while (fiber && !fiber.memoizedProps?.store) fiber = fiber.return;
    const held = fiber?.memoizedProps.store?.document;
    if (!held) throw new Error("no store");
    const sources = held.order.map((id) => held.cells.get(id)?.source ?? "");
    return { version: held.version, digest: held.digest(), sources };
  });
}
