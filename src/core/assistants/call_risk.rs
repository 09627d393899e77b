//! Targets and risk of a tool call, judged on the notebook as it is.

use std::borrow::Cow;

use crate::assistants::gate::code_target;
use crate::assistants::kernel_tools;
use crate::checks::live_cell;
use crate::command::Command;
use crate::context::{Context, History, JudgementQuery};
use crate::functions::tools::{Arguments, NewCell, find};
use crate::notebook::Notebook;
use crate::runs::{function_restores, kernels, unfinished_on};
use crate::values::RequestToolCall;
use crate::values::decision::{Rejection, Result};
use notarium_record::{Actor, CellId, Document, ExecutionStatus, Risk, Target, ToolCall, ToolCallPhase, Version};

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
        Arguments::MoveCell(call) => now(&call.cell_id).into_iter().collect(),
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
    notebook: &Document,
    history: &History,
    requester: &Actor,
    own: Risk,
    arguments: &Arguments,
) -> (Risk, Vec<String>) {
    if matches!(arguments, Arguments::Interrupt(_)) {
        let reasons = interrupted_of_others(notebook, requester);
        return (if reasons.is_empty() { own } else { Risk::Destructive }, reasons);
    }
    if matches!(arguments, Arguments::SaveData(call) if call.overwrite.is_some()) {
        return (Risk::Destructive, vec!["it replaces a file that exists".to_owned()]);
    }
    if matches!(arguments, Arguments::SaveData(call) if !kernel_tools::is_data(&call.path)) {
        let reason = "it writes a file that is not known to be data: something may run it or read it as settings later";
        return (Risk::Sensitive, vec![reason.to_owned()]);
    }
    match code_to_judge(notebook, arguments) {
        CodeToJudge::Nothing => (own, Vec::new()),
        CodeToJudge::Unknown(reason) => (Risk::Destructive, vec![reason.to_owned()]),
        CodeToJudge::Python(query) => match history.judgement.as_ref().filter(|judgement| judgement.query == query) {
            Some(judgement) => (judgement.risk.max(own), judgement.reasons.clone()),
            None => (Risk::Destructive, vec!["its code could not be checked".to_owned()]),
        },
    }
}

/// Returns why the call can do more now than when it was requested or confirmed. `None`: it cannot.
pub(crate) fn does_more(
    notebook: &Document,
    history: &History,
    own: Risk,
    arguments: &Arguments,
    call: &ToolCall,
) -> Option<String> {
    let (risk, reasons) = judge(notebook, history, &call.requested_by, own, arguments);
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
    if earlier.iter().chain(&codes).map(|code| code.len()).sum::<usize>() > MAX_JUDGED_BYTES {
        return CodeToJudge::Unknown("the notebook holds more code than can be checked");
    }
    let owned = |codes: Vec<Cow<'_, str>>| codes.into_iter().map(Cow::into_owned).collect();
    let registered =
        notebook.functions.values().map(|known| (known.function.name.clone(), known.function.risk.judged()));
    let functions = match arguments {
        Arguments::CreateNotebook(_) => Vec::new(),
        _ => registered.collect(),
    };
    CodeToJudge::Python(JudgementQuery { earlier: owned(earlier), codes: owned(codes), functions, registers: false })
}

/// Returns the code that may have bound names in the same kernel, in any order, and each piece of code that would run.
fn code_to_run<'a>(notebook: &'a Document, arguments: &'a Arguments) -> (Vec<Cow<'a, str>>, Vec<Cow<'a, str>>) {
    let source = |id: &CellId| notebook.cells.get(id).map(|cell| cell.content.text_to_run());
    let all = || code_cells(notebook).filter_map(source).collect::<Vec<_>>();
    let before = |cells: Vec<Cow<'a, str>>| {
        cells.into_iter().chain(changed_since_run(notebook).map(Cow::Borrowed)).collect::<Vec<_>>()
    };
    let one = |cell_id: &CellId| {
        let others = code_cells(notebook).filter(|id| *id != cell_id).filter_map(source).collect();
        (before(others), source(cell_id).into_iter().collect())
    };
    match arguments {
        Arguments::ExecuteCell(call) => one(&call.cell_id),
        Arguments::ExecuteCellAsync(call) => one(&call.cell_id),
        Arguments::RunAll(_) => (before(Vec::new()), all()),
        Arguments::CreateCells(call) if call.run => (before(all()), code_of(&call.cells)),
        Arguments::CreateNotebook(call) if call.run => (Vec::new(), code_of(call.cells.as_deref().unwrap_or_default())),
        _ => (Vec::new(), Vec::new()),
    }
}

/// Sources of latest runs whose cells have other text now: the kernel has the names as those sources bound them.
fn changed_since_run(notebook: &Document) -> impl Iterator<Item = &str> {
    let runs = notebook.latest.iter().filter_map(|(cell, run)| Some((cell, notebook.executions.get(run)?)));
    let ran = runs.map(|(cell, run)| (notebook.cells.get(cell), run.subject.source()));
    ran.filter(|(cell, ran)| cell.is_none_or(|cell| cell.content.text_to_run() != *ran)).map(|(_, ran)| ran)
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
            || kernels::coming_kernelspec(notebook).starts_with("python"),
            |told| kernels::is_python_name(&told),
        )
}
