//! `undo`, `redo`, `versions`, `diff` and `blame`.

pub mod export_record;
pub mod find;
pub mod heads;
pub mod import_record;
pub mod log;
pub mod moment;
pub mod proof;
mod publish;
mod record_file;
mod record_rows;
pub mod report;
pub mod retention;
pub mod watch;

use std::collections::BTreeMap;

use clap::Args;
use notarium_core::text::utf16_len;
use notarium_core::{Actor, CellId, Command, CorrelationId, Head, Millis, RestoreNotebook, Stored, TurnId, Version};
use notarium_wire::rest::{BlamedEvent, CellBlame, EventPage, NotebookBlame, NotebookDiff};
use serde::Serialize;

use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::connection::find::People;
use crate::cli::history::moment::{MOMENT, Moment, version_of};
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
    step(notebook, &Command::RestoreNotebook(RestoreNotebook { version })).await?;
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
#[command(after_help = "Examples:
  notarium diff analysis 5                          # what changed since version 5
  notarium diff analysis 'as submitted' 2026-11-29  # versions, names of versions, times")]
pub struct DiffArgs {
    /// The version to begin with.
    #[arg(value_name = MOMENT)]
    from: Moment,
    /// The version to compare it with, usually a later one; absent: as it is now.
    #[arg(value_name = MOMENT)]
    to: Option<Moment>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn diff(args: DiffArgs, notebook: NotebookClient) -> Ended {
    let from = args.from.version(&notebook).await?.to_string();
    let to = version_of(args.to.as_ref(), &notebook).await?.map(|to| to.to_string());
    let difference: NotebookDiff =
        notebook.get(&with_query("/diff", &[("from", Some(&from)), ("to", to.as_deref())])).await?;
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

fn show_difference(difference: &NotebookDiff) -> Ended {
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
#[command(after_help = "Examples:
  notarium blame analysis sum                  # each line, with the last event that wrote in it
  notarium blame analysis                      # all cells
  notarium blame analysis sum --at 'as submitted' --json")]
pub struct BlameArgs {
    /// Id, or an unmistakable part of it; absent: all cells.
    cell: Option<String>,
    /// Version to take, by its number, its name or a time; default: the newest.
    #[arg(long, value_name = MOMENT)]
    at: Option<Moment>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

/// A line of a source, and the last event that wrote in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct BlamedLine {
    cell_id: CellId,
    version: Version,
    recorded_at: Millis,
    actor: Actor,
    text: String,
}

pub async fn blame(args: BlameArgs, notebook: NotebookClient) -> Ended {
    let cell = match &args.cell {
        Some(name) => {
            let (cell_id, is_trashed) = notebook.cell_or_trashed(name).await?;
            if is_trashed && args.at.is_none() {
                print::note(notebook.in_trash(&cell_id));
            }
            Some(cell_id)
        }
        None => None,
    };
    let at = version_of(args.at.as_ref(), &notebook).await?.map(|at| at.to_string());
    let path = with_query("/blame", &[("cell", cell.as_ref().map(CellId::as_str)), ("at", at.as_deref())]);
    let blamed: NotebookBlame = notebook.get(&path).await?;
    let lines: Vec<BlamedLine> = blamed.cells.iter().flat_map(|cell| lines_of(cell, &blamed.events)).collect();
    if args.json {
        return print::json(&lines);
    }
    let (mut people, mut shown) = (People::new(&notebook.client), None);
    for line in &lines {
        if cell.is_none() && shown != Some(&line.cell_id) {
            print::line(style(line.cell_id.as_str()).cyan())?;
            shown = Some(&line.cell_id);
        }
        let who = people.name(&line.actor).await;
        let origin =
            format!("{:>5}  {}  {:<16}", line.version, print::time(line.recorded_at), print::shorten(&who, 16));
        print::line(format!("{}  {}", style(origin).dim(), print::clean(&line.text)))?;
    }
    Ok(())
}

/// Lines of a cell, each with the newest event among its characters. An empty line has that of its line break.
fn lines_of(cell: &CellBlame, events: &BTreeMap<Version, BlamedEvent>) -> Vec<BlamedLine> {
    let mut versions = cell.runs.iter().flat_map(|run| std::iter::repeat_n(run.version, run.length));
    let (mut lines, mut line_break) = (Vec::new(), None);
    for text in cell.source.split('\n') {
        let wrote = versions.by_ref().take(utf16_len(text)).max();
        let next = versions.next();
        let version = wrote.or(next).or(line_break);
        line_break = next;
        let Some((version, event)) = version.and_then(|version| Some((version, events.get(&version)?))) else {
            continue;
        };
        let BlamedEvent { actor, recorded_at } = event.clone();
        lines.push(BlamedLine { cell_id: cell.cell_id.clone(), version, recorded_at, actor, text: text.to_owned() });
    }
    lines
}

#[cfg(test)]
mod tests {
    use notarium_wire::rest::BlamedRun;

    use super::*;

    #[test]
    fn a_line_is_its_last_writer_s() {
        let runs = [(2, 1), (1, 4), (3, 2), (1, 3)].map(|(length, version)| BlamedRun { length, version });
        let cell = CellBlame { cell_id: "c".parse().unwrap(), source: "ab\n\n😀\n".to_owned(), runs: runs.to_vec() };
        let event = |version| (version, BlamedEvent { actor: Actor::System, recorded_at: version });
        let lines = lines_of(&cell, &(1..=4).map(event).collect());
        let told: Vec<(Version, &str)> = lines.iter().map(|line| (line.version, line.text.as_str())).collect();
        assert_eq!(told, [(1, "ab"), (2, ""), (2, "😀"), (3, "")]);
    }
}
