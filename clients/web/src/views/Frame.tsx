// What may hold scripts of others: in a frame on an opaque origin, which reaches neither the page nor the network.
import { useEffect, useRef, useState } from "react";
import { useIsDark } from "../app/theme.ts";
import { frameMessage } from "../outputs/frame.ts";
import type { Drawing } from "../outputs/mime.ts";
import { scriptsFor } from "../outputs/renderers.ts";
import type { WidgetChange, WidgetMessage } from "../outputs/widgets.ts";
import { useFrameKeys } from "../app/frameKeys.ts";

const FRAME = "/frame.html";
/** It grows at once and shrinks after a moment: what is drawn anew would make the page jump. */
const SHRINK_MS = 250;
const MOST_LOADS = 100;

function giveKeysBack(frame: HTMLIFrameElement | null): void {
  if (document.activeElement === frame) frame?.closest<HTMLElement>("[data-cell]")?.focus();
}

/** What goes on between a frame and a kernel. */
export interface Feed {
  /** As it is now: a frame may be loaded again. */
  drawing: () => Drawing;
  listen: (tell: (changes: WidgetChange[]) => void) => () => void;
  say: (message: WidgetMessage) => void;
}

interface Props {
  drawing: Drawing;
  title?: string;
  /** Run before what is drawn: the libraries that the notebook itself brings. */
  before?: string[];
  feed?: Feed;
}

export function Frame({ drawing, title = "Output", before, feed }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(drawing.kind === "html" ? 60 : 300);
  const [failure, setFailure] = useState<string>();
  // A frame that is moved in the page is loaded anew; one that says so without end is not listened to.
  const [loads, setLoads] = useState(0);
  const { hasKeys, isStopped, again, connect } = useFrameKeys(frame);
  const isDark = useIsDark();
  // What is drawn for dark alone depends on it: HTML of others is drawn once.
  const dark = isDark && ["vega", "mermaid", "widgets"].includes(drawing.kind);
  useEffect(() => {
    let shrinking: ReturnType<typeof setTimeout> | undefined;
    const hear = (event: MessageEvent<unknown>) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target) return;
      const message = frameMessage(event.data);
      clearTimeout(shrinking);
      if (message?.kind === "ready") {
        connect(target);
        setLoads((count) => Math.min(count + 1, MOST_LOADS));
      }
      if (message?.kind === "leave") giveKeysBack(frame.current);
      else if (message?.kind === "comm") feed?.say(message.message);
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
  }, [feed, connect]);
  // What a feed draws is asked of it when it is drawn.
  const kind = drawing.kind;
  const fixed = feed ? undefined : drawing;
  useEffect(() => {
    if (loads === 0) return;
    let isGone = false;
    let end: (() => void) | undefined;
    setFailure(undefined);
    scriptsFor(kind).then(
      (scripts) => {
        const target = frame.current?.contentWindow;
        if (isGone || !target) return;
        const message = { drawing: feed?.drawing() ?? fixed, scripts: [...(before ?? []), ...scripts], dark };
        target.postMessage(message, "*");
        end = feed?.listen((changes) => target.postMessage({ changes }, "*"));
      },
      (error: Error) => !isGone && setFailure(error.message),
    );
    return () => {
      isGone = true;
      end?.();
    };
  }, [loads, kind, fixed, feed, before, dark]);
  if (isStopped) {
    return (
      <p className="quiet small row" role="status">
        Stopped: this output kept taking the keyboard.{" "}
        <button
          className="button"
          onClick={() => {
            setLoads(0);
            again();
          }}
        >
          Show again
        </button>
      </p>
    );
  }
  return (
    <>
      {failure && <p className="error small">Couldn’t draw this output. {failure}</p>}
      <iframe
        ref={frame}
        className={hasKeys ? "frame has-keys" : "frame"}
        src={FRAME}
        sandbox="allow-scripts"
        title={title}
        height={height}
        referrerPolicy="no-referrer"
        // By the keys of the page alone, or a click: not on the way from one cell to the next.
        tabIndex={-1}
      />
      {hasKeys && (
        <p className="frame-hint small" role="status">
          Keys go to this output. Press Esc to return.
        </p>
      )}
    </>
  );
}
