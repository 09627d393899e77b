// Updates the tab icon and sends system notifications as runs progress.
import { useEffect, useRef } from "react";
import { serverNow } from "../../app/session/clock.ts";
import { type Mark, nextMark, notify, show, whenSeen } from "../../app/session/attention.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";

export function useAttention(store: NotebookStore): void {
  useTopics(store, "executions", "assistants");
  const mark = useRef<Mark>(undefined);
  const { failed, since, isOver } = store.progress;
  const asks = store.queue.some(([, run]) => run.pending_input) || store.waiting.length > 0;
  const next = nextMark(mark.current, { isRunning: !isOver, failed, asks });
  useEffect(() => {
    const before = mark.current;
    mark.current = next;
    show(next);
    const title = store.document.title || "Untitled";
    if (next === "asks" && before !== "asks") notify(title, "It waits for you.", Infinity);
    if (next !== "done" && next !== "failed") return;
    if (before !== next) notify(title, next === "failed" ? "A run failed." : "All runs are done.", serverNow() - since);
    return whenSeen(() => show((mark.current = undefined)));
  }, [store, next, since]);
  useEffect(() => () => show(undefined), []);
}
