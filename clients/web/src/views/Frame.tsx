// HTML of others that may hold scripts: in a frame on an opaque origin, which reaches neither the page nor the network.
import { useEffect, useRef, useState } from "react";

const FRAME = "/frame.html";
const MOST_HEIGHT = 20_000;

/** The frame says nothing but that it is there and how tall it is. */
function heightIn(data: unknown): number | "ready" | undefined {
  if (data === "ready") return "ready";
  const height = (data as { height?: unknown } | null)?.height;
  return typeof height === "number" && Number.isFinite(height) ? Math.max(0, Math.min(MOST_HEIGHT, height)) : undefined;
}

export function Frame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(60);
  useEffect(() => {
    const hear = (event: MessageEvent<unknown>) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target) return;
      const message = heightIn(event.data);
      if (message === "ready") target.postMessage({ html }, "*");
      else if (message !== undefined) setHeight(message);
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [html]);
  return (
    <iframe
      ref={frame}
      className="frame"
      src={FRAME}
      sandbox="allow-scripts"
      title="Output"
      height={height}
      referrerPolicy="no-referrer"
    />
  );
}
