// Beside and below a cell's source: the run button, and what became of its run.
import { ChevronDown, ChevronRight, Play, Square } from "lucide-react";
import { headingLevel } from "../app/headings.ts";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { useNow } from "../app/now.ts";
import { duration, endSentence, statusWords } from "../app/words.ts";
import { isFinished } from "../protocol/apply/executions.ts";
import type { Cell as CellValue, Execution } from "../protocol/messages.ts";

export function Gutter({
  store,
  id,
  cell,
  run,
}: {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  run: Execution | undefined;
}) {
  if (cell.cell_type !== "code" && cell.cell_type !== "prompt")
    return <div className="gutter">{headingLevel(cell) !== undefined && <Fold store={store} id={id} />}</div>;
  const execution = store.document.latest.get(id);
  const isOpen = run && !isFinished(run.status);
  const count = run?.execution_count;
  return (
    <div className="gutter">
      {isOpen && execution ? (
        <button
          className="run"
          aria-label={run.status === "running" ? "Stop" : "Cancel"}
          title={run.status === "running" ? "Stop" : "Cancel: it has not begun"}
          disabled={!store.mayRun || run.cancel_requested}
          onClick={() => void store.do({ CancelExecution: { execution_id: execution } })}
        >
          <Square size={12} fill="currentColor" />
        </button>
      ) : (
        <button
          className="run"
          aria-label="Run"
          title={cell.cell_type === "prompt" ? "Ask (Shift Enter)" : "Run (Shift Enter)"}
          disabled={!store.mayRun}
          onClick={() => void store.run([id])}
        >
          <Play size={13} fill="currentColor" />
        </button>
      )}
      {cell.cell_type === "code" && (
        <span className="count" aria-hidden>
          {isOpen ? "*" : (count ?? "")}
        </span>
      )}
    </div>
  );
}

function Fold({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, "folds");
  const isCollapsed = store.isCollapsed(id);
  return (
    <button
      className="run"
      aria-expanded={!isCollapsed}
      aria-label={isCollapsed ? "Open the heading" : "Collapse the heading"}
      title={isCollapsed ? "Open (→)" : "Collapse (←)"}
      onClick={() => store.collapse(!isCollapsed, id)}
    >
      {isCollapsed ? <ChevronRight size={15} /> : <ChevronDown size={15} />}
    </button>
  );
}

/** Below a collapsed heading: how much it hides. */
export function HiddenCells({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, "folds");
  const count = store.folds.counts.get(id);
  if (!count) return null;
  return (
    <button className="button bare small quiet" onClick={() => store.collapse(false, id)}>
      {count === 1 ? "1 hidden cell" : `${count} hidden cells`}
    </button>
  );
}

export function RunState({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
  const isRunning = run.status === "running";
  const now = useNow(isRunning ? 200 : undefined);
  const isStale = store.document.isStale(id);
  const executionId = store.document.latest.get(id) ?? "";
  const kernel = store.replica.kernels.find((each) => each.kernel_session === run.kernel_session);
  const isUnreachable = !isFinished(run.status) && kernel?.reachable === false;
  if (run.status === "ok" && !isStale && !endSentence(run)) {
    const took = run.started_at && run.ended_at ? duration(run.ended_at - run.started_at) : "";
    return took && run.ended_at! - run.started_at! > 500 ? <p className="state quiet small">{took}</p> : null;
  }
  const place = store.queue.findIndex(([other]) => other === executionId);
  return (
    <p
      className={`state small ${run.status === "error" || run.status === "lost" ? "bad" : "quiet"}`}
      role={isFinished(run.status) ? undefined : "status"}
    >
      {isRunning ? `Running ${duration(now - (run.started_at ?? now))}` : statusWords(run)}
      {run.status === "queued" && place > 0 && ` (${place} before it)`}
      {run.cancel_requested && !isFinished(run.status) && " · being interrupted"}
      {isStale && <span className="stale"> · the cell has changed since it ran</span>}
      {isUnreachable && (
        <span className="bad">
          {" "}
          · its runtime agent cannot be reached: it may come back, or{" "}
          <button className="link" onClick={() => void store.do({ GiveUpExecution: { execution_id: executionId } })}>
            give the run up
          </button>
        </span>
      )}
    </p>
  );
}
