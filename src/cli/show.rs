//! A notebook as text, with its outputs previewed.

use clap::Args;
use notarium_core::{Cell, CellId, Document, Execution, ExecutionStatus, Reply, ReplyStatus, Version};
use notarium_wire::rest::NotebookAnswer;

use super::narrate::word;
use super::print::{self, Style};
use super::{Context, Ended, find, outputs};

/// Lines of an output that a preview shows.
const PREVIEW_LINES: usize = 10;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Id or title.
    notebook: String,
    /// As it was at this version; else as it is now.
    #[arg(long, value_name = "VERSION")]
    at: Option<Version>,
    /// Outputs as a whole, not their first lines.
    #[arg(long)]
    full: bool,
    /// The state in JSON, as `protocol/schema/notebook.json` describes it.
    #[arg(long)]
    json: bool,
}

pub async fn show(args: ShowArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let at = args.at.map(|at| format!("?at={at}")).unwrap_or_default();
    let path = format!("/api/notebooks/{notebook}{at}");
    if args.json {
        return print::json(&client.get::<serde_json::Value>(&path).await?);
    }
    let answer: NotebookAnswer = client.get(&path).await?;
    let state = &answer.notebook;
    heading(&answer)?;
    for (cell_id, cell) in state.ordered_cells() {
        cell_heading(state, cell_id, cell)?;
        source(cell)?;
        if let Some(reply) = &cell.reply {
            preview(&print::clean_block(&reply.text), args.full)?;
        }
        let Some((_, execution)) = state.latest_execution(cell_id) else { continue };
        for output in &execution.outputs {
            let shown = match args.full {
                true => outputs::fetched(&client, &notebook, output).await,
                false => outputs::shown(output),
            };
            preview(&shown.for_terminal(), args.full)?;
        }
    }
    Ok(())
}

fn heading(answer: &NotebookAnswer) -> Ended {
    let state = &answer.notebook;
    let archived = if state.archived { ", archived" } else { "" };
    let cells = print::count(state.cells.len(), "cell");
    print::line(print::styled(print::clean(&state.title), Style::Bold))?;
    let facts =
        format!("{}, version {}, {cells}, you are {}{archived}", state.notebook_id, answer.version, word(&answer.role));
    print::line(print::styled(facts, Style::Dim))?;
    match &state.kernel_notice {
        Some(notice) => print::line(print::styled(format!("kernel: {}", print::clean(&notice.cause)), Style::Red)),
        None => Ok(()),
    }
}

fn cell_heading(state: &Document, cell_id: &CellId, cell: &Cell) -> Ended {
    let mut facts = vec![word(&cell.content.cell_type), format!("version {}", cell.cell_version)];
    let latest = state.latest_execution(cell_id);
    facts.extend(latest.map(|(_, execution)| run_facts(execution)));
    facts.extend(cell.reply.as_deref().map(reply_facts));
    if state.is_stale(cell_id) {
        let since = if cell.reply.is_some() { "changed since it was answered" } else { "changed since it ran" };
        facts.push(print::styled(since, Style::Yellow));
    }
    let id = print::styled(cell_id.as_str(), Style::Cyan);
    print::line(format!("\n{id}  {}", facts.join(", ")))
}

/// How a run stands, as in `[3] ok after 0.42 s`.
pub fn run_facts(execution: &Execution) -> String {
    let count = execution.execution_count.map(|count| format!("[{count}] ")).unwrap_or_default();
    let style = match execution.status {
        ExecutionStatus::Ok => Style::Green,
        ExecutionStatus::Error | ExecutionStatus::Lost => Style::Red,
        _ => Style::Yellow,
    };
    let status = print::styled(word(&execution.status), style);
    let took = execution.started_at.zip(execution.ended_at);
    let took = took.map(|(began, ended)| format!(" after {}", print::duration(ended.saturating_sub(began))));
    let notice = execution.notice.as_deref().map(|notice| format!(" ({})", print::clean(notice)));
    format!("{count}{status}{}{}", took.unwrap_or_default(), notice.unwrap_or_default())
}

/// How the reply to a prompt stands, as in `answer failed (no key)`.
fn reply_facts(reply: &Reply) -> String {
    let (style, status) = match reply.status {
        ReplyStatus::Running => (Style::Yellow, "being answered"),
        ReplyStatus::Finished => (Style::Green, "answered"),
        ReplyStatus::Stopped => (Style::Yellow, "answer stopped"),
        ReplyStatus::Failed => (Style::Red, "answer failed"),
    };
    let cause = reply.cause.as_deref().map(|cause| format!(" ({})", print::clean(cause)));
    format!("{}{}", print::styled(status, style), cause.unwrap_or_default())
}

fn source(cell: &Cell) -> Ended {
    print::clean_block(&cell.content.source).lines().try_for_each(|line| print::line(format!("    {line}")))
}

fn preview(text: &str, is_full: bool) -> Ended {
    let limit = if is_full { usize::MAX } else { PREVIEW_LINES };
    let bar = print::styled("  │ ", Style::Dim);
    text.lines().take(limit).try_for_each(|line| print::line(format!("{bar}{line}")))?;
    match text.lines().count().saturating_sub(limit) {
        0 => Ok(()),
        more => print::line(format!("{bar}{}", print::styled(format!("… {more} more lines (--full)"), Style::Dim))),
    }
}
