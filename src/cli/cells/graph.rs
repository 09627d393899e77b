//! `reactive` and `graph`: dependencies between cells, stale cells, and reactive execution.

use clap::Args;
use notarium_core::reactive::{CellReport, LinkReport, NotebookGraph, Standing};
use notarium_core::{CellId, Command, Reactivity};
use notarium_wire::rest::ReactivityOf;

use crate::cli::Ended;
use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::{REACTIVITIES, one_of, word};

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
    if args.dot { print::line(dot(&graph)) } else { text(&graph) }
}

fn text(graph: &NotebookGraph) -> Ended {
    let facts = format!("reactivity {}, version {}", word(&graph.reactivity), graph.version);
    print::line(style(facts).dim())?;
    graph.cells.iter().try_for_each(cell)?;
    for clash in &graph.defined_twice {
        let cells: Vec<&str> = clash.cells.iter().map(CellId::as_str).collect();
        let words = format!("`{}` is defined in several cells: {}", clash.name, cells.join(", "));
        print::line(format!("\n{}", style(print::clean(&words)).yellow()))?;
    }
    Ok(())
}

fn cell(cell: &CellReport) -> Ended {
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
