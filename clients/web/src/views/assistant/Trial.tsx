// Trial run of a proposal before approval: shows its outputs in the proposal and leaves the cell unchanged.
import { Play } from "lucide-react";
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { statusWords } from "../../app/words/words.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution } from "../../protocol/messages.ts";
import { AnsweredInputs, InputRequest } from "../outputs/InputRequest.tsx";
import { OutputList } from "../outputs/Outputs.tsx";

/** A scratch run. Finished runs leave the document, so the result is then fetched by REST. */
export function useTrial(store: NotebookStore, source: string) {
  useTopics(store, "executions");
  const [id, setId] = useState<string>();
  const [ended, setEnded] = useState<Execution>();
  const [error, setError] = useState<string>();
  const live = id === undefined ? undefined : store.document.executions.get(id);
  const isOver = id !== undefined && (!live || isFinished(live.status));
  useEffect(() => {
    if (id === undefined || !isOver) return;
    let isGone = false;
    store.session.rest.get<{ execution: Execution }>(`/api/notebooks/${encodeURIComponent(store.id)}/runs/${id}`).then(
      ({ execution }) => !isGone && setEnded(execution),
      (failure: Error) => !isGone && setError(failure.message),
    );
    return () => {
      isGone = true;
    };
  }, [store, id, isOver]);
  const start = async () => {
    setError(undefined);
    setEnded(undefined);
    setId(undefined);
    const target = { scratch: { source, purpose: "a proposal" } };
    const done = await store.send({ RequestExecution: { target, stop_on_error: true } });
    setId(done?.outcome.executions?.[0]);
  };
  return { id, run: isOver ? ended : live, isGoing: id !== undefined && !isOver, error, start };
}

export function TryButton({ trial, isDisabled }: { trial: ReturnType<typeof useTrial>; isDisabled: boolean }) {
  return (
    <button
      className="button bare small"
      title="Runs the proposal in the kernel. The cell stays unchanged, variables may change."
      disabled={isDisabled || trial.isGoing}
      onClick={() => void trial.start()}
    >
      <Play size={13} aria-hidden /> {trial.isGoing ? "Running…" : "Try"}
    </button>
  );
}

export function Trial({ store, trial: { id, run, error } }: { store: NotebookStore; trial: ReturnType<typeof useTrial> }) {
  if (error)
    return (
      <p className="error small" role="alert">
        Could not load the output: {error}
      </p>
    );
  if (!run || id === undefined) return null;
  const outputs = run.outputs ?? [];
  return (
    <div className="trial" role="group" aria-label="Output of the trial">
      <p className="small" role="status">
        {run.status === "ok" ? "It ran" : statusWords(run)}
        {outputs.length === 0 && isFinished(run.status) && ", without outputs"}. Your cell is unchanged.
      </p>
      <AnsweredInputs store={store} executionId={id} isOpen={!!run.pending_input} />
      {run.pending_input && <InputRequest store={store} executionId={id} input={run.pending_input} />}
      {outputs.length > 0 && <OutputList store={store} outputs={outputs} run={run} isGrowing={!isFinished(run.status)} />}
    </div>
  );
}
