// On a cell: that the assistant changed it, how, and what to make of it. Above all of them: a walk from one to the next.
import { Bot, Check, ChevronDown, ChevronUp, Play, Undo2 } from "lucide-react";
import { Suspense, lazy, useState } from "react";
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";

const WordDiff = lazy(() => import("./Diff.tsx"));

const WORDS = { created: "added this cell", changed: "changed this cell", moved: "moved this cell", deleted: "deleted this cell" };

export function CellReview({ store, id }: { store: NotebookStore; id: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const reviewed = store.review.cells.get(id);
  const cell = store.document.cells.get(id);
  if (!reviewed || !cell) return null;
  const isDiff = reviewed.kind === "changed";
  return (
    <div className="cell-review">
      <div className="row small">
        <Bot size={14} aria-hidden />
        <span className="grow">The assistant {WORDS[reviewed.kind]}</span>
        {isDiff && (
          <button className="button bare small" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? "Hide the change" : "Show the change"}
          </button>
        )}
        {cell.cell_type === "code" && (
          <button className="button bare small" disabled={!store.mayRun} onClick={() => void store.runs.start([id])}>
            <Play size={13} aria-hidden /> Run
          </button>
        )}
        <button className="button bare small" disabled={!store.mayEdit} onClick={() => void store.undoReviewed(id)}>
          <Undo2 size={13} aria-hidden /> Undo
        </button>
        <button className="button bare small" onClick={() => store.keepReviewed(id)}>
          <Check size={13} aria-hidden /> Keep
        </button>
      </div>
      {isDiff && isOpen && (
        <Suspense>
          <WordDiff before={reviewed.before} after={cell.source} />
        </Suspense>
      )}
    </div>
  );
}

/** “2 / 7”: through all that a turn changed. */
export function ReviewBar({ store }: { store: NotebookStore }) {
  useTopics(store, "review", "order", "assistants");
  const { review } = store;
  const cells = store.document.order.filter((id) => review.cells.has(id));
  const gone = [...review.cells].filter(([id, { kind }]) => kind === "deleted" && !store.document.cells.has(id));
  if (cells.length + gone.length === 0) return null;
  const at = cells.indexOf(store.current ?? "");
  const walk = (step: 1 | -1) =>
    store.select(cells[(at < 0 ? (step > 0 ? 0 : cells.length - 1) : at + step + cells.length) % cells.length]);
  const count = cells.length === 1 ? "1 cell" : `${cells.length} cells`;
  const turn = review.turn;
  const isWorking = turn !== undefined && store.document.turns.has(turn);
  return (
    <div className="review-bar" role="region" aria-label="What the assistant changed">
      <Bot size={15} aria-hidden />
      <span>
        {cells.length > 0 && `The assistant changed ${count}`}
        {gone.length > 0 && `${cells.length > 0 ? " and deleted " : "The assistant deleted "}${gone.length}`}
      </span>
      {cells.length > 0 && (
        <span className="row tight">
          <button className="button bare icon" aria-label="The change before" title="The change before" onClick={() => walk(-1)}>
            <ChevronUp size={15} />
          </button>
          <span className="small count">
            {at + 1 || "–"} / {cells.length}
          </span>
          <button className="button bare icon" aria-label="The next change" title="The next change" onClick={() => walk(1)}>
            <ChevronDown size={15} />
          </button>
        </span>
      )}
      <button
        className="button"
        disabled={!store.mayEdit || isWorking || turn === undefined}
        title={isWorking ? "When it has ended" : "All that this turn changed; runs stay"}
        onClick={() => void store.do({ Undo: { turn_id: turn ?? null } })}
      >
        <Undo2 size={14} aria-hidden /> Undo all
      </button>
      <button className="button" onClick={() => store.keepReviewed()}>
        <Check size={14} aria-hidden /> Keep all
      </button>
    </div>
  );
}
