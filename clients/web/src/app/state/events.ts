// Loads all events of a notebook, for features that need the full history.
import type { EventMessage } from "../../protocol/messages.ts";
import type { NotebookStore } from "./store.ts";

const MOST_EVENTS = 1_000;
const kept = new WeakMap<NotebookStore, EventMessage[]>();

/** All events; already loaded events are cached. */
export async function allEvents(store: NotebookStore): Promise<EventMessage[]> {
  const all = [...(kept.get(store) ?? [])];
  for (;;) {
    const after = all.at(-1)?.version ?? 0;
    if (after >= store.document.version) break;
    const path = `/api/notebooks/${store.id}/events?after=${after}&limit=${MOST_EVENTS}`;
    const { events } = await store.session.rest.get<{ events: EventMessage[] }>(path);
    if (events.length === 0) break;
    all.push(...events);
  }
  kept.set(store, all);
  return all;
}
