//! Targets and risk of a tool call, judged on the notebook as it is.

use std::borrow::Cow;

use crate::assistants::call_effects;
use crate::assistants::gate::code_target;
use crate::assistants::kernel_tools;
use crate::checks::live_cell;
use crate::command::Command;
use crate::context::{Context, JudgementQuery};
use crate::functions::tools::{Arguments, NewCell, SaveData, find};
use crate::notebook::Notebook;
use crate::runs::{expected_effects, function_restores, kernels, launches, unfinished_on};
use crate::values::RequestToolCall;
use crate::values::decision::{Rejection, Result};
use notarium_record::{
    Actor, CellId, Document, Effect, ExecutionStatus, Risk, Target, ToolCall, ToolCallPhase, Version,
};

/// Bytes of all cells that are judged together, at most. Cells are judged together because one may use names that
/// another binds.
const MAX_JUDGED_BYTES: usize = 1 << 20;

/// Targets of the call, in the versions that the assistant has seen.
pub(crate) fn targets(notebook: &Document, context: &Context, arguments: &Arguments) -> Result<Vec<Target>> {
    let seen = |cell_id: &CellId, version: Version| {
        let target = Target::Cell { cell_id: cell_id.clone(), cell_version: version };
        match notebook.cells.get(cell_id) {
            Some(cell) if cell.cell_version == version => Ok(vec![target]),
            Some(cell) => Err(Rejection::conflict(&format!("cell {cell_id}"), version, cell.cell_version)),
            // The cell is not live: the refusal says whether it is in the trash.
            None => live_cell(notebook, context, cell_id).map(|_| Vec::new()),
        }
    };
    let now = |cell_id: &CellId| {
        let cell = notebook.cells.get(cell_id)?;
        Some(Target::Cell { cell_id: cell_id.clone(), cell_version: cell.cell_version })
    };
    // Without a version, the present text is judged, and that text will run.
    let run = |cell_id: &CellId, version: Option<Version>| {
        let version = version.or_else(|| Some(notebook.cells.get(cell_id)?.cell_version));
        seen(cell_id, version.unwrap_or_default())
    };
    Ok(match arguments {
        Arguments::ModifyCell(call) => seen(&call.cell_id, call.cell_version)?,
        Arguments::DeleteCell(call) => seen(&call.cell_id, call.cell_version)?,
        Arguments::ExecuteCell(call) => run(&call.cell_id, call.cell_version)?,
        Arguments::ExecuteCellAsync(call) => run(&call.cell_id, call.cell_version)?,
        Arguments::ExecutePrompt(call) => run(&call.cell_id, call.cell_version)?,
        Arguments::MoveCell(call) => now(&call.cell_id).into_iter().collect(),
        Arguments::SetCellFlags(call) => now(&call.cell_id).into_iter().collect(),
        Arguments::ClearOutputs(call) => now(&call.cell_id).into_iter().collect(),
        Arguments::RunAll(_) => vec![code_target(notebook)],
        Arguments::RestartKernel(_) => kernels::default_session(notebook)
            .map(|id| Target::Kernel { kernel_session: id.clone() })
            .into_iter()
            .collect(),
        Arguments::CallFunction(call) => {
            let known = notebook.functions.get(&call.name);
            known
                .map(|known| Target::Function { name: call.name.clone(), registered_version: known.registered_version })
                .into_iter()
                .collect()
        }
        Arguments::SaveData(call) => vec![Target::File { path: call.path.clone(), sha256: call.overwrite.clone() }],
        _ => Vec::new(),
    })
}

pub(crate) fn code_cells(notebook: &Document) -> impl Iterator<Item = &CellId> {
    notebook.ordered_cells().filter(|(_, cell)| cell.content.cell_type.runs()).map(|(id, _)| id)
}

/// Judges the risk of this call of this assistant. The sentences say why it exceeds the tool's own risk.
pub(crate) fn judge(
    notebook: &Notebook,
    context: &Context,
    requester: &Actor,
    own: Risk,
    arguments: &Arguments,
) -> (Risk, Vec<String>) {
    if matches!(arguments, Arguments::Interrupt(_)) {
        let reasons = interrupted_of_others(notebook, requester);
        return (if reasons.is_empty() { own } else { Risk::Destructive }, reasons);
    }
    let kinds = call_effects::asked(notebook, arguments);
    let by_effects = call_effects::reasons(notebook, arguments, &kinds);
    if let Arguments::SaveData(call) = arguments {
        let (of_file, reason) = of_saved_file(call);
        let reasons = reason.map(str::to_owned).into_iter().chain(by_effects);
        return (own.max(of_file).max(call_effects::risk_of(&kinds)), reasons.collect());
    }
    if let Arguments::CallFunction(_) = arguments {
        // The person who registered the function has said how risky it is, with all that it does. What else is open in
        // the kernel is not part of that.
        let of_open = if kinds.contains(&Effect::Open) { Risk::Sensitive } else { own };
        return (own.max(of_open), by_effects);
    }
    let is_held = call_effects::are_held(notebook, context, arguments);
    let (read_off, warnings) = match code_to_judge(notebook, arguments) {
        CodeToJudge::Nothing => return (own.max(call_effects::risk_of(&kinds)), by_effects),
        CodeToJudge::Unknown(_) if is_held => (own, Vec::new()),
        CodeToJudge::Unknown(reason) => (Risk::Destructive, vec![reason.to_owned()]),
        CodeToJudge::Python(query) => early_warning(context, query, own),
    };
    let (by_kernel, unheld) = match is_held || runs_elsewhere(arguments) {
        true => (Risk::Read, None),
        false => (Risk::Sensitive, Some(call_effects::NOT_HELD.to_owned())),
    };
    let risk = read_off.max(by_kernel).max(call_effects::risk_of(&kinds));
    (risk, unheld.into_iter().chain(by_effects).chain(warnings).collect())
}

/// Risk of the file that `save_data` makes, with the reason.
fn of_saved_file(call: &SaveData) -> (Risk, Option<&'static str>) {
    if call.overwrite.is_some() {
        return (Risk::Destructive, Some("it replaces a file that exists"));
    }
    if kernel_tools::is_data(&call.path) {
        return (Risk::Read, None);
    }
    let reason = "it writes a file that is not known to be data: something may run it or read it as settings later";
    (Risk::Sensitive, Some(reason))
}

/// Risk that can be read off the code's text, with the reasons. Nothing rests on it: the system holds the effects.
fn early_warning(context: &Context, query: JudgementQuery, own: Risk) -> (Risk, Vec<String>) {
    match context.history.judgement.as_ref().filter(|judgement| judgement.query == query) {
        Some(judgement) => (judgement.risk.max(own), judgement.reasons.clone()),
        None => (Risk::Destructive, vec!["its code could not be checked".to_owned()]),
    }
}

/// Checks that the code's text says something for which the gate asks.
pub(crate) fn is_risky_text(notebook: &Document, context: &Context, arguments: &Arguments) -> bool {
    match code_to_judge(notebook, arguments) {
        CodeToJudge::Python(query) => early_warning(context, query, Risk::Read).0 >= Risk::Sensitive,
        CodeToJudge::Nothing | CodeToJudge::Unknown(_) => false,
    }
}

/// Code of a new notebook runs in a kernel of that notebook, and only if that kernel holds effects.
fn runs_elsewhere(arguments: &Arguments) -> bool {
    matches!(arguments, Arguments::CreateNotebook(_))
}

/// Returns why the call can do more now than when it was requested or confirmed. `None`: it cannot.
pub(crate) fn does_more(
    notebook: &Notebook,
    context: &Context,
    own: Risk,
    arguments: &Arguments,
    call: &ToolCall,
) -> Option<String> {
    let (risk, reasons) = judge(notebook, context, &call.requested_by, own, arguments);
    if risk > call.risk.judged() {
        return Some(format!("it can do more now than when it was asked for: {}", reasons.join("; ")));
    }
    // A confirmation covers the reasons that were shown, and no others.
    let is_confirmed = matches!(call.phase, ToolCallPhase::Confirmed { .. });
    let new = reasons.iter().find(|reason| is_confirmed && !call.reasons.contains(reason))?;
    Some(format!("it can do more now than when it was confirmed: {new}"))
}

/// Runs that an interrupt of the notebook's kernel would end and that this assistant did not request. Each is named, so
/// that a confirmation covers these runs and no later ones.
fn interrupted_of_others(notebook: &Document, requester: &Actor) -> Vec<String> {
    let Some(session) = kernels::default_session(notebook) else { return Vec::new() };
    let others = unfinished_on(notebook, session)
        .filter(|(_, run)| run.status != ExecutionStatus::Queued && run.requested_by != *requester);
    others
        .map(|(id, run)| match run.subject.cell_id() {
            Some(cell) => format!("it ends a run of cell {cell} that this assistant did not ask for (run {id})"),
            None => format!("it ends a run that this assistant did not ask for (run {id})"),
        })
        .collect()
}

/// Returns the code that must be judged before this command is decided. The answer goes into `context.history`.
pub fn required_judgement(notebook: &Notebook, command: &Command) -> Option<JudgementQuery> {
    let (function, arguments) = match command {
        Command::RequestToolCall(RequestToolCall { function, arguments, .. }) => (function, arguments),
        Command::StartToolCall { call_id } => {
            let call = notebook.tool_calls.get(call_id)?;
            (&call.function, &call.arguments)
        }
        Command::ReportKernelStarted { kernel_session, .. } => {
            return function_restores::lacking(notebook, kernel_session).query(notebook);
        }
        Command::RequestExecution(_) | Command::Batch { .. } => return expected_effects::query(notebook, command),
        _ => return None,
    };
    let typed = find(notebook, function).ok()?.arguments(arguments).ok()?;
    match code_to_judge(notebook, &typed) {
        CodeToJudge::Python(query) => Some(query),
        CodeToJudge::Nothing | CodeToJudge::Unknown(_) => None,
    }
}

/// Code that a call would run, as far as it can be judged.
enum CodeToJudge {
    /// The call runs no code.
    Nothing,
    /// The code cannot be judged, for this reason.
    Unknown(&'static str),
    Python(JudgementQuery),
}

fn code_to_judge(notebook: &Document, arguments: &Arguments) -> CodeToJudge {
    let (earlier, codes) = code_to_run(notebook, arguments);
    if codes.is_empty() {
        return CodeToJudge::Nothing;
    }
    if !runs_python(notebook, arguments) {
        return CodeToJudge::Unknown("it runs code that is not known to be Python, which cannot be checked");
    }
    let sources = earlier.iter().map(|other| &other.source).chain(&codes);
    if sources.map(|code| code.len()).sum::<usize>() > MAX_JUDGED_BYTES {
        return CodeToJudge::Unknown("the notebook holds more code than can be checked");
    }
    let people_ran = earlier.iter().enumerate().filter(|(_, other)| other.is_people).map(|(at, _)| at).collect();
    let earlier = earlier.into_iter().map(|other| other.source.into_owned()).collect();
    let codes = codes.into_iter().map(Cow::into_owned).collect();
    let registered =
        notebook.functions.values().map(|known| (known.function.name.clone(), known.function.risk.judged()));
    let functions = match arguments {
        Arguments::CreateNotebook(_) => Vec::new(),
        _ => registered.collect(),
    };
    CodeToJudge::Python(JudgementQuery { earlier, people_ran, codes, functions, ..JudgementQuery::default() })
}

/// A source that may have bound names in the kernel.
struct OtherSource<'a> {
    source: Cow<'a, str>,
    /// A person ran it last in the present kernel.
    is_people: bool,
}

/// Returns the code that may have bound names in the same kernel, in any order, and each piece of code that would run.
fn code_to_run<'a>(notebook: &'a Document, arguments: &'a Arguments) -> (Vec<OtherSource<'a>>, Vec<Cow<'a, str>>) {
    let source = |id: &CellId| notebook.cells.get(id).map(|cell| cell.content.text_to_run());
    let all = || code_cells(notebook).filter_map(source).collect::<Vec<_>>();
    let other = |id: &'a CellId| {
        let source = source(id)?;
        let is_people = ran_by_person(notebook, id) == Some(&source);
        Some(OtherSource { source, is_people })
    };
    let before = |cells: Vec<OtherSource<'a>>| cells.into_iter().chain(changed_since_run(notebook)).collect::<Vec<_>>();
    let nobodys = |others: Vec<OtherSource<'a>>| {
        others.into_iter().map(|other| OtherSource { is_people: false, ..other }).collect::<Vec<_>>()
    };
    let one = |cell_id: &CellId| {
        let others = before(code_cells(notebook).filter(|id| *id != cell_id).filter_map(other).collect());
        let code = source(cell_id);
        // A person ran this very text: the variables that it replaces are its own.
        let is_rerun = code.is_some() && ran_by_person(notebook, cell_id) == code.as_deref();
        (if is_rerun { nobodys(others) } else { others }, code.into_iter().collect())
    };
    match arguments {
        Arguments::ExecuteCell(call) => one(&call.cell_id),
        Arguments::ExecuteCellAsync(call) => one(&call.cell_id),
        Arguments::ExecuteCode(call) => {
            let others = before(code_cells(notebook).filter_map(other).collect());
            (others, vec![Cow::Borrowed(call.source.as_str())])
        }
        // Each cell replaces its own variables.
        Arguments::RunAll(_) => (nobodys(before(Vec::new())), all()),
        Arguments::CreateCells(call) if call.run => {
            (before(code_cells(notebook).filter_map(other).collect()), code_of(&call.cells))
        }
        Arguments::CreateNotebook(call) if call.run => (Vec::new(), code_of(call.cells.as_deref().unwrap_or_default())),
        _ => (Vec::new(), Vec::new()),
    }
}

/// Sources of latest runs whose cells have other text now: the kernel has the names as those sources bound them.
fn changed_since_run(notebook: &Document) -> impl Iterator<Item = OtherSource<'_>> {
    let runs = notebook.latest.iter().filter_map(|(cell, run)| Some((cell, notebook.executions.get(run)?)));
    let ran = runs.map(|(id, run)| (id, notebook.cells.get(id), run.subject.source()));
    let changed = ran.filter(|(_, cell, ran)| cell.is_none_or(|cell| cell.content.text_to_run() != *ran));
    changed.map(|(id, _, ran)| OtherSource {
        source: Cow::Borrowed(ran),
        is_people: ran_by_person(notebook, id).is_some(),
    })
}

/// Source of the cell's latest run, if a person requested it and the present kernel began it.
fn ran_by_person<'a>(notebook: &'a Document, cell_id: &CellId) -> Option<&'a str> {
    let run = notebook.executions.get(notebook.latest.get(cell_id)?)?;
    let is_person = matches!(run.requested_by, Actor::User { .. } | Actor::Guest { .. });
    let session = kernels::default_session(notebook)?;
    let is_present = run.started_at.is_some() && run.kernel_session.as_ref() == Some(session);
    (is_person && is_present).then(|| run.subject.source())
}

fn code_of(cells: &[NewCell]) -> Vec<Cow<'_, str>> {
    cells.iter().filter(|cell| cell.cell_type.runs()).map(|cell| cell.cell_type.text_to_run(&cell.source)).collect()
}

/// Checks that the code runs as Python. While no kernel has reported its language, the kernelspec's name must begin
/// with `python`.
fn runs_python(notebook: &Document, arguments: &Arguments) -> bool {
    // A new notebook has no kernelspec, and starts `python3`.
    matches!(arguments, Arguments::CreateNotebook(_))
        || kernels::language(notebook).map_or_else(
            || launches::coming_kernelspec(notebook).starts_with("python"),
            |told| kernels::is_python_name(&told),
        )
}
