//! `variables` and `connections`: asks a notebook's kernel for its variables and rows of tables, and for the databases that SQL
//! cells can name.

use clap::Args;
use notarium_core::KernelSessionId;
use notarium_wire::rest::AskTable;
use notarium_wire::{
    ConnectionSchema, OfferedConnection, ReadTable, Table, TableName, TablePage, TableSort, VariableList,
};
use serde_json::Value;

use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure};

// --- variables ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium variables analysis                        # names, types, sizes
  notarium variables analysis df --rows 50           # the first rows of a data frame
  notarium variables analysis df --sort -price       # by a column; - from the largest
  notarium variables analysis df --search harbour
The notebook's kernel must run, and is asked when it runs nothing. Nothing of it is recorded.")]
pub struct VariablesArgs {
    /// A data frame or a series of pandas or polars, whose rows are shown; absent: the variables are listed.
    variable: Option<String>,
    /// So many rows.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "variable")]
    rows: u32,
    /// The first row; 0 is the first.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "variable")]
    first: u64,
    /// Sorted by this column; -COLUMN from the largest to the smallest.
    #[arg(long, value_name = "COLUMN", requires = "variable", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only rows with this in a column.
    #[arg(long, value_name = "TEXT", requires = "variable")]
    search: Option<String>,
    /// The kernel that is asked; else the one that a cell would run on now.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub async fn variables(args: VariablesArgs, notebook: NotebookClient) -> Ended {
    let Some(variable) = &args.variable else { return list_variables(&args, &notebook).await };
    let read = ReadTable {
        of: TableName { table: None, variable: Some(variable.clone()) },
        first: args.first,
        count: args.rows,
        search: args.search.clone().unwrap_or_default(),
        ..ReadTable::default()
    };
    let sort = match &args.sort {
        Some(name) => Some(sorted_by(&args, &notebook, &read, name).await?),
        None => None,
    };
    let page = ask(&args, &notebook, ReadTable { sort, ..read }).await?;
    if args.json {
        return print::json(&page);
    }
    show_rows(&page)
}

async fn ask(args: &VariablesArgs, notebook: &NotebookClient, read: ReadTable) -> Result<TablePage, Failure> {
    notebook.post("/table", &AskTable { read, kernel: args.kernel.clone() }).await
}

/// The sort order by a column's name. The columns are requested first, because a question names one by its index.
async fn sorted_by(
    args: &VariablesArgs,
    notebook: &NotebookClient,
    read: &ReadTable,
    name: &str,
) -> Result<TableSort, Failure> {
    let columns = ask(args, notebook, ReadTable { count: 0, search: String::new(), ..read.clone() }).await?.columns;
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (column, is_descending) = match (place(name), name.strip_prefix('-').and_then(place)) {
        (Some(column), _) => (column, false),
        (None, Some(column)) => (column, true),
        (None, None) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).take(20).collect();
            let message = format!("the table has no column {name:?}: it has {}", names.join(", "));
            return Err(Failure::usage(message));
        }
    };
    Ok(TableSort { column: u32::try_from(column).unwrap_or(u32::MAX), is_descending })
}

async fn list_variables(args: &VariablesArgs, notebook: &NotebookClient) -> Ended {
    let kernel = args.kernel.as_ref().map(KernelSessionId::as_str);
    let mut found: VariableList = notebook.get(&with_query("/variables", &[("kernel", kernel)])).await?;
    if args.json {
        return print::json(&found);
    }
    found.variables.sort_by(|one, other| one.name.cmp(&other.name));
    let heads = ["name", "type", "size", "holds"];
    print::list(&found.variables, false, "no variables", heads, async |each| {
        let shape = each.shape.as_ref().map(|shape| shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × "));
        let size = shape.or_else(|| each.length.map(|length| length.to_string())).unwrap_or_default();
        [each.name.clone(), each.variable_type.clone(), size, each.preview.clone().unwrap_or_default()]
    })
    .await?;
    if found.left_out > 0 {
        print::note(format!("{} older ones are not shown", found.left_out));
    }
    Ok(())
}

/// Prints columns as wide as their longest value, cut at 40 characters.
fn show_rows(page: &TablePage) -> Ended {
    const MAX_WIDTH: usize = 40;
    let cut = |text: &str| {
        let text = print::clean(text);
        let short: String = text.chars().take(MAX_WIDTH).collect();
        if short.len() < text.len() { format!("{short}…") } else { short }
    };
    let head = page.columns.iter().map(|column| cut(&column.name)).collect::<Vec<_>>();
    let rows = page.data.iter().map(|row| {
        row.iter().zip(&page.columns).map(|(value, column)| match value {
            Value::Null => column.missing.clone().unwrap_or_else(|| "NaN".to_owned()),
            Value::String(text) => cut(text),
            other => other.to_string(),
        })
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.map(Iterator::collect)).collect();
    print::columns(&lines).iter().try_for_each(print::line)?;
    let columns = page.columns.iter().filter(|column| !column.is_index).count() as u64 + page.columns_left_out;
    let shown = format!("{} of {} rows", page.data.len(), page.matching);
    let of = if page.matching < page.rows { format!(", of {} in all", page.rows) } else { String::new() };
    print::note(format!("{shown}{of}, {columns} columns"));
    Ok(())
}

// --- connections ---

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
    let Some(connection) = &args.connection else { return list_connections(&notebook, args.json).await };
    let kernel = args.kernel.as_ref().map(KernelSessionId::as_str);
    let query = [("connection", Some(connection.as_str())), ("matching", args.matching.as_deref()), ("kernel", kernel)];
    let schema: ConnectionSchema = notebook.get(&with_query("/schema", &query)).await?;
    if args.json {
        return print::json(&schema);
    }
    if schema.tables.is_empty() {
        print::note(format!("no tables in {}", print::clean(connection)));
    }
    schema.tables.iter().try_for_each(show_table)?;
    if schema.tables_left_out > 0 {
        print::note(format!("{} tables more: say with --matching which you mean", schema.tables_left_out));
    }
    Ok(())
}

async fn list_connections(notebook: &NotebookClient, as_json: bool) -> Ended {
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

fn show_table(table: &Table) -> Ended {
    let kind = table.kind.replace('_', " ");
    print::line(format!("{} {}", style(print::clean(&table.short_name())).bold(), style(print::clean(&kind)).dim()))?;
    let columns = table.columns.iter().map(|column| {
        let required = if column.nullable { "" } else { " not null" };
        [print::clean(&column.name), format!("{}{required}", print::clean(&column.column_type))]
    });
    print::columns(&columns.collect::<Vec<_>>()).iter().try_for_each(|line| print::line(format!("  {line}")))?;
    match table.columns_left_out {
        0 => Ok(()),
        more => print::line(format!("  … {more} columns more")),
    }
}
