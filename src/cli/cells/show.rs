//! `show`: a notebook as text, with previews of its outputs; `graph` and `reactive`: what its cells read from each other.

use clap::Args;
use notarium_assistant::preview::joined_streams;
use notarium_core::reactive::{CellReport, LinkReport, NotebookGraph, Standing};
use notarium_core::{Cell, CellId, CellReply, Command, Document, KernelPhase, Reactivity, ReplyStatus, Version};
use notarium_wire::rest::{NotebookAnswer, ReactivityOf};

use crate::cli::agent::sandbox;
use crate::cli::connection::client::{NotebookClient, at_version};
use crate::cli::connection::find::People;
use crate::cli::history::moment::{MOMENT, Moment, version_of};
use crate::cli::runs::kernels::Unreachable;
use crate::cli::runs::{run_facts, told_end};
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::{REACTIVITIES, one_of, word};
use crate::cli::words::outputs;
use crate::cli::{CommonOptions, Ended};

/// Most lines of an output in a preview.
const PREVIEW_LINES: usize = 10;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Id or title.
    notebook: String,
    /// Version to take, by its number, its name or a time; default: the newest.
    #[arg(long, value_name = MOMENT)]
    at: Option<Moment>,
    /// Outputs as a whole, not their first lines.
    #[arg(long)]
    full: bool,
    /// The state in JSON, as `protocol/schema/notebook.json` describes it.
    #[arg(long)]
    json: bool,
}

pub async fn show(args: ShowArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let at = version_of(args.at.as_ref(), &notebook).await?;
    if args.json {
        return print::json(&notebook.get::<serde_json::Value>(&at_version("", at)).await?);
    }
    let answer = notebook.state(at).await?;
    let state = &answer.notebook;
    heading(&answer)?;
    let gone = Unreachable::of(&answer.kernels);
    if let Some(advice) = gone.advice(&args.notebook) {
        print::line(style(advice).red())?;
    }
    let reports = match state.reactivity {
        Reactivity::Off => Vec::new(),
        _ if at.is_some() => Vec::new(),
        _ => notebook.get::<NotebookGraph>("/graph").await?.cells,
    };
    let mut people = People::new(&notebook.client);
    for (cell_id, cell) in state.ordered_cells() {
        let latest = state.latest_execution(cell_id);
        let end = match latest {
            Some((id, run)) => told_end(&notebook, &mut people, id, run).await,
            None => None,
        };
        let report = reports.iter().find(|report| report.cell_id == *cell_id);
        cell_heading(state, cell_id, cell, &gone, end, report)?;
        print::block("    ", &print::clean_block(&cell.content.source))?;
        if let Some(reply) = &cell.reply {
            preview(&print::clean_block(&reply.text), args.full)?;
        }
        let Some((_, execution)) = latest else { continue };
        for output in &joined_streams(&execution.outputs) {
            let shown = match args.full {
                true => outputs::fetched(&notebook, output).await,
                false => outputs::shown(output),
            };
            preview(&shown.for_terminal(), args.full)?;
        }
    }
    Ok(())
}

/// Says that a notebook's record goes on after what is shown.
pub fn unreadable_after(version: Version, end: Version) -> String {
    format!(
        "This is the notebook at version {version}: its record goes on to version {end}, but what follows is damaged, or was written by a \
         newer server. It can only be read; the server's log names the place, and a backup (notarium restore) brings the rest back."
    )
}

fn heading(answer: &NotebookAnswer) -> Ended {
    let state = &answer.notebook;
    let archived = if state.archived { ", archived" } else { "" };
    let cells = print::count(state.cells.len(), "cell");
    print::line(style(print::clean(&state.title)).bold())?;
    let reactive = match state.reactivity {
        Reactivity::Off => String::new(),
        mode => format!(", reactive ({})", word(&mode)),
    };
    let (id, version, role) = (&state.notebook_id, answer.version, word(&answer.role));
    let facts = format!("{id}, version {version}, {cells}{reactive}, you are {role}{archived}");
    print::line(style(facts).dim())?;
    if let Some(end) = answer.head.filter(|_| answer.read_only) {
        print::line(style(unreadable_after(version, end.version)).red())?;
    }
    for kernel in state.kernels.values().filter(|kernel| kernel.phase == KernelPhase::Started) {
        let words = format!("kernel {} runs {}", kernel.kernelspec, sandbox::recorded(&kernel.sandbox));
        print::line(style(print::clean(&words)).dim())?;
    }
    match &state.kernel_notice {
        Some(notice) => print::line(style(format!("kernel: {}", print::clean(&notice.sentence()))).red()),
        None => Ok(()),
    }
}

fn cell_heading(
    state: &Document,
    cell_id: &CellId,
    cell: &Cell,
    gone: &Unreachable,
    end: Option<String>,
    report: Option<&CellReport>,
) -> Ended {
    let mut facts = vec![word(&cell.content.cell_type), format!("version {}", cell.cell_version)];
    let latest = state.latest_execution(cell_id);
    facts.extend(latest.map(|(_, execution)| run_facts(execution, end)));
    facts.extend(
        latest.and_then(|(_, execution)| gone.of_run(state, execution)).map(|words| style(words).red().to_string()),
    );
    facts.extend(cell.reply.as_deref().map(reply_facts));
    if let Some(report) = report.filter(|report| report.standing != Standing::Fresh) {
        facts.push(standing(report));
    } else if state.is_stale(cell_id) {
        let since = if cell.reply.is_some() { "changed since it was answered" } else { "changed since it ran" };
        facts.push(style(since).yellow().to_string());
    }
    let id = style(cell_id.as_str()).cyan();
    print::line(format!("\n{id}  {}", facts.join(", ")))
}

/// The status of a prompt's reply, such as `answer failed (no key)`.
fn reply_facts(reply: &CellReply) -> String {
    let status = match reply.status.known() {
        Some(ReplyStatus::Running) => style("being answered").yellow(),
        Some(ReplyStatus::Finished) => style("answered").green(),
        Some(ReplyStatus::Stopped) => style("answer stopped").yellow(),
        Some(ReplyStatus::Failed) => style("answer failed").red(),
        None => style("answer in a state that this version does not know").yellow(),
    };
    let cause = reply.end_sentence().map(|cause| format!(" ({})", print::clean(&cause)));
    let origin = if reply.turn_id.is_none() { ", brought from elsewhere: not answered here" } else { "" };
    format!("{status}{}{}", cause.unwrap_or_default(), style(origin).yellow())
}

fn preview(text: &str, is_full: bool) -> Ended {
    let limit = if is_full { usize::MAX } else { PREVIEW_LINES };
    let bar = style("  │ ").dim();
    text.lines().take(limit).try_for_each(|line| print::line(format!("{bar}{line}")))?;
    match text.lines().count().saturating_sub(limit) {
        0 => Ok(()),
        more => print::line(format!("{bar}{}", style(format!("… {more} more lines (--full)")).dim())),
    }
}

// --- reactive ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium reactive analysis
  notarium reactive analysis eager")]
pub struct ReactiveArgs {
    /// off: a run is one cell's; lazy: what is stale of that from which a cell reads runs before it; eager: and what reads
    /// from it runs behind it. Absent: shows it.
    #[arg(value_parser = one_of::<Reactivity>(&REACTIVITIES))]
    reactivity: Option<Reactivity>,
}

pub async fn reactive(args: ReactiveArgs, notebook: NotebookClient) -> Ended {
    if let Some(reactivity) = args.reactivity {
        return notebook.change(&Command::SetReactivity { reactivity }).await;
    }
    let current: ReactivityOf = notebook.get("/reactivity").await?;
    print::line(word(&current.reactivity))
}

// --- graph ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium graph analysis
  notarium graph analysis --dot | dot -Tsvg > graph.svg")]
pub struct GraphArgs {
    /// For Graphviz.
    #[arg(long, conflicts_with = "json")]
    dot: bool,
    /// Print the server's answer as it is.
    #[arg(long)]
    json: bool,
}

pub async fn graph(args: GraphArgs, notebook: NotebookClient) -> Ended {
    if args.json {
        return print::json(&notebook.get::<serde_json::Value>("/graph").await?);
    }
    let graph: NotebookGraph = notebook.get("/graph").await?;
    if args.dot { print::line(dot(&graph)) } else { graph_text(&graph) }
}

fn graph_text(graph: &NotebookGraph) -> Ended {
    let facts = format!("reactivity {}, version {}", word(&graph.reactivity), graph.version);
    print::line(style(facts).dim())?;
    graph.cells.iter().try_for_each(graph_cell)?;
    for clash in &graph.defined_twice {
        let cells: Vec<&str> = clash.cells.iter().map(CellId::as_str).collect();
        let words = format!("`{}` is defined in several cells: {}", clash.name, cells.join(", "));
        print::line(format!("\n{}", style(print::clean(&words)).yellow()))?;
    }
    Ok(())
}

fn graph_cell(cell: &CellReport) -> Ended {
    let id = style(cell.cell_id.as_str()).cyan();
    print::line(format!("\n{id}  {}", standing(cell)))?;
    if cell.outdated {
        print::line(style("  its text does not parse: the names are those of an earlier one").yellow())?;
    }
    links("reads", &cell.parents, "from")?;
    links("leaves", &cell.children, "to")?;
    if cell.missing.is_empty() {
        return Ok(());
    }
    print::line(style(print::clean(&format!("  reads {}, which no cell defines", cell.missing.join(", ")))).yellow())
}

fn links(verb: &str, links: &[LinkReport], preposition: &str) -> Ended {
    links.iter().try_for_each(|link| {
        let names = print::clean(&link.names.join(", "));
        print::line(format!("  {verb} {names} {preposition} {}", style(link.cell_id.as_str()).cyan()))
    })
}

/// A cell's status, and the reason if it is not fresh.
pub fn standing(cell: &CellReport) -> String {
    let word = word(&cell.standing);
    let words = match &cell.why {
        Some(why) => format!("{word}: {why}"),
        None => word,
    };
    let words = style(print::clean(&words));
    match cell.standing {
        Standing::Fresh => words.green(),
        Standing::Stale => words.yellow(),
        Standing::Blocked | Standing::Cycle => words.red(),
    }
    .to_string()
}

/// Graphviz: cells as boxes, an edge per name that is read.
fn dot(graph: &NotebookGraph) -> String {
    let mut lines = vec!["digraph notebook {".to_owned(), "  rankdir=LR; node [shape=box];".to_owned()];
    for cell in &graph.cells {
        let look = match cell.standing {
            Standing::Fresh => "solid",
            Standing::Stale => "dashed",
            Standing::Blocked | Standing::Cycle => "bold",
        };
        let label = format!("{}\\n{}", cell.cell_id, cell.writes.join(" "));
        lines.push(format!("  {} [label={}, style={look}];", quoted(cell.cell_id.as_str()), quoted(&label)));
    }
    for cell in &graph.cells {
        let to = quoted(cell.cell_id.as_str());
        let edge = |link: &LinkReport| {
            format!("  {} -> {to} [label={}];", quoted(link.cell_id.as_str()), quoted(&link.names.join(" ")))
        };
        lines.extend(cell.parents.iter().map(edge));
    }
    lines.push("}".to_owned());
    lines.join("\n")
}

/// Quotes a text; ids and names have no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphviz_gets_boxes_and_edges() {
        let graph: NotebookGraph = serde_json::from_value(serde_json::json!({
            "version": 3, "reactivity": "lazy",
            "cells": [
                {"cell_id": "a", "reads": [], "writes": ["x"], "standing": "fresh", "children": [{"cell_id": "b", "names": ["x"]}]},
                {"cell_id": "b", "reads": ["x"], "writes": [], "standing": "stale", "parents": [{"cell_id": "a", "names": ["x"]}]},
            ],
        }))
        .expect("a graph");
        let expected = "digraph notebook {\n  rankdir=LR; node [shape=box];\n  \"a\" [label=\"a\\nx\", style=solid];\n  \
            \"b\" [label=\"b\\n\", style=dashed];\n  \"a\" -> \"b\" [label=\"x\"];\n}";
        assert_eq!(dot(&graph), expected);
    }
}
