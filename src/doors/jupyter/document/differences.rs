//! Turns a client's changes of the Y document into commands.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::text::{diff, normalise_line_breaks};
use notarium_core::{Cell, CellId, Command, Document, EditSource, InsertCell, Place, RawObject};
use serde_json::{Map as JsonMap, Value};
use yrs::{Array, Map, Out};

use crate::document::cell_view::{content_of, jupyter_type, own_type};
use crate::document::order::kept_in_order;
use crate::document::projection::{Projection, Touched};
use crate::document::schema::{WrittenCell, read_cell};
use crate::document::values::{normalised, object, to_json};

/// The command that makes the record equal to the touched parts of the Y document; `None` if they are equal. Outputs, counts and states
/// of runs are not compared, apart from cleared outputs: they come from events.
pub fn command(projection: &Projection, touched: &Touched) -> Option<Command> {
    let mut commands = Vec::new();
    if touched.meta {
        commands.extend(metadata_command(projection));
    }
    let written = written_cells(projection, touched);
    if touched.structure {
        order_commands(&projection.document, &written, &mut commands);
    }
    for cell in &written {
        if let Some((id, known)) = known_cell(&projection.document, &cell.id) {
            cell_commands(&projection.document, id, known, cell, &mut commands);
        }
    }
    joined(commands)
}

/// The command that makes the record equal to a notebook's file, outputs apart; `None` if they are equal.
pub fn of_file(document: &Document, file: &Value) -> Result<Option<Command>, String> {
    let cells = file["cells"].as_array().ok_or("the file is not a notebook: it has no list of cells")?;
    let written: Option<Vec<WrittenCell>> = cells.iter().map(file_cell).collect();
    let written = written.ok_or(
        "a cell of the file has no id, type or source: save it as nbformat 4.5 (nbconvert --to notebook), or import it as a new notebook",
    )?;
    let mut seen = BTreeSet::new();
    if !written.iter().all(|cell| seen.insert(cell.id.as_str())) {
        return Err("two cells of the file have one id: import it as a new notebook".to_owned());
    }
    let mut commands = Vec::new();
    if let Some(metadata) = file["metadata"].as_object() {
        let Value::Object(metadata) = normalised(&Value::Object(metadata.clone())) else {
            unreachable!("it was an object")
        };
        commands.extend(changed_metadata(document, &metadata));
    }
    order_commands(document, &written, &mut commands);
    for cell in &written {
        if let Some((id, known)) = known_cell(document, &cell.id) {
            cell_commands(document, id, known, cell, &mut commands);
        }
    }
    Ok(joined(commands))
}

fn file_cell(cell: &Value) -> Option<WrittenCell> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => lines.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let object = |key: &str| match normalised(&cell[key]) {
        Value::Object(map) => Some(map),
        _ => None,
    };
    Some(WrittenCell {
        id: cell["id"].as_str()?.to_owned(),
        cell_type: cell["cell_type"].as_str()?.to_owned(),
        source: text(&cell["source"])?,
        metadata: object("metadata").unwrap_or_default(),
        attachments: object("attachments").filter(|files| !files.is_empty()),
        // Outputs of a file are not compared.
        outputs: 1,
    })
}

fn joined(mut commands: Vec<Command>) -> Option<Command> {
    match commands.len() {
        0 | 1 => commands.pop(),
        _ => Some(Command::Batch { commands }),
    }
}

fn known_cell<'a>(document: &'a Document, id: &str) -> Option<(&'a CellId, &'a Cell)> {
    let id: CellId = id.parse().ok()?;
    document.cells.get_key_value(&id).map(|(id, cell)| (id, cell.as_ref()))
}

/// The touched cells, or all if their order changed, each id once.
fn written_cells(projection: &Projection, touched: &Touched) -> Vec<WrittenCell> {
    let wanted: BTreeSet<&str> = touched.cells.iter().map(String::as_str).collect();
    projection.read(|transaction| {
        let cells = projection.cells.iter(transaction).filter_map(|entry| match entry {
            Out::YMap(cell) => read_cell(&cell, transaction),
            _ => None,
        });
        let cells = cells.filter(|cell| touched.structure || wanted.contains(cell.id.as_str()));
        without_copies(&projection.document, cells)
    })
}

/// Cells with each id once, at its first place. A client with an old document adds copies of cells: the copy with the
/// record's text counts, so that an old text never takes back a newer one.
fn without_copies(document: &Document, cells: impl Iterator<Item = WrittenCell>) -> Vec<WrittenCell> {
    let mut kept: Vec<WrittenCell> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for cell in cells {
        match places.get(&cell.id) {
            None => {
                places.insert(cell.id.clone(), kept.len());
                kept.push(cell);
            }
            Some(place) => {
                let is_known = |(_, known): (&CellId, &Cell)| known.content.source.as_str() == cell.source;
                if known_cell(document, &cell.id).is_some_and(is_known) {
                    kept[*place] = cell;
                }
            }
        }
    }
    kept
}

fn metadata_command(projection: &Projection) -> Option<Command> {
    let metadata = projection
        .read(|transaction| projection.meta.get(transaction, "metadata").map(|value| to_json(&value, transaction)));
    let Some(Value::Object(metadata)) = metadata else { return None };
    changed_metadata(&projection.document, &metadata)
}

fn changed_metadata(document: &Document, metadata: &JsonMap<String, Value>) -> Option<Command> {
    let metadata = content_of(metadata);
    let known = content_of(&object(document.metadata.get()));
    // JupyterLab and jupyter_ydoc add empty descriptions of a kernel to a notebook without one.
    let is_filler = |(key, value): (&String, &Value)| {
        known.contains_key(key) || (["kernelspec", "language_info"].contains(&key.as_str()) && is_blank(value))
    };
    let adds_nothing =
        metadata.iter().all(is_filler) && known.iter().all(|(key, value)| metadata.get(key) == Some(value));
    if adds_nothing { None } else { Some(Command::SetNotebookMetadata { metadata: raw(&metadata)? }) }
}

fn is_blank(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.values().all(|value| value.as_str().is_some_and(str::is_empty)))
}

fn raw(map: &JsonMap<String, Value>) -> Option<RawObject> {
    RawObject::parse(&serde_json::to_string(map).ok()?).ok()
}

// --- order ---

fn order_commands(document: &Document, written: &[WrittenCell], commands: &mut Vec<Command>) {
    let place: BTreeMap<&str, usize> =
        document.order.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
    let there: BTreeSet<&str> = written.iter().map(|cell| cell.id.as_str()).collect();
    let gone = document.order.iter().filter(|id| !there.contains(id.as_str()));
    commands.extend(gone.map(|id| Command::DeleteCell { cell_id: id.clone(), cell_version: None }));
    let places: Vec<Option<usize>> = written.iter().map(|cell| place.get(cell.id.as_str()).copied()).collect();
    let stays = kept_in_order(&places);
    let mut previous: Option<CellId> = None;
    for ((cell, place), stays) in written.iter().zip(&places).zip(stays) {
        let Ok(id) = cell.id.parse::<CellId>() else { continue };
        let target = previous.clone().map_or(Place::Start, Place::After);
        match place {
            None => match insertion(&id, cell, target) {
                Some(insertion) => commands.push(Command::InsertCell(insertion)),
                None => continue,
            },
            Some(_) if !stays => {
                commands.push(Command::MoveCell { cell_id: id.clone(), place: target, cell_version: None });
            }
            Some(_) => {}
        }
        previous = Some(id);
    }
}

/// A new cell. `None` for a type that Jupyter does not have: the cell is removed from the Y document again.
fn insertion(id: &CellId, cell: &WrittenCell, place: Place) -> Option<InsertCell> {
    let cell_type = own_type(&cell.cell_type, &cell.metadata)?;
    let source = normalise_line_breaks(&cell.source).into_owned();
    let attachments = cell.attachments.as_ref().and_then(raw);
    let metadata = raw(&content_of(&cell.metadata))?;
    Some(InsertCell { cell_id: Some(id.clone()), metadata, attachments, ..InsertCell::new(cell_type, source, place) })
}

// --- one cell ---

fn cell_commands(document: &Document, id: &CellId, known: &Cell, written: &WrittenCell, commands: &mut Vec<Command>) {
    let (cell_id, content) = (id.clone(), &known.content);
    if written.cell_type != jupyter_type(content.cell_type)
        && let Some(cell_type) = own_type(&written.cell_type, &written.metadata)
    {
        commands.push(Command::ChangeCellType { cell_id: cell_id.clone(), cell_type, cell_version: None });
    }
    let source = normalise_line_breaks(&written.source);
    if source != content.source.as_str() {
        let change = diff(&content.source, &source);
        let edit = EditSource { cell_id: cell_id.clone(), base: document.version, change, undoes: None, redoes: None };
        commands.push(Command::EditSource(edit));
    }
    let metadata = content_of(&written.metadata);
    if metadata != content_of(&object(content.metadata.get()))
        && let Some(metadata) = raw(&metadata)
    {
        commands.push(Command::SetCellMetadata { cell_id: cell_id.clone(), metadata });
    }
    let attachments = content.attachments.as_ref().map(|files| object(files.get())).filter(|files| !files.is_empty());
    if written.attachments != attachments {
        let attachments = written.attachments.as_ref().and_then(raw);
        commands.push(Command::SetCellAttachments { cell_id: cell_id.clone(), attachments });
    }
    let shows_outputs = document
        .latest_execution(id)
        .is_some_and(|(_, execution)| execution.status.is_finished() && !execution.outputs.is_empty());
    if shows_outputs && written.outputs == 0 && written.cell_type == "code" {
        commands.push(Command::ClearOutputs { cell_id });
    }
}
