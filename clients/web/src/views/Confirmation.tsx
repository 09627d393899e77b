// A call of an assistant that waits for a person: what it would do, and yes or no. Neither has the focus by itself.
import { Check, ShieldAlert, X } from "lucide-react";
import { Suspense, useState } from "react";
import { serverNow } from "../app/clock.ts";
import type { NotebookStore } from "../app/store.ts";
import { ago, date, plain } from "../app/words.ts";
import type { ToolCall } from "../protocol/messages.ts";
import type { components } from "../protocol/rest.ts";
import { newId } from "../transport/ids.ts";
import { useName } from "./Author.tsx";
import { Arguments, sentence, serverOf } from "./ToolCall.tsx";
import { confirming, useDecision, useInFull } from "./useCall.ts";
import { part } from "../ui/parts.ts";

const WordDiff = part(() => import("./Diff.tsx"));

type Effect = components["schemas"]["Effect"];

interface Props {
  store: NotebookStore;
  id: string;
  call: ToolCall;
  place: [number, number];
}

const HOUR_MS = 3_600_000;

const RISKS: Record<string, string> = {
  read: "It only reads.",
  edit: "It can be undone.",
  sensitive: "It reaches outside the notebook.",
  destructive: "It destroys something.",
};

export function ConfirmationCard({ store, id, call, place: [place, count] }: Props) {
  const { full, error } = useInFull(store, id);
  const [reason, setReason] = useState("");
  const { isDecided, decide } = useDecision(store);
  const forWhom = useName(
    store,
    call.requested_by.kind === "assistant" ? { kind: "user", id: call.requested_by.for_user } : call.requested_by,
  );
  const confirm = confirming(id, call);
  const { confirmation, may_decide } = full ?? {};
  const conversation = call.requested_by.kind === "assistant" ? call.requested_by.conversation : undefined;
  const grant = async () => {
    const expires_at = serverNow() + HOUR_MS;
    if (conversation === undefined) return;
    const issue = { IssueGrant: { grant_id: newId(), conversation_id: conversation, functions: [call.function], expires_at } };
    await decide(issue, confirm);
  };
  return (
    <section className={`confirmation ${call.risk}`} aria-label={`Waits for you: ${sentence(call.function)}`}>
      <p className="row small quiet">
        <ShieldAlert size={14} aria-hidden />
        <span className="grow">
          {sentence(call.function)} ({serverOf(store, call.function)}) · asked {forWhom === "You" ? "for you" : `for ${forWhom}`}{" "}
          <time title={date(call.requested_at)}>{ago(call.requested_at)}</time>
        </span>
        {count > 1 && (
          <span>
            {place} of {count}
          </span>
        )}
      </p>
      <h3>{confirmation?.summary ?? sentence(call.function)}</h3>
      <p className="risk">
        {confirmation?.risk ?? RISKS[String(call.risk)] ?? plain(call.risk)}
        {call.reasons?.map((each) => (
          <span key={each}> {each}</span>
        ))}
      </p>
      {!full && !error && <div className="shape" aria-busy="true" />}
      {confirmation?.effects.map((effect, index) => (
        <EffectView key={index} effect={effect} store={store} call={call} />
      ))}
      {confirmation?.void && <p className="error">It would not happen any more: {confirmation.void}</p>}
      <details>
        <summary className="small quiet">Function and arguments</summary>
        <p className="small mono">{call.function}</p>
        <Arguments value={call.arguments} />
      </details>
      {error && <p className="error">{error}</p>}
      {may_decide === false && <p className="quiet">Somebody else has to decide this.</p>}
      {may_decide && (
        <div className="stack tight">
          <div className="row">
            <button className="button primary" disabled={isDecided} onClick={() => void decide(confirm)}>
              <Check size={14} aria-hidden /> Confirm
            </button>
            <button
              className="button danger"
              disabled={isDecided}
              onClick={() => void decide({ DenyToolCall: { call_id: id, detail: reason || null } })}
            >
              <X size={14} aria-hidden /> Deny
            </button>
            <input
              className="field grow"
              aria-label="Reason, if you deny"
              placeholder="Reason, if you deny"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </div>
          {call.risk !== "destructive" && conversation !== undefined && (
            <button className="link small" disabled={isDecided} onClick={() => void grant()}>
              Confirm, and let this conversation do so for an hour
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function EffectView({ effect, store, call }: { effect: Effect; store: NotebookStore; call: ToolCall }) {
  switch (effect.kind) {
    case "creates":
      return <Shown title={`A new ${effect.cell_type} cell`} text={effect.source} />;
    case "changes":
      return <Changes effect={effect} store={store} call={call} />;
    case "deletes":
      return (
        <Shown
          title={effect.has_outputs ? "goes, with its outputs" : "goes"}
          cell={effect.cell}
          store={store}
          text={effect.source}
          isBad
        />
      );
    case "moves":
      return <Shown title="moves" cell={effect.cell} store={store} />;
    case "runs":
      return (
        <Shown title={effect.cell ? "runs" : "This code runs"} cell={effect.cell ?? undefined} store={store} text={effect.source} />
      );
    case "writes":
      return <Shown title={`${effect.replaces ? "Replaces" : "Writes"} the file ${effect.path}`} text={effect.content} />;
    case "does":
      return <p className="small">{effect.what}</p>;
    default:
      return <Arguments value={effect} />;
  }
}

/** By word where the new text is known, else as the server's diff has it. */
function Changes({ effect, store, call }: { effect: Effect & { kind: "changes" }; store: NotebookStore; call: ToolCall }) {
  const before = store.document.cells.get(effect.cell)?.source;
  const { source, cell_id } = call.arguments as { source?: unknown; cell_id?: unknown };
  return (
    <div className="stack tight">
      <p className="small">
        <CellLink store={store} cell={effect.cell} /> changes:
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
  if (number === 0) return <>A cell</>;
  return (
    <button className="link" onClick={() => store.select(cell)}>
      Cell {number}
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
        {store && cell !== undefined && <CellLink store={store} cell={cell} />} {title}
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
