//! Cells: edit, add, move, delete, restore.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use notarium_core::text::{ChangeSet, normalise_line_breaks};
use notarium_core::{
    Cell, CellFlagChanges, CellId, CellType, Command, Document, InsertCell, Place, RawObject, Version,
};
use notarium_wire::rest::{CellAnswer, Trash};

use super::client::NotebookClient;
use super::values::{CELL_TYPES, one_of};
use super::{Context, Ended, Failure, cell_looks, find, input, print};

// --- where a source comes from ---

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
    /// `None` where nothing was said.
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

pub async fn edit(args: EditArgs, context: &Context) -> Ended {
    let change = args.change.as_deref().map(read_change).transpose()?;
    let nothing = "say what the cell is to be: --source TEXT, --file FILE, --stdin, or --change JSON --base VERSION";
    let text = match change.is_some() {
        true => None,
        false => Some(args.source.read().await?.ok_or_else(|| Failure::usage(nothing))?),
    };
    let notebook = context.notebook(&args.notebook).await?;
    let (cell_id, cell) = read_cell(&notebook, &args.cell).await?;
    let command = match (change, args.base, text) {
        (Some(change), Some(base), _) => Command::EditSource { cell_id: cell_id.clone(), base, change },
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

/// What is there now, and how to go on.
async fn conflict(notebook: &NotebookClient, cell_id: &CellId, detail: &str) -> Failure {
    let Ok((_, cell)) = read_cell(notebook, cell_id.as_str()).await else { return Failure::failed(detail) };
    let now = cell.cell_version;
    let source = print::shorten(&cell.content.source.replace('\n', "⏎ "), 200);
    Failure::failed(format!(
        "somebody was faster, nothing was changed ({detail})\n  it is now: {source}\n  to replace that: the same with --cell-version {now}"
    ))
}

/// A live cell by its id, or a part of it.
async fn read_cell(notebook: &NotebookClient, name: &str) -> Result<(CellId, Arc<Cell>), Failure> {
    if let Ok(id) = CellId::new(name) {
        match notebook.get::<CellAnswer>(&format!("/cells/{id}")).await {
            Err(failure) if failure.is_not_found() => {}
            found => return found.map(|found| (found.cell_id, found.cell)),
        }
    }
    let state = notebook.outline().await?;
    let cell_id = find::cell(&state, name)?;
    let gone = || Failure::failed(format!("the cell {cell_id} is gone: try again"));
    let cell = state.cells.get(&cell_id).cloned().ok_or_else(gone)?;
    Ok((cell_id, cell))
}

// --- cell … ---

commands! {
    pub enum CellCommand {
        /// Add a cell and print its id.
        #[command(after_help = "Example:\n  notarium cell add analysis --type markdown --source '# Results' --after 3f2a")]
        Add(AddArgs) => add,
        /// Move a cell.
        Move(MoveArgs) => move_cell,
        /// Make a cell one of another type.
        Type(cell_looks::TypeArgs) => cell_looks::change_type,
        /// Set and clear marks: pinned, skipped, hidden, collapsed, exported, bookmarks.
        Flag(cell_looks::FlagArgs) => cell_looks::flag,
        /// Clear the outputs that cells show; the runs stay in the record.
        Clear(cell_looks::ClearArgs) => cell_looks::clear,
        /// Move a cell to the trash.
        Delete(DeleteArgs) => delete,
        /// Bring a cell in the trash back where it was.
        Restore(RestoreArgs) => restore,
        /// List the cells in the trash, the last deleted first.
        Trash(TrashArgs) => list_trash,
    }
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
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

impl PlaceArgs {
    /// `None` where nothing was said.
    fn place(&self, state: &Document) -> Result<Option<Place>, Failure> {
        let cell = |name: &String| find::cell(state, name);
        Ok(match self {
            Self { start: true, .. } => Some(Place::Start),
            Self { end: true, .. } => Some(Place::End),
            Self { before: Some(name), .. } => Some(Place::Before(cell(name)?)),
            Self { after: Some(name), .. } => Some(Place::After(cell(name)?)),
            _ => None,
        })
    }
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Id or title.
    notebook: String,
    #[arg(long = "type", value_parser = one_of::<CellType>(&CELL_TYPES), default_value = "code")]
    cell_type: CellType,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// An id of your choice; a repeat is refused, so that it adds no second cell.
    #[arg(long, value_name = "ID")]
    id: Option<CellId>,
}

async fn add(args: AddArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let place = args.place.place(&*notebook.outline().await?)?;
    let command = Command::InsertCell(InsertCell {
        cell_id: args.id,
        cell_type: args.cell_type,
        source: args.source.read().await?.unwrap_or_default(),
        place: place.unwrap_or(Place::End),
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    });
    let answer = notebook.command(&command).await?;
    answer.outcome.cells.iter().try_for_each(print::line)
}

#[derive(Debug, Args)]
pub struct MoveArgs {
    /// Id or title.
    notebook: String,
    cell: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// Refuse when the cell is no longer at this version.
    #[arg(long, value_name = "VERSION")]
    cell_version: Option<Version>,
}

async fn move_cell(args: MoveArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let state = notebook.outline().await?;
    let cell_id = find::cell(&state, &args.cell)?;
    let nowhere = || Failure::usage("say where to: --start, --end, --before CELL or --after CELL");
    let place = args.place.place(&state)?.ok_or_else(nowhere)?;
    let command = Command::MoveCell { cell_id, place, cell_version: args.cell_version };
    notebook.change(&command).await
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Id or title.
    notebook: String,
    cell: String,
    /// Refuse when the cell is no longer at this version.
    #[arg(long, value_name = "VERSION")]
    cell_version: Option<Version>,
}

async fn delete(args: DeleteArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let cell_id = find::cell(&*notebook.outline().await?, &args.cell)?;
    let command = Command::DeleteCell { cell_id: cell_id.clone(), cell_version: args.cell_version };
    notebook.change(&command).await?;
    print::note(format!("`notarium cell restore {} {cell_id}` brings it back", notebook.id));
    Ok(())
}

// --- the trash ---

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// Id or title.
    notebook: String,
    /// As `cell trash` lists it.
    cell: String,
}

async fn restore(args: RestoreArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let trash: Trash = notebook.get("/trash").await?;
    // What is not in the trash may be older than what it lists: the server knows.
    let cell_id = find::cell_among(trash.cells.iter().map(|cell| &cell.cell_id), &args.cell)
        .or_else(|failure| CellId::new(&args.cell).map_err(|_| failure))?;
    notebook.change(&Command::RestoreCell { cell_id }).await
}

#[derive(Debug, Args)]
pub struct TrashArgs {
    /// Id or title.
    notebook: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

async fn list_trash(args: TrashArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let trash: Trash = notebook.get("/trash").await?;
    if args.json {
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
