// An error output: name and value, a link to the line, and the collapsed traceback.
import { Bot } from "lucide-react";
import { useMemo } from "react";
import { seenLine } from "../../app/cells/sqlHeader.ts";
import { ask, mayAsk } from "../../app/state/asking.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { type Frame, framesOf, placeOf, sqlLine } from "../../outputs/traceback.ts";
import { withoutEscapes } from "../../outputs/escapes.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution } from "../../protocol/messages.ts";
import { Ansi } from "./Text.tsx";

/** Maximum characters of the error in the question; the assistant reads the rest itself. */
const MOST_WORDS = 500;

interface Props {
  store: NotebookStore;
  run: Execution | undefined;
  name: string;
  value: string;
  traceback: string;
}

export function ErrorView({ store, run, name, value, traceback }: Props) {
  const frames = useMemo(() => framesOf(traceback), [traceback]);
  const place = placeOf(frames);
  const line = sqlLine(value);
  const seen = line === undefined ? undefined : seenIn(run, line);
  const words = withoutEscapes(value).replace(/^line \d+: /, (whole) => (seen === undefined ? whole : `line ${seen}: `));
  // The user interrupted the run: nothing to fix.
  const isStopped = run?.status === "cancelled" && name === "KeyboardInterrupt";
  return (
    <div className={isStopped ? "failure stopped" : "failure"}>
      <p className="message">
        <strong>{name}</strong>
        {words && `: ${words}`} {place && <Line store={store} run={run} frame={place} />}
        {line !== undefined && <SqlLine store={store} run={run} line={line} seen={seen ?? line} />}
      </p>
      {!isStopped && <Fix store={store} run={run} words={`${name}: ${withoutEscapes(value)}`} />}
      {traceback.trim() !== "" && (
        <details>
          <summary>Traceback</summary>
          {frames.length === 0 ? (
            <Code text={traceback} />
          ) : (
            frames.map((frame, index) => <FrameView key={index} store={store} run={run} frame={frame} />)
          )}
        </details>
      )}
    </div>
  );
}

/** Offered for a cell's latest run only: an earlier error may be fixed already. */
function Fix({ store, run, words }: { store: NotebookStore; run: Execution | undefined; words: string }) {
  useTopics(store, "assistants");
  const { document } = store;
  const cell = [...document.latest].find(([, execution]) => document.executions.get(execution) === run)?.[0];
  // While the cell runs again, the earlier run's error is shown.
  if (run === undefined || !isFinished(run.status) || cell === undefined || !mayAsk(store)) return null;
  const place = document.order.indexOf(cell) + 1;
  const text = `Cell ${place} (${cell}) failed: ${words.slice(0, MOST_WORDS)}\nFind out why and fix it.`;
  const isBusy = document.turns.size > 0;
  return (
    <button
      className="button bare small fix"
      disabled={isBusy}
      title={isBusy ? "The assistant is busy. Stop it or wait." : undefined}
      onClick={() => void ask(store, text)}
    >
      <Bot size={13} aria-hidden /> Ask the assistant to fix it{isBusy && " (busy)"}
    </button>
  );
}

function FrameView({ store, run, frame }: { store: NotebookStore; run: Execution | undefined; frame: Frame }) {
  if (frame.count === undefined) {
    return (
      <details className="trace">
        <summary className="mono small">{frame.title}</summary>
        <Code text={frame.text} />
      </details>
    );
  }
  return (
    <div className="trace">
      <p className="mono small">
        {titleOf(store, run, frame)} <Line store={store} run={run} frame={frame} />
      </p>
      <Code text={frame.text} />
    </div>
  );
}

/** Turns `Cell In[5], line 2` into `Cell 3 [5], line 2`, if the cell still shows that run. */
function titleOf(store: NotebookStore, run: Execution | undefined, frame: Frame): string {
  const cell = cellOf(store, run, frame.count);
  const place = cell === undefined ? "" : `${store.document.order.indexOf(cell) + 1} `;
  return frame.title.replace(/^(?:Cell |Input )?In ?\[(\d+)\]/, `Cell ${place}[$1]`);
}

function Code({ text }: { text: string }) {
  return (
    <pre tabIndex={0}>
      <Ansi text={text} />
    </pre>
  );
}

/** Link to the line, if the cell still shows this run. */
function Line({ store, run, frame }: { store: NotebookStore; run: Execution | undefined; frame: Frame }) {
  const cell = cellOf(store, run, frame.count);
  if (cell === undefined || frame.line === undefined) return null;
  const line = frame.line;
  return (
    <button className="link small" onClick={() => store.goTo(cell, { line })}>
      Go to line {line}
    </button>
  );
}

/** Line of the text that ran, without a header that is shown as fields. */
function seenIn(run: Execution | undefined, line: number): number {
  return run?.subject.kind === "cell" ? seenLine(run.subject.source, line) : line;
}

interface SqlLineProps {
  store: NotebookStore;
  run: Execution | undefined;
  line: number;
  /** The line as the person counts. */
  seen: number;
}

/** An SQL error has no frames, so the cell comes from the run. */
function SqlLine({ store, run, line, seen }: SqlLineProps) {
  const { subject } = run ?? {};
  const cell = subject?.kind === "cell" ? store.document.cells.get(subject.cell_id) : undefined;
  if (subject?.kind !== "cell" || cell?.cell_type !== "sql") return null;
  return (
    <button className="link small" onClick={() => store.goTo(subject.cell_id, { line })}>
      Go to line {seen}
    </button>
  );
}

function cellOf({ document }: NotebookStore, run: Execution | undefined, count: number | undefined): string | undefined {
  const isMeant = (other: Execution) => other.execution_count === count && other.kernel_session === run?.kernel_session;
  const subject = [...document.executions.values()].find(isMeant)?.subject;
  return subject?.kind === "cell" && document.cells.has(subject.cell_id) ? subject.cell_id : undefined;
}
