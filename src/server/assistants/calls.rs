//! Tool calls for people: rebuilt from the record (requested, decided, started, ended), and previewed for a decision with
//! everything that the call would do to the notebook as it is now.

use notarium_core::tools::{Arguments, CallFunction, NewCell, NotebookTool, Tool};
use notarium_core::{
    Actor, CellId, CellType, Document, Event, Millis, Recorded, Risk, TargetChange, ToolCall, ToolCallEnd, ToolCallId,
    ToolCallRequested, Version, target_change,
};
use notarium_wire::rest::{Call, CallEffect, CallState, Confirmation};

use crate::notebooks::history;

/// A waiting call, from the notebook's state.
pub fn waiting(id: &ToolCallId, call: &ToolCall) -> Call {
    let event = ToolCallRequested {
        call_id: id.clone(),
        turn_id: call.turn_id.clone(),
        function: call.function.clone(),
        arguments: call.arguments.clone(),
        arguments_hash: call.arguments_hash,
        risk: call.risk.clone(),
        reasons: call.reasons.clone(),
        targets: call.targets.clone(),
        gate: call.gate.clone(),
        after: call.after.clone(),
        token: None,
    };
    requested(event, call.requested_by.clone(), call.requested_at, call.requested_version)
}

/// A call from all its events, in order; `None` without its request.
pub fn replay(events: &[Recorded]) -> Option<Call> {
    let (first, rest) = events.split_first()?;
    let Event::ToolCallRequested(event) = &first.event else { return None };
    let envelope = &first.envelope;
    let mut call = requested(event.clone(), envelope.actor.clone(), envelope.recorded_at, envelope.version);
    rest.iter().for_each(|recorded| follow(&mut call, recorded));
    Some(call)
}

fn requested(event: ToolCallRequested, by: Actor, at: Millis, version: Version) -> Call {
    Call {
        state: if event.gate.waits() { CallState::Waiting } else { CallState::Passed },
        id: event.call_id,
        function: event.function,
        arguments: event.arguments,
        arguments_hash: event.arguments_hash,
        risk: event.risk,
        reasons: event.reasons,
        targets: event.targets,
        requested_by: by,
        requested_at: at,
        requested_version: version,
        turn_id: event.turn_id,
        model_usage: None,
        expires_at: event.gate.until(),
        after: event.after,
        decided_by: None,
        by_means: None,
        decided_at: None,
        reason: None,
        passed_by: None,
        started_at: None,
        ended_at: None,
        duration_ms: None,
        result: None,
    }
}

fn follow(call: &mut Call, recorded: &Recorded) {
    let at = recorded.envelope.recorded_at;
    match &recorded.event {
        Event::ToolCallConfirmed(event) => {
            decide(call, recorded, CallState::Confirmed, None);
            call.by_means.clone_from(&event.by_means);
        }
        Event::ToolCallDenied(event) => {
            decide(call, recorded, CallState::Denied, event.detail.clone());
            call.by_means.clone_from(&event.by_means);
        }
        Event::ToolCallWithdrawn(event) => decide(call, recorded, CallState::Withdrawn, Some(event.sentence())),
        Event::ToolCallVoided(event) => {
            (call.state, call.ended_at) = (CallState::Voided, Some(at));
            call.reason = Some(event.sentence());
        }
        Event::ToolCallExpired(_) => (call.state, call.ended_at) = (CallState::Expired, Some(at)),
        Event::ToolCallStarted(event) => {
            (call.state, call.started_at) = (CallState::Running, Some(at));
            call.passed_by = Some(event.passed_by.clone());
        }
        Event::ToolCallExecuted(event) => {
            call.state = match event.end.known() {
                Some(ToolCallEnd::Ok) => CallState::Succeeded,
                Some(ToolCallEnd::Error) => CallState::Failed,
                Some(ToolCallEnd::OutcomeUnknown) | None => CallState::OutcomeUnknown,
            };
            (call.ended_at, call.duration_ms) = (Some(at), Some(event.duration_ms));
            call.result = Some(event.result.clone());
        }
        _ => {}
    }
}

fn decide(call: &mut Call, recorded: &Recorded, state: CallState, reason: Option<String>) {
    let at = recorded.envelope.recorded_at;
    call.state = state;
    call.decided_by = Some(recorded.envelope.actor.clone());
    call.decided_at = Some(at);
    call.reason = reason;
    if state != CallState::Confirmed {
        call.ended_at = Some(at);
    }
}

/// Effects that the call would have now.
pub fn preview(notebook: &Document, call: &ToolCall) -> Confirmation {
    let tool = notarium_core::tools::find(notebook, &call.function).ok();
    let typed = tool.and_then(|tool| tool.arguments(&call.arguments).ok());
    let changed = call.targets.iter().find_map(|target| target_change(notebook, target));
    Confirmation {
        summary: tool
            .map_or_else(|| "A tool that this notebook does not have any more".to_owned(), NotebookTool::summary),
        risk: risk_of_call(notebook, call.risk.judged(), typed.as_ref()),
        effects: typed.map(|typed| effects(notebook, &typed)).unwrap_or_default(),
        void: changed.as_ref().map(TargetChange::to_string),
        changed,
    }
}

/// Bytes of the texts that the preview shows.
pub fn preview_bytes(confirmation: &Confirmation) -> usize {
    let of = |effect: &CallEffect| match effect {
        CallEffect::Creates { source, .. } | CallEffect::Deletes { source, .. } | CallEffect::Runs { source, .. } => {
            source.len()
        }
        CallEffect::Changes { diff, .. } => diff.len(),
        CallEffect::Writes { content, .. } => content.len(),
        CallEffect::Does { what } => what.len(),
        CallEffect::Moves { .. } => 0,
    };
    confirmation.effects.iter().map(of).sum()
}

/// Description of a registered function by its author, in full.
fn calls_function(notebook: &Document, call: &CallFunction) -> Option<CallEffect> {
    let function = &notebook.functions.get(&call.name)?.function;
    let risk = risk_in_words(function.risk.judged());
    let what = format!(
        "calls {}, version \"{}\". Its author says: {} Risk, by its author: {risk}",
        function.name, function.version, function.description
    );
    Some(CallEffect::Does { what })
}

/// Risk of this call, in one or two sentences.
fn risk_of_call(notebook: &Document, risk: Risk, arguments: Option<&Arguments>) -> String {
    match arguments {
        Some(Arguments::DeleteCell(call)) => {
            let outputs = if has_outputs(notebook, &call.cell_id) { " and its outputs" } else { "" };
            format!("Deletes {}{outputs}. It can be restored from the trash.", place(notebook, &call.cell_id))
        }
        Some(Arguments::RestartKernel(_)) => "Restarts the kernel. All variables are lost.".to_owned(),
        Some(Arguments::Interrupt(_)) if risk == Risk::Destructive => "Stops code that is running.".to_owned(),
        Some(Arguments::SaveData(call)) if call.overwrite.is_some() => {
            format!("Replaces {}. Its old content is lost.", call.path)
        }
        Some(arguments) if runs_code(arguments) => risk_of_code(risk).to_owned(),
        _ => risk_in_words(risk).to_owned(),
    }
}

fn place(notebook: &Document, cell: &CellId) -> String {
    let at = notebook.ordered_cells().position(|(id, _)| id == cell);
    at.map_or_else(|| "a cell".to_owned(), |at| format!("cell {}", at + 1))
}

fn runs_code(arguments: &Arguments) -> bool {
    match arguments {
        Arguments::ExecuteCell(_) | Arguments::ExecuteCellAsync(_) | Arguments::RunAll(_) => true,
        Arguments::CreateCells(call) => call.run,
        Arguments::CreateNotebook(call) => call.run,
        _ => false,
    }
}

fn risk_of_code(risk: Risk) -> &'static str {
    match risk {
        Risk::Read | Risk::Edit => "Runs code. Effects outside the kernel are refused.",
        Risk::Sensitive => "Runs code that may reach outside the notebook.",
        Risk::Destructive => "Runs code that may delete or overwrite something.",
    }
}

fn risk_in_words(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "Only reads.",
        Risk::Edit => "Can be undone.",
        Risk::Sensitive => "May reach outside the notebook.",
        Risk::Destructive => "Cannot be undone.",
    }
}

fn effects(notebook: &Document, arguments: &Arguments) -> Vec<CallEffect> {
    match arguments {
        Arguments::CreateCell(call) => vec![creates(call.cell_type, &call.source)],
        Arguments::CreateCells(call) => made(&call.cells, call.run),
        Arguments::CreateNotebook(call) => {
            let what = format!("makes a notebook with the title \"{}\"", call.title);
            let cells = call.cells.iter().flat_map(|cells| made(cells, call.run));
            [CallEffect::Does { what }].into_iter().chain(cells).collect()
        }
        Arguments::ModifyCell(call) => {
            let before = source(notebook, &call.cell_id);
            vec![CallEffect::Changes { cell: call.cell_id.clone(), diff: history::unified(&before, &call.source) }]
        }
        Arguments::MoveCell(call) => vec![CallEffect::Moves { cell: call.cell_id.clone() }],
        Arguments::DeleteCell(call) => vec![deletes(notebook, &call.cell_id)],
        Arguments::RestoreCell(call) => {
            vec![CallEffect::Does { what: format!("brings cell {} back from the trash", call.cell_id) }]
        }
        Arguments::ExecuteCell(call) => vec![runs(notebook, &call.cell_id)],
        Arguments::ExecuteCellAsync(call) => vec![runs(notebook, &call.cell_id)],
        Arguments::RunAll(_) => {
            let code = notebook.ordered_cells().filter(|(_, cell)| cell.content.cell_type.runs());
            code.map(|(id, _)| runs(notebook, id)).collect()
        }
        Arguments::SaveData(call) => vec![CallEffect::Writes {
            path: call.path.clone(),
            content: call.content.clone(),
            replaces: call.overwrite.clone(),
        }],
        Arguments::Undo(_) => vec![CallEffect::Does { what: "undoes what the assistant did before".to_owned() }],
        Arguments::CallFunction(call) => calls_function(notebook, call).into_iter().collect(),
        other => Tool::find(other.name())
            .map(|tool| CallEffect::Does { what: tool.summary.to_owned() })
            .into_iter()
            .collect(),
    }
}

fn creates(cell_type: CellType, source: &str) -> CallEffect {
    CallEffect::Creates { cell_type, source: source.to_owned() }
}

fn made(cells: &[NewCell], run: bool) -> Vec<CallEffect> {
    let made = cells.iter().map(|cell| creates(cell.cell_type, &cell.source));
    let code = cells.iter().filter(|cell| run && cell.cell_type.runs());
    made.chain(code.map(|cell| CallEffect::Runs { cell: None, source: cell.source.clone() })).collect()
}

fn source(notebook: &Document, cell: &CellId) -> String {
    notebook.cells.get(cell).map(|cell| cell.content.source.clone()).unwrap_or_default()
}

fn has_outputs(notebook: &Document, cell: &CellId) -> bool {
    notebook.latest_execution(cell).is_some_and(|(_, run)| !run.outputs.is_empty())
}

fn deletes(notebook: &Document, cell: &CellId) -> CallEffect {
    CallEffect::Deletes { cell: cell.clone(), source: source(notebook, cell), has_outputs: has_outputs(notebook, cell) }
}

fn runs(notebook: &Document, cell: &CellId) -> CallEffect {
    CallEffect::Runs { cell: Some(cell.clone()), source: source(notebook, cell) }
}
