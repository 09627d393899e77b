// Dialog with all runs of a cell; compares two of them. Lazy: loads when it opens.
import { Dialog } from "@base-ui/react/dialog";
import { Link2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";
import { ago, date, duration } from "../../../app/words/words.ts";
import type { Actor, Execution } from "../../../protocol/messages.ts";
import { writtenText } from "../../../protocol/values.ts";
import { EndedBy } from "../../cell/Ended.tsx";
import { OutputList } from "../../outputs/Outputs.tsx";

interface Run {
  id: string;
  execution: Execution;
  ended_by?: Actor | null;
}

interface Page {
  runs: Run[];
  next?: number | null;
}

interface Comparison {
  source_diff: string;
  output_diff: string;
  same_outputs: boolean;
  same_source: boolean;
}

interface RunsProps {
  store: NotebookStore;
  cell: string;
  /** Run to select first. */
  run?: string | undefined;
  close: () => void;
}

export default function Runs({ store, cell, run, close }: RunsProps) {
  const [runs, setRuns] = useState<Run[]>();
  const [next, setNext] = useState<number>();
  const [chosen, setChosen] = useState<string[]>([]);
  const [error, setError] = useState<string>();
  const path = `/api/notebooks/${encodeURIComponent(store.id)}/runs`;
  const load = (before?: number) =>
    store.session.rest.get<Page>(`${path}?cell=${encodeURIComponent(cell)}${before === undefined ? "" : `&before=${before}`}`).then(
      (page) => {
        setRuns((known = []) => (before === undefined ? page.runs : [...known, ...page.runs]));
        setNext(page.next ?? undefined);
        if (before === undefined) setChosen(run ? [run] : page.runs.slice(0, 2).map(({ id }) => id));
      },
      (failure: Error) => setError(failure.message),
    );
  useEffect(() => void load(), [store, cell]);
  // Selecting a third run deselects the first one. The older of the two is on the left.
  const choose = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before.slice(-1), id]));
  // A linked run may be older than the listed page.
  const known = new Set(runs?.map(({ id }) => id));
  const listed = (runs ?? []).filter(({ id }) => chosen.includes(id)).reverse();
  const sides = [...chosen.filter((id) => !known.has(id)).map((id) => ({ id })), ...listed];
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="runs" finalFocus={false}>
          <div className="row">
            <Dialog.Title className="grow">Runs of this cell</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          {error && <p className="error">Couldn’t load the runs. {error}</p>}
          {runs?.length === 0 && <p className="quiet">Not run yet.</p>}
          {!runs && !error && <div className="shape" aria-busy="true" />}
          <div className="columns">
            <ul aria-label="Runs, newest first">
              {runs?.map(({ id, execution, ended_by }) => (
                <li key={id}>
                  <button
                    className="step"
                    aria-pressed={chosen.includes(id)}
                    onClick={() => choose(id)}
                    title={date(execution.requested_at)}
                  >
                    <span>
                      {execution.execution_count ? `[${execution.execution_count}] ` : ""}
                      <EndedBy store={store} run={execution} by={ended_by} />
                    </span>
                    <span className="quiet small">
                      {ago(execution.requested_at)}
                      {execution.started_at && execution.ended_at
                        ? ` · ${duration(execution.ended_at - execution.started_at)}`
                        : ""}
                    </span>
                  </button>
                </li>
              ))}
              {next !== undefined && (
                <li>
                  <button className="button bare small" onClick={() => void load(next)}>
                    Show older
                  </button>
                </li>
              )}
            </ul>
            <div className="sides">
              {sides.length === 2 && <Difference path={path} store={store} left={sides[0]?.id ?? ""} right={sides[1]?.id ?? ""} />}
              {sides.map(({ id }) => (
                <Side key={id} store={store} path={path} id={id} cell={cell} />
              ))}
            </div>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** One run with its outputs, which the list does not contain. */
function Side({ store, path, id, cell }: { store: NotebookStore; path: string; id: string; cell: string }) {
  const [run, setRun] = useState<Execution>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    store.session.rest.get<Run>(`${path}/${id}`).then(
      ({ execution }) => setRun(execution),
      (failure: Error) => setError(failure.message),
    );
  }, [store, path, id]);
  if (error) return <p className="error">{error}</p>;
  if (!run) return <div className="shape" aria-busy="true" />;
  return (
    <section aria-label={`Run of ${date(run.requested_at)}`}>
      <h3 className="row">
        <span className="grow">
          {run.execution_count ? `[${run.execution_count}] ` : ""}
          {date(run.requested_at)}
        </span>
        <CopyLink address={`${location.origin}/#/n/${store.id}/${cell}?run=${id}`} />
      </h3>
      <pre className="effect" tabIndex={0}>
        {"source" in run.subject ? writtenText(run.subject.source) : ""}
      </pre>
      {(run.outputs ?? []).length === 0 ? (
        <p className="quiet small">No outputs</p>
      ) : (
        <OutputList store={store} outputs={run.outputs ?? []} run={run} />
      )}
    </section>
  );
}

function CopyLink({ address }: { address: string }) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <button className="button bare small" onClick={() => void navigator.clipboard.writeText(address).then(() => setIsCopied(true))}>
      <Link2 size={13} aria-hidden /> {isCopied ? "Copied" : "Copy link"}
    </button>
  );
}

function Difference({ store, path, left, right }: { store: NotebookStore; path: string; left: string; right: string }) {
  const [comparison, setComparison] = useState<Comparison>();
  useEffect(() => {
    setComparison(undefined);
    store.session.rest.get<Comparison>(`${path}/${left}/compare/${right}`).then(setComparison, () => undefined);
  }, [store, path, left, right]);
  if (!comparison) return null;
  const { same_source, same_outputs } = comparison;
  const words = same_source ? "Same code" : "Different code";
  return (
    <p className="quiet small whole" role="status">
      {words}, {same_outputs ? "same outputs" : "different outputs"}
    </p>
  );
}
