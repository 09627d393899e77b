//! `connections`: the databases that SQL cells can name, and their tables.

use clap::Args;
use console::measure_text_width;
use notarium_core::KernelSessionId;
use notarium_wire::{ConnectionSchema, OfferedConnection, Table};

use crate::cli::Ended;
use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::terminal::print::{self, style};

/// The connection that every kernel has.
const IN_MEMORY: &str = "duckdb";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium connections analysis                           # which connections there are
  notarium connections analysis warehouse                 # its tables and columns, never a row
  notarium connections analysis warehouse --matching sales.
  notarium connections analysis data/shop.sqlite --json   # a file of the kernel's folder
The notebook's kernel must run: it is asked as an SQL cell would be, also while it runs something.")]
pub struct ConnectionsArgs {
    /// Source as a cell names it after @: a connection, duckdb (in the kernel's memory), or a file. Absent: list the connections.
    connection: Option<String>,
    /// Only tables with this in SCHEMA.NAME.
    #[arg(long, value_name = "TEXT", requires = "connection")]
    matching: Option<String>,
    /// The kernel that is asked; else the one that a cell would run on now.
    #[arg(long, value_name = "KERNEL", requires = "connection")]
    kernel: Option<KernelSessionId>,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub async fn connections(args: ConnectionsArgs, notebook: NotebookClient) -> Ended {
    let Some(connection) = &args.connection else { return list(&notebook, args.json).await };
    let kernel = args.kernel.as_ref().map(KernelSessionId::as_str);
    let query = [("connection", Some(connection.as_str())), ("matching", args.matching.as_deref()), ("kernel", kernel)];
    let schema: ConnectionSchema = notebook.get(&with_query("/schema", &query)).await?;
    if args.json {
        return print::json(&schema);
    }
    if schema.tables.is_empty() {
        print::note(format!("no tables in {}", print::clean(connection)));
    }
    schema.tables.iter().try_for_each(show)?;
    if schema.tables_left_out > 0 {
        print::note(format!("{} tables more: say with --matching which you mean", schema.tables_left_out));
    }
    Ok(())
}

async fn list(notebook: &NotebookClient, as_json: bool) -> Ended {
    let mut there = notebook.kernels().await?.connections;
    there.insert(0, OfferedConnection { name: IN_MEMORY.to_owned(), kind: IN_MEMORY.to_owned(), writes: true });
    print::list(&there, as_json, "", ["connection", "kind", "what cells may"], async |connection| {
        let may = match (connection.name.as_str(), connection.writes) {
            (IN_MEMORY, _) => "all: it is in the kernel's memory",
            (_, true) => "read; write where a cell says so",
            (_, false) => "read",
        };
        [connection.name.clone(), connection.kind.clone(), may.to_owned()]
    })
    .await
}

fn show(table: &Table) -> Ended {
    let kind = table.kind.replace('_', " ");
    print::line(format!("{} {}", style(print::clean(&table.short_name())).bold(), style(print::clean(&kind)).dim()))?;
    let columns: Vec<[String; 2]> =
        table.columns.iter().map(|column| [print::clean(&column.name), print::clean(&column.column_type)]).collect();
    let width = columns.iter().map(|[name, _]| measure_text_width(name)).max().unwrap_or_default();
    for ([name, kind], column) in columns.iter().zip(&table.columns) {
        let padding = " ".repeat(width - measure_text_width(name));
        let required = if column.nullable { "" } else { " not null" };
        print::line(format!("  {name}{padding}  {kind}{required}").trim_end())?;
    }
    match table.columns_left_out {
        0 => Ok(()),
        more => print::line(format!("  … {more} columns more")),
    }
}
