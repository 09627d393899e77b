// Hooks for a call that waits for approval: its effect, refetched after each change of the notebook, and the decision commands.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import type { Command, ToolCall } from "../../protocol/messages.ts";
import type { CallInFull as InFull } from "../../protocol/rest.ts";

export type { InFull };

const SETTLE_MS = 400;

export function useInFull(store: NotebookStore, id: string): { full: InFull | undefined; error: string | undefined } {
  const [full, setFull] = useState<InFull>();
  const [error, setError] = useState<string>();
  const { version } = store.document;
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(
      () =>
        void store.session.rest.get<InFull>(`/api/notebooks/${store.id}/calls/${id}`).then(
          (answer) => {
            if (isGone) return;
            setFull(answer);
            setError(undefined);
          },
          (failure: Error) => !isGone && setError(failure.message),
        ),
      full ? SETTLE_MS : 0,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [store, id, version]);
  return { full, error };
}

/** Sends decisions sequentially, and stops at the first that is rejected. */
export function useDecision(store: NotebookStore): { isDecided: boolean; decide: (...commands: Command[]) => Promise<void> } {
  const [isDecided, setIsDecided] = useState(false);
  const decide = async (...commands: Command[]) => {
    setIsDecided(true);
    for (const command of commands) if (!(await store.decide(command))) return setIsDecided(false);
  };
  return { isDecided, decide };
}

export function confirming(call_id: string, { arguments_hash }: ToolCall): Command {
  return { ConfirmToolCall: { call_id, arguments_hash } };
}
