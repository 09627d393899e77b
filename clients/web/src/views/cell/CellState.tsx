// A cell's run state: the gutter with run button and clock, and the run's status with its cause.
import { ChevronDown, ChevronRight, EyeOff, Pin, Play, Square } from "lucide-react";
import { useState } from "react";
import { headingLevel } from "../../app/cells/headings.ts";
import { defaultKernel, statusOf } from "../../app/state/kernels.ts";
import { serverNow, useNow } from "../../app/session/clock.ts";
import { isRunnable } from "../../app/state/runs.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { date, endSentence, ordinal, runSentence, shortDuration, statusWords } from "../../app/words/words.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Cell as CellValue, Execution } from "../../protocol/messages.ts";
import { useName } from "../../ui/Author.tsx";
import { CommentMark } from "./CommentMark.tsx";
import { Ended, KernelLog } from "./Ended.tsx";

interface Props {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  run: Execution | undefined;
}

export function Gutter({ store, id, cell, run }: Props) {
  if (!isRunnable(cell.cell_type) && cell.cell_type !== "prompt")
    return (
      <div className="gutter">
        {headingLevel(cell) !== undefined && <Fold store={store} id={id} />}
        <ContextMark store={store} id={id} cell={cell} />
        <CommentMark store={store} id={id} />
      </div>
    );
  const execution = store.document.latest.get(id);
  const isOpen = run && !isFinished(run.status);
  return (
    <div className="gutter">
      {store.runs.waits(id) === "held" ? (
        <button
          className="run"
          aria-label="Cancel"
          title="Cancel (waiting for the connection)"
          onClick={() => store.runs.takeBack([id])}
        >
          <Square size={12} fill="currentColor" />
        </button>
      ) : isOpen && execution ? (
        <button
          className="run"
          aria-label={run.status === "running" ? "Stop" : "Cancel"}
          title={run.status === "running" ? "Stop" : "Cancel (not started yet)"}
          disabled={!store.mayRun || run.cancel_requested}
          onClick={() => void store.send({ CancelExecution: { execution_id: execution } })}
        >
          <Square size={12} fill="currentColor" />
        </button>
      ) : (
        <button
          className="run"
          aria-label="Run"
          title={cell.cell_type === "prompt" ? "Ask (Shift Enter)" : "Run (Shift Enter)"}
          disabled={!store.mayRun}
          onClick={() => void store.runs.start([id])}
        >
          <Play size={13} fill="currentColor" />
        </button>
      )}
      {isRunnable(cell.cell_type) && run && <Clock store={store} run={run} />}
      <ContextMark store={store} id={id} cell={cell} />
      <CommentMark store={store} id={id} />
    </div>
  );
}

/** Shows if the assistant always or never sees the cell; a click clears the flag. */
function ContextMark({ store, id, cell }: Omit<Props, "run">) {
  const { pinned, skipped } = cell.flags ?? {};
  if (!pinned && !skipped) return null;
  const flag = pinned ? "pinned" : "skipped";
  const words = pinned ? "Always in the assistant’s context" : "Never in the assistant’s context";
  return (
    <button
      className={`mark ${flag}`}
      aria-label={`${words}. Remove`}
      title={`${words}. Click to remove`}
      disabled={!store.mayEdit}
      onClick={() => void store.send({ SetCellFlags: { cell_id: id, flags: { [flag]: false } } })}
    >
      {pinned ? <Pin size={13} /> : <EyeOff size={13} />}
    </button>
  );
}

/** Execution count and duration, live during the run; the tooltip has the details. */
function Clock({ store, run }: { store: NotebookStore; run: Execution }) {
  const isRunning = run.status === "running";
  const now = useNow(isRunning ? 200 : undefined, serverNow);
  const name = useName(store, run.requested_by);
  const end = isRunning ? now : run.ended_at;
  const took = run.started_at && end ? end - run.started_at : undefined;
  return (
    <span className="count" title={runSentence(run, name)}>
      <span aria-hidden>{isFinished(run.status) ? run.execution_count && `[${run.execution_count}]` : "[*]"}</span>
      {took !== undefined && (isRunning || took >= 100) && <span className="took">{shortDuration(took)}</span>}
    </span>
  );
}

function Fold({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, "folds");
  const isCollapsed = store.isCollapsed(id);
  return (
    <button
      className="run"
      aria-expanded={!isCollapsed}
      aria-label={isCollapsed ? "Expand heading" : "Collapse heading"}
      title={isCollapsed ? "Expand (→)" : "Collapse (←)"}
      onClick={() => store.collapse(!isCollapsed, id)}
    >
      {isCollapsed ? <ChevronRight size={15} /> : <ChevronDown size={15} />}
    </button>
  );
}

/** Count of the cells that a collapsed heading hides. */
export function HiddenCells({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, "folds");
  const count = store.folds.counts.get(id);
  if (!count) return null;
  return (
    <button className="button bare small quiet hidden-cells" onClick={() => store.collapse(false, id)}>
      {count === 1 ? "1 hidden cell" : `${count} hidden cells`}
    </button>
  );
}

/** State of a run that the server does not know yet. */
export function WaitingState({ isHeld }: { isHeld: boolean }) {
  return (
    <p className="state small quiet chip" role="status">
      <span title={isHeld ? "It runs when you’re connected again. Press Esc to cancel it" : undefined}>
        Waiting for the connection…
      </span>
    </p>
  );
}

/** Renders nothing for a fresh, finished run: the gutter's clock is enough. */
export function RunState({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
  const isOpen = !isFinished(run.status);
  // A reactive notebook shows staleness in its standing (Graph.tsx).
  const isStale = store.document.isStale(id) && !store.graph.of(id);
  const name = useName(store, run.requested_by);
  const isBad = run.status === "error" || run.status === "lost";
  if ((run.status === "ok" || run.status === "error") && !isStale && !endSentence(run)) return null;
  const isChip = isShort(store, run);
  return (
    <>
      <p className={`state small ${isBad ? "bad" : "quiet"}${isChip ? " chip" : ""}`} role={isOpen ? "status" : undefined}>
        <span>
          {(run.status !== "ok" || endSentence(run)) && <Words store={store} id={id} run={run} />}
          {isOpen && name !== "You" && name !== "" && <span> · by {name}</span>}
          {run.cancel_requested && isOpen && <Interrupted store={store} run={run} />}
          {isStale && (
            <span className="stale" title={run.ended_at ? `Ran ${date(run.ended_at)}` : undefined}>
              {run.status === "ok" && !endSentence(run) ? "" : " · "}Edited since last run
            </span>
          )}
          {isOpen && <Unreachable store={store} id={id} run={run} />}
        </span>
      </p>
      <KernelLog detail={run.notice} />
    </>
  );
}

/** Status is a short text without a button or link; any other gets a line. */
function isShort(store: NotebookStore, run: Execution): boolean {
  if (run.status === "ok") return !endSentence(run);
  const kernel_session = run.kernel_session ?? defaultKernel(store);
  const isReachable = kernel_session === undefined || statusOf(store, kernel_session)?.reachable !== false;
  return !isFinished(run.status) && !run.cancel_requested && isReachable;
}

function Words({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
  useTopics(store, "executions");
  if (run.status === "blocked") return <Blocked store={store} run={run} />;
  if (run.status === "cancelled") return <Ended store={store} id={store.document.latest.get(id) ?? ""} run={run} />;
  if (run.status !== "queued")
    return <>{run.pending_input ? "Waiting for input" : run.status === "running" ? "Running" : statusWords(run)}</>;
  const place = store.queue.findIndex(([other]) => other === (store.document.latest.get(id) ?? ""));
  if (![...store.document.kernels.values()].some(({ phase }) => phase === "started")) return <>Waiting for the kernel…</>;
  return <>{place > 0 ? `Queued: ${ordinal(place + 1)} in line` : statusWords(run)}</>;
}

/** Reason for a skipped run: links to the cell that failed. */
function Blocked({ store, run }: { store: NotebookStore; run: Execution }) {
  const subject = store.document.executions.get(run.blocked_by ?? "")?.subject;
  const cell = subject?.kind === "cell" && store.document.cells.has(subject.cell_id) ? subject.cell_id : undefined;
  if (cell === undefined) return <>Skipped: an earlier cell failed</>;
  return (
    <>
      Skipped:{" "}
      <button className="link" onClick={() => store.select(cell)}>
        cell {store.document.order.indexOf(cell) + 1}
      </button>{" "}
      failed
    </>
  );
}

/** Most code stops immediately on interrupt; code still running after this time may never stop. */
const UNANSWERED_MS = 5_000;

function Interrupted({ store, run }: { store: NotebookStore; run: Execution }) {
  const [since] = useState(() => Date.now());
  const now = useNow(1_000);
  const kernel = run.kernel_session;
  if (now - since < UNANSWERED_MS || !kernel || run.status !== "running") return <> · stopping…</>;
  return (
    <span className="bad">
      {" "}
      · The kernel doesn’t respond. Wait, or{" "}
      <button
        className="link"
        disabled={!store.mayRun}
        onClick={() => void store.send({ RestartKernel: { kernel_session: kernel } })}
      >
        restart it
      </button>{" "}
      (variables are lost)
    </span>
  );
}

function Unreachable({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
  useTopics(store, "kernels");
  const kernel_session = run.kernel_session ?? defaultKernel(store);
  if (kernel_session === undefined || statusOf(store, kernel_session)?.reachable !== false) return null;
  if (run.status === "queued")
    return (
      <span className="bad">
        {" "}
        · The kernel is unreachable. Wait, or{" "}
        <button className="link" onClick={() => void store.send({ RestartKernel: { kernel_session } })}>
          run on another kernel
        </button>{" "}
        (variables are lost)
      </span>
    );
  return (
    <span className="bad">
      {" "}
      · The kernel is unreachable. Wait, or{" "}
      <button
        className="link"
        onClick={() => void store.send({ GiveUpExecution: { execution_id: store.document.latest.get(id) ?? "" } })}
      >
        give up the run and the kernel
      </button>
    </span>
  );
}
