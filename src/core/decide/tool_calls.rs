//! Tool calls: requested by an assistant, let through by the gate, started once, ended once.
//!
//! The gate is enforced here and nowhere else. One of three things opens it: the policy, which lets the risk pass now;
//! a grant, which covers the call now; a permitted person, who has confirmed exactly its arguments. Besides, the
//! targets must be unchanged, and requester and decider must still have the rights. The sender of the start makes no
//! difference.
//!
//! A call of the core's tools consists of commands.

use serde_json::{Value, json};

use crate::access::{self, check_is_reactor};
use crate::assistants::call_effects;
use crate::assistants::call_risk::{does_more, judge, targets};
use crate::assistants::calls::{self, changed, happened, known, voided};
use crate::assistants::gate::{TargetChanges, arguments_hash, check_token, deciding, operations, passes_unasked};
use crate::assistants::{self, kernel_tools};
use crate::authority::Operation;
use crate::cells::undo;
use crate::checks::check_not_archived;
use crate::command::Command;
use crate::context::Context;
use crate::decide::call_commands::{commands, said_in_full, undo_command};
use crate::decide::{self, decide_all};
use crate::functions::tools::{Arguments, Executor, Tool, find};
use crate::notebook::Notebook;
use crate::values::RequestToolCall;
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::mask::mask_keys;
use notarium_record::{
    Actor, CellId, ConversationId, Event, ExplainedCause, Gate, HistoryQuery, Open, Passed, RawObject, ToolCall,
    ToolCallEnd, ToolCallExecuted, ToolCallId, ToolCallPhase, ToolCallRequested, ToolCallStarted, TurnId, UserId,
    Version, VoidCause,
};

/// Queries for a request: an earlier call of the same id, and the history that the call's commands need.
pub(crate) fn required_for_request(
    notebook: &Notebook,
    context: &Context,
    command: &RequestToolCall,
) -> Vec<HistoryQuery> {
    let past = command.call_id.as_ref().and_then(|call_id| calls::required_history(notebook, call_id));
    let effects = required_for_effects(notebook, context, &command.function, &command.arguments);
    past.into_iter().chain(effects).collect()
}

/// Queries for a start: the history that the call's commands need; for a call that is over, how it ended.
pub(crate) fn required_for_start(notebook: &Notebook, context: &Context, call_id: &ToolCallId) -> Vec<HistoryQuery> {
    match notebook.tool_calls.get(call_id) {
        Some(call) => required_for_effects(notebook, context, &call.function, &call.arguments),
        None => calls::required_history(notebook, call_id).into_iter().collect(),
    }
}

fn required_for_effects(
    notebook: &Notebook,
    context: &Context,
    function: &str,
    arguments: &RawObject,
) -> Vec<HistoryQuery> {
    let Some(Ok(typed)) = Tool::find(function).map(|tool| tool.arguments(arguments)) else { return Vec::new() };
    let commands = match &typed {
        Arguments::Undo(call) => vec![undo_command(call)],
        Arguments::Redo(_) => vec![REDO],
        typed => commands(notebook, typed, None).unwrap_or_default(),
    };
    commands.iter().flat_map(|command| decide::required_of_one(notebook, context, command)).collect()
}

/// Limits assistants to tool calls: other commands would bypass the gate, also when the reactor sends them.
pub(crate) fn check_way_in(context: &Context, command: &Command) -> Result<()> {
    use Command as C;
    if !matches!(context.actor, Actor::Assistant { .. }) {
        return Ok(());
    }
    match command {
        C::RequestToolCall(_) | C::WithdrawToolCall { .. } => Ok(()),
        C::StartToolCall { .. } | C::ReportToolCall { .. } | C::SweepToolCalls {} => check_is_reactor(context),
        C::StartModelCall { .. } | C::ReportModelCall { .. } | C::PostReply { .. } | C::EndTurn { .. } => {
            check_is_reactor(context)
        }
        // The end of a model call with its answer.
        C::Batch { commands } if matches!(commands[..], [C::ReportModelCall { .. }, C::PostReply { .. }]) => {
            check_is_reactor(context)
        }
        // A new notebook for the tool that creates one: it has nothing that the gate could protect.
        C::CreateNotebook { .. } => check_is_reactor(context),
        C::Batch { commands } if matches!(commands.first(), Some(C::CreateNotebook { .. })) => {
            check_is_reactor(context)
        }
        _ => {
            let message = "assistants act through tool calls, so that people are asked: send RequestToolCall";
            Err(RejectionCode::Forbidden.because(message))
        }
    }
}

fn assistant(context: &Context) -> Result<(&UserId, &ConversationId)> {
    match &context.actor {
        Actor::Assistant { for_user, conversation } => Ok((for_user, conversation)),
        _ => Err(RejectionCode::Forbidden.because("only assistants call tools: people send the commands themselves")),
    }
}

// --- request ---

pub(crate) fn decide_request(notebook: &Notebook, context: &mut Context, command: RequestToolCall) -> Result<Decision> {
    let RequestToolCall { call_id, turn_id, function, arguments, after, conversation_title, token } = command;
    check_not_archived(notebook)?;
    let (user, conversation_id) = assistant(context)?;
    let (user, conversation_id) = (user.clone(), conversation_id.clone());
    let beginning = assistants::begun_by_call(notebook, context, &conversation_id, conversation_title)?;
    check_turn(notebook, context, turn_id.as_ref())?;
    let requesters = &notebook.ledger.requesters;
    let token = turn_id.as_ref().map_or(token, |turn_id| requesters.tokens_of_turns.get(turn_id).cloned());
    requesters.check_rate(context, &user, &conversation_id, token.as_ref())?;
    let call_id = call_id.unwrap_or_else(|| context.ids.ulid().into());
    if notebook.tool_calls.contains_key(&call_id) || happened(&context.history, &call_id).is_some() {
        return Err(RejectionCode::InvalidValue.because(format!("call {call_id} exists: choose another id")));
    }
    let after = held_by(notebook, &conversation_id, &call_id, after)?;
    let tool = find(notebook, &function)?;
    let typed = tool.arguments(&arguments)?;
    assistants::check_is_outside(turn_id.as_ref(), &typed)?;
    let operations = operations(tool.operation(), &typed);
    operations.iter().try_for_each(|operation| access::authorise(notebook, context, *operation))?;
    check_token(notebook, turn_id.as_ref(), &typed, &operations)?;
    kernel_tools::check(notebook, &context.limits, &arguments, &typed)?;
    let targets = targets(notebook, context, &typed)?;
    let (risk, reasons) = judge(notebook, context, &context.actor, tool.risk(), &typed);
    let kinds = call_effects::asked(notebook, &typed);
    let passed = passes_unasked(notebook, context, &context.actor, &function, risk, &kinds, &operations);
    let arguments = if passed.is_none() { said_in_full(notebook, context, arguments, &typed)? } else { arguments };
    let gate = match &passed {
        Some(_) => Gate::Passes,
        None => Gate::WaitsForPerson { until: context.now + context.limits.tool_call_expiry_ms },
    };
    let starts_now = after.is_none() && executor(&typed) == Executor::Core;
    if passed.is_none() || after.is_some() {
        check_room(notebook, context)?;
    }
    let requested = ToolCallRequested {
        call_id: call_id.clone(),
        turn_id,
        arguments_hash: arguments_hash(&function, &arguments),
        function,
        arguments,
        risk: risk.into(),
        reasons,
        targets: targets.into_iter().map(Open::Known).collect(),
        gate: gate.into(),
        after,
        token,
    };
    let mut events: Vec<Decided> = vec![requested.into()];
    let mut outcome = Outcome { tool_call: Some(call_id.clone()), ..Outcome::default() };
    if let Some(passed) = passed.filter(|_| starts_now) {
        let mut done = execute(notebook, context, &call_id, &typed, passed, 1 + beginning.len());
        // The request led to the start.
        done.events[0].led_by = Some(1);
        events.extend(done.events);
        outcome.absorb(done.outcome);
    }
    group(&mut events, &call_id);
    events.splice(0..0, beginning);
    Ok(Decision::with(events, outcome))
}

/// The unfinished call for which this one waits. Only existing calls can be named, so calls never wait for each other
/// in a cycle.
fn held_by(
    notebook: &Notebook,
    conversation_id: &ConversationId,
    call_id: &ToolCallId,
    after: Option<ToolCallId>,
) -> Result<Option<ToolCallId>> {
    let Some(other) = after else { return Ok(None) };
    let invalid = |message: String| Err(RejectionCode::InvalidValue.because(message));
    if other == *call_id {
        return invalid(format!("call {call_id} cannot wait for itself: name an earlier call, or none"));
    }
    match notebook.tool_calls.get(&other).map(|call| &call.requested_by) {
        Some(Actor::Assistant { conversation, .. }) if conversation == conversation_id => Ok(Some(other)),
        Some(_) => invalid(format!("call {other} is of another conversation: name one of your own, or none")),
        None => Ok(None),
    }
}

/// Checks that the call's turn belongs to its conversation and person.
fn check_turn(notebook: &Notebook, context: &Context, turn_id: Option<&TurnId>) -> Result<()> {
    let Some(turn_id) = turn_id else { return Ok(()) };
    match notebook.turns.get(turn_id) {
        Some(turn) if access::is_of(turn, &context.actor) => Ok(()),
        _ => {
            Err(RejectionCode::TurnState
                .because(format!("turn {turn_id} has ended, or is not yours: call nothing more")))
        }
    }
}

fn check_room(notebook: &Notebook, context: &Context) -> Result<()> {
    let limit = context.limits.max_waiting_tool_calls;
    LimitName::WaitingToolCalls.when(notebook.tool_calls.len() >= limit, limit, || {
        format!("{limit} tool calls wait already: somebody must confirm or deny some of them")
    })
}

// --- the gate ---

/// Returns what lets the call start now, or why it is void.
fn passage(notebook: &Notebook, context: &Context, call: &ToolCall) -> Result<Passed, ExplainedCause<VoidCause>> {
    let gone = |rejection: Rejection| ExplainedCause::new(VoidCause::ToolChanged, rejection.message);
    let tool = find(notebook, &call.function).map_err(gone)?;
    if let Some(change) = TargetChanges::since(notebook).of_call(call) {
        return Err(changed(change));
    }
    // Other cells may have changed what the code does: a name may be bound elsewhere now.
    let typed = tool.arguments(&call.arguments).map_err(gone)?;
    if let Some(more) = does_more(notebook, context, tool.risk(), &typed, call) {
        return Err(ExplainedCause::new(VoidCause::RiskGrew, more));
    }
    let operations = operations(tool.operation(), &typed);
    let may = |operation| access::may(notebook, &call.requested_by, &context.authority, context.now, operation);
    if !operations.iter().all(|operation| may(*operation)) {
        return Err(VoidCause::RightLost.into());
    }
    let beyond = |rejection: Rejection| ExplainedCause::new(VoidCause::RightLost, rejection.message);
    check_token(notebook, call.turn_id.as_ref(), &typed, &operations).map_err(beyond)?;
    if let ToolCallPhase::Confirmed { by } = &call.phase {
        let needed: Vec<Operation> = operations.into_iter().chain([deciding(call.risk.judged())]).collect();
        return match access::delegated_may(notebook, &context.authority, by, context.now, &needed) {
            true => Ok(Passed::Confirmation { by: by.clone() }),
            false => Err(VoidCause::ConfirmationLost.into()),
        };
    }
    let kinds = call_effects::asked(notebook, &typed);
    passes_unasked(notebook, context, &call.requested_by, &call.function, call.risk.judged(), &kinds, &operations)
        .ok_or_else(|| VoidCause::GateClosed.into())
}

pub(crate) fn decide_start(notebook: &Notebook, context: &mut Context, call_id: ToolCallId) -> Result<Decision> {
    check_is_reactor(context)?;
    let call = known(notebook, &context.history, &call_id)?;
    if call.requested_by != context.actor {
        return Err(
            RejectionCode::Forbidden.because("a call is started in the name of the assistant that asked for it")
        );
    }
    match call.phase {
        ToolCallPhase::Started { .. } => {
            return Err(RejectionCode::AlreadyClaimed.because(format!("call {call_id} has started: it runs once")));
        }
        ToolCallPhase::Waiting => {
            let message = format!("call {call_id} waits for a person: nobody else opens the gate");
            return Err(RejectionCode::ToolCallState.because(message));
        }
        // A refused start would be retried endlessly; a void call is not.
        _ if notebook.archived => return Ok(voided(call_id, VoidCause::Archived.into())),
        ToolCallPhase::Confirmed { .. } | ToolCallPhase::Passed => {}
    }
    if let Some(other) = call.after.as_ref().filter(|other| notebook.tool_calls.contains_key(other)) {
        let message = format!("call {call_id} comes after call {other}, which has not ended: wait for that one first");
        return Err(RejectionCode::ToolCallState.because(message));
    }
    let passed = match passage(notebook, context, call) {
        Ok(passed) => passed,
        Err(why) => return Ok(voided(call_id, why)),
    };
    let typed = find(notebook, &call.function)?.arguments(&call.arguments)?;
    let mut done = execute(notebook, context, &call_id, &typed, passed, 0);
    group(&mut done.events, &call_id);
    Ok(done)
}

/// Makes the call the undo group of all its events.
fn group(events: &mut [Decided], call_id: &ToolCallId) {
    for decided in events.iter_mut().filter(|decided| decided.undoes.is_none()) {
        decided.correlation_id = call_id.as_str().parse().ok();
    }
}

// --- execution ---

const REDO: Command = Command::Redo { steps: 1, cell_id: None };

/// Starts the call. If the core executes it, its effects and its end follow in the same append. `decided`: the number
/// of events before these.
fn execute(
    notebook: &Notebook,
    context: &mut Context,
    call_id: &ToolCallId,
    arguments: &Arguments,
    passed: Passed,
    decided: usize,
) -> Decision {
    // Effects come after the events before them and after the start.
    let before = decided as Version + 1;
    let claimant = context.instance.clone();
    let mut whole = Decision::one(ToolCallStarted { call_id: call_id.clone(), passed_by: passed.into(), claimant });
    whole.outcome.tool_call = Some(call_id.clone());
    context.run_effects = Some(call_effects::of_runs(notebook, context, arguments));
    let effects = match arguments {
        Arguments::Undo(call) => undo::decide(notebook, context, undo_command(call)),
        Arguments::Redo(_) => undo::decide(notebook, context, REDO),
        Arguments::ExecutePrompt(call) => assistants::start_by_call(notebook, context, call_id, call),
        arguments => kernel_tools::run(notebook, context, call_id, arguments).unwrap_or_else(|| {
            commands(notebook, arguments, Some(&mut context.ids))
                .and_then(|commands| decide_all(notebook, context, commands))
        }),
    };
    context.run_effects = None;
    let is_core = executor(arguments) == Executor::Core;
    let ended = |end: ToolCallEnd, result: String| {
        let result = mask_keys(&result).into_owned();
        ToolCallExecuted { call_id: call_id.clone(), end: end.into(), result, duration_ms: 0 }.into()
    };
    match effects {
        Ok(effects) => {
            let result = told(call_id, &effects, notebook.version + before + 1);
            whole.events.extend(effects.events);
            whole.outcome.absorb(effects.outcome);
            whole.events.extend(is_core.then(|| ended(ToolCallEnd::Ok, result)));
        }
        Err(rejection) => whole.events.push(ended(ToolCallEnd::Error, rejection.message)),
    }
    whole.led_by_first()
}

/// Part that executes the call. The core creates cells that do not run.
fn executor(arguments: &Arguments) -> Executor {
    match arguments {
        Arguments::CreateCells(call) if !call.run => Executor::Core,
        arguments => Tool::find(arguments.name()).map_or(Executor::Agent, |tool| tool.executor),
    }
}

/// Result of commands for the model: the call's id (for an undo), new ids, and the present versions of changed cells.
/// `first` is the version of the first effect.
fn told(call_id: &ToolCallId, effects: &Decision, first: Version) -> String {
    let mut cells: Vec<(&CellId, Version)> = Vec::new();
    for (decided, version) in effects.events.iter().zip(first..) {
        let Some(cell_id) = changed_cell(&decided.event) else { continue };
        cells.retain(|(id, _)| *id != cell_id);
        cells.push((cell_id, version));
    }
    let cells: Vec<Value> =
        cells.into_iter().map(|(id, version)| json!({"cell_id": id, "cell_version": version})).collect();
    let mut told = serde_json::to_value(&effects.outcome).unwrap_or_default();
    told["call_id"] = json!(call_id);
    told["cells"] = Value::Array(cells);
    told.to_string()
}

/// The cell that gets a new version by the event, and is live afterwards.
fn changed_cell(event: &Event) -> Option<&CellId> {
    match event {
        Event::CellInserted(event) => Some(&event.cell_id),
        Event::CellSourceEdited(event) => Some(&event.cell_id),
        Event::CellMoved(event) => Some(&event.cell_id),
        Event::CellTypeChanged(event) => Some(&event.cell_id),
        Event::CellRestored(event) => Some(&event.cell_id),
        _ => None,
    }
}
