// What the sandboxed frame says to the page: anything may come out of it, and only this is heard.

export type FrameMessage =
  { kind: "ready" } | { kind: "leave" } | { kind: "height"; height: number } | { kind: "failed"; why: string };

const MOST_HEIGHT = 20_000;

export function frameMessage(data: unknown): FrameMessage | undefined {
  if (data === "ready") return { kind: "ready" };
  if (data === "leave") return { kind: "leave" };
  const { height, failed } = (data ?? {}) as { height?: unknown; failed?: unknown };
  if (typeof failed === "string") return { kind: "failed", why: failed.slice(0, 500) };
  if (typeof height !== "number" || !Number.isFinite(height)) return undefined;
  return { kind: "height", height: Math.max(0, Math.min(MOST_HEIGHT, Math.ceil(height))) };
}
