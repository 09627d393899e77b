// A kernel widget: interactive while the kernel runs, then its last saved state.
import { useEffect, useMemo, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import type { Drawing } from "../../outputs/mime.ts";
import { type WidgetChange, closure, savedWidgets } from "../../outputs/widgets.ts";
import type { Execution } from "../../protocol/messages.ts";
import { type Feed, Frame } from "./Frame.tsx";

interface Props {
  store: NotebookStore;
  run: Execution;
  model: string;
  text: string;
}

export function Widget({ store, run, model, text }: Props) {
  useTopics(store, "kernels", "notebook");
  const kernel = run.kernel_session ?? "";
  const isAlive = store.document.kernels.get(kernel)?.phase === "started";
  return isAlive ? (
    <Live {...{ store, kernel, model, text }} />
  ) : (
    <Saved {...{ store, model, text }} why="The kernel has stopped" />
  );
}

function Live({ store, kernel, model, text }: Omit<Props, "run"> & { kernel: string }) {
  const { comms } = store;
  const [epoch, setEpoch] = useState(0);
  useEffect(() => {
    return comms.replaced.add((replaced) => replaced === kernel && setEpoch((last) => last + 1));
  }, [comms, kernel]);
  const { widgets, problem } = comms.of(kernel);
  const { mayRun } = store;
  const feed = useMemo(() => feedOf(store, kernel, model, mayRun), [store, kernel, model, mayRun, epoch]);
  if (!widgets) return <p className="quiet small">{problem ? `Can’t show this widget: ${problem}.` : text}</p>;
  if (!widgets.has(model)) return <Saved {...{ store, model, text }} why="The kernel no longer has this widget" />;
  return (
    <>
      {!mayRun && <p className="quiet small">You can view this widget but not change it.</p>}
      {problem && <p className="quiet small">{problem}</p>}
      <Frame drawing={feed.drawing()} title={text || "Widget"} feed={feed} />
    </>
  );
}

/** Feed between a frame and the kernel, limited to the widgets of the frame's view. */
function feedOf({ comms }: NotebookStore, kernel: string, model: string, mayMove: boolean): Feed {
  let shown = new Set<string>();
  const sent = new Map<string, string>();
  const all = () => comms.of(kernel).widgets ?? new Map();
  const isOurs = (change: WidgetChange) => shown.has(idOf(change));
  const named = (change: WidgetChange): WidgetChange =>
    "message" in change ? { message: { ...change.message, parent: sent.get(change.message.parent ?? "") ?? "" } } : change;
  return {
    drawing: () => {
      shown = closure(all(), model);
      const widgets = [...all()].filter(([id]) => shown.has(id));
      return { kind: "widgets", model, widgets, isLive: true, mayMove };
    },
    listen: (tell) =>
      comms.changed.add((from, changes) => {
        if (from !== kernel) return;
        const before = shown;
        const mayGrow = changes.some((change) => "opened" in change || /model_id|IPY_MODEL_/.test(JSON.stringify(change)));
        if (mayGrow) shown = new Set([...before, ...closure(all(), model)]);
        const opened = [...shown].filter((id) => !before.has(id)).map((id) => ({ opened: { comm_id: id, ...all().get(id) } }));
        const rest = changes.filter((change) => isOurs(change) && !("opened" in change)).map(named);
        if (opened.length + rest.length > 0) tell([...opened, ...rest]);
      }),
    say: (message) => {
      if (!mayMove || !shown.has(message.comm_id)) return;
      const name = comms.send(kernel, message);
      if (name === undefined) return;
      sent.set(name, String(message.id));
      const [oldest] = sent.keys();
      if (sent.size > MOST_SENT && oldest !== undefined) sent.delete(oldest);
    },
  };
}

const MOST_SENT = 1_000;

function idOf(change: WidgetChange): string {
  if ("opened" in change) return change.opened.comm_id;
  return "closed" in change ? change.closed.comm_id : change.message.comm_id;
}

function Saved({ store, model, text, why }: Omit<Props, "run"> & { why: string }) {
  const { metadata } = store.document;
  const drawing = useMemo((): Drawing | undefined => {
    const all = savedWidgets(metadata);
    if (!all.has(model)) return undefined;
    const shown = closure(all, model);
    return { kind: "widgets", model, widgets: [...all].filter(([id]) => shown.has(id)), isLive: false, mayMove: false };
  }, [metadata, model]);
  const again = "run the cell again to use it";
  if (!drawing) return <p className="quiet small">{`${text || "A widget"}. ${why}: ${again}.`}</p>;
  return (
    <>
      <Frame drawing={drawing} title={text || "Widget"} />
      <p className="quiet small">{`${why}. This is what the widget showed last; ${again}.`}</p>
    </>
  );
}
