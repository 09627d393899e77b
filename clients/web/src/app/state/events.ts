// Loads all events of a notebook, for features that need the full history.
import type { EventMessage } from "../../protocol/messages.ts";
import type { OpenNotebook } from "./notebook.ts";

const MOST_EVENTS = 1_000;
const kept = new WeakMap<object, EventMessage[]>();

/** All events; already loaded events are cached. */
export async function allEvents(notebook: Pick<OpenNotebook, "id" | "session" | "replica">): Promise<EventMessage[]> {
  const all = [...(kept.get(notebook) ?? [])];
  for (;;) {
    const after = all.at(-1)?.version ?? 0;
    if (after >= notebook.replica.document.version) break;
    const path = `/api/notebooks/${notebook.id}/events?after=${after}&limit=${MOST_EVENTS}`;
    const { events } = await notebook.session.rest.get<{ events: EventMessage[] }>(path);
    if (events.length === 0) break;
    all.push(...events);
  }
  kept.set(notebook, all);
  return all;
}
