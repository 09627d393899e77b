// A tool call that waits for approval: its effect, and buttons to allow or deny it. Neither button takes the focus.
import { Check, ShieldAlert, X } from "lucide-react";
import { Suspense, useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { askedKinds, grantedKinds, mayWords, otherReasons } from "../../app/words/effectWords.ts";
import { changeWords } from "../../app/words/sentences.ts";
import { type CallArguments, allowWords, callWords, effectWords, reasonWords, riskWords } from "../../app/words/toolWords.ts";
import { ago, date, wordOf } from "../../app/words/words.ts";
import type { CellType, ToolCall } from "../../protocol/messages.ts";
import type { CallEffect } from "../../protocol/rest.ts";
import { newId } from "../../transport/ids.ts";
import { useName } from "../../ui/Author.tsx";
import { Arguments, serverOf } from "./ToolCall.tsx";
import { confirming, useDecision, useInFull } from "./useCall.ts";
import { part } from "../../ui/parts.ts";

const WordDiff = part(() => import("../../ui/Diff.tsx"));

/** Names of cell types, by the server's type. */
const CELLS = {
  code: "a code cell",
  markdown: "a text cell",
  raw: "a raw cell",
  sql: "an SQL cell",
  prompt: "a prompt",
} satisfies Record<CellType, string>;

interface Props {
  store: NotebookStore;
  id: string;
  call: ToolCall;
  place: [number, number];
}

const HOUR_MS = 3_600_000;

export function ConfirmationCard({ store, id, call, place: [place, count] }: Props) {
  const { full, error } = useInFull(store, id);
  const [reason, setReason] = useState("");
  const { isDecided, decide } = useDecision(store);
  const forWhom = useName(
    store,
    call.requested_by.kind === "assistant" ? { kind: "user", id: call.requested_by.for_user } : call.requested_by,
  );
  const confirm = confirming(id, call);
  const { order } = store.document;
  const words = callWords(call.function, call.arguments as CallArguments, order);
  // The name of a function of the notebook alone does not tell what the call is about.
  const isRegistered = store.document.functions.has(call.function);
  const { confirmation, may_decide } = full ?? {};
  const conversation = call.requested_by.kind === "assistant" ? call.requested_by.conversation : undefined;
  const asked = askedKinds(call.function, call.arguments as CallArguments);
  const kinds = grantedKinds(asked);
  const grant = async () => {
    const expires_at = serverNow() + HOUR_MS;
    if (conversation === undefined || kinds === undefined) return;
    const covers = { conversation_id: conversation, functions: [call.function], kinds, expires_at };
    const issue = { IssueGrant: { grant_id: newId(), ...covers } };
    await decide(issue, confirm);
  };
  return (
    <section className={`confirmation ${call.risk}`} aria-label={`Waiting for approval: ${words}`}>
      <p className="row small quiet">
        <ShieldAlert size={14} aria-hidden />
        <span className="grow">
          {serverOf(store, call.function)} · requested {forWhom === "You" ? "" : `for ${forWhom} `}
          <time title={date(call.requested_at)}>{ago(call.requested_at)}</time>
        </span>
        {count > 1 && (
          <span>
            {place} of {count}
          </span>
        )}
      </p>
      <h3>{words}</h3>
      {isRegistered && <Arguments value={call.arguments} />}
      <p className="risk">
        {confirmation?.risk ?? riskWords(call.risk)}
        {otherReasons(call.reasons ?? [], asked).map((each) => (
          <span key={each}> {reasonWords(each, order)}</span>
        ))}
      </p>
      {asked.length > 0 && (
        <ul className="kinds small" aria-label="What this run may do">
          {asked.map((kind) => (
            <li key={kind}>{mayWords(kind)}</li>
          ))}
        </ul>
      )}
      {!full && !error && <div className="shape" aria-busy="true" />}
      {confirmation?.effects.map((effect, index) => (
        <EffectView key={index} effect={effect} store={store} call={call} />
      ))}
      {confirmation?.changed && <p className="error">No longer possible: {changeWords(confirmation.changed, order)}</p>}
      <details>
        <summary className="small quiet">Details</summary>
        <p className="small mono">{call.function}</p>
        {!isRegistered && <Arguments value={call.arguments} />}
      </details>
      {error && <p className="error">{error}</p>}
      {may_decide === false && <p className="quiet">Someone else has to allow this.</p>}
      {may_decide && (
        <div className="stack tight">
          <div className="row">
            <button
              className={`button ${call.risk === "destructive" ? "destructive" : "primary"}`}
              disabled={isDecided}
              onClick={() => void decide(confirm)}
            >
              <Check size={14} aria-hidden /> {allowWords(call.function, call.risk)}
            </button>
            <button
              className="button"
              disabled={isDecided}
              onClick={() => void decide({ DenyToolCall: { call_id: id, detail: reason || null } })}
            >
              <X size={14} aria-hidden /> Deny
            </button>
            <input
              className="field grow"
              aria-label="Reason for denying"
              placeholder="Reason (optional)"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </div>
          {call.risk !== "destructive" && kinds !== undefined && conversation !== undefined && (
            <button className="link small" disabled={isDecided} onClick={() => void grant()}>
              Allow for an hour in this conversation
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function EffectView({ effect, store, call }: { effect: CallEffect; store: NotebookStore; call: ToolCall }) {
  switch (effect.kind) {
    case "creates":
      return <Shown title={`Adds ${wordOf(CELLS, effect.cell_type) ?? "a cell"}`} text={effect.source} />;
    case "changes":
      return <Changes effect={effect} store={store} call={call} />;
    case "deletes":
      return <Shown title="" cell={effect.cell} store={store} text={effect.source} isBad />;
    case "moves":
      return <Shown title="Moves" cell={effect.cell} store={store} />;
    case "runs":
      return (
        <Shown title={effect.cell ? "Runs" : "Runs this code"} cell={effect.cell ?? undefined} store={store} text={effect.source} />
      );
    case "writes":
      return <Shown title={`${effect.replaces ? "Replaces" : "Writes"} ${effect.path}`} text={effect.content} />;
    case "does":
      return <p className="small">{effectWords(effect.what, store.document.order)}</p>;
    default:
      return <Arguments value={effect} />;
  }
}

/** Word diff if the new text is known, otherwise the server's diff. */
function Changes({ effect, store, call }: { effect: CallEffect & { kind: "changes" }; store: NotebookStore; call: ToolCall }) {
  const before = store.document.cells.get(effect.cell)?.source;
  const { source, cell_id } = call.arguments as { source?: unknown; cell_id?: unknown };
  return (
    <div className="stack tight">
      <p className="small">
        Changes <CellLink store={store} cell={effect.cell} />:
      </p>
      {before !== undefined && typeof source === "string" && cell_id === effect.cell ? (
        <Suspense fallback={<Diff diff={effect.diff} />}>
          <WordDiff before={before} after={source} />
        </Suspense>
      ) : (
        <Diff diff={effect.diff} />
      )}
    </div>
  );
}

function CellLink({ store, cell }: { store: NotebookStore; cell: string }) {
  const number = store.document.order.indexOf(cell) + 1;
  if (number === 0) return <>a cell</>;
  return (
    <button className="link" onClick={() => store.select(cell)}>
      cell {number}
    </button>
  );
}

interface ShownProps {
  title: string;
  text?: string;
  cell?: string | undefined;
  store?: NotebookStore;
  isBad?: boolean;
}

function Shown({ title, text, cell, store, isBad }: ShownProps) {
  return (
    <div className="stack tight">
      <p className="small">
        {title} {store && cell !== undefined && <CellLink store={store} cell={cell} />}
        {text === undefined ? "" : ":"}
      </p>
      {text !== undefined && <pre className={isBad ? "effect bad" : "effect"}>{text || "(empty)"}</pre>}
    </div>
  );
}

/** A unified diff. */
export function Diff({ diff }: { diff: string }) {
  const look: Record<string, string> = { "+": "added", "-": "removed", "@": "place" };
  return (
    <pre className="effect diff">
      {diff.split("\n").map((line, index) => (
        <span key={index} className={look[line[0] ?? ""]}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
