//! `diff` and `blame`: changes between two versions, and the author of each line of a cell.

use clap::Args;
use notarium_core::{Cell, CellId, Document, Event, Millis, Stored, Version};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure, history};

// --- diff ---

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The earlier version.
    from: Version,
    /// The later version; absent: as it is now.
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
    match args.json {
        true => print::json(&difference),
        false => show(&difference),
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

fn show(difference: &Difference) -> Ended {
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
    let cell_id = notebook.cell(&args.cell).await?;
    let mut tracing = Blame { state: Document::new(notebook.id.clone()), cell_id, lines: Vec::new() };
    history::each_event(&notebook, 0, |stored| tracing.next(stored)).await?;
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
