//! Preview for a person's decision: everything that the call would do, from the notebook as it is now.

use notarium_core::tools::{Arguments, CallFunction, NewCell, NotebookTool, Tool};
use notarium_core::{CellId, CellType, Document, Risk, ToolCall, target_change};
use notarium_wire::rest::{Confirmation, Effect};

use crate::notebooks::diff;

/// Effects that the call would have now.
pub fn of(notebook: &Document, call: &ToolCall) -> Confirmation {
    let tool = notarium_core::tools::find(notebook, &call.function).ok();
    let typed = tool.and_then(|tool| tool.arguments(&call.arguments).ok());
    Confirmation {
        summary: tool
            .map_or_else(|| "A tool that this notebook does not have any more".to_owned(), NotebookTool::summary),
        risk: risk_of_call(notebook, call.risk.judged(), typed.as_ref()),
        effects: typed.map(|typed| effects(notebook, &typed)).unwrap_or_default(),
        void: call.targets.iter().find_map(|target| target_change(notebook, target)),
    }
}

/// Bytes of the texts that the preview shows.
pub fn bytes(confirmation: &Confirmation) -> usize {
    let of = |effect: &Effect| match effect {
        Effect::Creates { source, .. } | Effect::Deletes { source, .. } | Effect::Runs { source, .. } => source.len(),
        Effect::Changes { diff, .. } => diff.len(),
        Effect::Writes { content, .. } => content.len(),
        Effect::Does { what } => what.len(),
        Effect::Moves { .. } => 0,
    };
    confirmation.effects.iter().map(of).sum()
}

/// Description of a registered function by its author, in full.
fn calls_function(notebook: &Document, call: &CallFunction) -> Option<Effect> {
    let function = &notebook.functions.get(&call.name)?.function;
    let risk = risk_in_words(function.risk.judged());
    let what = format!(
        "calls {}, version \"{}\". Its author says: {} Risk, by its author: {risk}",
        function.name, function.version, function.description
    );
    Some(Effect::Does { what })
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
        Risk::Read | Risk::Edit => "Runs code that was checked as harmless.",
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

fn effects(notebook: &Document, arguments: &Arguments) -> Vec<Effect> {
    match arguments {
        Arguments::CreateCell(call) => vec![creates(call.cell_type, &call.source)],
        Arguments::CreateCells(call) => made(&call.cells, call.run),
        Arguments::CreateNotebook(call) => {
            let what = format!("makes a notebook with the title \"{}\"", call.title);
            let cells = call.cells.iter().flat_map(|cells| made(cells, call.run));
            [Effect::Does { what }].into_iter().chain(cells).collect()
        }
        Arguments::ModifyCell(call) => {
            let before = source(notebook, &call.cell_id);
            vec![Effect::Changes { cell: call.cell_id.clone(), diff: diff::unified(&before, &call.source) }]
        }
        Arguments::MoveCell(call) => vec![Effect::Moves { cell: call.cell_id.clone() }],
        Arguments::DeleteCell(call) => vec![deletes(notebook, &call.cell_id)],
        Arguments::RestoreCell(call) => {
            vec![Effect::Does { what: format!("brings cell {} back from the trash", call.cell_id) }]
        }
        Arguments::ExecuteCell(call) => vec![runs(notebook, &call.cell_id)],
        Arguments::ExecuteCellAsync(call) => vec![runs(notebook, &call.cell_id)],
        Arguments::RunAll(_) => {
            let code = notebook.ordered_cells().filter(|(_, cell)| cell.content.cell_type.runs());
            code.map(|(id, _)| runs(notebook, id)).collect()
        }
        Arguments::SaveData(call) => vec![Effect::Writes {
            path: call.path.clone(),
            content: call.content.clone(),
            replaces: call.overwrite.clone(),
        }],
        Arguments::Undo(_) => vec![Effect::Does { what: "undoes what the assistant did before".to_owned() }],
        Arguments::CallFunction(call) => calls_function(notebook, call).into_iter().collect(),
        other => {
            Tool::find(other.name()).map(|tool| Effect::Does { what: tool.summary.to_owned() }).into_iter().collect()
        }
    }
}

fn creates(cell_type: CellType, source: &str) -> Effect {
    Effect::Creates { cell_type, source: source.to_owned() }
}

fn made(cells: &[NewCell], run: bool) -> Vec<Effect> {
    let made = cells.iter().map(|cell| creates(cell.cell_type, &cell.source));
    let code = cells.iter().filter(|cell| run && cell.cell_type.runs());
    made.chain(code.map(|cell| Effect::Runs { cell: None, source: cell.source.clone() })).collect()
}

fn source(notebook: &Document, cell: &CellId) -> String {
    notebook.cells.get(cell).map(|cell| cell.content.source.clone()).unwrap_or_default()
}

fn has_outputs(notebook: &Document, cell: &CellId) -> bool {
    notebook.latest_execution(cell).is_some_and(|(_, run)| !run.outputs.is_empty())
}

fn deletes(notebook: &Document, cell: &CellId) -> Effect {
    Effect::Deletes { cell: cell.clone(), source: source(notebook, cell), has_outputs: has_outputs(notebook, cell) }
}

fn runs(notebook: &Document, cell: &CellId) -> Effect {
    Effect::Runs { cell: Some(cell.clone()), source: source(notebook, cell) }
}
