//! Commands of a scheduled run: its notebook with the parameters, and its cells in order. Pure.

use notarium_core::{
    Cell, CellId, Command, Document, ExecutionId, ExecutionTarget, InsertCell, Place, RawObject, RequestExecution,
};
use notarium_wire::ipynb::Object;
use notarium_wire::parameters::{self, Parameter, is_tagged};

use crate::notebooks::schedule_check::language;
use crate::notebooks::templates;
use crate::rooms::metadata::entries;
use crate::timetable::Timetable;

/// Most characters of a title.
const MAX_TITLE_CHARACTERS: usize = 255;

/// Command that makes the notebook of a run, with its parameters in a cell of their own. `Err`: a sentence.
pub fn create(source: &Document, title: String, given: &RawObject) -> Result<Command, String> {
    let command = templates::fork_command(source, title, false);
    let given = parameters::of_object(given)?;
    match command {
        Command::Batch { commands } if !given.is_empty() => {
            Ok(Command::Batch { commands: with_parameters(commands, &given, &language(&source.metadata))? })
        }
        command => Ok(command),
    }
}

/// Cells are inserted one below the other: the place among the commands is the place in the notebook.
fn with_parameters(mut commands: Vec<Command>, given: &[Parameter], language: &str) -> Result<Vec<Command>, String> {
    parameters::check(given, language)?;
    let source = parameters::source(given, language)?;
    let first = commands.iter().position(|command| matches!(command, Command::InsertCell(_))).unwrap_or(commands.len());
    let inserts = || {
        commands.iter().filter_map(|command| match command {
            Command::InsertCell(insert) => Some(insert),
            _ => None,
        })
    };
    let cells: Vec<Object> = inserts().map(|insert| entries(&insert.metadata)).collect();
    let ids: Vec<Option<CellId>> = inserts().map(|insert| insert.cell_id.clone()).collect();
    let (at, replaces) = parameters::place(&cells, |metadata| metadata);
    if let (true, Some(Command::InsertCell(insert))) = (replaces, commands.get_mut(first + at)) {
        insert.source = source;
        return Ok(commands);
    }
    let metadata = serde_json::to_string(&parameters::injected_tags()).unwrap_or_default();
    let insert = InsertCell {
        cell_id: Some(free_id(&ids)),
        metadata: RawObject::parse(&metadata).unwrap_or_default(),
        ..InsertCell::new(notarium_core::CellType::Code, source, Place::End)
    };
    commands.insert(first + at, Command::InsertCell(insert));
    Ok(commands)
}

fn free_id(taken: &[Option<CellId>]) -> CellId {
    let names = (0..).map(|number| if number == 0 { "parameters".to_owned() } else { format!("parameters-{number}") });
    let mut free = names.filter_map(|name| CellId::new(name).ok());
    free.find(|id| !taken.contains(&Some(id.clone()))).unwrap_or_else(|| unreachable!("names do not end"))
}

/// Title of a run's notebook: that of the scheduled one, and the time.
pub fn title(source: &str, table: Option<&Timetable>, at: u64) -> String {
    let time = table.map_or_else(|| format!("{at}"), |table| table.wall_time(at));
    let left = MAX_TITLE_CHARACTERS.saturating_sub(time.chars().count() + 3);
    let source: String = source.chars().take(left).collect();
    format!("{} – {time}", source.trim_end())
}

/// Cells that run together: the failure of one stops those after it. Only the last may fail without harm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPart {
    /// The cells, with the ids of their runs.
    pub cells: Vec<(CellId, ExecutionId)>,
    /// True: an error of the last cell is expected (nbconvert's tag `raises-exception`).
    pub last_may_fail: bool,
}

/// Parts of a run: code that is not blank, in order, without cells tagged `skip-execution`.
pub fn parts(notebook: &Document) -> Vec<RunPart> {
    let (mut parts, mut cells) = (Vec::new(), Vec::new());
    for (number, (cell_id, cell)) in notebook.ordered_cells().filter(|(_, cell)| is_run(cell)).enumerate() {
        let Ok(execution) = ExecutionId::new(format!("scheduled-{}", number + 1)) else { continue };
        cells.push((cell_id.clone(), execution));
        if has_tag(cell, "raises-exception") {
            parts.push(RunPart { cells: std::mem::take(&mut cells), last_may_fail: true });
        }
    }
    if !cells.is_empty() {
        parts.push(RunPart { cells, last_may_fail: false });
    }
    parts
}

fn is_run(cell: &Cell) -> bool {
    cell.content.cell_type.runs() && !cell.content.source.trim().is_empty() && !has_tag(cell, "skip-execution")
}

fn has_tag(cell: &Cell, tag: &str) -> bool {
    is_tagged(&entries(&cell.content.metadata), tag)
}

/// Command that requests the runs of a part.
pub fn request(part: &RunPart) -> Command {
    let one = |(cell_id, execution_id): &(CellId, ExecutionId)| {
        Command::RequestExecution(RequestExecution {
            execution_id: Some(execution_id.clone()),
            stop_on_error: true,
            ..RequestExecution::new(ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None })
        })
    };
    Command::Batch { commands: part.cells.iter().map(one).collect() }
}
