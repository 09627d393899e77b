// Applies events to the document. This file dispatches to the handlers of each slice.
import type { EventMessage, EventPayloads } from "./messages.ts";
import type { Document } from "./document.ts";
import { SCHEMAS } from "./schemas.ts";
import { Touched } from "./touched.ts";
import { cellEvents } from "./apply/cells.ts";
import { commentEvents } from "./apply/comments.ts";
import { conversationEvents } from "./apply/conversations.ts";
import { executionEvents } from "./apply/executions.ts";
import { kernelEvents } from "./apply/kernels.ts";
import { notebookEvents } from "./apply/notebook.ts";
import { scheduleEvents } from "./apply/schedules.ts";
import { toolCallEvents } from "./apply/tool_calls.ts";

/** Argument of a handler: the document, the event's envelope, and the record of changed parts. */
export interface Folding {
  document: Document;
  event: EventMessage;
  touched: Touched;
}

export type Handlers = {
  [Type in keyof EventPayloads]?: (payload: NonNullable<EventPayloads[Type]>, folding: Folding) => void;
};

const handlers = new Map(
  [
    ...[notebookEvents, cellEvents, commentEvents, executionEvents, kernelEvents, conversationEvents, toolCallEvents],
    scheduleEvents,
  ].flatMap((slice) => Object.entries(slice as Record<string, (payload: unknown, folding: Folding) => void>)),
);

/** True if this client knows the event's type and schema. If not, take the server's snapshot. */
export function knows(event: Pick<EventMessage, "type" | "schema">): boolean {
  const newest = SCHEMAS.get(event.type);
  return newest !== undefined && event.schema <= newest;
}

/** Applies one event; an event that was applied already changes nothing. Throws on unknown events: check `knows` first. */
export function apply(document: Document, event: EventMessage): Touched {
  const touched = new Touched();
  if (event.version <= document.version) return touched;
  if (!knows(event)) throw new Error(`this client does not know the event ${event.type} of schema ${event.schema}`);
  document.version = event.version;
  document.updated_at = event.recorded_at;
  handlers.get(event.type)?.(event.payload, { document, event, touched });
  return touched;
}
