//! `edit`, `cell` and their subcommands: change, add, move, delete and restore cells; their types, marks and outputs.

pub mod comments;
pub mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use notarium_core::text::{ChangeSet, normalise_line_breaks};
use notarium_core::{
    Cell, CellContent, CellFlagChanges, CellId, CellType, Command, Document, EditSource, InsertCell, Place, Version,
};
use notarium_wire::rest::{CellAnswer, Trash};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find;
use crate::cli::terminal::values::{CELL_TYPES, one_of};
use crate::cli::terminal::{input, print};
use crate::cli::{CommonOptions, Ended, Failure, InNotebook, JsonArgs};

// --- source of the text ---

/// A source: on the command line, in a file, or on standard input.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The source itself.
    #[arg(long, value_name = "TEXT", group = "text", allow_hyphen_values = true)]
    source: Option<String>,
    /// A file with the source; one line break at its end is left out.
    #[arg(long, value_name = "FILE", group = "text")]
    file: Option<PathBuf>,
    /// The source comes on standard input; one line break at its end is left out.
    #[arg(long, group = "text")]
    stdin: bool,
}

impl SourceArgs {
    /// The text; `None` if no source was given.
    async fn read(self) -> Result<Option<String>, Failure> {
        let text = match (self.source, self.file, self.stdin) {
            (Some(source), ..) => source,
            (_, Some(file), _) => without_last_break(input::text(&file).await?),
            (_, _, true) => without_last_break(input::text(Path::new("-")).await?),
            _ => return Ok(None),
        };
        let normalised = normalise_line_breaks(&text);
        if normalised.len() != text.len() || *normalised != *text {
            print::note("note: line breaks CRLF and CR became LF");
        }
        Ok(Some(normalised.into_owned()))
    }
}

fn without_last_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

// --- edit ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium edit analysis 3f2a --source 'print(1)'
  notarium edit analysis 3f2a --file cell.py
  notarium edit analysis 3f2a --source 'x = 2' --cell-version 17     # refused if it changed since version 17
  notarium edit analysis 3f2a --change '[6,[5,\"world\"]]' --base 42    # a CodeMirror ChangeSet; nobody is clobbered")]
pub struct EditArgs {
    /// Id or title.
    notebook: String,
    /// Id, or an unmistakable beginning or end of it.
    cell: String,
    #[command(flatten)]
    source: SourceArgs,
    /// A CodeMirror ChangeSet in JSON, against the source at --base; later edits of others are respected.
    #[arg(long, value_name = "JSON", requires = "base", conflicts_with_all = ["text", "cell_version"])]
    change: Option<String>,
    /// The version of the notebook that --change was made for.
    #[arg(long, value_name = "VERSION", requires = "change")]
    base: Option<Version>,
    /// The cell's version that you read; absent: the one that it has now.
    #[arg(long, value_name = "VERSION")]
    cell_version: Option<Version>,
}

pub async fn edit(args: EditArgs, context: &CommonOptions) -> Ended {
    let change = args.change.as_deref().map(read_change).transpose()?;
    let nothing = "say what the cell is to be: --source TEXT, --file FILE, --stdin, or --change JSON --base VERSION";
    let text = match change.is_some() {
        true => None,
        false => Some(args.source.read().await?.ok_or_else(|| Failure::usage(nothing))?),
    };
    let notebook = context.notebook(&args.notebook).await?;
    let (cell_id, cell) = read_cell(&notebook, &args.cell).await?;
    let command = match (change, args.base, text) {
        (Some(change), Some(base), _) => {
            let cell_id = cell_id.clone();
            Command::EditSource(EditSource { cell_id, base, change, undoes: None, redoes: None })
        }
        (_, _, text) => Command::ReplaceSource {
            cell_id: cell_id.clone(),
            cell_version: args.cell_version.unwrap_or(cell.cell_version),
            source: text.unwrap_or_default(),
        },
    };
    match notebook.change(&command).await {
        Err(failure) if failure.has_code("conflict") => Err(conflict(&notebook, &cell_id, &failure.message).await),
        ended => ended,
    }
}

fn read_change(json: &str) -> Result<ChangeSet, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::usage(format!("--change: {error}")))
}

/// An error with the cell's present text, and the command to overwrite it.
async fn conflict(notebook: &NotebookClient, cell_id: &CellId, detail: &str) -> Failure {
    let Ok((_, cell)) = read_cell(notebook, cell_id.as_str()).await else { return Failure::failed(detail) };
    let now = cell.cell_version;
    let source = print::shorten(&cell.content.source.replace('\n', "⏎ "), 200);
    Failure::failed(format!(
        "somebody was faster, nothing was changed ({detail})\n  it is now: {source}\n  to replace that: the same with --cell-version {now}"
    ))
}

/// Reads a cell by its id, or a part of it.
async fn read_cell(notebook: &NotebookClient, name: &str) -> Result<(CellId, Arc<Cell>), Failure> {
    if let Ok(id) = CellId::new(name) {
        match notebook.get::<CellAnswer>(&format!("/cells/{id}")).await {
            Err(failure) if failure.is_not_found() => {}
            Err(failure) if failure.has_code("cell_deleted") => return Err(Failure::failed(notebook.in_trash(&id))),
            found => return found.map(|found| (found.cell_id, found.cell)),
        }
    }
    let state = notebook.outline().await?;
    let cell_id = notebook.cell_in(&state, name).await?;
    let gone = || Failure::failed(format!("the cell {cell_id} is gone: try again"));
    let cell = state.cells.get(&cell_id).cloned().ok_or_else(gone)?;
    Ok((cell_id, cell))
}

// --- cell … ---

#[derive(Debug, Subcommand)]
pub enum CellCommand {
    /// Add a cell and print its id.
    #[command(after_help = "Example:\n  notarium cell add analysis --type markdown --source '# Results' --after 3f2a")]
    Add {
        /// Id or title.
        notebook: String,
        #[arg(long = "type", value_parser = one_of::<CellType>(&CELL_TYPES), default_value = "code")]
        cell_type: CellType,
        #[command(flatten)]
        source: SourceArgs,
        #[command(flatten)]
        place: CellPlaceArgs,
        /// An id of your choice; a repeat is refused, so that it adds no second cell.
        #[arg(long, value_name = "ID")]
        id: Option<CellId>,
    },
    /// Move a cell.
    Move {
        /// Id or title.
        notebook: String,
        cell: String,
        #[command(flatten)]
        place: CellPlaceArgs,
        /// Refuse when the cell is no longer at this version.
        #[arg(long, value_name = "VERSION")]
        cell_version: Option<Version>,
    },
    /// Add a copy of a cell below it, without its outputs, and print its id.
    Duplicate {
        /// Id or title.
        notebook: String,
        cell: String,
    },
    /// Make a cell one of another type.
    Type {
        /// Id or title.
        notebook: String,
        cell: String,
        #[arg(value_parser = one_of::<CellType>(&CELL_TYPES))]
        cell_type: CellType,
        /// Refuse when the cell is no longer at this version.
        #[arg(long, value_name = "VERSION")]
        cell_version: Option<Version>,
    },
    /// Set and clear marks: pinned, skipped, hidden, collapsed, exported, bookmarks.
    Flag {
        /// Id or title.
        notebook: String,
        cell: String,
        /// Set: pinned (always told to assistants), skipped (never), source-hidden, outputs-hidden, heading-collapsed, exported.
        #[arg(long, value_name = "MARK", value_parser = MARKS)]
        set: Vec<String>,
        /// Clear.
        #[arg(long, value_name = "MARK", value_parser = MARKS)]
        clear: Vec<String>,
        /// 1 to 9; 0 removes it.
        #[arg(long, value_name = "NUMBER")]
        bookmark: Option<u8>,
    },
    /// Clear the outputs that cells show; the runs stay in the record.
    Clear {
        /// Id or title.
        notebook: String,
        /// Ids, or unmistakable parts of them.
        #[arg(required_unless_present = "all")]
        cells: Vec<String>,
        /// Every cell that shows outputs.
        #[arg(long, conflicts_with = "cells")]
        all: bool,
    },
    /// Move a cell to the trash.
    Delete {
        /// Id or title.
        notebook: String,
        cell: String,
        /// Refuse when the cell is no longer at this version.
        #[arg(long, value_name = "VERSION")]
        cell_version: Option<Version>,
    },
    /// Bring a cell in the trash back where it was.
    Restore {
        /// Id or title.
        notebook: String,
        /// Cell, as `cell trash` lists it.
        cell: String,
    },
    /// List the cells in the trash, the last deleted first.
    Trash(InNotebook<JsonArgs>),
}

/// Names of boolean marks on the command line.
const MARKS: [&str; 6] = ["pinned", "skipped", "source-hidden", "outputs-hidden", "heading-collapsed", "exported"];

#[derive(Debug, Args)]
pub struct CellPlaceArgs {
    /// Before all others.
    #[arg(long, group = "place")]
    start: bool,
    /// After all others.
    #[arg(long, group = "place")]
    end: bool,
    #[arg(long, value_name = "CELL", group = "place")]
    before: Option<String>,
    #[arg(long, value_name = "CELL", group = "place")]
    after: Option<String>,
}

impl CellPlaceArgs {
    /// The place; `None` if none was given.
    async fn place(&self, notebook: &NotebookClient, state: &Document) -> Result<Option<Place>, Failure> {
        let cell = async |name: &String| notebook.cell_in(state, name).await;
        Ok(match self {
            Self { start: true, .. } => Some(Place::Start),
            Self { end: true, .. } => Some(Place::End),
            Self { before: Some(name), .. } => Some(Place::Before(cell(name).await?)),
            Self { after: Some(name), .. } => Some(Place::After(cell(name).await?)),
            _ => None,
        })
    }
}

impl CellCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        if let Self::Flag { set, clear, bookmark: None, .. } = &self
            && set.is_empty()
            && clear.is_empty()
        {
            let marks = MARKS.join(", ");
            return Err(Failure::usage(format!("say --set MARK, --clear MARK or --bookmark NUMBER; marks: {marks}")));
        }
        let (Self::Add { notebook, .. }
        | Self::Move { notebook, .. }
        | Self::Duplicate { notebook, .. }
        | Self::Type { notebook, .. }
        | Self::Flag { notebook, .. }
        | Self::Clear { notebook, .. }
        | Self::Delete { notebook, .. }
        | Self::Restore { notebook, .. }
        | Self::Trash(InNotebook { notebook, .. })) = &self;
        let notebook = context.notebook(notebook).await?;
        let command = match self {
            Self::Add { cell_type, source, place, id, .. } => {
                let place = place.place(&notebook, &*notebook.outline().await?).await?.unwrap_or(Place::End);
                let source = source.read().await?.unwrap_or_default();
                let insert = InsertCell { cell_id: id, ..InsertCell::new(cell_type, source, place) };
                let answer = notebook.command(&Command::InsertCell(insert)).await?;
                return answer.outcome.cells.iter().try_for_each(print::line);
            }
            Self::Move { cell, place, cell_version, .. } => {
                let state = notebook.outline().await?;
                let cell_id = notebook.cell_in(&state, &cell).await?;
                let nowhere = || Failure::usage("say where to: --start, --end, --before CELL or --after CELL");
                Command::MoveCell {
                    cell_id,
                    place: place.place(&notebook, &state).await?.ok_or_else(nowhere)?,
                    cell_version,
                }
            }
            Self::Duplicate { cell, .. } => duplicate(&notebook, &cell).await?,
            Self::Type { cell, cell_type, cell_version, .. } => {
                Command::ChangeCellType { cell_id: notebook.cell(&cell).await?, cell_type, cell_version }
            }
            Self::Flag { cell, set, clear, bookmark, .. } => {
                let mut flags = CellFlagChanges { bookmark, ..CellFlagChanges::default() };
                set.iter().for_each(|mark| *flag(&mut flags, mark) = Some(true));
                clear.iter().for_each(|mark| *flag(&mut flags, mark) = Some(false));
                Command::SetCellFlags { cell_id: notebook.cell(&cell).await?, flags }
            }
            Self::Clear { cells, all, .. } => {
                let state = notebook.outline().await?;
                let cells: Vec<CellId> = match all {
                    true => state.latest.keys().cloned().collect(),
                    false => notebook.cells_in(&state, &cells).await?,
                };
                let clear = |cell_id| Command::ClearOutputs { cell_id };
                Command::Batch { commands: cells.into_iter().map(clear).collect() }
            }
            Self::Delete { cell, cell_version, .. } => {
                let cell_id = notebook.cell(&cell).await?;
                notebook.change(&Command::DeleteCell { cell_id: cell_id.clone(), cell_version }).await?;
                return print::noted(format!("`notarium cell restore {} {cell_id}` brings it back", notebook.id));
            }
            Self::Restore { cell, .. } => Command::RestoreCell { cell_id: in_trash(&notebook, &cell).await? },
            Self::Trash(InNotebook { args, .. }) => return list_trash(&notebook, args.json).await,
        };
        notebook.change(&command).await
    }
}

async fn duplicate(notebook: &NotebookClient, name: &str) -> Result<Command, Failure> {
    let (cell_id, cell) = read_cell(notebook, name).await?;
    let CellContent { cell_type, source, metadata, attachments, flags, .. } = cell.content.clone();
    let copy = InsertCell::new(cell_type, source, Place::After(cell_id));
    Ok(Command::InsertCell(InsertCell { metadata, attachments, flags: flags.into(), ..copy }))
}

fn flag<'a>(flags: &'a mut CellFlagChanges, mark: &str) -> &'a mut Option<bool> {
    match mark {
        "pinned" => &mut flags.pinned,
        "skipped" => &mut flags.skipped,
        "source-hidden" => &mut flags.source_hidden,
        "outputs-hidden" => &mut flags.outputs_hidden,
        "heading-collapsed" => &mut flags.heading_collapsed,
        _ => &mut flags.exported,
    }
}

// --- the trash ---

async fn in_trash(notebook: &NotebookClient, name: &str) -> Result<CellId, Failure> {
    let trash: Trash = notebook.get("/trash").await?;
    // An id that is not listed may still be in the trash, beyond the list: the server checks it.
    find::cell_among(trash.cells.iter().map(|cell| &cell.cell_id), name)
        .or_else(|failure| CellId::new(name).map_err(|_| failure))
}

async fn list_trash(notebook: &NotebookClient, as_json: bool) -> Ended {
    let trash: Trash = notebook.get("/trash").await?;
    if as_json {
        return print::json(&trash);
    }
    let headings = ["cell", "deleted", "version", "source"];
    print::list(&trash.cells, false, "the trash is empty", headings, async |cell| {
        let first_line = cell.cell.source.lines().next().unwrap_or_default().to_owned();
        let at = print::time(cell.deleted_at);
        [cell.cell_id.to_string(), at, cell.deleted_version.to_string(), first_line]
    })
    .await?;
    if trash.incomplete {
        print::note("there may be older ones: the log was not read to its beginning");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_own_field() {
        for mark in MARKS {
            let mut flags = CellFlagChanges::default();
            *flag(&mut flags, mark) = Some(true);
            let sent = serde_json::to_string(&flags).unwrap();
            assert_eq!(sent, format!(r#"{{"{}":true}}"#, mark.replace('-', "_")));
        }
    }
}
