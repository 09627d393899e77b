//! `runs`, `cancel` and `stop`: lists and compares past runs, and ends current ones.

pub mod call;
pub mod data;
pub mod exec;
pub mod follow;
pub mod kernels;
pub mod machines;
mod unfinished_line;

use std::collections::BTreeMap;

use clap::Args;
use notarium_assistant::preview::joined_streams;
use notarium_core::{Command, Execution, ExecutionId, ExecutionStatus, effects_in_words};
use notarium_wire::rest::{Comparison, Run, RunPage};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::runs::kernels::Unreachable;
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::word;
use crate::cli::words::narrate::{did, subject_name};
use crate::cli::words::outputs;
use crate::cli::{CommonOptions, Ended};

// --- runs ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium runs analysis
  notarium runs analysis --cell 3f2a
  notarium runs analysis 01J…                      # one run, with its source and outputs
  notarium runs analysis 01J… --compare 01K…       # what differs between two runs")]
pub struct RunsArgs {
    /// One run, with its source and outputs.
    run: Option<ExecutionId>,
    /// Only runs of this cell.
    #[arg(long, value_name = "CELL", conflicts_with = "run")]
    cell: Option<String>,
    /// Show the differences between RUN and this one.
    #[arg(long, value_name = "RUN", requires = "run")]
    compare: Option<ExecutionId>,
    /// At most so many.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn runs(args: RunsArgs, notebook: NotebookClient) -> Ended {
    match (&args.run, &args.compare) {
        (Some(run), Some(other)) => compare(&notebook.get(&format!("/runs/{run}/compare/{other}")).await?, args.json),
        (Some(run), None) => show_run(&notebook, notebook.get(&format!("/runs/{run}")).await?, args.json).await,
        _ => list(&notebook, &args).await,
    }
}

async fn list(notebook: &NotebookClient, args: &RunsArgs) -> Ended {
    let split = |page: RunPage| (page.runs, page.next.map(|next| ("before", next.to_string())));
    let query = [("cell", args.cell.as_deref())];
    let runs = notebook.client.pages(&notebook.path("/runs"), &query, args.limit, split).await?;
    let mut people = People::new(&notebook.client);
    let headings = ["run", "what", "who", "asked", "how it ended"];
    print::list(&runs, args.json, "no runs: `notarium exec` runs cells", headings, async |run| {
        let Run { id, execution, .. } = run;
        let who = people.name(&execution.requested_by).await;
        // Table cells are cleaned of control sequences, so colours are removed first.
        let ended = console::strip_ansi_codes(&facts(run, &mut people).await).into_owned();
        [id.to_string(), subject_name(&execution.subject), who, print::time(execution.requested_at), ended]
    })
    .await
}

/// The status of a run, with a note if its kernel is unreachable.
async fn facts(run: &Run, people: &mut People) -> String {
    let gone = run.unreachable_since.map(|since| format!(", its kernel is unreachable since {}", print::clock(since)));
    let end = end(run, people).await;
    format!("{}{}", run_facts(&run.execution, end), gone.unwrap_or_default())
}

/// The end of a run in a sentence, with the actor who requested it if the record has one.
pub async fn told_end(
    notebook: &NotebookClient,
    people: &mut People,
    id: &ExecutionId,
    execution: &Execution,
) -> Option<String> {
    if execution.status != ExecutionStatus::Cancelled {
        return execution.end_sentence();
    }
    match notebook.get::<Run>(&format!("/runs/{id}")).await {
        Ok(run) => end(&run, people).await,
        Err(_) => execution.end_sentence(),
    }
}

/// An unusual end in a sentence, with the actor who requested it.
async fn end(run: &Run, people: &mut People) -> Option<String> {
    let did = run.execution.end_cause.as_ref().and_then(|cause| did(*cause.known()?));
    match (&run.ended_by, did) {
        (Some(actor), Some(did)) => Some(format!("{} {did}", people.name(actor).await)),
        _ => run.execution.end_sentence(),
    }
}

async fn show_run(notebook: &NotebookClient, run: Run, as_json: bool) -> Ended {
    if as_json {
        return print::json(&run);
    }
    let mut people = People::new(&notebook.client);
    let facts = facts(&run, &mut people).await;
    let Run { id, execution, .. } = run;
    let who = people.name(&execution.requested_by).await;
    let asked = print::time(execution.requested_at);
    let how = if execution.is_imported() { "brought from elsewhere" } else { "asked" };
    print::line(format!("{id}  {}, {how} by {who} at {asked}", subject_name(&execution.subject)))?;
    print::line(facts)?;
    if let Some(effects) = effects_in_words(&execution) {
        print::line(print::clean(&effects))?;
    }
    print::block("    ", &print::clean_block(execution.subject.source()))?;
    for output in &joined_streams(&execution.outputs) {
        print::raw(&outputs::fetched(notebook, output).await.for_terminal())?;
    }
    Ok(())
}

fn compare(compared: &Comparison, as_json: bool) -> Ended {
    if as_json {
        return print::json(compared);
    }
    for (what, is_same, diff) in [
        ("source", compared.same_source, compared.source_diff.as_str()),
        ("status", compared.same_status, ""),
        ("outputs", compared.same_outputs, compared.output_diff.as_str()),
    ] {
        print::line(format!("{what}: {}", if is_same { "the same" } else { "not the same" }))?;
        print::raw(&print::coloured(diff))?;
    }
    Ok(())
}

// --- cancel, stop ---

#[derive(Debug, Args)]
pub struct CancelArgs {
    /// Id or title.
    notebook: String,
    /// Runs, as `notarium runs` lists them.
    #[arg(required = true)]
    runs: Vec<ExecutionId>,
}

pub async fn cancel(args: CancelArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let cancel = |execution_id| Command::CancelExecution { execution_id };
    let command = Command::Batch { commands: args.runs.into_iter().map(cancel).collect() };
    let answer = notebook.command(&command).await;
    if let Some(advice) = Unreachable::of(&notebook.kernels().await?.status).advice(&args.notebook) {
        print::note(advice);
    }
    print::report(&answer?)
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// Shut the kernels down too: their memory is lost.
    #[arg(long)]
    shutdown: bool,
}

pub async fn stop(args: StopArgs, notebook: NotebookClient) -> Ended {
    notebook.change(&Command::StopAll {}).await?;
    let kernels = if args.shutdown { notebook.kernels().await?.kernels } else { BTreeMap::new() };
    for (kernel_session, kernel) in kernels.into_iter().filter(|(_, kernel)| kernel.is_usable()) {
        print::note(format!("shutting down {} ({})", print::clean(&kernel.kernelspec), word(&kernel.phase)));
        notebook.change(&Command::ShutDownKernel { kernel_session }).await?;
    }
    Ok(())
}

/// Note for an imported or copied run.
const IMPORTED: &str = ", brought from elsewhere: not run here";

/// The status of a run, such as `[3] ok after 0.42 s`; with a note on an unusual end.
pub fn run_facts(execution: &Execution, end: Option<String>) -> String {
    let count = execution.execution_count.map(|count| format!("[{count}] ")).unwrap_or_default();
    let asks = execution.pending_input.is_some() && !execution.status.is_finished();
    let status = style(if asks { "waiting for input".to_owned() } else { word(&execution.status) });
    let status = match execution.status {
        ExecutionStatus::Ok => status.green(),
        ExecutionStatus::Error | ExecutionStatus::Lost => status.red(),
        _ => status.yellow(),
    };
    let took = execution.started_at.zip(execution.ended_at);
    let took = took.map(|(began, ended)| format!(" after {}", print::duration(ended.saturating_sub(began))));
    let notice = end.map(|notice| format!(" ({})", print::clean(&notice)));
    let origin = if execution.is_imported() { IMPORTED } else { "" };
    format!("{count}{status}{}{}{}", took.unwrap_or_default(), notice.unwrap_or_default(), style(origin).yellow())
}
