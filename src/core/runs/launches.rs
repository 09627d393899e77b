//! Launches of kernels: which runtime agents may start one, and which kernels of absent agents are replaced.

use serde_json::Value;

use crate::checks::{check_not_archived, checked_title};
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::{kernels, unfinished_on};
use crate::values::decision::{Decision, Outcome, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::kernel_commands::{LaunchKernel, SetKernelSettings};
use notarium_record::{
    AgentId, Document, ExecutionStatus, ExplainedCause, KernelCause, KernelLaunchRequested, KernelPlacement,
    KernelReplacement, KernelSession, KernelSessionId, KernelSettings, Labels, LostKernel, NotebookKernelSettingsSet,
    RawObject,
};

/// Most labels of an agent or a launch.
const MAX_LABELS: usize = 16;

/// Most characters of a label's key, and of its value.
const MAX_LABEL_CHARACTERS: usize = 63;

// --- settings ---

pub(crate) fn decide_settings(notebook: &Document, command: SetKernelSettings) -> Result<Decision> {
    check_not_archived(notebook)?;
    let previous = notebook.kernel_settings.clone();
    let settings = KernelSettings {
        replacement: command.replacement.unwrap_or(previous.replacement),
        labels: command.labels.map_or_else(|| Ok(previous.labels.clone()), checked_labels)?,
    };
    Ok(Decision::unless(settings == previous, NotebookKernelSettingsSet { settings, previous }))
}

/// Checks labels that people or programs have written: their number and their characters.
///
/// # Errors
/// `invalid_value`, with a sentence that says what a label is.
pub fn checked_labels(labels: Labels) -> Result<Labels, Rejection> {
    RejectionCode::InvalidValue.when(labels.len() > MAX_LABELS, || format!("at most {MAX_LABELS} labels"))?;
    for (key, value) in &labels {
        let is_plain = |text: &str| {
            (1..=MAX_LABEL_CHARACTERS).contains(&text.chars().count())
                && text.chars().all(|it| it.is_alphanumeric() || "._-/:".contains(it))
        };
        RejectionCode::InvalidValue.when(!is_plain(key) || !is_plain(value), || {
            format!(
                "a label is KEY=VALUE, each of 1 to {MAX_LABEL_CHARACTERS} letters, digits and . _ - / : as in gpu=a100"
            )
        })?;
    }
    Ok(labels)
}

// --- launches ---

pub(crate) fn decide_launch(notebook: &Notebook, context: &mut Context, command: LaunchKernel) -> Result<Decision> {
    check_not_archived(notebook)?;
    let (id, event) = launch(notebook, context, command)?;
    let outcome = Outcome { kernel_session: Some(id), ..Outcome::default() };
    Ok(Decision::with(vec![event.into()], outcome))
}

/// Requests a kernel of the named kernelspec, else of the notebook's own, else `python3`.
pub(crate) fn launch(
    notebook: &Notebook,
    context: &mut Context,
    command: LaunchKernel,
) -> Result<(KernelSessionId, KernelLaunchRequested)> {
    let LaunchKernel { kernelspec, agent, labels } = command;
    check_count(notebook, context, 0)?;
    let kernelspec = match kernelspec {
        Some(name) => checked_title(&context.limits, &name)?,
        None => own_kernelspec(&notebook.metadata),
    };
    let labels = match (labels, &agent) {
        (Some(labels), _) => checked_labels(labels)?,
        (None, Some(_)) => Labels::new(),
        (None, None) => notebook.kernel_settings.labels.clone(),
    };
    let event = requested(notebook, context, kernelspec, KernelPlacement { agent, labels });
    Ok((event.kernel_session.clone(), event))
}

/// Checks that another kernel may be launched, besides so many that end.
pub(crate) fn check_count(notebook: &Document, context: &Context, ending: usize) -> Result<()> {
    let limit = context.limits.max_kernels;
    LimitName::Kernels.when(notebook.kernels.len() >= limit + ending, limit, || {
        format!("a notebook has at most {limit} kernels: shut one down first")
    })
}

/// Requests a session; the event names a kernel that was lost before it.
pub(crate) fn requested(
    notebook: &Notebook,
    context: &mut Context,
    kernelspec: String,
    placement: KernelPlacement,
) -> KernelLaunchRequested {
    let replaces = notebook.ledger.kernels.lost.clone();
    let KernelPlacement { agent, labels } = placement;
    KernelLaunchRequested { kernel_session: context.ids.ulid().into(), kernelspec, replaces, agent, labels }
}

/// Requests the session that follows a lost one, where that one could start; the event names what is lost.
pub(crate) fn requested_after(
    notebook: &Notebook,
    context: &mut Context,
    id: &KernelSessionId,
    session: &KernelSession,
    why: &ExplainedCause<KernelCause>,
) -> KernelLaunchRequested {
    let (kernel_session, cause, detail) = (id.clone(), why.cause.into(), why.detail.clone());
    let lost = notebook.ledger.kernels.of(id).filter(|kernel| kernel.loses()).map(|_| LostKernel {
        kernel_session,
        cause,
        detail,
    });
    let launch = requested(notebook, context, session.kernelspec.clone(), session.placement.clone());
    KernelLaunchRequested { replaces: lost.or(launch.replaces), ..launch }
}

/// Kernelspec of the kernel on which code would run now: the default one, else the one that would be launched.
pub(crate) fn coming_kernelspec(notebook: &Document) -> String {
    let kernel = kernels::default_session(notebook).and_then(|id| notebook.kernels.get(id));
    kernel.map_or_else(|| own_kernelspec(&notebook.metadata), |kernel| kernel.kernelspec.clone())
}

/// The notebook's own kernelspec, else `python3`.
fn own_kernelspec(metadata: &RawObject) -> String {
    let metadata: Value = serde_json::from_str(metadata.get()).unwrap_or_default();
    let written = metadata["kernelspec"]["name"].as_str().filter(|name| (1..=255).contains(&name.len()));
    written.unwrap_or("python3").to_owned()
}

/// Checks that the agent may start the kernel. A launch waits for the agent that it names, or for one with its labels.
pub(crate) fn check_placement(context: &Context, session: &KernelSession, agent: &AgentId) -> Result<()> {
    let is_allowed = session.placement.allows(agent, &context.agent_labels);
    RejectionCode::AgentNotWanted
        .when(!is_allowed, || "this launch is for another agent, or for one with other labels: leave it")
}

// --- absent agents ---

/// Checks that a run which needs this kernel now gets another: its agent is unreachable, and it may be replaced.
pub(crate) fn is_replaced(notebook: &Notebook, context: &Context, id: &KernelSessionId) -> bool {
    context.unreachable.contains(id) && may_be_replaced(notebook, id)
}

/// Checks that another kernel may take the place of this one while its agent is unreachable: nothing would be lost, or
/// the notebook's setting says so and no run has begun. A kernel whose agent was named waits for that agent.
fn may_be_replaced(notebook: &Notebook, id: &KernelSessionId) -> bool {
    let is_anywhere = notebook.kernels.get(id).is_some_and(|session| session.placement.agent.is_none());
    let replaces = notebook.kernel_settings.replacement == KernelReplacement::Replace;
    let has_begun = || unfinished_on(notebook, id).any(|(_, run)| run.status != ExecutionStatus::Queued);
    is_anywhere && (!holds_variables(notebook, id) || replaces && !has_begun())
}

/// Checks that the kernel ran code: its end loses variables.
fn holds_variables(notebook: &Notebook, id: &KernelSessionId) -> bool {
    notebook.ledger.kernels.of(id).is_some_and(|kernel| kernel.has_run)
}

/// Checks that a kernel whose agent is unreachable is to be replaced without a request: a run waits for it, and it may be
/// replaced.
pub fn is_replaced_for_waiting_runs(notebook: &Notebook, id: &KernelSessionId) -> bool {
    let is_usable = notebook.kernels.get(id).is_some_and(KernelSession::is_usable);
    let waits = || unfinished_on(notebook, id).any(|(_, run)| run.status == ExecutionStatus::Queued);
    is_usable && !notebook.archived && waits() && may_be_replaced(notebook, id)
}

/// Checks that a kernel is kept although its agent was away for longer than the server waits: the notebook's setting says
/// so, and variables would be lost.
pub fn is_kept_for_its_agent(notebook: &Notebook, id: &KernelSessionId) -> bool {
    notebook.kernel_settings.replacement == KernelReplacement::Wait && holds_variables(notebook, id)
}
