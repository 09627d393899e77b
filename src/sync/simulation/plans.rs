//! Audit of plans in a reactive notebook: each is based on one version, in an order that its cells allow.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::reactive::{Graph, KnownNames};
use notarium_core::{CellId, CommandId, Document, Event, ExecutionId, ExecutionRequested, ExecutionSubject, Recorded};

use super::disk::names_of;

#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// Command of the current plan, with the state at its decision.
    command: Option<(CommandId, Document)>,
    cells: Vec<CellId>,
    runs: BTreeSet<ExecutionId>,
}

impl Plans {
    /// Audits an event; `document` is the state before it.
    pub(crate) fn see(&mut self, document: &Document, recorded: &Recorded) -> Result<(), String> {
        let Event::ExecutionRequested(event) = &recorded.event else { return Ok(()) };
        self.runs.insert(event.execution_id.clone());
        let command = &recorded.envelope.command_id;
        if self.command.as_ref().is_none_or(|(known, _)| known != command) {
            self.command = Some((command.clone(), document.clone()));
            self.cells.clear();
        }
        if let Some(unknown) = event.waits_for.iter().find(|id| !self.runs.contains(*id)) {
            return Err(format!("a run waits for {unknown}, which nobody has asked for before it"));
        }
        match &event.leaves {
            Some(_) => self.see_planned(document, event),
            None => Ok(()),
        }
    }

    fn see_planned(&mut self, document: &Document, event: &ExecutionRequested) -> Result<(), String> {
        let ExecutionSubject::Cell { cell_id, source, .. } = &event.subject else { return Ok(()) };
        let Some((_, planned_on)) = &self.command else { return Ok(()) };
        for version in [planned_on, document] {
            let text = version.cells.get(cell_id).map(|cell| cell.content.source.as_str());
            if text != Some(&**source) {
                return Err(format!("a plan runs {source:?} of cell {cell_id}, which says {text:?} at its version"));
            }
        }
        let graph = graph(planned_on);
        let place = |id: &CellId| graph.ids().position(|other| other == id);
        let early = self.cells.iter().filter_map(place).find(|early| {
            let parents = graph.parents(*early).iter().map(|edge| graph.id(edge.cell));
            !graph.is_cyclic(*early) && parents.into_iter().any(|parent| parent == cell_id)
        });
        if let Some(early) = early {
            return Err(format!("cell {} runs before {cell_id}, from which it reads", graph.id(early)));
        }
        self.cells.push(cell_id.clone());
        Ok(())
    }
}

fn graph(document: &Document) -> Graph {
    let mut names = KnownNames::default();
    for text in names.refresh(document) {
        names.learn(&text.cell_id, text.source_version, Some(&names_of(&text.source)));
    }
    Graph::of(Arc::new(names))
}
