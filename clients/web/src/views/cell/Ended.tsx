// End of a run and the actor who ended it, and the log of an ended kernel. The state has only the cause, so the actor is loaded.
import { useEffect, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { endedWords, withoutLog } from "../../app/words/words.ts";
import type { Actor, Execution } from "../../protocol/messages.ts";
import type { Run } from "../../protocol/rest.ts";
import { useName } from "../../ui/Author.tsx";

interface Props {
  store: NotebookStore;
  run: Execution;
  by: Actor | null | undefined;
}

/** For a run whose end is known. */
export function EndedBy({ store, run, by }: Props) {
  const name = useName(store, by ?? undefined);
  return <>{endedWords(run, by ? name : undefined)}</>;
}

/** For a cancelled run in the notebook. */
export function Ended({ store, id, run }: { store: NotebookStore; id: string; run: Execution }) {
  const place = useRef<HTMLSpanElement>(null);
  const [by, setBy] = useState<Actor>();
  useEffect(() => {
    const node = place.current;
    if (!node || id === "") return;
    let isGone = false;
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      seen.disconnect();
      // If the request fails, the cause is shown without a name.
      const asked = store.session.rest.get<Run>(`/api/notebooks/${encodeURIComponent(store.id)}/runs/${encodeURIComponent(id)}`);
      asked.then(({ ended_by }) => !isGone && ended_by && setBy(ended_by as Actor)).catch(() => undefined);
    });
    seen.observe(node);
    return () => {
      isGone = true;
      seen.disconnect();
    };
  }, [store, id]);
  return (
    <span ref={place}>
      <EndedBy store={store} run={run} by={by} />
    </span>
  );
}

/** Log of an ended kernel process: the reason if the kernel did not start. */
export function KernelLog({ detail }: { detail: string | null | undefined }) {
  const { log } = withoutLog(detail ?? "");
  if (log === undefined) return null;
  return (
    <details className="kernel-log small">
      <summary>Kernel log</summary>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre className="effect" tabIndex={0}>
        {log}
      </pre>
    </details>
  );
}
