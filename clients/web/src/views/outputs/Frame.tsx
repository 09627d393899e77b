// Sandboxed iframe for output with scripts: its opaque origin can reach neither the page nor the network.
import { useEffect, useRef, useState } from "react";
import { useIsDark } from "../../app/session/settings.ts";
import { frameMessage } from "../../outputs/frame.ts";
import type { Drawing } from "../../outputs/mime.ts";
import { scriptsFor } from "../../outputs/renderers.ts";
import type { WidgetChange, WidgetMessage } from "../../outputs/widgets.ts";
import { useFrameKeys } from "../../app/state/frameKeys.ts";

const FRAME = "/frame.html";
/** Growth applies immediately, shrinking after this delay: a redraw would otherwise make the page jump. */
const SHRINK_MS = 250;
const MOST_LOADS = 100;

function giveKeysBack(frame: HTMLIFrameElement | null): void {
  if (document.activeElement === frame) frame?.closest<HTMLElement>("[data-cell]")?.focus();
}

/** Connection between a frame and a kernel's widgets. */
export interface Feed {
  /** Returns the current state: a frame may load more than once. */
  drawing: () => Drawing;
  listen: (tell: (changes: WidgetChange[]) => void) => () => void;
  say: (message: WidgetMessage) => void;
}

interface Props {
  drawing: Drawing;
  title?: string;
  /** Scripts that run before the drawing: libraries that the notebook itself brings. */
  before?: string[];
  feed?: Feed;
}

export function Frame({ drawing, title = "Output", before, feed }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(drawing.kind === "html" ? 60 : 300);
  const [failure, setFailure] = useState<string>();
  // Moving an iframe in the DOM reloads it. The count is capped, so that a frame cannot send `ready` endlessly.
  const [loads, setLoads] = useState(0);
  const { hasKeys, isStopped, again, connect } = useFrameKeys(frame);
  const isDark = useIsDark();
  // Only these kinds follow the dark theme; other HTML is rendered once.
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
  // The feed's drawing is read at load time.
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
        // Focusable by a page shortcut or a click only, not by Tab.
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
