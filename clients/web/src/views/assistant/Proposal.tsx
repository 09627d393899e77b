// A tool call that waits for approval, inside its cell: the proposed change and the decision buttons. Lazy: loads with the
// first proposal.
import { Bot, Check, X } from "lucide-react";
import { Suspense } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { changeWords } from "../../app/words/sentences.ts";
import type { ToolCall } from "../../protocol/messages.ts";
import { allowWords, callWords } from "../../app/words/toolWords.ts";
import { Trial, TryButton, useTrial } from "./Trial.tsx";
import { confirming, useDecision, useInFull } from "./useCall.ts";
import { part } from "../../ui/parts.ts";

const WordDiff = part(() => import("../../ui/Diff.tsx"));

const PROPOSED: Record<string, string> = {
  modify_cell: "The assistant proposes a change",
  delete_cell: "The assistant wants to delete this cell",
  move_cell: "The assistant wants to move this cell",
  execute_cell: "The assistant wants to run this cell",
  execute_cell_async: "The assistant wants to run this cell",
};

interface Props {
  store: NotebookStore;
  id: string;
  callId: string;
  call: ToolCall;
}

export default function Proposal({ store, id, callId, call }: Props) {
  const { full, error } = useInFull(store, callId);
  const { isDecided, decide } = useDecision(store);
  const cell = store.document.cells.get(id);
  const { source } = call.arguments as { source?: unknown };
  const isDeletion = call.function === "delete_cell";
  const mayDecide = full?.may_decide === true && !isDecided;
  const text = typeof source === "string" ? source : undefined;
  const trial = useTrial(store, text ?? "");
  return (
    <div className={isDeletion ? "proposal deletion" : "proposal"} role="group" aria-label="Proposed change">
      <div className="row small">
        <Bot size={14} aria-hidden />
        <span className="grow">{PROPOSED[call.function] ?? `The assistant proposes: ${callWords(call.function, {}, [])}`}</span>
        {text !== undefined && cell?.cell_type === "code" && <TryButton trial={trial} isDisabled={!store.mayRun} />}
        <button
          className={call.risk === "destructive" ? "button small destructive" : "button bare small"}
          disabled={!mayDecide}
          onClick={() => void decide(confirming(callId, call))}
        >
          <Check size={13} aria-hidden /> {allowWords(call.function, call.risk)}
        </button>
        <button
          className="button bare small"
          disabled={!mayDecide}
          onClick={() => void decide({ DenyToolCall: { call_id: callId, detail: null } })}
        >
          <X size={13} aria-hidden /> Deny
        </button>
      </div>
      {text !== undefined && cell && (
        <Suspense>
          <WordDiff before={cell.source} after={text} />
        </Suspense>
      )}
      <Trial store={store} trial={trial} />
      {full?.confirmation?.changed && (
        <p className="error small">No longer possible: {changeWords(full.confirmation.changed, store.document.order)}</p>
      )}
      {full?.may_decide === false && <p className="small">Someone else has to allow this.</p>}
      {error && <p className="error small">{error}</p>}
    </div>
  );
}
