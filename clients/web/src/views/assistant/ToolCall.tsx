// A tool call in the conversation: its name in words and state; arguments and result on demand.
import { Check, CircleHelp, LoaderCircle, ShieldQuestion, X } from "lucide-react";
import { useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { toldRefusal } from "../../app/words/effectWords.ts";
import { type CallEnd, stateOf } from "../../app/words/talk.ts";
import { callWords, parsedArguments } from "../../app/words/toolWords.ts";
import { plain, wordOf } from "../../app/words/words.ts";
import { exactJson, exactText } from "../../protocol/exactJson.ts";
import type { ToolCallPhase } from "../../protocol/messages.ts";

interface Props {
  store: NotebookStore;
  call: { call_id: string; function: string; arguments?: unknown };
  result: { text: string; isError: boolean } | undefined;
  end: CallEnd | undefined;
}

const PHASES = {
  waiting: "Waiting for approval",
  confirmed: "Allowed",
  passed: "Starting",
  started: "Running",
} satisfies Record<ToolCallPhase["phase"], string>;

export function ToolCallView({ store, call, result, end }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const phase = store.document.tool_calls.get(call.call_id)?.phase.phase;
  const state = phase ? (wordOf(PHASES, phase) ?? plain(phase)) : (end?.state ?? (result ? stateOf(result) : "Not run"));
  const look = phase ? (phase === "waiting" ? "asks" : "open") : (end?.isBad ?? result?.isError ?? true) ? "bad" : "good";
  const refusal = toldRefusal(result?.text ?? end?.result) ? "Partly not allowed" : "";
  const known = parsedArguments(call.arguments);
  const cell = typeof known?.cell_id === "string" && store.document.cells.has(known.cell_id) ? known.cell_id : undefined;
  return (
    <details className={`call ${look}`} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <Icon look={look} />
        <span className="name">{callWords(call.function, known, store.document.order, look === "good")}</span>
        {store.document.functions.has(call.function) && <span className="quiet small">({serverOf(store, call.function)})</span>}
        <span className="grow" />
        <span className="quiet small">{[state, refusal, end?.words].filter(Boolean).join(" · ")}</span>
      </summary>
      {isOpen && (
        <div className="stack tight">
          {cell !== undefined && (
            <button className="link small" onClick={() => store.select(cell)}>
              Go to cell
            </button>
          )}
          <Arguments value={known ?? call.arguments} />
          {result && (
            <>
              <p className="small quiet">{result.isError ? "Error" : "Result"}</p>
              <pre className={result.isError ? "effect bad" : "effect"}>{pretty(result.text)}</pre>
            </>
          )}
        </div>
      )}
    </details>
  );
}

function Icon({ look }: { look: string }) {
  if (look === "good") return <Check size={14} className="good" aria-hidden />;
  if (look === "bad") return <X size={14} className="bad" aria-hidden />;
  if (look === "asks") return <ShieldQuestion size={14} className="warn" aria-hidden />;
  return look === "open" ? <LoaderCircle size={14} className="turning" aria-hidden /> : <CircleHelp size={14} aria-hidden />;
}

/** Arguments as name and value; multi-line text keeps its lines. */
export function Arguments({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return <pre className="effect">{String(value ?? "")}</pre>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <p className="small quiet">No arguments</p>;
  return (
    <dl className="arguments small">
      {entries.map(([name, each]) => (
        <div key={name}>
          <dt className="mono quiet">{name}</dt>
          <dd>
            <pre>{typeof each === "string" ? each : (exactText(value, name) ?? exactJson(each, 2))}</pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Provider of a tool: registered functions run in the kernel, whatever their name; all others belong to the server. */
export function serverOf(store: NotebookStore, name: string): string {
  const registered = store.document.functions.get(name);
  if (!registered) return "Notarium";
  const kernel = store.document.kernels.get(registered.kernel_session ?? "")?.kernelspec;
  return kernel === undefined ? "this notebook’s kernel" : `this notebook’s kernel, ${kernel}`;
}

function pretty(text: string): string {
  const known = parsedArguments(text);
  return known ? exactJson(known, 2) : text;
}
