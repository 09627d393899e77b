// HTML that code has pushed to this page, in a sandboxed frame, until the person closes it.
import { useEffect, useMemo, useState } from "react";
import { followPushes } from "../../app/state/pushes.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import type { Drawing } from "../../outputs/mime.ts";
import { Frame } from "../outputs/Frame.tsx";

export default function Pushed({ store }: { store: NotebookStore }) {
  useTopics(store, "kernels", "notebook");
  // Each stream holds a connection: a notebook without a kernel has no code that could push.
  const hasKernel = store.document.kernels.size > 0;
  const [html, setHtml] = useState<string>();
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (!hasKernel) return;
    const end = new AbortController();
    const show = (pushed: string) => {
      setHtml(pushed);
      setCount((before) => before + 1);
    };
    void followPushes(store, show, end.signal);
    return () => end.abort();
  }, [store, hasKernel]);
  const drawing = useMemo((): Drawing | undefined => (html === undefined ? undefined : { kind: "html", html }), [html]);
  if (!drawing) return null;
  return (
    <section className="pushed" aria-label="Sent by code">
      <p className="row small">
        <span className="quiet">Sent by code in this notebook. It is not saved.</span>
        <button className="button" onClick={() => setHtml(undefined)}>
          Close
        </button>
      </p>
      <Frame key={count} drawing={drawing} title="Sent by code" />
    </section>
  );
}
