//! Reports on executions: those of agents are checked by the fence of the kernel session and applied once by their
//! number. The server replaces large outputs by blob references (spilled outputs): only it has the bytes, and it
//! guarantees that the replacement shows the same.

use crate::access::check_is_reactor;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::{cancelled, ended};
use crate::values::decision::{Decision, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::mask::mask_outputs;
use crate::values::{ExecutionReport, MoveOutputs};
use notarium_record::{
    Actor, Document, EndCause, Execution, ExecutionCompleted, ExecutionId, ExecutionInputRequested, ExecutionLost,
    ExecutionOutcome, ExecutionOutputAppended, ExecutionOutputRecovered, ExecutionOutputUpdated,
    ExecutionOutputsCleared, ExecutionOutputsMoved, ExecutionStarted, ExecutionStatus, ExplainedCause, MovedOutputs,
    Output, RawJson, Version, Written,
};

/// Execution, fence and number of a report.
pub(crate) struct RunReport {
    pub execution_id: ExecutionId,
    pub fence: Version,
    pub seq: u64,
}

/// Finds the execution of a report, also in the record, and checks that the sender may report on it.
pub(crate) fn reported<'a>(
    notebook: &'a Document,
    context: &'a Context,
    id: &ExecutionId,
    fence: Version,
) -> Result<&'a Execution> {
    let recorded = || context.history.executions.get(id).map(|replayed| &replayed.execution);
    let execution = notebook.executions.get(id).map(|execution| &**execution).or_else(recorded);
    let execution = execution.ok_or_else(|| {
        let message = format!("no execution {id} in this notebook: drop what you hold of it");
        RejectionCode::UnknownExecution.because(message)
    })?;
    check_fence(notebook, context, execution, fence)?;
    Ok(execution)
}

/// Checks fence and agent against the assignment. While the execution is unfinished, its kernel session must be alive
/// too.
fn check_fence(notebook: &Document, context: &Context, execution: &Execution, fence: Version) -> Result<()> {
    let session = execution.kernel_session.as_ref().and_then(|id| notebook.kernels.get(id));
    let is_owner = match &context.actor {
        Actor::Agent { id } => execution.agent.as_ref() == Some(id),
        actor => *actor == Actor::System,
    };
    let is_alive = execution.status.is_finished() || session.is_some_and(|session| session.fence == Some(fence));
    if execution.fence == Some(fence) && is_owner && is_alive {
        return Ok(());
    }
    let message = "this kernel session is over or not yours: stop writing about it and ask for the state";
    Err(Rejection { actual_version: execution.fence, ..RejectionCode::StaleFence.because(message) })
}

impl RunReport {
    pub(crate) fn decide(
        self,
        notebook: &Notebook,
        context: &Context,
        mut report: ExecutionReport,
    ) -> Result<Decision> {
        check_size(context, &report)?;
        let execution = reported(notebook, context, &self.execution_id, self.fence)?;
        let says_nothing = matches!(&report, ExecutionReport::Output { outputs } if outputs.is_empty());
        if self.seq <= execution.output_seq || says_nothing {
            return Ok(Decision::nothing());
        }
        if matches!(execution.requested_by, Actor::Assistant { .. }) {
            mask(&mut report);
        }
        let (report, is_limit_notice) = self.within_limit(notebook, context, execution, report)?;
        if execution.status.is_finished() {
            return Ok(self.late(notebook, context, execution, report, is_limit_notice));
        }
        self.check_order(execution)?;
        Ok(self.running(notebook, context, execution, report, is_limit_notice))
    }

    /// Refuses a report if an earlier one is missing: an agent must send again what did not arrive.
    fn check_order(&self, execution: &Execution) -> Result<()> {
        let expected = execution.output_seq + 1;
        let missing = RejectionCode::ReportGap.when(self.seq != expected, || {
            let Self { execution_id, seq, .. } = self;
            format!("report {seq} of execution {execution_id} comes before report {expected}: send from {expected} on")
        });
        missing.map_err(|rejection| Rejection { expected_seq: Some(expected), ..rejection })
    }

    /// Replaces output beyond the run's limit by a notice (`true`), once; refuses further output.
    fn within_limit(
        &self,
        notebook: &Notebook,
        context: &Context,
        execution: &Execution,
        report: ExecutionReport,
    ) -> Result<(ExecutionReport, bool)> {
        let added = match &report {
            ExecutionReport::Output { .. } | ExecutionReport::UpdateDisplay { .. } | ExecutionReport::Clear { .. } => {
                size_of(&report)
            }
            _ => return Ok((report, false)),
        };
        let limit = context.limits.max_output_bytes_per_run;
        let written = self.written(notebook, context, execution);
        if written.is_full {
            let message = format!(
                "execution {} has written {} MiB, all that is recorded of a run: report its end",
                self.execution_id,
                limit >> 20
            );
            let details = LimitName::RunOutputs.details(limit as u64);
            return Err(RejectionCode::OutputLimit.because(message).with(details));
        }
        Ok(match written.bytes + added <= limit {
            true => (report, false),
            false => (ExecutionReport::Output { outputs: vec![limit_notice(limit)] }, true),
        })
    }

    fn written(&self, notebook: &Notebook, context: &Context, execution: &Execution) -> Written {
        let shown = || Written { bytes: execution.outputs.iter().map(Output::size_bytes).sum(), is_full: false };
        let recorded = || context.history.executions.get(&self.execution_id).map(|replayed| replayed.written);
        notebook.ledger.written.of(&self.execution_id).or_else(recorded).unwrap_or_else(shown)
    }

    /// Handles a report after the end. Output of a lost execution is recovered, other late output (of a thread) is
    /// appended; the rest is ignored.
    fn late(
        self,
        notebook: &Notebook,
        context: &Context,
        execution: &Execution,
        report: ExecutionReport,
        is_limit_notice: bool,
    ) -> Decision {
        match report {
            ExecutionReport::Output { outputs } if execution.status == ExecutionStatus::Lost => {
                let RunReport { execution_id, seq: output_seq, .. } = self;
                Decision::one(ExecutionOutputRecovered { execution_id, output_seq, outputs, is_limit_notice })
            }
            ExecutionReport::Output { .. } | ExecutionReport::UpdateDisplay { .. } => {
                self.running(notebook, context, execution, report, is_limit_notice)
            }
            _ => Decision::nothing(),
        }
    }

    fn running(
        self,
        notebook: &Notebook,
        context: &Context,
        execution: &Execution,
        report: ExecutionReport,
        is_limit_notice: bool,
    ) -> Decision {
        let RunReport { execution_id, seq: output_seq, .. } = self;
        match report {
            ExecutionReport::Started {} if execution.status == ExecutionStatus::Running => Decision::nothing(),
            ExecutionReport::Started {} => Decision::one(ExecutionStarted { execution_id, output_seq }),
            ExecutionReport::Output { outputs } => {
                Decision::one(ExecutionOutputAppended { execution_id, output_seq, outputs, is_limit_notice })
            }
            ExecutionReport::UpdateDisplay { display_id, output } => {
                Decision::one(ExecutionOutputUpdated { execution_id, output_seq, display_id, output })
            }
            ExecutionReport::Clear { wait } => {
                Decision::one(ExecutionOutputsCleared { execution_id, output_seq, wait })
            }
            ExecutionReport::InputRequest { prompt, password } => {
                Decision::one(ExecutionInputRequested { execution_id, output_seq, prompt, password })
            }
            ExecutionReport::Completed { outcome, execution_count, notice } => {
                let completed =
                    ExecutionCompleted { execution_id, output_seq, outcome: outcome.into(), execution_count, notice };
                complete(notebook, execution, completed)
            }
            ExecutionReport::HoldsOpen { open } => {
                let held = ExplainedCause { cause: EndCause::HoldsOpen, detail: held_open(context, &open) };
                ended(notebook, &execution_id, execution, cancelled(&execution_id, held))
            }
            ExecutionReport::Lost { cause, detail } => {
                let lost = ExecutionLost { execution_id: execution_id.clone(), cause: cause.into(), detail };
                ended(notebook, &execution_id, execution, lost.into())
            }
        }
    }
}

/// Masks keys in reports on an assistant's run. The agent has masked the blobs.
fn mask(report: &mut ExecutionReport) {
    match report {
        ExecutionReport::Output { outputs } => mask_outputs(outputs),
        ExecutionReport::UpdateDisplay { output, .. } => mask_outputs(std::slice::from_mut(output)),
        _ => {}
    }
}

fn check_size(context: &Context, report: &ExecutionReport) -> Result<()> {
    let limit = context.limits.max_output_bytes_per_report;
    LimitName::ReportOutputs.when(size_of(report) > limit, limit, || {
        format!("a report holds at most {limit} bytes: put large parts in blobs, and send several reports")
    })
}

fn size_of(report: &ExecutionReport) -> usize {
    match report {
        ExecutionReport::Output { outputs } => outputs.iter().map(Output::size_bytes).sum(),
        ExecutionReport::UpdateDisplay { display_id, output } => display_id.len() + output.size_bytes(),
        ExecutionReport::InputRequest { prompt, .. } => prompt.len(),
        ExecutionReport::HoldsOpen { open } => open.iter().map(String::len).sum(),
        ExecutionReport::Lost { detail: text, .. } | ExecutionReport::Completed { notice: text, .. } => {
            text.as_ref().map_or(0, String::len)
        }
        ExecutionReport::Started {} | ExecutionReport::Clear { .. } => 0,
    }
}

/// Records an interrupted run as cancelled: its error comes from the interrupt.
fn complete(notebook: &Notebook, execution: &Execution, completed: ExecutionCompleted) -> Decision {
    let execution_id = completed.execution_id.clone();
    let end = if execution.cancel_requested && completed.outcome != ExecutionOutcome::Ok {
        cancelled(&execution_id, EndCause::Interrupted.into())
    } else {
        completed.into()
    };
    ended(notebook, &execution_id, execution, end)
}

/// Sentence about what the kernel holds open, for people.
fn held_open(context: &Context, open: &[String]) -> Option<String> {
    let open = context.limits.detail(Some(open.join(", ")))?;
    Some(format!("this kernel holds open: {open}; code can change them"))
}

/// Notice that replaces output beyond the limit. Its event marks it as the server's; the same words printed by a
/// program have no effect.
fn limit_notice(limit: usize) -> Output {
    let text = format!(
        "\\n[notarium: this run has written all that the server records of one run, {} MiB; what it writes from here on is not \
         kept.]\\n",
        limit >> 20
    );
    let content = format!(r#"{{"output_type":"stream","name":"stderr","text":"{text}"}}"#);
    let content = RawJson::parse(&content).unwrap_or_else(|_| unreachable!("the notice is JSON"));
    Output { content, blobs: Vec::new(), display_id: None }
}

// --- spilled outputs ---

pub(crate) fn decide_spill(
    notebook: &Notebook,
    context: &Context,
    MoveOutputs { execution_id, output_seq, moved }: MoveOutputs,
) -> Result<Decision> {
    check_is_reactor(context)?;
    let execution = notebook.executions.get(&execution_id).ok_or_else(|| {
        RejectionCode::UnknownExecution.because(format!("no cell shows execution {execution_id}: leave it"))
    })?;
    if !execution.status.is_finished() || execution.output_seq != output_seq {
        let message = format!("execution {execution_id} has written since, or still does: read it again");
        return Err(RejectionCode::ExecutionState.because(message));
    }
    if moved.is_empty() {
        return Ok(Decision::nothing());
    }
    check_places(execution, &moved)?;
    Ok(Decision::one(ExecutionOutputsMoved { execution_id, moved }))
}

/// Checks that each replacement follows the one before, replaces outputs of its kind without `display_id`, and is
/// shorter than they are.
fn check_places(execution: &Execution, moved: &[MovedOutputs]) -> Result<()> {
    let mut after = 0;
    for MovedOutputs { first, count, output } in moved {
        let end = first.saturating_add(*count);
        let replaced = execution.outputs.get(*first..end).filter(|replaced| *first >= after && !replaced.is_empty());
        let fits = replaced.is_some_and(|replaced| stands_for(output, replaced));
        if !fits {
            let message = format!("the outputs from {first} to {end} do not become that: read them again");
            return Err(RejectionCode::InvalidValue.because(message));
        }
        after = end;
    }
    Ok(())
}

fn stands_for(output: &Output, replaced: &[Output]) -> bool {
    let kind = output.output_type();
    let is_alike = |one: &Output| one.display_id.is_none() && one.output_type() == kind;
    let is_shorter = output.size_bytes() < replaced.iter().map(Output::size_bytes).sum();
    let may_join = replaced.len() == 1 || kind.as_deref() == Some("stream");
    output.display_id.is_none() && is_shorter && may_join && replaced.iter().all(is_alike)
}
