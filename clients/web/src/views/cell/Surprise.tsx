// Effects to which a person's cell does not lead: what was refused, and the person's decision.
import { useState } from "react";
import { ShieldAlert } from "lucide-react";
import type { NotebookStore } from "../../app/state/store.ts";
import { surpriseWords } from "../../app/words/surprises.ts";
import { plain } from "../../app/words/words.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution } from "../../protocol/messages.ts";

/** Runs whose refusals this page was told to keep. */
const denied = new Set<string>();

interface Props {
  store: NotebookStore;
  id: string;
  run: Execution;
}

export function Surprise({ store, id, run }: Props) {
  const execution = store.document.latest.get(id) ?? "";
  const [, setDenied] = useState(0);
  if (denied.has(execution)) return null;
  const deny = () => {
    denied.add(execution);
    setDenied((count) => count + 1);
  };
  return (
    <div className="surprise small" role="alert">
      <ShieldAlert size={14} aria-hidden />
      <div className="grow">
        {(run.refused ?? []).map((surprise) => {
          const [before, target, after] = surpriseWords(surprise, store.session.isMe(run.requested_by));
          return (
            <p key={plain(surprise.kind)}>
              {before}
              <code>{target}</code>
              {after}
            </p>
          );
        })}
        <p className="quiet">It was stopped. Code that an assistant ran in this kernel may have caused it.</p>
      </div>
      <button
        className="button small destructive"
        disabled={!store.mayRun || !isFinished(run.status)}
        title="Run the cell again and allow everything it does"
        onClick={() => void store.runs.start([id], { isFree: true })}
      >
        Allow
      </button>
      <button className="button small" onClick={deny}>
        Deny
      </button>
    </div>
  );
}
