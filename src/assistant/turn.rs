//! A turn as a pure state machine over the log. Its next step follows from the record and from this process's
//! present work. After a restart the same record gives the same step, so the turn continues.
//!
//! model call → message → its tool calls, one after the other, each to its end → their results as a message → model call …
//! until the model calls no more tools, or has been called ten times.
//!
//! **Invariant.** Another instance that claimed a model call or tool call is dead, or can do nothing more. This holds only because the
//! worker lives with the owner of the notebook's lease, and each of its commands names the epoch of the lease: a process
//! becomes the owner after the one before it has ended, or has lost the lease and with it every append. A worker anywhere else
//! would report calls as lost that still run.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::tools::{Arguments, Executor, Tool};
use notarium_core::{
    CallAnswer, Document, Event, ExplainedCause, InstanceId, MAX_MODEL_CALLS, MessageBlock, MessageRole, RawObject,
    Recorded, Risk, StopReason, ToolCall, ToolCallId, ToolCallPhase, Turn, TurnEnd, TurnFailure, TurnId,
};

use crate::providers;

/// Most attempts of a model call whose answer was lost with its process.
const MAX_LOST_MODEL_CALLS: u32 = 3;
/// Most consecutive failed runs: the first, and two attempts to repair it (R29).
const MAX_FAILED_RUNS: u32 = 3;
const GIVE_UP: &str = "Not done: what you run has failed, and you have tried to mend it twice. Run nothing more; tell the \
    person what fails and why.";

/// The log's record of one turn.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The last message of the turn, to which the next steps belong.
    last: Option<(MessageRole, Vec<MessageBlock>)>,
    /// Ended calls of that message, with the results for the model.
    ended: BTreeMap<ToolCallId, EndedCall>,
    /// Calls of this turn that ran code and failed, since the last successful one.
    failed_runs: u32,
    /// It finished, failed or was stopped.
    has_ended: bool,
}

/// Result of a call.
#[derive(Debug, Clone)]
struct EndedCall {
    answer: CallAnswer,
    /// The text is recorded unchanged in the event of the call's end, so a message can refer to it.
    is_recorded: bool,
}

impl EndedCall {
    fn unrecorded(answer: CallAnswer) -> Self {
        Self { answer, is_recorded: false }
    }
}

impl Record {
    /// Folds one event in; events of other turns change nothing.
    pub fn see(&mut self, turn_id: &TurnId, recorded: &Recorded) {
        match &recorded.event {
            Event::MessagePosted(event) if event.turn_id.as_ref() == Some(turn_id) => {
                let Some(role) = event.role.known() else { return };
                self.last = Some((*role, event.known_blocks().cloned().collect()));
                self.ended.clear();
            }
            Event::TurnFinished(event) if event.turn_id == *turn_id => self.has_ended = true,
            Event::TurnCancelled(event) if event.turn_id == *turn_id => self.has_ended = true,
            Event::TurnFailed(event) if event.turn_id == *turn_id => self.has_ended = true,
            event => {
                if let (Some(call_id), Some(answer)) = (event.tool_call_id(), CallAnswer::of(event))
                    && let Some(is_run) = self.is_run(call_id)
                {
                    if is_run {
                        self.failed_runs = if answer.is_error { self.failed_runs + 1 } else { 0 };
                    }
                    let is_recorded = matches!(event, Event::ToolCallExecuted(event) if event.result == answer.text);
                    self.ended.insert(call_id.clone(), EndedCall { answer, is_recorded });
                }
            }
        }
    }

    /// True if a call of the last message reports the result of a run; `None`: it is no call of that message.
    fn is_run(&self, call_id: &ToolCallId) -> Option<bool> {
        self.last.iter().flat_map(|(_, blocks)| blocks).find_map(|block| match block {
            // An asynchronous run reports no result.
            MessageBlock::ToolCall { call_id: id, function, arguments, .. } if id == call_id => {
                Some(function != "execute_cell_async" && is_run(function, arguments))
            }
            _ => None,
        })
    }
}

/// True if a call runs code and reports the result.
fn is_run(function: &str, arguments: &str) -> bool {
    let typed = serde_json::from_str(arguments).ok().and_then(|raw| Tool::find(function)?.arguments(&raw).ok());
    match typed {
        Some(Arguments::CreateCells(call)) => call.run,
        Some(Arguments::CreateNotebook(call)) => call.run,
        Some(typed) => {
            matches!(typed, Arguments::ExecuteCell(_) | Arguments::ExecuteCellAsync(_) | Arguments::RunAll(_))
        }
        None => false,
    }
}

/// State of this process only; lost in a restart.
#[derive(Debug, Clone)]
pub struct Live {
    /// Id of this server process, which owns the notebook's lease. Claims under it are its own; all others are of dead
    /// processes.
    pub instance: InstanceId,
    /// A model call is running.
    pub is_calling_model: bool,
    /// A model call has ended, and its end could not be recorded.
    pub is_model_call_lost: bool,
    /// Reason why a retry of the model call cannot succeed.
    pub model_failure: Option<ExplainedCause<TurnFailure>>,
    /// Stop reason of the provider's last answer, if it called no tools.
    pub stop_reason: Option<StopReason>,
    /// Calls that are executing or waited for.
    pub executing: BTreeSet<ToolCallId>,
    /// Requests that the core refused, with the text for the model. After a restart they are requested again, and refused again.
    pub refused: BTreeMap<ToolCallId, String>,
}

impl Live {
    /// State of a process that has done nothing yet.
    pub fn new(instance: InstanceId) -> Self {
        Self {
            instance,
            is_calling_model: false,
            is_model_call_lost: false,
            model_failure: None,
            stop_reason: None,
            executing: BTreeSet::new(),
            refused: BTreeMap::new(),
        }
    }

    /// True if a newly started process would do the same without this state. Refused requests do not count: they would be
    /// refused again.
    pub fn is_forgettable(&self) -> bool {
        !self.is_calling_model
            && !self.is_model_call_lost
            && self.model_failure.is_none()
            && self.stop_reason.is_none()
            && self.executing.is_empty()
    }
}

/// A tool call of the model to request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequest {
    pub call_id: ToolCallId,
    pub function: String,
    pub arguments: RawObject,
    /// The previous call in the message, if it waits for a person: this call stays behind it.
    pub after: Option<ToolCallId>,
}

/// The next step of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Claim a model call, unless this process has claimed it already, and make it.
    CallModel,
    /// Report a claim as failed whose process has died, or whose answer was lost. It had no effect, so it can be retried.
    LoseModelCall,
    Request(ToolRequest),
    /// Start a call that has passed the gate.
    Start(ToolCallId),
    /// Execute a started call from its runs in the log, and report.
    Resume(ToolCallId),
    /// Report that the outcome of a started call is unknown, because its process has died.
    Lose(ToolCallId),
    /// All calls of the last message are answered.
    PostResults(Vec<MessageBlock>),
    End(TurnEnd),
    /// Wait for a person, a run, or the model.
    Wait,
    /// The turn is over.
    Done,
}

/// The next step of a turn.
pub fn next(turn_id: &TurnId, notebook: &Document, record: &Record, live: &Live) -> Step {
    let Some(turn) = notebook.turns.get(turn_id).filter(|_| !record.has_ended) else { return Step::Done };
    if let Some(claimant) = &turn.model_call_claimant {
        return claimed_model_call(claimant, live);
    }
    match &record.last {
        Some((MessageRole::Assistant, blocks)) => after_reply(turn, notebook, record, live, blocks),
        _ => call_model(turn, live),
    }
}

fn claimed_model_call(claimant: &InstanceId, live: &Live) -> Step {
    if live.is_calling_model {
        Step::Wait
    } else if *claimant == live.instance && !live.is_model_call_lost {
        Step::CallModel
    } else {
        Step::LoseModelCall
    }
}

fn call_model(turn: &Turn, live: &Live) -> Step {
    if live.is_calling_model {
        return Step::Wait;
    }
    if let Some(why) = &live.model_failure {
        return Step::End(failed(why.clone()));
    }
    if turn.is_model_call_failed && turn.attempts >= MAX_LOST_MODEL_CALLS {
        let detail = format!("the model did not answer, {} times: ask again", turn.attempts);
        return Step::End(failed(ExplainedCause::new(TurnFailure::ServerStopped, detail)));
    }
    if !turn.is_model_call_failed && turn.model_calls >= MAX_MODEL_CALLS {
        return Step::End(TurnEnd::Finished(StopReason::MaxTurns));
    }
    Step::CallModel
}

/// The end of a failed turn.
pub fn failed(ExplainedCause { cause, detail }: ExplainedCause<TurnFailure>) -> TurnEnd {
    TurnEnd::Failed { cause, detail }
}

/// Handles the calls of the message in order. While one waits for a person, the later ones are
/// requested too, so that the person sees all of them together.
fn after_reply(turn: &Turn, notebook: &Document, record: &Record, live: &Live, blocks: &[MessageBlock]) -> Step {
    let mut results = Vec::new();
    let mut waits: Option<ToolCallId> = None;
    for block in blocks {
        let MessageBlock::ToolCall { provider_id, call_id, function, arguments, .. } = block else { continue };
        if let Some(EndedCall { answer, is_recorded }) = answered(notebook, record, live, call_id, function, arguments)
        {
            results.push(MessageBlock::ToolResult {
                provider_id: provider_id.clone(),
                call_id: call_id.clone(),
                text: (!is_recorded).then_some(answer.text),
                is_error: answer.is_error,
            });
            continue;
        }
        match notebook.tool_calls.get(call_id) {
            None => return request(call_id, function, arguments, waits),
            Some(_) if waits.is_some() => {}
            Some(call) if call.phase == ToolCallPhase::Waiting => {}
            Some(call) => return unfinished(live, call_id, call),
        }
        waits = Some(call_id.clone());
    }
    if waits.is_some() {
        return Step::Wait;
    }
    if results.is_empty() {
        return Step::End(TurnEnd::Finished(live.stop_reason.unwrap_or(StopReason::EndTurn)));
    }
    if turn.model_calls >= MAX_MODEL_CALLS {
        return Step::End(TurnEnd::Finished(StopReason::MaxTurns));
    }
    Step::PostResults(results)
}

fn answered(
    notebook: &Document,
    record: &Record,
    live: &Live,
    call_id: &ToolCallId,
    function: &str,
    arguments: &str,
) -> Option<EndedCall> {
    if let Some(ended) = record.ended.get(call_id) {
        return Some(ended.clone());
    }
    let answered = live.refused.get(call_id).map(CallAnswer::error).or_else(|| unreadable(arguments));
    let is_new = !notebook.tool_calls.contains_key(call_id);
    let gives_up = || is_new && record.failed_runs >= MAX_FAILED_RUNS && is_run(function, arguments);
    answered.or_else(|| gives_up().then(|| CallAnswer::error(GIVE_UP))).map(EndedCall::unrecorded)
}

fn request(call_id: &ToolCallId, function: &str, arguments: &str, after: Option<ToolCallId>) -> Step {
    let Ok(arguments) = serde_json::from_str(arguments) else { return Step::Wait };
    Step::Request(ToolRequest { call_id: call_id.clone(), function: function.to_owned(), arguments, after })
}

/// The error for arguments that are no JSON object. Only the model gets it; nothing is requested.
fn unreadable(arguments: &str) -> Option<CallAnswer> {
    providers::CallArguments::new(arguments).parse().err().map(CallAnswer::error)
}

fn unfinished(live: &Live, call_id: &ToolCallId, call: &ToolCall) -> Step {
    match &call.phase {
        ToolCallPhase::Waiting => Step::Wait,
        ToolCallPhase::Passed | ToolCallPhase::Confirmed { .. } => Step::Start(call_id.clone()),
        ToolCallPhase::Started { .. } if live.executing.contains(call_id) => Step::Wait,
        ToolCallPhase::Started { claimant, .. } if is_taken_up(call, claimant, &live.instance) => {
            Step::Resume(call_id.clone())
        }
        ToolCallPhase::Started { .. } => Step::Lose(call_id.clone()),
    }
}

/// True if this process must execute a started call that it does not execute yet. Its own claim was
/// never acted on, because the answer to the claim was lost. A claim of another instance is a dead process's (invariant
/// of this file).
pub fn is_taken_up(call: &ToolCall, claimant: &InstanceId, instance: &InstanceId) -> bool {
    claimant == instance || is_resumable(call)
}

/// True if another process can resume the call. It must only read, or have all effects in the log (runs), or have effects that are applied
/// once even if they are sent again (a notebook named after the call).
fn is_resumable(call: &ToolCall) -> bool {
    // A function of the notebook is a run in its kernel.
    let Some(tool) = Tool::find(&call.function) else { return true };
    let Ok(arguments) = tool.arguments(&call.arguments) else { return false };
    tool.executor == Executor::Agent
        || tool.risk == Risk::Read
        || matches!(
            arguments,
            Arguments::ExecuteCell(_) | Arguments::RunAll(_) | Arguments::CreateCells(_) | Arguments::CreateNotebook(_)
        )
}
