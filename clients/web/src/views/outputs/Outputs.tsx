// The outputs of a run.
import { useEffect, useMemo, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { type Now, CLEARING_MS, type ShownOutputs, nextShown } from "../../outputs/kept.ts";
import { grouped } from "../../outputs/groups.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution, Output } from "../../protocol/messages.ts";
import { Boundary } from "../../ui/Broken.tsx";
import { OutputView } from "./Output.tsx";

interface Props {
  store: NotebookStore;
  executionId: string;
  run: Execution;
  /** True if the cell's source has changed since the run. */
  isStale: boolean;
}

/** Outputs of the latest run. The previous outputs stay until it has its first. */
export function Outputs({ store, executionId, run, isStale }: Props) {
  const isOver = isFinished(run.status);
  const now = useMemo(
    () => ({ execution: executionId, outputs: run.outputs ?? [], isFinished: isOver, waits: run.clear_on_next_output === true }),
    [executionId, run.outputs, isOver, run.clear_on_next_output],
  );
  const shown = useShown(now);
  if (!shown || shown.outputs.length === 0) return null;
  const isOld = shown.isOld || isStale;
  return <OutputList store={store} outputs={shown.outputs} run={run} isOld={isOld} isGrowing={!isOver} />;
}

function useShown(now: Now): ShownOutputs | undefined {
  const [shown, setShown] = useState(() => nextShown(undefined, now));
  const [seen, setSeen] = useState(now);
  if (seen !== now) {
    setSeen(now);
    setShown(nextShown(shown, now));
  }
  const isGoing = shown?.isGoing === true;
  useEffect(() => {
    if (!isGoing) return;
    const timer = setTimeout(() => setShown(undefined), CLEARING_MS);
    return () => clearTimeout(timer);
  }, [isGoing]);
  return shown;
}

interface ListProps {
  store: NotebookStore;
  outputs: Output[];
  run: Execution;
  isOld?: boolean;
  isGrowing?: boolean;
}

export function OutputList({ store, outputs, run, isOld = false, isGrowing = false }: ListProps) {
  const list = useMemo(() => grouped(outputs), [outputs]);
  return (
    <div className={isOld ? "outputs old" : "outputs"}>
      {list.map((group, index) => (
        <Boundary key={index} what="This output" of={group}>
          <OutputView store={store} group={group} run={run} isGrowing={isGrowing && index === list.length - 1} />
        </Boundary>
      ))}
    </div>
  );
}
