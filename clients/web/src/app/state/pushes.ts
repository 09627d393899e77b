// HTML that code pushes to the notebook's pages (add_html of dialoghelper), as server-sent events. A page in the background follows none:
// a browser has few connections to one server.
import type { NotebookStore } from "./store.ts";

/** Delay before the stream is opened again after its end. */
const AGAIN_MS = 5_000;
/** Most text of one event; the server allows less HTML. */
const MOST_CHARACTERS = 1 << 20;

/** Calls `show` with each push while the page is visible, until the signal ends it. */
export async function followPushes(store: NotebookStore, show: (html: string) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await visible(signal);
    const hidden = new AbortController();
    const hide = () => document.visibilityState === "hidden" && hidden.abort();
    document.addEventListener("visibilitychange", hide);
    try {
      const path = `/api/notebooks/${encodeURIComponent(store.id)}/pushes`;
      const answer = await store.session.rest.send(path, { signal: AbortSignal.any([signal, hidden.signal]) });
      if (answer.status === 204) return;
      for await (const html of pushes(answer)) show(html);
    } catch {
      // Cut, hidden, or without the right: tried again below.
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    if (!signal.aborted && !hidden.signal.aborted) await pause(signal);
  }
}

/** The HTML of each event. */
async function* pushes(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (const reader = answer.body?.getReader(); ;) {
    const next = await reader?.read();
    if (!next || next.done) return;
    text += decoder.decode(next.value, { stream: true });
    const events = text.split("\n\n");
    text = (events.pop() ?? "").slice(-MOST_CHARACTERS);
    for (const event of events) {
      const html = htmlOf(event);
      if (html !== undefined) yield html;
    }
  }
}

/** The HTML of one event; undefined for comments and other events. */
export function htmlOf(event: string): string | undefined {
  const data = event.split("\n").find((line) => line.startsWith("data:"));
  if (data === undefined) return undefined;
  try {
    const { content } = JSON.parse(data.slice("data:".length)) as { content?: unknown };
    return typeof content === "string" ? content : undefined;
  } catch {
    return undefined;
  }
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState === "hidden" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, AGAIN_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
