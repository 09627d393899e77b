// Progress bars of a run, as its code reports by notarium.progress. They are not recorded and end with the run.
import { useEffect, useReducer } from "react";
import type { NotebookStore } from "../../app/state/store.ts";

interface Props {
  store: NotebookStore;
  execution: string;
  kernel: string | null | undefined;
}

export function RunProgress({ store, execution, kernel }: Props) {
  const { comms } = store;
  const [, changed] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const ends = [comms.replaced, comms.changed].map((listeners) =>
      (listeners as typeof comms.replaced).add((of) => of === kernel && changed()),
    );
    return () => ends.forEach((end) => end());
  }, [comms, kernel]);
  if (!kernel) return null;
  const all = comms.of(kernel).widgets?.values() ?? [];
  const ours = [...all].filter((comm) => comm.target === "notarium.progress" && comm.execution_id === execution);
  return (
    <>
      {ours.map(({ state }, index) => (
        <Bar key={index} state={state} />
      ))}
    </>
  );
}

function Bar({ state }: { state: Record<string, unknown> }) {
  const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
  const done = number(state["done"]) ?? 0;
  const total = number(state["total"]);
  const label = typeof state["label"] === "string" ? state["label"] : "";
  const words = total ? `${done} of ${total}` : String(done);
  return (
    <p className="run-progress small row">
      {label && <span>{label}</span>}
      <progress aria-label={label || "Progress"} {...(total ? { value: Math.min(done, total), max: total } : {})} />
      <span className="quiet">{words}</span>
    </p>
  );
}
