// Conditions during a test: a slow connection, a lower role.
import type { Page } from "@playwright/test";
import type { TestServer } from "./server.ts";
import { notebookOf } from "./record.ts";

/** Adds a round-trip delay to the socket's messages. Call before opening the page. */
export async function slowly(page: Page, milliseconds: number): Promise<void> {
  await page.routeWebSocket(/\/api\/socket/, (socket) => {
    const far = socket.connectToServer();
    socket.onMessage((message) => setTimeout(() => far.send(message), milliseconds / 2));
    far.onMessage((message) => setTimeout(() => socket.send(message), milliseconds / 2));
  });
}

/** Changes a person's role in the notebook. */
export async function become(server: TestServer, page: Page, id: string, role: string): Promise<void> {
  await server.send("PUT", `/api/notebooks/${notebookOf(page)}/access`, { subject: { kind: "user", id }, role });
}
