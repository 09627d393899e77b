// One cell: gutter, source, outputs, state.
import { Play, Square } from "lucide-react";
import { Suspense, lazy, memo, useEffect, useRef, useState } from "react";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { causeWords, duration, endSentence, hueOf, kindOf, statusWords } from "../app/words.ts";
import { highlight } from "../editor/highlight.ts";
import { renderMarkdown } from "../outputs/safe.ts";
import { isFinished } from "../protocol/apply/executions.ts";
import type { Cell as CellValue, CellType, Execution, PeerState } from "../protocol/messages.ts";
import { useNow } from "./Bar.tsx";
import { InputRequest } from "./InputRequest.tsx";
import { Outputs } from "./Outputs.tsx";

const loadEditor = () => import("./Editor.tsx");
const Editor = lazy(loadEditor);
/** When the first cells have painted, so that it is there when somebody wants to type. */
const PRELOAD_MS = 300;
setTimeout(() => void loadEditor(), PRELOAD_MS);

const KINDS: Record<CellType, string> = { code: "Code", markdown: "Text", raw: "Raw text", sql: "SQL", prompt: "Prompt" };

export const Cell = memo(function Cell({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, `cell:${id}`);
  const root = useRef<HTMLDivElement>(null);
  const cell = store.document.cells.get(id);
  const isCurrent = store.current === id;
  const isEditing = isCurrent && store.isEditing;

  useEffect(() => {
    const node = root.current;
    if (!isCurrent || isEditing || !node) return;
    if (!node.contains(document.activeElement) || document.activeElement?.closest(".cm-editor"))
      node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }, [isCurrent, isEditing]);

  if (!cell) return null;
  const run = store.document.latestExecution(id);
  const peers = [...store.replica.presence.peers.values()].filter(({ state }) => state?.cell_id === id);
  const number = store.document.order.indexOf(id) + 1;
  const classes = [
    "cell",
    cell.cell_type,
    store.isSelected(id) && "selected",
    isCurrent && "current",
    isEditing && "editing",
    run && `is-${run.status}`,
  ];
  return (
    <div
      ref={root}
      className={classes.filter(Boolean).join(" ")}
      role="group"
      tabIndex={isCurrent || (store.current === undefined && number === 1) ? 0 : -1}
      aria-label={`${KINDS[cell.cell_type] ?? cell.cell_type} cell ${number}${run ? `: ${statusWords(run)}` : ""}`}
      onFocus={(event) => event.target === root.current && !isCurrent && store.select(id)}
      onMouseDown={(event) => {
        if (event.shiftKey && !isCurrent) store.select(id, { extend: true });
        else if (!isCurrent && !(event.target as HTMLElement).closest(".source")) store.select(id);
      }}
    >
      <Gutter store={store} id={id} cell={cell} run={run} />
      <div className="body">
        <Source store={store} id={id} cell={cell} isEditing={isEditing} peers={peers} />
        {cell.cell_type === "prompt" && cell.reply && <ReplyView reply={cell.reply} isStale={store.document.isStale(id)} />}
        {run && <RunState store={store} id={id} run={run} />}
        {run?.pending_input && (
          <InputRequest store={store} executionId={store.document.latest.get(id) ?? ""} input={run.pending_input} />
        )}
        {run?.outputs &&
          (cell.flags?.outputs_hidden ? (
            <button
              className="button bare small quiet"
              onClick={() => void store.do({ SetCellFlags: { cell_id: id, flags: { outputs_hidden: false } } })}
            >
              Outputs are hidden: show
            </button>
          ) : (
            <Outputs store={store} outputs={run.outputs} isOld={!isFinished(run.status) && run.clear_on_next_output === true} />
          ))}
      </div>
      {peers.length > 0 && (
        <div className="here" aria-label={`Here: ${peers.map((peer) => peer.name || kindOf(peer.actor)).join(", ")}`}>
          {peers.map((peer) => (
            <span
              key={peer.connection}
              className={`avatar small peer-hue-${hueOf(peer.name || kindOf(peer.actor))}`}
              title={peer.name}
            >
              {[...(peer.name || "?")][0]?.toUpperCase()}
            </span>
          ))}
        </div>
      )}
    </div>
  );
});

function Gutter({ store, id, cell, run }: { store: NotebookStore; id: string; cell: CellValue; run: Execution | undefined }) {
  if (cell.cell_type !== "code" && cell.cell_type !== "prompt") return <div className="gutter" />;
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

interface SourceProps {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  isEditing: boolean;
  peers: PeerState[];
}

/** The editor where somebody edits; elsewhere the text alone. */
function Source({ store, id, cell, isEditing, peers }: SourceProps) {
  const [at, setAt] = useState<{ x: number; y: number }>();
  const isWatched = peers.some(({ state }) => state?.selection);
  const isRendered = cell.cell_type === "markdown" && !isEditing;
  if (cell.flags?.source_hidden && !isEditing) {
    return (
      <button className="button bare small quiet" onClick={() => store.select(id, { edit: true })}>
        The source is hidden: edit
      </button>
    );
  }
  const still = (
    <Still
      store={store}
      id={id}
      cell={cell}
      isRendered={isRendered}
      edit={(x, y) => {
        setAt({ x, y });
        store.select(id, { edit: true });
      }}
    />
  );
  if (isRendered || (!isEditing && !isWatched)) return still;
  return (
    <Suspense fallback={still}>
      <Editor store={store} id={id} type={cell.cell_type} isEditing={isEditing} at={at} peers={peers} />
    </Suspense>
  );
}

interface StillProps {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  isRendered: boolean;
  edit: (x: number, y: number) => void;
}

function Still({ store, id, cell, isRendered, edit }: StillProps) {
  const source = store.texts.shown(id) ?? cell.source;
  if (isRendered) {
    if (source.trim() === "")
      return (
        <p className="source quiet" onDoubleClick={(event) => edit(event.clientX, event.clientY)}>
          Empty text: press Enter to write
        </p>
      );
    const html = renderMarkdown(source, cell.attachments);
    return (
      <div
        className="source rendered"
        onDoubleClick={(event) => edit(event.clientX, event.clientY)}
        dangerouslySetInnerHTML={{ __html: html }}
      />
    );
  }
  const tokens = cell.cell_type === "code" ? highlight(source) : [{ text: source, className: "" }];
  return (
    <pre
      className="source still"
      onMouseUp={(event) => {
        // Who marks text to copy it wants no editor.
        if (getSelection()?.isCollapsed !== false && !event.shiftKey) edit(event.clientX, event.clientY);
      }}
    >
      {tokens.map(({ text, className }, index) =>
        className ? (
          <span key={index} className={className}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
      {"\n"}
    </pre>
  );
}

function RunState({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
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

function ReplyView({ reply, isStale }: { reply: NonNullable<CellValue["reply"]>; isStale: boolean }) {
  return (
    <div className="reply" aria-live="polite" aria-busy={reply.status === "running"}>
      {reply.text && <div className="rendered" dangerouslySetInnerHTML={{ __html: renderMarkdown(reply.text, undefined) }} />}
      <p className="quiet small">
        {reply.status === "running" && "The assistant is writing …"}
        {reply.status === "stopped" && "Stopped"}
        {reply.status === "failed" &&
          `The assistant could not answer${reply.cause ? `: ${causeWords(reply.cause, reply.detail)}` : ""}`}
        {isStale && " The prompt has changed since it was answered."}
        {reply.is_cut && " There is more of it in the conversation."}
      </p>
    </div>
  );
}
