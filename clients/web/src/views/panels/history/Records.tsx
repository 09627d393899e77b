// Tabs of the history panel besides the timeline: trash, runs, and authors of lines.
import { useCallback, useEffect, useState } from "react";
import { Blame, type BlamedLine } from "../../../app/cells/blame.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { ago, date, duration, hueOf } from "../../../app/words/words.ts";
import type { Actor, Execution } from "../../../protocol/messages.ts";
import type { NotebookBlame, Run, RunPage, Trash as TrashPage } from "../../../protocol/rest.ts";
import { Author, useName } from "../../../ui/Author.tsx";
import { EndedBy } from "../../cell/Ended.tsx";
import { REDACT_CELL, RedactButton } from "./RedactButton.tsx";

function useLoaded<T>(store: NotebookStore, load: () => Promise<T>): { value: T | undefined; error: string | undefined } {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let isGone = false;
    load().then(
      (got) => !isGone && setValue(got),
      (failure: Error) => !isGone && setError(failure.message),
    );
    return () => void (isGone = true);
  }, [store, load]);
  return { value, error };
}

function Loading({ error }: { error: string | undefined }) {
  if (error === undefined) return <div className="shape" aria-busy="true" />;
  return (
    <p className="error" role="alert">
      {error}
    </p>
  );
}

/** Deleted cells, newest first. Restoring puts a cell back in its place, with its outputs. */
export function Trash({ store }: { store: NotebookStore }) {
  useTopics(store, "order");
  const count = store.document.order.length;
  const load = useCallback(() => store.session.rest.get<TrashPage>(`/api/notebooks/${store.id}/trash`), [store, count]);
  const { value, error } = useLoaded(store, load);
  if (!value) return <Loading error={error} />;
  if (value.cells.length === 0) return <p className="quiet empty">The trash is empty.</p>;
  return (
    <ul className="records">
      {value.cells.map(({ cell_id, cell, deleted_by, deleted_at }) => (
        <li key={cell_id}>
          <p className="row small">
            <span className="grow">
              <Author store={store} actor={deleted_by} /> deleted this <time title={date(deleted_at)}>{ago(deleted_at)}</time>
            </span>
            <button className="button" disabled={!store.mayEdit} onClick={() => store.together.restore(cell_id)}>
              Restore
            </button>
          </p>
          <pre className="effect">{cell.source || "(empty)"}</pre>
        </li>
      ))}
      {value.incomplete && <li className="quiet small">Older deleted cells aren’t shown.</li>}
    </ul>
  );
}

/** All recorded runs of the notebook or of the current cell. */
export function Runs({ store }: { store: NotebookStore }) {
  useTopics(store, "executions", "order");
  const [isOfCell, setIsOfCell] = useState(false);
  const cell = isOfCell ? store.current : undefined;
  const { done, total } = store.progress;
  const load = useCallback(() => {
    const query = new URLSearchParams({ limit: "50", ...(cell && { cell }) });
    return store.session.rest.get<RunPage>(`/api/notebooks/${store.id}/runs?${query}`);
  }, [store, cell, done, total]);
  const { value, error } = useLoaded(store, load);
  return (
    <>
      <label className="row small">
        <input type="checkbox" checked={isOfCell} onChange={(event) => setIsOfCell(event.target.checked)} /> Selected cell only
      </label>
      {!value && <Loading error={error} />}
      {value?.runs.length === 0 && <p className="quiet empty">Nothing has run yet.</p>}
      <ul className="records">
        {value?.runs.map((run) => (
          <RunLine key={run.id} store={store} run={run} />
        ))}
      </ul>
    </>
  );
}

function RunLine({ store, run: { execution, ended_by } }: { store: NotebookStore; run: Run }) {
  const { subject, requested_by, requested_at, started_at, ended_at } = execution;
  const name = useName(store, requested_by);
  const cell = subject.kind === "cell" && store.document.cells.has(subject.cell_id) ? subject.cell_id : undefined;
  const what =
    subject.kind === "cell"
      ? cell
        ? `cell ${store.document.order.indexOf(cell) + 1}`
        : "a deleted cell"
      : subject.kind === "scratch"
        ? subject.purpose || "scratch code"
        : `the tool ${subject.tool}`;
  const took = started_at && ended_at ? ` · ${duration(ended_at - started_at)}` : "";
  const isBad = ["error", "lost"].includes(execution.status);
  return (
    <li className="run-line">
      <button className="step" disabled={!cell} onClick={() => store.select(cell)}>
        <span>
          <strong>{name}</strong> ran {what}
        </span>
        <span className="quiet small">
          <span className={isBad ? "bad" : undefined}>
            <EndedBy store={store} run={execution as Execution} by={ended_by as Actor | undefined} />
          </span>
          {took} · <time title={date(requested_at)}>{ago(requested_at)}</time>
        </span>
      </button>
    </li>
  );
}

/** Author of each line of the current cell. */
export function Lines({ store }: { store: NotebookStore }) {
  useTopics(store, "order", "notebook", "current", "panel");
  const cell = store.current;
  const [lines, setLines] = useState<BlamedLine[]>();
  const [error, setError] = useState<string>();
  const version = cell === undefined ? 0 : store.document.cells.get(cell)?.source_version;
  useEffect(() => {
    let isGone = false;
    setError(undefined);
    if (cell === undefined) return setLines([]);
    store.session.rest.get<NotebookBlame>(`/api/notebooks/${store.id}/blame?cell=${encodeURIComponent(cell)}`).then(
      (answer) => !isGone && setLines(new Blame(answer).lines(cell)),
      (failure: Error) => !isGone && setError(failure.message),
    );
    return () => void (isGone = true);
  }, [store, cell, version]);
  const beside = (
    <label className="row small">
      <input type="checkbox" checked={store.authors.isShown} onChange={() => store.authors.toggle()} /> Show beside all cells
    </label>
  );
  if (cell === undefined)
    return (
      <>
        {beside}
        <p className="quiet empty">Select a cell.</p>
      </>
    );
  if (!lines) return <Loading error={error} />;
  return (
    <>
      {beside}
      <div className="blame" role="table" aria-label="Authors of lines">
        {lines.map((line, index) => (
          <BlameLine key={index} store={store} line={line} isSame={lines[index - 1]?.version === line.version} />
        ))}
      </div>
      <RedactButton store={store} label={REDACT_CELL} choices={[{ target: { cell: { cell_id: cell } }, words: "" }]} />
    </>
  );
}

function BlameLine({ store, line, isSame }: { store: NotebookStore; line: BlamedLine; isSame: boolean }) {
  const name = useName(store, line.actor);
  return (
    <div role="row" className={`peer-hue-${hueOf(name)}`}>
      <button
        role="cell"
        className="who small"
        title={`${name}, ${date(line.at)}, version ${line.version}. Click to open`}
        onClick={() => store.look(line.version)}
      >
        {isSame ? "" : name}
      </button>
      <pre role="cell">{line.text || " "}</pre>
    </div>
  );
}
