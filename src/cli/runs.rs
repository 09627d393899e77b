//! Runs of the past, and the kernel: interrupt, restart, stop.

use clap::Args;
use notarium_core::{Command, ExecutionId, KernelSessionId};
use notarium_wire::rest::{Comparison, Kernels, Run, RunPage};

use super::client::Client;
use super::narrate::{subject_name, word};
use super::people::People;
use super::print::{self, Table};
use super::{Context, Ended, Failure, find, notebooks, outputs, show};

// --- runs ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium runs analysis
  notarium runs analysis --cell 3f2a
  notarium runs analysis 01J…                      # one run, with its source and outputs
  notarium runs analysis 01J… --compare 01K…       # what differs between two runs")]
pub struct RunsArgs {
    /// Id or title.
    notebook: String,
    /// One run, with its source and outputs.
    run: Option<ExecutionId>,
    /// Only runs of this cell.
    #[arg(long, value_name = "CELL", conflicts_with = "run")]
    cell: Option<String>,
    /// What differs between RUN and this one.
    #[arg(long, value_name = "RUN", requires = "run")]
    compare: Option<ExecutionId>,
    /// At most so many.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn runs(args: RunsArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let base = format!("/api/notebooks/{notebook}/runs");
    match (&args.run, &args.compare) {
        (Some(run), Some(other)) => compare(&client, &format!("{base}/{run}/compare/{other}"), args.json).await,
        (Some(run), None) => show_run(&client, &notebook, &format!("{base}/{run}"), args.json).await,
        _ => list(&client, &base, &args).await,
    }
}

async fn list(client: &Client, base: &str, args: &RunsArgs) -> Ended {
    let cell = args.cell.as_ref().map(|cell| format!("&cell={}", super::client::percent_encoded(cell)));
    let cell = cell.unwrap_or_default();
    let mut runs: Vec<Run> = Vec::new();
    let mut before = String::new();
    while runs.len() < args.limit {
        let limit = (args.limit - runs.len()).min(200);
        let page: RunPage = client.get(&format!("{base}?limit={limit}{cell}{before}")).await?;
        runs.extend(page.runs);
        let Some(next) = page.next else { break };
        before = format!("&before={next}");
    }
    if args.json {
        return print::json(&runs);
    }
    table(client, &runs).await.print("no runs: `notarium exec` runs cells")
}

async fn table(client: &Client, runs: &[Run]) -> Table {
    let mut people = People::default();
    let mut table = Table::new(&["run", "what", "who", "asked", "how it ended"]);
    for Run { id, execution } in runs {
        let who = people.name(client, &execution.requested_by).await;
        let (what, asked) = (subject_name(&execution.subject), print::time(execution.requested_at));
        // Columns are cleaned: without its colours it says the same.
        let ended = console::strip_ansi_codes(&show::run_facts(execution)).into_owned();
        table.row(vec![id.to_string(), what, who, asked, ended]);
    }
    table
}

async fn show_run(client: &Client, notebook: &notarium_core::NotebookId, path: &str, as_json: bool) -> Ended {
    let run: Run = client.get(path).await?;
    if as_json {
        return print::json(&run);
    }
    let Run { id, execution } = run;
    let who = People::default().name(client, &execution.requested_by).await;
    let asked = print::time(execution.requested_at);
    print::line(format!("{id}  {}, asked by {who} at {asked}", subject_name(&execution.subject)))?;
    print::line(show::run_facts(&execution))?;
    print::clean_block(execution.subject.source()).lines().try_for_each(|line| print::line(format!("    {line}")))?;
    for output in &execution.outputs {
        print::raw(&outputs::fetched(client, notebook, output).await.for_terminal())?;
    }
    Ok(())
}

async fn compare(client: &Client, path: &str, as_json: bool) -> Ended {
    let compared: Comparison = client.get(path).await?;
    if as_json {
        return print::json(&compared);
    }
    for (what, is_same, diff) in [
        ("source", compared.same_source, compared.source_diff.as_str()),
        ("status", compared.same_status, ""),
        ("outputs", compared.same_outputs, compared.output_diff.as_str()),
    ] {
        print::line(format!("{what}: {}", if is_same { "the same" } else { "not the same" }))?;
        print::raw(&super::compare::coloured(diff))?;
    }
    Ok(())
}

// --- kernels ---

#[derive(Debug, Args)]
pub struct KernelArgs {
    /// Id or title.
    notebook: String,
    /// One of several kernels, by its session's id; absent: the notebook's first.
    #[arg(long, value_name = "SESSION")]
    kernel: Option<KernelSessionId>,
}

pub async fn interrupt(args: KernelArgs, context: &Context) -> Ended {
    with_kernel(args, context, |kernel_session| Command::InterruptKernel { kernel_session }).await
}

pub async fn restart(args: KernelArgs, context: &Context) -> Ended {
    with_kernel(args, context, |kernel_session| Command::RestartKernel { kernel_session }).await
}

async fn with_kernel(args: KernelArgs, context: &Context, command: fn(KernelSessionId) -> Command) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let session = match args.kernel {
        Some(session) => session,
        None => first_kernel(&client, &notebook).await?,
    };
    notebooks::report(&client.command(&notebook, &command(session)).await?);
    Ok(())
}

async fn first_kernel(client: &Client, notebook: &notarium_core::NotebookId) -> Result<KernelSessionId, Failure> {
    let kernels: Kernels = client.get(&format!("/api/notebooks/{notebook}/kernels")).await?;
    let first = kernels.kernels.into_iter().min_by_key(|(_, kernel)| (!kernel.is_usable(), kernel.requested_version));
    first.map(|(id, _)| id).ok_or_else(|| Failure::failed("the notebook has no kernel: `notarium exec` starts one"))
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// Id or title.
    notebook: String,
    /// Shut the kernels down too: their memory is lost.
    #[arg(long)]
    shutdown: bool,
}

pub async fn stop(args: StopArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let mut answer = client.command(&notebook, &Command::StopAll {}).await?;
    if args.shutdown {
        let kernels: Kernels = client.get(&format!("/api/notebooks/{notebook}/kernels")).await?;
        for (kernel_session, kernel) in kernels.kernels {
            if kernel.is_usable() {
                print::note(format!("shutting down {} ({})", print::clean(&kernel.kernelspec), word(&kernel.phase)));
                answer = client.command(&notebook, &Command::ShutDownKernel { kernel_session }).await?;
            }
        }
    }
    notebooks::report(&answer);
    Ok(())
}
