//! What a tool call touches and how much it can destroy, judged on the notebook as it is.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::danger::{self, Danger, Grade, Language, dangers_of_each};
use crate::gate::{Risk, Target};
use crate::ids::{CellId, Version};
use crate::kernel_tools;
use crate::kernels;
use crate::notebook::{CellType, Notebook};
use crate::rejection::{Rejection, RejectionCode};
use crate::tool_calls::{ToolCall, ToolCallPhase};
use crate::tools::{Arguments, NewCell};

/// Code of all cells, when one of them is to run: what one cell binds another may use.
const MAX_CHECKED_BYTES_TOGETHER: usize = 1 << 20;
const MAX_REASONS: usize = 20;
const FORGOTTEN: &str = "the kernel ran more code than is remembered, and what that left in it cannot be checked: a restart of it ends this";

/// What the call touches, in the versions that the assistant has seen.
pub(crate) fn targets(notebook: &Notebook, arguments: &Arguments) -> Result<Vec<Target>, Rejection> {
    let seen = |cell_id: &CellId, version: Version| {
        let target = Target::Cell { cell_id: cell_id.clone(), cell_version: version };
        match notebook.cells.get(cell_id) {
            Some(cell) if cell.cell_version == version => Ok(vec![target]),
            Some(cell) => Err(Rejection::conflict(&format!("cell {cell_id}"), version, cell.cell_version)),
            None => {
                Err(Rejection::new(RejectionCode::UnknownCell, format!("no cell {cell_id}: read the notebook again")))
            }
        }
    };
    let now = |cell_id: &CellId| {
        let cell = notebook.cells.get(cell_id)?;
        Some(Target::Cell { cell_id: cell_id.clone(), cell_version: cell.cell_version })
    };
    // What is judged is what stands there now, and that is what will run.
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
        Arguments::RunAll(_) => vec![Target::code(notebook)],
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

pub(crate) fn code_cells(notebook: &Notebook) -> impl Iterator<Item = &CellId> {
    notebook.ordered_cells().filter(|(_, cell)| cell.content.cell_type == CellType::Code).map(|(id, _)| id)
}

/// The risk of this very call, and why it is more than the tool's own.
pub(crate) fn judge(notebook: &Notebook, own: Risk, arguments: &Arguments) -> (Risk, Vec<String>) {
    if matches!(arguments, Arguments::SaveData(call) if call.overwrite.is_some()) {
        return (Risk::Destructive, vec!["it replaces a file that exists".to_owned()]);
    }
    if matches!(arguments, Arguments::SaveData(call) if kernel_tools::is_code(&call.path)) {
        return (Risk::Sensitive, vec!["it writes code or settings that something may run later".to_owned()]);
    }
    let (mut earlier, codes) = code_to_run(notebook, arguments);
    if codes.is_empty() {
        return (own, Vec::new());
    }
    if !matches!(arguments, Arguments::CreateNotebook(_)) {
        earlier.extend(code_left_behind(notebook));
    }
    if earlier.iter().chain(&codes).map(|code| code.len()).sum::<usize>() > MAX_CHECKED_BYTES_TOGETHER {
        return (Risk::Destructive, vec!["the notebook holds more code than can be checked".to_owned()]);
    }
    let languages = languages(notebook, arguments);
    let judged = languages.iter().flat_map(|language| dangers_of_each(&earlier, &codes, *language));
    let found: Vec<Danger> = judged.flatten().collect();
    let risk = found.iter().map(|danger| risk_of(danger.grade())).max().unwrap_or(own).max(own);
    let mut said = BTreeSet::new();
    let reasons = found.iter().map(Danger::sentence).filter(|sentence| said.insert(sentence.clone()));
    if !matches!(arguments, Arguments::CreateNotebook(_)) && has_forgotten(notebook) {
        return (Risk::Destructive, cut([FORGOTTEN.to_owned()].into_iter().chain(reasons).collect()));
    }
    (risk, cut(reasons.collect()))
}

/// What is left out is counted and named by a hash: a list of other dangers reads otherwise.
fn cut(mut reasons: Vec<String>) -> Vec<String> {
    if reasons.len() > MAX_REASONS {
        let rest = reasons.split_off(MAX_REASONS - 1);
        let digest = Sha256::digest(rest.join("\n"));
        let name: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        reasons.push(format!("and {} more, in all {name}", rest.len()));
    }
    reasons
}

/// Why the call is more than what it was asked for or confirmed as. `None`: it is no more.
pub(crate) fn does_more(notebook: &Notebook, own: Risk, arguments: &Arguments, call: &ToolCall) -> Option<String> {
    let (risk, reasons) = judge(notebook, own, arguments);
    if risk > call.risk {
        return Some(format!("it can do more now than when it was asked for: {}", reasons.join("; ")));
    }
    // Who confirmed it was shown the call's reasons and no others.
    let is_confirmed = matches!(call.phase, ToolCallPhase::Confirmed { .. });
    let new = reasons.iter().find(|reason| is_confirmed && !call.reasons.contains(reason))?;
    Some(format!("it can do more now than when it was confirmed: {new}"))
}

fn risk_of(grade: Grade) -> Risk {
    match grade {
        Grade::Destructive => Risk::Destructive,
        Grade::Note => Risk::Sensitive,
    }
}

/// What ran in the kernel of now and stands in no cell any more: what it bound is still there.
fn code_left_behind(notebook: &Notebook) -> Vec<&str> {
    let Some(id) = kernels::default_session(notebook) else { return Vec::new() };
    let shown = notebook.latest.iter().filter_map(|(cell_id, run)| {
        let run = notebook.executions.get(run).filter(|run| run.kernel_session.as_ref() == Some(id))?;
        let is_changed = notebook.cells.get(cell_id)?.content.source.as_str() != run.subject.source();
        is_changed.then(|| run.subject.source())
    });
    let forgotten = notebook.kernels.get(id).into_iter().flat_map(|session| &session.left_behind);
    forgotten.map(|source| &**source).chain(shown).collect()
}

fn has_forgotten(notebook: &Notebook) -> bool {
    let session = kernels::default_session(notebook).and_then(|id| notebook.kernels.get(id));
    session.is_some_and(|session| session.has_forgotten)
        || code_left_behind(notebook).iter().any(|source| source.len() > danger::MAX_CHECKED_BYTES)
}

/// The code that may have bound names in the same kernel, whatever the order of the page, and each piece that would run.
fn code_to_run<'a>(notebook: &'a Notebook, arguments: &'a Arguments) -> (Vec<&'a str>, Vec<&'a str>) {
    let source = |id: &CellId| notebook.cells.get(id).map(|cell| cell.content.source.as_str());
    let all = || code_cells(notebook).filter_map(source).collect::<Vec<_>>();
    let one = |cell_id: &CellId| {
        let others = code_cells(notebook).filter(|id| *id != cell_id).filter_map(source).collect();
        (others, source(cell_id).into_iter().collect())
    };
    match arguments {
        Arguments::ExecuteCell(call) => one(&call.cell_id),
        Arguments::ExecuteCellAsync(call) => one(&call.cell_id),
        Arguments::RunAll(_) => (Vec::new(), all()),
        Arguments::CreateCells(call) if call.run => (all(), code_of(&call.cells)),
        Arguments::CreateNotebook(call) if call.run => (Vec::new(), code_of(call.cells.as_deref().unwrap_or_default())),
        _ => (Vec::new(), Vec::new()),
    }
}

fn code_of(cells: &[NewCell]) -> Vec<&str> {
    cells.iter().filter(|cell| cell.cell_type == CellType::Code).map(|cell| cell.source.as_str()).collect()
}

/// What the code may be run as. Until a kernel tells its language, a kernelspec that is not Python's may be anything.
fn languages(notebook: &Notebook, arguments: &Arguments) -> BTreeSet<Language> {
    if matches!(arguments, Arguments::CreateNotebook(_)) {
        return BTreeSet::from([Language::Python]); // A new notebook has no kernelspec, and starts `python3`.
    }
    if let Some(told) = kernels::language(notebook) {
        return BTreeSet::from([Language::named(&told)]);
    }
    let kernelspec = kernels::coming_kernelspec(notebook);
    if kernelspec.starts_with("python") {
        return BTreeSet::from([Language::Python]);
    }
    let written = kernel_tools::written_language(notebook);
    let named = written.iter().map(String::as_str).chain([kernelspec.as_str()]).map(Language::named);
    named.chain([Language::Python, Language::Other]).collect()
}

/// The language of the notebook's default kernel; Python where none has started.
pub fn language(notebook: &Notebook) -> Language {
    Language::named(kernels::language(notebook).as_deref().unwrap_or("python"))
}
