// What may hold scripts of others: in a frame on an opaque origin, which reaches neither the page nor the network.
import { useEffect, useRef, useState } from "react";
import { useIsDark } from "../app/theme.ts";
import { frameMessage } from "../outputs/frame.ts";
import type { Drawing } from "../outputs/mime.ts";
import { scriptsFor } from "../outputs/renderers.ts";

const FRAME = "/frame.html";
/** It grows at once and shrinks after a moment: what is drawn anew would make the page jump. */
const SHRINK_MS = 250;
const MOST_LOADS = 100;

interface Props {
  drawing: Drawing;
  title?: string;
  /** Run before what is drawn: the libraries that the notebook itself brings. */
  before?: string[];
}

export function Frame({ drawing, title = "Output", before }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(drawing.kind === "html" ? 60 : 300);
  const [failure, setFailure] = useState<string>();
  // A frame that is moved in the page is loaded anew; one that says so without end is not listened to.
  const [loads, setLoads] = useState(0);
  const isDark = useIsDark();
  // What is drawn for dark alone depends on it: HTML of others is drawn once.
  const dark = isDark && (drawing.kind === "vega" || drawing.kind === "mermaid");
  useEffect(() => {
    let shrinking: ReturnType<typeof setTimeout> | undefined;
    const hear = (event: MessageEvent<unknown>) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target) return;
      const message = frameMessage(event.data);
      clearTimeout(shrinking);
      if (message?.kind === "ready") setLoads((count) => Math.min(count + 1, MOST_LOADS));
      else if (message?.kind === "failed") setFailure(message.why);
      else if (message?.kind === "height") {
        setHeight((now) => Math.max(now, message.height));
        shrinking = setTimeout(() => setHeight(message.height), SHRINK_MS);
      }
    };
    addEventListener("message", hear);
    return () => {
      clearTimeout(shrinking);
      removeEventListener("message", hear);
    };
  }, []);
  useEffect(() => {
    if (loads === 0) return;
    let isGone = false;
    setFailure(undefined);
    scriptsFor(drawing.kind).then(
      (scripts) => {
        const message = { drawing, scripts: [...(before ?? []), ...scripts], dark };
        if (!isGone) frame.current?.contentWindow?.postMessage(message, "*");
      },
      (error: Error) => !isGone && setFailure(error.message),
    );
    return () => void (isGone = true);
  }, [loads, drawing, before, dark]);
  return (
    <>
      {failure && <p className="error small">This could not be drawn: {failure}</p>}
      <iframe
        ref={frame}
        className="frame"
        src={FRAME}
        sandbox="allow-scripts"
        title={title}
        height={height}
        referrerPolicy="no-referrer"
      />
    </>
  );
}
