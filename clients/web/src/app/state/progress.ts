// Progress of the runs requested since the notebook was last idle.
import type { EventMessage } from "../../protocol/messages.ts";
import type { Document } from "../../protocol/document.ts";
import type { EventType } from "../../protocol/schemas.ts";

const ENDS: ReadonlySet<string> = new Set<EventType>([
  "ExecutionCompleted",
  "ExecutionCancelled",
  "ExecutionLost",
  "ExecutionBlocked",
]);

export class Progress {
  total = 0;
  done = 0;
  /** Ids of failed and lost runs, in order of their ends. */
  failures: string[] = [];
  /** Number of runs skipped because an earlier one failed. */
  skipped = 0;
  /** Time of the first request. */
  since = 0;

  get failed(): number {
    return this.failures.length;
  }

  get isOver(): boolean {
    return this.done >= this.total;
  }

  /** Starts with the runs open when the page loaded; earlier runs are unknown. */
  begin(open: number, since: number): void {
    Object.assign(this, { total: open, done: 0, failures: [], skipped: 0, since });
  }

  /** Applies an event; returns true if the progress changed. */
  hear({ type, payload, recorded_at }: Pick<EventMessage, "type" | "payload" | "recorded_at">): boolean {
    if (type === "ExecutionRequested") {
      if (this.isOver) this.begin(0, recorded_at);
      this.total += 1;
    } else if (ENDS.has(type) && !this.isOver) {
      this.done += 1;
      const isBad =
        type === "ExecutionLost" || (type === "ExecutionCompleted" && (payload as { outcome?: unknown }).outcome !== "ok");
      const { execution_id } = payload as { execution_id?: string };
      if (isBad && execution_id !== undefined) this.failures = [...this.failures, execution_id];
      if (type === "ExecutionBlocked") this.skipped += 1;
    } else return false;
    return true;
  }
}

/** Cells whose latest run failed, in the order of the notebook; those of `latest` runs come first. */
export function failedCells(document: Pick<Document, "order" | "latest" | "executions">, latest: readonly string[]): string[] {
  const isBad = (cell: string) => {
    const status = document.executions.get(document.latest.get(cell) ?? "")?.status;
    return status === "error" || status === "lost";
  };
  const isLate = (cell: string) => latest.includes(document.latest.get(cell) ?? "");
  const bad = document.order.filter(isBad);
  return [...bad.filter(isLate), ...bad.filter((cell) => !isLate(cell))];
}
