// Events of executions. The document has unfinished executions and those shown by live cells.
import type { EventMessage, Execution, ExecutionRequested, ExecutionStatus, Output, RefusedEffect } from "../messages.ts";
import type { Document } from "../document.ts";
import type { Folding, Handlers } from "../apply.ts";
import { output as outputValue, present, without } from "../values.ts";

const FINISHED = {
  ...{ queued: false, assigned: false, running: false },
  ...{ ok: true, error: true, cancelled: true, blocked: true, lost: true },
} satisfies Record<ExecutionStatus, boolean>;

export function isFinished(status: ExecutionStatus): boolean {
  return FINISHED[status];
}

export const executionEvents: Handlers = {
  ExecutionRequested: (payload, folding) => begin(payload, folding),
  ExecutionAssigned({ execution_id, kernel_session, agent, fence }, folding) {
    advance(folding, execution_id, () => ({ status: "assigned", kernel_session, agent, fence }));
  },
  ExecutionStarted({ execution_id, output_seq }, folding) {
    advance(folding, execution_id, () => ({ status: "running", started_at: folding.event.recorded_at, output_seq }));
  },
  ExecutionOutputAppended({ execution_id, outputs, output_seq }, folding) {
    advance(folding, execution_id, (run) => {
      const kept = run.clear_on_next_output ? [] : (run.outputs ?? []);
      return { outputs: [...kept, ...outputs.map(outputValue)], clear_on_next_output: false, ...seq(run, output_seq) };
    });
  },
  ExecutionOutputUpdated({ execution_id, display_id, output, output_seq }, folding) {
    for (const [id, run] of folding.document.executions) {
      if (run.outputs?.some((shown) => shown.display_id === display_id)) {
        advance(folding, id, () => ({ outputs: updated(run.outputs ?? [], display_id, output) }), false);
      }
    }
    advance(folding, execution_id, (run) => seq(run, output_seq), false);
  },
  ExecutionOutputRecovered({ execution_id, output_seq }, folding) {
    advance(folding, execution_id, (run) => seq(run, output_seq));
  },
  ExecutionOutputsMoved({ execution_id, moved }, folding) {
    advance(folding, execution_id, (run) => {
      const outputs = [...(run.outputs ?? [])];
      // Last to first, so that earlier indices stay valid.
      for (const { first, count, output } of moved.toReversed())
        if (first + count <= outputs.length) outputs.splice(first, count, outputValue(output));
      return { outputs };
    });
  },
  ExecutionOutputsCleared({ execution_id, wait, output_seq }, folding) {
    advance(folding, execution_id, (run) => {
      return { clear_on_next_output: wait, ...(!wait && { outputs: [] }), ...seq(run, output_seq) };
    });
  },
  ExecutionInputRequested({ execution_id, prompt, password, output_seq }, folding) {
    advance(folding, execution_id, (run) => ({ pending_input: { prompt, password }, ...seq(run, output_seq) }));
  },
  ExecutionInputAnswered({ execution_id }, folding) {
    advance(folding, execution_id, () => ({ pending_input: null }));
  },
  ExecutionEffectRefused({ execution_id, kind, target, count }, folding) {
    advance(folding, execution_id, (run) => ({ refused: withRefused(run.refused ?? [], { kind, target, count }) }));
  },
  ExecutionCancelRequested({ execution_id }, folding) {
    advance(folding, execution_id, () => ({ cancel_requested: true }));
  },
  ExecutionCompleted({ execution_id, output_seq, execution_count, outcome, notice }, folding) {
    const end_cause = outcome === "ok" || outcome === "error" ? undefined : (outcome as Execution["end_cause"]);
    advance(folding, execution_id, (run) => {
      const status = outcome === "ok" ? "ok" : "error";
      return { ...end(folding.event, status), execution_count, end_cause, notice, ...seq(run, output_seq) };
    });
  },
  ExecutionCancelled({ execution_id, cause, detail }, folding) {
    advance(folding, execution_id, () => ({ ...end(folding.event, "cancelled"), end_cause: cause, notice: detail }));
  },
  ExecutionBlocked({ execution_id, blocked_by }, folding) {
    advance(folding, execution_id, () => ({ ...end(folding.event, "blocked"), blocked_by }));
  },
  ExecutionLost({ execution_id, cause, detail }, folding) {
    advance(folding, execution_id, () => ({ ...end(folding.event, "lost"), end_cause: cause, notice: detail }));
  },
};

function begin(payload: ExecutionRequested, { document, event, touched }: Folding): void {
  const { execution_id, subject, cause, effects, kernel_session, timeout_ms, stop_on_error } = payload;
  const run: Execution = {
    ...{ subject, cause, effects, kernel_session, timeout_ms, stop_on_error, status: "queued", output_seq: 0 },
    requested_by: event.actor,
    requested_at: event.recorded_at,
    requested_version: event.version,
    correlation_id: event.correlation_id,
  };
  document.executions.set(execution_id, tidy(run));
  touched.part("executions");
  if (subject.kind !== "cell" || !document.cells.has(subject.cell_id)) return;
  const previous = document.latest.get(subject.cell_id);
  document.latest.set(subject.cell_id, execution_id);
  if (previous !== undefined) forgetUnshown(document, previous);
  touched.cell(subject.cell_id);
}

/** One entry for each kind: a later event of the kind replaces it. */
function withRefused(known: RefusedEffect[], refused: RefusedEffect): RefusedEffect[] {
  const place = known.findIndex((one) => one.kind === refused.kind);
  return place < 0 ? [...known, refused] : known.with(place, refused);
}

/** Updates an execution; removes it if it has ended and no cell shows it. */
export function advance(
  { document, touched }: Folding,
  id: string,
  next: (run: Execution) => Partial<Execution>,
  forgets = true,
): void {
  const run = document.executions.get(id);
  if (!run) return;
  const changed = tidy({ ...run, ...next(run) });
  document.executions.set(id, changed);
  if (run.subject.kind === "cell") touched.cell(run.subject.cell_id);
  const shown = ["status", "cancel_requested", "pending_input"] as const;
  if (shown.some((field) => changed[field] !== run[field])) touched.part("executions");
  if (forgets) forgetUnshown(document, id);
}

function tidy(run: Execution): Execution {
  return present(without(run, "stop_on_error", "cancel_requested", "clear_on_next_output", "outputs", "refused", "pending_input"));
}

function seq(run: Execution, output_seq: number): Partial<Execution> {
  return { output_seq: Math.max(run.output_seq ?? 0, output_seq) };
}

function end(event: EventMessage, status: ExecutionStatus): Partial<Execution> {
  return { status, ended_at: event.recorded_at, pending_input: null };
}

function updated(outputs: Output[], displayId: string, { content, blobs }: Output): Output[] {
  const next = (shown: Output) => outputValue({ content, blobs, display_id: shown.display_id });
  return outputs.map((shown) => (shown.display_id === displayId ? next(shown) : shown));
}

/** Removes an execution that has ended and that no live cell shows. */
export function forgetUnshown(document: Document, id: string): void {
  const run = document.executions.get(id);
  if (!run || !isFinished(run.status)) return;
  const isShown = run.subject.kind === "cell" && document.latest.get(run.subject.cell_id) === id;
  if (!isShown) document.executions.delete(id);
}
