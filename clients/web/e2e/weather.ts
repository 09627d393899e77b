// Conditions that a page meets while people work: a long way to the server, a lower role.
import type { Page } from "@playwright/test";
import type { TestServer } from "./server.ts";
import { notebookOf } from "./record.ts";

/** What is far away answers late. Before the page is opened. */
export async function slowly(page: Page, milliseconds: number): Promise<void> {
  await page.routeWebSocket(/\/api\/socket/, (socket) => {
    const far = socket.connectToServer();
    socket.onMessage((message) => setTimeout(() => far.send(message), milliseconds / 2));
    far.onMessage((message) => setTimeout(() => socket.send(message), milliseconds / 2));
  });
}

/** What a person may do in the notebook from now on. */
export async function become(server: TestServer, page: Page, id: string, role: string): Promise<void> {
  await server.send("PUT", `/api/notebooks/${notebookOf(page)}/access`, { subject: { kind: "user", id }, role });
}
