// Output in the sandboxed frame: charts, widgets, and HTML with scripts or styles. Scripts of imported outputs wait for consent.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { isImported, showActive, useShowsActive } from "../../app/session/activeContent.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { type Drawing, type Shape, bokehScripts } from "../../outputs/mime.ts";
import { isActiveHtml, stillHtml } from "../../outputs/still.ts";
import type { Execution } from "../../protocol/messages.ts";
import { Frame } from "./Frame.tsx";
import { Widget } from "./Widget.tsx";

export interface FrameOutputProps {
  store: NotebookStore;
  run: Execution;
  shape: Extract<Shape, { kind: "frame" | "widget" }>;
}

export default function FrameOutput({ store, run, shape }: FrameOutputProps) {
  if (shape.kind === "frame") return <Drawn store={store} run={run} drawing={shape.drawing} title={shape.text} />;
  return (
    <Active store={store} isAsked={isImported(run)} text={shape.text}>
      <Widget store={store} run={run} model={shape.model} text={shape.text} />
    </Active>
  );
}

interface DrawnProps {
  store: NotebookStore;
  run: Execution;
  drawing: Drawing;
  title: string;
}

function Drawn({ store, run, drawing, title }: DrawnProps) {
  useTopics(store, "executions");
  const { scripts: before, isBrought } = useBokeh(store, drawing);
  const imported = isImported(run);
  const shown = useMemo(
    (): Drawing =>
      imported && drawing.kind === "html" && !isActiveHtml(drawing.html)
        ? { kind: "html", html: stillHtml(drawing.html) }
        : drawing,
    [imported, drawing],
  );
  if (drawing.kind === "bokeh" && !before) {
    return <p className="quiet small">Run output_notebook(INLINE) from bokeh.resources in a cell to show Bokeh charts.</p>;
  }
  const hasScripts = drawing.kind === "bokeh" || (drawing.kind === "html" && isActiveHtml(drawing.html));
  return (
    <Active store={store} isAsked={hasScripts && (imported || isBrought)} text={title}>
      <Frame drawing={shown} title={title || "Output"} {...(before && { before })} />
    </Active>
  );
}

interface ActiveProps {
  store: NotebookStore;
  isAsked: boolean;
  text: string;
  children: ReactNode;
}

/** Scripts of an imported output run only after consent, which applies to the whole notebook. */
function Active({ store, isAsked, text, children }: ActiveProps) {
  const { userId } = store.session;
  const isShown = useShowsActive(userId, store.id);
  if (!isAsked || isShown) return children;
  return (
    <div className="held-back row small">
      <p>
        <span className="quiet">This output came with a file and runs scripts.</span> {text && <code>{text.slice(0, 200)}</code>}
      </p>
      <button className="button" onClick={() => showActive(userId, store.id)}>
        Show active content
      </button>
    </div>
  );
}

/** Each Bokeh chart has its own frame, and gets the library scripts from the notebook's outputs. */
function useBokeh(store: NotebookStore, drawing: Drawing): { scripts: string[] | undefined; isBrought: boolean } {
  const [scripts, setScripts] = useState<string[]>();
  const runs = drawing.kind === "bokeh" ? [...store.document.executions.values()] : [];
  const outputs = runs.flatMap((run) => (run.outputs ?? []).map((output) => ({ run, output })));
  const found = outputs.findLast(({ output }) => bokehScripts(output.content) !== undefined);
  const loader = found?.output;
  useEffect(() => {
    if (!loader) return;
    void store.session.rest.whole(store.id, loader).then((content) => {
      const script = bokehScripts(content);
      setScripts(script === undefined ? undefined : [script]);
    });
  }, [store, loader]);
  return { scripts, isBrought: isImported(found?.run) };
}
