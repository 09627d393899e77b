// Reply of the assistant to a prompt cell, streamed.
import { RotateCcw, Square } from "lucide-react";
import { Suspense } from "react";
import { mayAsk } from "../../app/state/asking.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { causeWords } from "../../app/words/words.ts";
import type { Cell as CellValue } from "../../protocol/messages.ts";
import { Rendered } from "../outputs/Rendered.tsx";
import { part } from "../../ui/parts.ts";

// Lazy: load with the first prompt cell.
const Answer = part(() => import("./Answer.tsx").then(({ Answer }) => ({ default: Answer })));
const Halves = part(() => import("./Messages.tsx").then(({ Halves }) => ({ default: Halves })));
const Writing = part(() => import("./Messages.tsx").then(({ useWriting }) => ({ default: writing(useWriting) })));

function writing(useWriting: typeof import("./Messages.tsx").useWriting) {
  return function Writing({ store, turn }: { store: NotebookStore; turn: string }) {
    const { text } = useWriting(store, turn);
    if (!text) return null;
    return (
      <div className="rendered">
        <Rendered text={text} />
      </div>
    );
  };
}

interface Props {
  store: NotebookStore;
  id: string;
  reply: NonNullable<CellValue["reply"]>;
  isStale: boolean;
}

export function ReplyView({ store, id, reply, isStale }: Props) {
  useTopics(store, "assistants");
  const isRunning = reply.status === "running";
  const turn = reply.turn_id ?? undefined;
  const halves = store.writings.interrupted.filter((each) => each.turn === turn);
  const waits = store.waiting.some(([, call]) => call.turn_id !== undefined && call.turn_id === turn);
  return (
    <div className="reply" aria-live="polite" aria-busy={isRunning}>
      {halves.length > 0 && (
        <Suspense>
          <Halves of={halves} turn={isRunning ? turn : undefined} />
        </Suspense>
      )}
      {reply.text && (
        <div className="rendered">
          <Suspense fallback={<Rendered text={reply.text} />}>
            <Answer store={store} text={reply.text} below={id} />
          </Suspense>
        </div>
      )}
      {isRunning && turn && (
        <Suspense>
          <Writing store={store} turn={turn} />
        </Suspense>
      )}
      {isRunning && turn && (
        <p className="row small quiet">
          {waits ? "Waiting for your approval" : "Writing…"}
          {waits && (
            <button className="link" onClick={() => store.panel !== "assistant" && store.show("assistant")}>
              Review
            </button>
          )}
          <button className="button bare small" onClick={() => void store.send({ CancelTurn: { turn_id: turn } })}>
            <Square size={12} aria-hidden /> Stop
          </button>
        </p>
      )}
      <p className="quiet small">
        {reply.status === "stopped" && "Stopped"}
        {reply.status === "failed" && `Failed${reply.cause ? `: ${causeWords(reply.cause, reply.detail)}` : ""}`}
        {isStale && " Prompt edited since this answer."}
        {reply.is_cut && " Continues in the conversation."}
        {(reply.status === "failed" || reply.status === "stopped") && mayAsk(store) && (
          <button className="button bare small" disabled={!store.mayRun} onClick={() => void store.runs.start([id])}>
            <RotateCcw size={12} aria-hidden /> Try again
          </button>
        )}
      </p>
    </div>
  );
}
