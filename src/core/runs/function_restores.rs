//! Restores functions after a restart: a new kernel reruns the cells that registered them. A cell must have the text
//! that a person ran, and the judge must have nothing to warn of. Other functions are reported as missing.

use std::collections::BTreeMap;

use crate::context::{Context, JudgementQuery};
use crate::notebook::Notebook;
use crate::runs::unfinished_on;
use crate::values::decision::Decided;
use notarium_record::{
    Cell, CellId, CellType, Effects, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionSubject,
    KernelSessionId, MissingFunctions, Risk,
};

/// Bytes of the judged code, at most.
const MAX_JUDGED_BYTES: usize = 1 << 20;

/// Functions that earlier kernels of the same kernelspec had and a new kernel lacks.
#[derive(Debug, Default)]
pub(crate) struct LackingFunctions {
    /// Cells whose text is the one that a person ran, with their functions, in page order.
    cells: Vec<(CellId, Vec<String>)>,
    missing: Vec<MissingFunctions>,
}

/// Collects functions that kernels of the same kernelspec registered and that have no kernel now.
pub(crate) fn lacking(notebook: &Notebook, session: &KernelSessionId) -> LackingFunctions {
    let mut lacking = LackingFunctions::default();
    let Some(kernelspec) = notebook.kernels.get(session).map(|kernel| &kernel.kernelspec) else { return lacking };
    if notebook.archived {
        return lacking;
    }
    let mut by_cell: BTreeMap<Option<&CellId>, Vec<String>> = BTreeMap::new();
    for (name, _) in notebook.functions.iter().filter(|(_, known)| known.kernel_session.is_none()) {
        let Some(registration) = notebook.ledger.registrations.of(name) else { continue };
        if registration.kernelspec == *kernelspec {
            by_cell.entry(registration.place.cell_id.as_ref()).or_default().push(name.clone());
        }
    }
    for (id, cell) in notebook.ordered_cells() {
        let Some(names) = by_cell.remove(&Some(id)) else { continue };
        let is_coming = unfinished_on(notebook, session).any(|(_, run)| run.subject.cell_id() == Some(id));
        match changed(notebook, cell, &names) {
            _ if is_coming => {}
            None => lacking.cells.push((id.clone(), names)),
            Some(reason) => lacking.miss(Some(id), names, reason),
        }
    }
    by_cell.into_iter().for_each(|(cell, names)| {
        let reason =
            if cell.is_some() { "the cell that registered them is in the trash" } else { "no cell registered them" };
        lacking.miss(None, names, reason);
    });
    lacking
}

/// Reason why the cell's text is not the one that a person ran; `None`: it is.
fn changed(notebook: &Notebook, cell: &Cell, names: &[String]) -> Option<&'static str> {
    let content = &cell.content;
    let is_it = |name: &String| notebook.ledger.registrations.is_text_of(name, &content.source);
    match content.cell_type {
        CellType::Code if names.iter().all(is_it) => None,
        CellType::Code => Some("it is not the text by which a person registered them"),
        _ => Some("it is no code cell any more"),
    }
}

impl LackingFunctions {
    fn miss(&mut self, cell: Option<&CellId>, names: Vec<String>, reason: &str) {
        self.missing.push(MissingFunctions { names, cell_id: cell.cloned(), reason: reason.to_owned() });
    }

    /// Query for the code that must be judged before the cells rerun.
    pub fn query(&self, notebook: &Notebook) -> Option<JudgementQuery> {
        if self.cells.is_empty() {
            return None;
        }
        let source = |id: &CellId| notebook.cells.get(id).map(|cell| cell.content.source.clone());
        let is_ours = |id: &CellId| self.cells.iter().any(|(ours, _)| ours == id);
        let others =
            notebook.ordered_cells().filter(|(id, cell)| cell.content.cell_type == CellType::Code && !is_ours(id));
        let query = JudgementQuery {
            earlier: others.map(|(_, cell)| cell.content.source.clone()).collect(),
            people_ran: Vec::new(),
            codes: self.cells.iter().filter_map(|(id, _)| source(id)).collect(),
            // A new kernel has no functions.
            functions: Vec::new(),
            registers: true,
            expects: false,
        };
        let bytes: usize = query.earlier.iter().chain(&query.codes).map(String::len).sum();
        (bytes <= MAX_JUDGED_BYTES).then_some(query)
    }

    /// Returns runs of the cells of which the judge does not warn, and the functions that stay missing.
    pub fn runs(
        mut self,
        notebook: &Notebook,
        context: &mut Context,
        session: &KernelSessionId,
        effects: &Effects,
    ) -> (Vec<(ExecutionId, Decided)>, Vec<MissingFunctions>) {
        let query = self.query(notebook);
        let judged = context.history.judgement.clone().filter(|judgement| Some(&judgement.query) == query.as_ref());
        let mut runs = Vec::new();
        for (index, (cell_id, names)) in std::mem::take(&mut self.cells).into_iter().enumerate() {
            let risk = judged.as_ref().and_then(|judgement| judgement.each.get(index));
            match (risk, notebook.cells.get(&cell_id)) {
                (Some(Risk::Read), Some(cell)) => runs.push(run(context, session, cell_id, cell, effects)),
                (_, _) => self.miss(Some(&cell_id), names, "a person is asked before its code runs"),
            }
        }
        (runs, self.missing)
    }
}

fn run(
    context: &mut Context,
    session: &KernelSessionId,
    cell_id: CellId,
    cell: &Cell,
    effects: &Effects,
) -> (ExecutionId, Decided) {
    let execution_id: ExecutionId = context.ids.ulid().into();
    let source = cell.content.source.as_str().into();
    let subject = ExecutionSubject::Cell { cell_id, cell_version: cell.cell_version, source };
    let requested =
        ExecutionRequested::new(execution_id.clone(), subject, ExecutionCause::FunctionsRestored, effects.clone());
    let requested = ExecutionRequested { kernel_session: Some(session.clone()), ..requested };
    (execution_id, requested.into())
}
