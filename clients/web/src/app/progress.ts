// How far the runs are that were asked for since all was quiet.
import type { EventMessage } from "../protocol/messages.ts";

const ENDS = new Set(["ExecutionCompleted", "ExecutionCancelled", "ExecutionLost", "ExecutionBlocked"]);

export class Progress {
  total = 0;
  done = 0;
  /** The runs that failed or were lost, in their order. */
  failures: string[] = [];
  /** Runs that did not begin, because one before them failed. */
  skipped = 0;
  /** When the first of them was asked for. */
  since = 0;

  get failed(): number {
    return this.failures.length;
  }

  get isOver(): boolean {
    return this.done >= this.total;
  }

  /** What was open when this page came; it does not know what was before. */
  begin(open: number, since: number): void {
    Object.assign(this, { total: open, done: 0, failures: [], skipped: 0, since });
  }

  /** Whether something changed. */
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
