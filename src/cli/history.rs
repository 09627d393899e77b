//! `undo`, `redo`, `versions`, `diff` and `blame`.

pub mod export_record;
pub mod find;
pub mod heads;
pub mod import_record;
pub mod log;
pub mod moment;
pub mod proof;
mod record_file;
mod record_rows;
pub mod watch;

use clap::Args;
use notarium_core::{Cell, CellId, Command, CorrelationId, Document, Event, Head, Millis, Stored, TurnId, Version};
use notarium_wire::rest::EventPage;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::history::moment::Moment;
use crate::cli::terminal::input;
use crate::cli::terminal::print::{self, report, style};
use crate::cli::words::narrate::{NarratedEvent, Narrator};
use crate::cli::{Ended, Failure};

/// Page size of the record.
const PAGE: usize = 1_000;
/// Most events of an undo or redo that are shown.
const EVENTS_OF_STEP: Version = 10;

/// Passes every event of the record after `after` to `visit`, page by page; returns the head of the record.
pub async fn each_event(
    notebook: &NotebookClient,
    after: Version,
    mut visit: impl FnMut(&Stored) -> Ended,
) -> Result<Head, Failure> {
    let mut after = after;
    loop {
        let EventPage { events, head, next } = notebook.events(after, PAGE).await?;
        events.iter().try_for_each(&mut visit)?;
        match next {
            Some(next) if next > after => after = next,
            _ => return Ok(head),
        }
    }
}

// --- undo, redo ---

#[derive(Debug, Args)]
pub struct StepsArgs {
    /// So many of your changes.
    #[arg(long, default_value_t = 1)]
    steps: u32,
    /// Only changes that touch the text of this cell.
    #[arg(long)]
    cell: Option<String>,
}

impl StepsArgs {
    async fn cell_id(&self, notebook: &NotebookClient) -> Result<Option<CellId>, Failure> {
        match &self.cell {
            Some(name) => notebook.cell(name).await.map(Some),
            None => Ok(None),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium undo analysis
  notarium undo analysis --cell 01J…         # your last change of this cell's text
  notarium undo analysis --turn 01J…         # all that an assistant did in a turn
  notarium undo analysis --call 01J…         # one tool call, as `notarium calls` lists it
  notarium undo analysis --import            # all cells that the notebook was made with, after a question")]
pub struct UndoArgs {
    #[command(flatten)]
    own: StepsArgs,
    /// An assistant's changes in this turn.
    #[arg(long, value_name = "TURN", conflicts_with_all = ["steps", "cell", "call"])]
    turn: Option<TurnId>,
    /// The changes of this tool call.
    #[arg(long, value_name = "CALL", conflicts_with_all = ["steps", "cell"])]
    call: Option<CorrelationId>,
    /// The cells that the notebook was made with: of an imported file, a fork or a template. Asks first.
    #[arg(long, conflicts_with_all = ["steps", "cell", "turn", "call"])]
    import: bool,
    /// Take the import back without a question.
    #[arg(long, requires = "import")]
    yes: bool,
}

pub async fn undo(UndoArgs { own, turn, call, import, yes }: UndoArgs, notebook: NotebookClient) -> Ended {
    let cell_id = own.cell_id(&notebook).await?;
    // All effects of a call are one undo group, whose id is the call's.
    let correlation_id = if import { Some(beginning(&notebook, yes).await?) } else { call };
    let command = Command::Undo { steps: own.steps, correlation_id, turn_id: turn, cell_id };
    step(&notebook, &command).await
}

/// The undo group that created the notebook, if the person agrees.
async fn beginning(notebook: &NotebookClient, yes: bool) -> Result<CorrelationId, Failure> {
    let page = notebook.events(0, 1).await?;
    let first = page.events.first().ok_or_else(|| Failure::failed("the notebook has no events"))?;
    let id = first.envelope.correlation_id.clone();
    if yes {
        return Ok(id);
    }
    if !input::is_terminal() {
        return Err(Failure::usage("this empties the notebook of what it was made with: add --yes if that is meant"));
    }
    let title = notebook.outline().await?.title.clone();
    print::note(format!(
        "All cells that '{title}' was made with go to the trash, with what you changed in them. `notarium redo` brings them back."
    ));
    match input::agrees("Take the import back?").await? {
        true => Ok(id),
        false => Err(Failure::failed("nothing was undone")),
    }
}

pub async fn redo(args: StepsArgs, notebook: NotebookClient) -> Ended {
    let cell_id = args.cell_id(&notebook).await?;
    step(&notebook, &Command::Redo { steps: args.steps, cell_id }).await
}

/// Sends an undo or a redo, and shows the last events of its command, with a note if there were more.
async fn step(notebook: &NotebookClient, command: &Command) -> Ended {
    let answer = notebook.command(command).await?;
    let page = notebook.events(answer.version.saturating_sub(EVENTS_OF_STEP + 1), PAGE).await?;
    let own: Vec<&Stored> =
        page.events.iter().filter(|stored| stored.envelope.command_id == answer.command_id).collect();
    let (earlier, shown) = own.split_at(own.len().saturating_sub(EVENTS_OF_STEP as usize));
    if !earlier.is_empty() {
        print::note("(its last events: `notarium log` has them all)");
    }
    let mut narrator = Narrator::new(notebook);
    for stored in shown {
        print::note(narrator.line(&NarratedEvent::from(*stored), print::time).await);
    }
    report(&answer)
}

// --- restore ---

/// Takes the notebook back to an earlier version.
pub async fn restore(notebook: &NotebookClient, to: &Moment) -> Ended {
    let version = to.version(notebook).await?;
    let before = notebook.outline().await?.version;
    step(notebook, &Command::RestoreNotebook { version }).await?;
    if notebook.outline().await?.version == before {
        print::note(format!("nothing was changed: it has the cells of version {version} already"));
    }
    Ok(())
}

// --- versions ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium versions analysis                         # list the names
  notarium versions analysis --name 'as submitted'   # name the version that it is at
  notarium versions analysis --name draft --at 42")]
pub struct VersionsArgs {
    /// Give a version this name.
    #[arg(long)]
    name: Option<String>,
    /// The version to name; absent: the one that it is at.
    #[arg(long, value_name = "VERSION", requires = "name")]
    at: Option<Version>,
    /// The list in JSON.
    #[arg(long, conflicts_with = "name")]
    json: bool,
}

pub async fn versions(args: VersionsArgs, notebook: NotebookClient) -> Ended {
    let state = notebook.outline().await?;
    if let Some(name) = args.name {
        return notebook.change(&Command::NameVersion { version: args.at.unwrap_or(state.version), name }).await;
    }
    let named: Vec<_> = state.named_versions.iter().collect();
    let empty = "no version has a name: `notarium versions NOTEBOOK --name NAME` gives one";
    print::list(&named, args.json, empty, ["version", "name"], async |(version, name)| {
        [version.to_string(), (*name).clone()]
    })
    .await
}

// --- diff ---

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The version to begin with.
    from: Version,
    /// The version to compare it with, usually a later one; absent: as it is now.
    to: Option<Version>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

/// Differences between two versions, in the order of the later one; deleted cells last.
#[derive(Debug, Default, Serialize)]
struct Difference {
    from: Version,
    to: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<(String, String)>,
    cells: Vec<CellDifference>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct CellDifference {
    cell_id: CellId,
    /// Any of `added`, `deleted`, `moved`, `edited`, `retyped`, `run`.
    changes: Vec<&'static str>,
    /// A unified diff of the source.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
}

pub async fn diff(args: DiffArgs, notebook: NotebookClient) -> Ended {
    let (from, to) = (notebook.state(Some(args.from)).await?, notebook.state(args.to).await?);
    let difference = difference(&from.notebook, &to.notebook);
    if difference.from > difference.to {
        print::note(format!(
            "this runs backwards, from version {} to the earlier {}: what came since is shown as taken away",
            difference.from, difference.to
        ));
    }
    match args.json {
        true => print::json(&difference),
        false => show_difference(&difference),
    }
}

fn difference(from: &Document, to: &Document) -> Difference {
    let title = (from.title != to.title).then(|| (from.title.clone(), to.title.clone()));
    let living = to.ordered_cells().map(|(id, cell)| changes(from, to, id, cell));
    let deleted = from.ordered_cells().filter(|(id, _)| !to.cells.contains_key(*id));
    let deleted = deleted.map(|(id, cell)| CellDifference::new(id, vec!["deleted"], &cell.content.source, ""));
    let cells = living.chain(deleted).filter(|cell| !cell.changes.is_empty()).collect();
    Difference { from: from.version, to: to.version, title, cells }
}

fn changes(from: &Document, to: &Document, id: &CellId, cell: &Cell) -> CellDifference {
    let Some(before) = from.cells.get(id) else {
        return CellDifference::new(id, vec!["added"], "", &cell.content.source);
    };
    let facts = [
        ("moved", before.content.order_key != cell.content.order_key),
        ("retyped", before.content.cell_type != cell.content.cell_type),
        ("edited", before.content.source != cell.content.source),
        ("run", from.latest.get(id) != to.latest.get(id)),
    ];
    let changes = facts.into_iter().filter_map(|(name, is_so)| is_so.then_some(name)).collect();
    CellDifference::new(id, changes, &before.content.source, &cell.content.source)
}

impl CellDifference {
    fn new(id: &CellId, changes: Vec<&'static str>, before: &str, after: &str) -> Self {
        let source = TextDiff::from_lines(before, after).unified_diff().missing_newline_hint(false).to_string();
        Self { cell_id: id.clone(), changes, source }
    }
}

fn show_difference(difference: &Difference) -> Ended {
    if difference.title.is_none() && difference.cells.is_empty() {
        return print::noted(format!("nothing changed between the versions {} and {}", difference.from, difference.to));
    }
    if let Some((from, to)) = &difference.title {
        print::line(format!("title: \"{}\" became \"{}\"", print::clean(from), print::clean(to)))?;
    }
    for cell in &difference.cells {
        let id = style(cell.cell_id.as_str()).cyan();
        print::line(format!("{id}  {}", cell.changes.join(", ")))?;
        print::raw(&print::coloured(&cell.source))?;
    }
    Ok(())
}

// --- blame ---

#[derive(Debug, Args)]
pub struct BlameArgs {
    /// Id, or an unmistakable part of it.
    cell: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

/// A line of a source, and the event that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct BlamedLine {
    version: Version,
    recorded_at: Millis,
    actor: notarium_core::Actor,
    text: String,
}

pub async fn blame(args: BlameArgs, notebook: NotebookClient) -> Ended {
    let (cell_id, is_trashed) = notebook.cell_or_trashed(&args.cell).await?;
    if is_trashed {
        print::note(notebook.in_trash(&cell_id));
    }
    let mut tracing = Blame { state: Document::new(notebook.id.clone()), cell_id, lines: Vec::new() };
    each_event(&notebook, 0, |stored| tracing.next(stored)).await?;
    if args.json {
        return print::json(&tracing.lines);
    }
    let mut people = People::new(&notebook.client);
    for line in &tracing.lines {
        let who = people.name(&line.actor).await;
        let origin =
            format!("{:>5}  {}  {:<16}", line.version, print::time(line.recorded_at), print::shorten(&who, 16));
        print::line(format!("{}  {}", style(origin).dim(), print::clean(&line.text)))?;
    }
    Ok(())
}

/// Follows one cell through the record.
struct Blame {
    state: Document,
    cell_id: CellId,
    lines: Vec<BlamedLine>,
}

impl Blame {
    fn next(&mut self, stored: &Stored) -> Ended {
        let recorded = stored.typed().map_err(|error| Failure::failed(error.to_string()))?;
        let is_text = matches!(
            recorded.event,
            Event::CellInserted(_) | Event::CellSourceEdited(_) | Event::CellDeleted(_) | Event::CellRestored(_)
        );
        // Other events, such as outputs and runs, do not change text.
        if !is_text {
            self.state.version = recorded.envelope.version;
            return Ok(());
        }
        self.state.apply(&recorded);
        // A deleted cell keeps its authors, because it may be restored.
        if let Some(cell) = self.state.cells.get(&self.cell_id) {
            let source = cell.content.source.clone();
            self.rewrite(&source, stored);
        }
        Ok(())
    }

    /// Replaces the lines; unchanged ones keep their author.
    fn rewrite(&mut self, source: &str, stored: &Stored) {
        let old: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        let new: Vec<&str> = source.split('\n').collect();
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::with_capacity(new.len());
        for change in diff.iter_all_changes() {
            match (change.tag(), change.old_index()) {
                (ChangeTag::Equal, Some(index)) => lines.push(self.lines[index].clone()),
                (ChangeTag::Insert, _) => lines.push(BlamedLine {
                    version: stored.envelope.version,
                    recorded_at: stored.envelope.recorded_at,
                    actor: stored.envelope.actor.clone(),
                    text: change.value().to_owned(),
                }),
                _ => {}
            }
        }
        self.lines = lines;
    }
}
