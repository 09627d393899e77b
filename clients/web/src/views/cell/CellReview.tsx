// Marks cells that the assistant changed or proposes to change, with decision buttons. A bar steps through them.
import { Bot, Check, ChevronDown, ChevronUp, Play, Undo2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { confirmedTogether } from "../../app/state/assistants.ts";
import { useTopics } from "../../app/state/topics.ts";
import { reviewWords } from "../../app/words/toolWords.ts";
import { confirming, useDecision } from "../assistant/useCall.ts";
import { part } from "../../ui/parts.ts";

const Proposal = part(() => import("../assistant/Proposal.tsx"));
const WordDiff = part(() => import("../../ui/Diff.tsx"));

const WORDS = { created: "added this cell", changed: "changed this cell", moved: "moved this cell", deleted: "deleted this cell" };

export default function CellReview({ store, id }: { store: NotebookStore; id: string }) {
  return (
    <>
      <Proposals store={store} id={id} />
      <ReviewedChange store={store} id={id} />
    </>
  );
}

/** Calls that wait for approval and concern this cell. */
function Proposals({ store, id }: { store: NotebookStore; id: string }) {
  const calls = store.proposals.get(id);
  if (!calls) return null;
  return (
    <Suspense>
      {calls.map(([call, each]) => (
        <Proposal key={call} store={store} id={id} callId={call} call={each} />
      ))}
    </Suspense>
  );
}

/** The assistant's change of this cell, to keep or undo. */
function ReviewedChange({ store, id }: { store: NotebookStore; id: string }) {
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
            {isOpen ? "Hide changes" : "Show changes"}
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

/** “2 / 7”: steps through all cells that turns changed or propose to change. */
export function ReviewBar({ store }: { store: NotebookStore }) {
  useTopics(store, "review", "order", "assistants");
  const { review, proposals } = store;
  const changed = store.document.order.filter((id) => review.cells.has(id));
  const cells = store.document.order.filter((id) => review.cells.has(id) || proposals.has(id));
  const waiting = [...proposals.values()].map((calls) => calls.map(([, call]) => call.function));
  const gone = [...review.cells].filter(([id, { kind }]) => kind === "deleted" && !store.document.cells.has(id));
  if (cells.length + gone.length === 0) return null;
  const at = cells.indexOf(store.current ?? "");
  const walk = (step: 1 | -1) =>
    store.select(cells[(at < 0 ? (step > 0 ? 0 : cells.length - 1) : at + step + cells.length) % cells.length]);
  const turn = review.turn;
  const isWorking = turn !== undefined && store.document.turns.has(turn);
  return (
    <div className="review-bar" role="region" aria-label="The assistant’s changes">
      <Bot size={15} aria-hidden />
      <span>{reviewWords(changed.length, gone.length, waiting)}</span>
      {cells.length > 0 && (
        <span className="row tight">
          <button className="button bare icon" aria-label="Previous change" title="Previous change" onClick={() => walk(-1)}>
            <ChevronUp size={15} />
          </button>
          <span className="small count">
            {at + 1 || "–"} / {cells.length}
          </span>
          <button className="button bare icon" aria-label="Next change" title="Next change" onClick={() => walk(1)}>
            <ChevronDown size={15} />
          </button>
        </span>
      )}
      <AcceptAll store={store} />
      {changed.length + gone.length > 0 && (
        <>
          <button
            className="button"
            disabled={!store.mayEdit || isWorking || turn === undefined}
            title={isWorking ? "Available when the assistant is done" : "Undoes every change of this turn. Runs are not undone."}
            onClick={() => void store.send({ Undo: { turn_id: turn ?? null } })}
          >
            <Undo2 size={14} aria-hidden /> Undo all
          </button>
          <button className="button" onClick={() => store.keepReviewed()}>
            <Check size={14} aria-hidden /> Keep all
          </button>
        </>
      )}
    </div>
  );
}

/** Allows all calls that can be undone; other calls are decided one by one. */
function AcceptAll({ store }: { store: NotebookStore }) {
  const { isDecided, decide } = useDecision(store);
  const calls = confirmedTogether(store.proposals);
  if (calls.length < 2) return null;
  return (
    <button className="button" disabled={isDecided} onClick={() => void decide(...calls.map(([id, call]) => confirming(id, call)))}>
      <Check size={14} aria-hidden /> Allow {calls.length}
    </button>
  );
}
