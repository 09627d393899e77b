// Messages of the sandboxed frame to the page. A frame may send anything; only valid messages are accepted.

import { type WidgetMessage, widgetMessage } from "./widgets.ts";

export type FrameMessage =
  | { kind: "ready" }
  | { kind: "comm"; message: WidgetMessage }
  | { kind: "leave" }
  | { kind: "height"; height: number }
  | { kind: "failed"; why: string };

const MOST_HEIGHT = 20_000;

export function frameMessage(data: unknown): FrameMessage | undefined {
  if (data === "ready") return { kind: "ready" };
  if (data === "leave") return { kind: "leave" };
  const { height, failed, comm } = (data ?? {}) as { height?: unknown; failed?: unknown; comm?: unknown };
  if (comm !== undefined) {
    const message = widgetMessage(comm);
    return message && { kind: "comm", message };
  }
  if (typeof failed === "string") return { kind: "failed", why: failed.slice(0, 500) };
  if (typeof height !== "number" || !Number.isFinite(height)) return undefined;
  return { kind: "height", height: Math.max(0, Math.min(MOST_HEIGHT, Math.ceil(height))) };
}
