//! Imports a file: one command that makes the notebook, and the blobs that it names.

use notarium_core::{
    CellFlagChanges, CellId, CellReply, CellType, Command, InsertCell, Output, Place, RawObject, Reactivity,
};
use notarium_wire::ipynb::{DocumentCell, Imported, Object};
use serde_json::value::RawValue;

use crate::blobs::parts::{self, Part};
use crate::rooms::metadata;

/// Plan of an import: upload the parts, then send the command.
#[derive(Debug, Clone)]
pub struct ImportPlan {
    /// `CreateNotebook`, `InsertCell` …, `RecordExecution` …: all or nothing.
    pub command: Command,
    pub parts: Vec<Part>,
}

/// Plans the import of a file under a title.
pub fn plan(imported: Imported, title: String) -> ImportPlan {
    let mut document = imported.document;
    let reactivity: Option<Reactivity> = metadata::take(&mut document.metadata, metadata::REACTIVITY);
    let metadata = with_aside(document.metadata, [("extra", document.extra)]);
    let mut commands = vec![Command::CreateNotebook { title, metadata, forked_from: None }];
    let mut parts = Vec::new();
    for cell in document.cells {
        plan_cell(cell, &mut commands, &mut parts);
    }
    let reactivity = reactivity.filter(|reactivity| *reactivity != Reactivity::Off);
    commands.extend(reactivity.map(|reactivity| Command::SetReactivity { reactivity }));
    ImportPlan { command: Command::Batch { commands }, parts }
}

fn plan_cell(cell: DocumentCell, commands: &mut Vec<Command>, parts: &mut Vec<Part>) {
    // The reader gives only valid ids. Without an id the server would choose one, and the outputs would not find their
    // cell.
    let Ok(cell_id) = CellId::new(&cell.id) else { return };
    let (flags, other_flags) = split_flags(cell.flags);
    let asides = [("extra", cell.extra), ("flags", other_flags)];
    // The file's names are those of our JSON.
    let cell_type = serde_json::from_value(cell.cell_type.into()).unwrap_or(CellType::Raw);
    let mut metadata = cell.metadata;
    let reply: Option<CellReply> =
        (cell_type == CellType::Prompt).then(|| metadata::take(&mut metadata, metadata::REPLY)).flatten();
    commands.push(Command::InsertCell(InsertCell {
        cell_id: Some(cell_id.clone()),
        cell_type,
        source: cell.source,
        place: Place::End,
        metadata: with_aside(metadata, asides),
        attachments: cell.attachments.as_ref().map(to_object),
        flags,
        // A reply written by a later version is read as far as this version knows it.
        reply: reply.map(|reply| Box::new(reply.closed())),
    }));
    let execution_count = cell.execution_count.and_then(|count| u64::try_from(count).ok());
    if !cell.outputs.is_empty() || execution_count.is_some() {
        let outputs = split_outputs(cell.outputs, parts);
        commands.push(Command::RecordExecution { cell_id, outputs, execution_count });
    }
}

fn split_outputs(outputs: Vec<Box<RawValue>>, parts: &mut Vec<Part>) -> Vec<Output> {
    let split = |content| {
        let (output, taken) = parts::split(content);
        parts.extend(taken);
        output
    };
    outputs.into_iter().map(split).collect()
}

/// Splits flags into those that the core knows and the others.
fn split_flags(flags: Object) -> (CellFlagChanges, Object) {
    let (known, others): (Object, Object) =
        flags.into_iter().partition(|(name, value)| is_known_flag(name, value.get()));
    (serde_json::from_str(metadata::to_raw(&known).get()).unwrap_or_default(), others)
}

fn is_known_flag(name: &str, value: &str) -> bool {
    match name {
        "pinned" | "skipped" | "source_hidden" | "outputs_hidden" | "heading_collapsed" | "exported" => value == "true",
        "bookmark" => value.parse().is_ok_and(|mark: u8| (1..=9).contains(&mark)),
        _ => false,
    }
}

/// Puts values without a field in the core under `metadata.notarium`, where exports find them again.
fn with_aside<const N: usize>(mut metadata: Object, asides: [(&str, Object); N]) -> RawObject {
    for (name, aside) in asides.iter().filter(|(_, aside)| !aside.is_empty()) {
        metadata::put(&mut metadata, name, aside);
    }
    to_object(&metadata)
}

fn to_object(object: &Object) -> RawObject {
    RawObject::parse(metadata::to_raw(object).get()).unwrap_or_default()
}
