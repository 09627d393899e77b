// A call of an assistant that waits for a person: what it would do, and yes or no. Neither has the focus by itself.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../app/store.ts";
import { plain } from "../app/words.ts";
import type { ToolCall } from "../protocol/messages.ts";
import type { components } from "../protocol/rest.ts";

type InFull = components["schemas"]["CallInFull"];
type Effect = components["schemas"]["Effect"];

export function ConfirmationCard({ store, id, call }: { store: NotebookStore; id: string; call: ToolCall }) {
  const [full, setFull] = useState<InFull>();
  const [error, setError] = useState<string>();
  const [reason, setReason] = useState("");
  const [isDecided, setIsDecided] = useState(false);

  useEffect(() => {
    store.session.rest
      .get<InFull>(`/api/notebooks/${store.id}/calls/${id}`)
      .then(setFull, (failure: Error) => setError(failure.message));
  }, [store, id]);

  const decide = async (command: Parameters<NotebookStore["do"]>[0]) => {
    setIsDecided(true);
    if (!(await store.do(command))) setIsDecided(false);
  };
  const { confirmation, may_decide } = full ?? {};
  return (
    <section className={`confirmation ${call.risk}`} aria-label={`Waits for you: ${plain(call.function)}`}>
      <h3>{confirmation?.summary ?? plain(call.function)}</h3>
      <p>
        {confirmation?.risk ?? plain(call.risk)}
        {call.reasons?.map((each) => (
          <span key={each}> {each}</span>
        ))}
      </p>
      {confirmation?.effects.map((effect, index) => (
        <EffectView key={index} effect={effect} />
      ))}
      {confirmation?.void && <p className="error">It would not happen any more: {confirmation.void}</p>}
      <details>
        <summary className="small quiet">Function and arguments</summary>
        <pre className="small">
          {call.function} {JSON.stringify(call.arguments, null, 2)}
        </pre>
      </details>
      {error && <p className="error">{error}</p>}
      {may_decide === false && <p className="quiet">Somebody else has to decide this.</p>}
      {may_decide && (
        <div className="stack tight">
          <input
            className="field"
            aria-label="Reason, if you deny"
            placeholder="Reason, if you deny"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          <div className="row">
            <button
              className="button primary"
              disabled={isDecided}
              onClick={() => void decide({ ConfirmToolCall: { call_id: id, arguments_hash: call.arguments_hash } })}
            >
              Confirm
            </button>
            <button
              className="button danger"
              disabled={isDecided}
              onClick={() => void decide({ DenyToolCall: { call_id: id, detail: reason || null } })}
            >
              Deny
            </button>
          </div>
        </div>
      )}
    </section>
  );
}

function EffectView({ effect }: { effect: Effect }) {
  switch (effect.kind) {
    case "creates":
      return <Shown title={`A new ${effect.cell_type} cell`} text={effect.source} />;
    case "changes":
      return (
        <div>
          <p className="small">A cell changes:</p>
          <Diff diff={effect.diff} />
        </div>
      );
    case "deletes":
      return (
        <Shown title={effect.has_outputs ? "This cell goes, with its outputs" : "This cell goes"} text={effect.source} isBad />
      );
    case "moves":
      return <p className="small">A cell moves.</p>;
    case "runs":
      return <Shown title="This code runs" text={effect.source} />;
    case "writes":
      return <Shown title={`${effect.replaces ? "Replaces" : "Writes"} the file ${effect.path}`} text={effect.content} />;
    default:
      return <pre className="small">{JSON.stringify(effect, null, 2)}</pre>;
  }
}

function Shown({ title, text, isBad }: { title: string; text: string; isBad?: boolean }) {
  return (
    <div>
      <p className="small">{title}:</p>
      <pre className={isBad ? "effect bad" : "effect"}>{text}</pre>
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
