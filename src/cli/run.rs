//! `run`: executes a notebook file from top to bottom, and writes the result.

pub mod embedded;
mod failures;
mod parameters;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use notarium_core::{CellId, Command, Document as State, ExecutionId, ExecutionStatus, ExecutionTarget, LaunchKernel};
use notarium_wire::ipynb::{self, Document};
use notarium_wire::parameters::{Parameter, check, has_tag, inject, parse, parse_text};
use notarium_wire::rest::ExportFormat;

use crate::cli::agent::KernelArgs;
use crate::cli::connection::client::RestClient;
use crate::cli::notebooks::{self, Exported};
use crate::cli::run::embedded::{Embedded, RunKernel, choose_kernel, wanted_kernel};
use crate::cli::run::failures::Failures;
use crate::cli::runs::follow::{RunQuestion, RunUpdate, Runs, request};
use crate::cli::terminal::failure::FailureKind;
use crate::cli::terminal::input::Stop;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Timeout for interrupted runs to end; then the file is written without their end.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(10);
/// Answer to `input()` that Jupyter's Python kernel takes as the end of the input.
const END_OF_INPUT: &str = "\u{4}";

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The notebook file.
    #[arg(value_name = "FILE.ipynb")]
    file: PathBuf,
    /// Sets a variable in a cell after the one tagged `parameters`, or first. Numbers, true/false, null and JSON are
    /// read as such, anything else as text; may be repeated.
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", value_parser = parse)]
    parameters: Vec<Parameter>,
    /// The same, the value being text whatever it looks like.
    #[arg(short = 'r', long = "parameter-text", value_name = "NAME=TEXT", value_parser = parse_text)]
    texts: Vec<Parameter>,
    /// File to write, also after an error or Ctrl-C; absent: FILE.out.ipynb.
    #[arg(short, long, value_name = "OUT.ipynb")]
    output: Option<PathBuf>,
    /// Go on after an error, and count it as no failure.
    #[arg(long)]
    allow_errors: bool,
    /// Kernelspec to run on, instead of the notebook's own.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Interrupt a cell after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    #[command(flatten)]
    kernels: KernelArgs,
    /// Run on the known server (--server, or the one of `login`) instead of one inside this program; the notebook stays there.
    #[arg(long, help_heading = "Connections")]
    on_server: bool,
}

impl RunArgs {
    fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| self.file.with_extension("out.ipynb"))
    }
}

/// Checks before the run, which may take hours, that the output can be written.
fn check_output(output: &Path) -> Ended {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let found = std::fs::read_dir(folder).map(|_| ()).and_then(|()| match output.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    found.map_err(|error| Failure { kind: FailureKind::Usage, ..Failure::unwritable(output, &error) })
}

/// A cell to execute.
struct CellStep {
    cell_id: CellId,
    /// nbconvert's tag `raises-exception`: an error is expected.
    may_fail: bool,
}

pub async fn run(args: RunArgs, context: &CommonOptions) -> Ended {
    let bytes = std::fs::read(&args.file).map_err(|error| Failure::unreadable(&args.file, &error))?;
    check_output(&args.output())?;
    let mut document = read(&bytes, &args.file)?;
    if args.on_server || context.server.is_some() {
        let client = context.client()?;
        let language = wanted_kernel(&document).language.unwrap_or_else(|| "python".to_owned());
        prepare(&mut document, &args, &language)?;
        return execute(&args, &document, &client, None).await;
    }
    let (kernel, paths) = choose_kernel(&document, args.kernel.as_deref(), &args.kernels.setup.kernel_paths)?;
    prepare(&mut document, &args, &kernel.language)?;
    kernel.name_in(&mut document);
    let embedded = Embedded::start(&args.kernels, paths).await?;
    let ended = execute(&args, &document, &embedded.client, Some(kernel)).await;
    let stopped = embedded.stop().await;
    ended.and(stopped)
}

fn read(bytes: &[u8], path: &Path) -> Result<Document, Failure> {
    let mut count = 0_u32;
    let mut new_id = || {
        count += 1;
        format!("cell-{count}")
    };
    let limits = ipynb::FileLimits { max_bytes: usize::MAX, max_cells: usize::MAX };
    let imported = ipynb::read(bytes, &limits, &mut new_id)
        .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    for notice in &imported.notices {
        tracing::info!(file = %path.display(), ?notice, "repaired");
    }
    Ok(imported.document)
}

/// Removes the outputs of earlier runs, and adds the parameters.
fn prepare(document: &mut Document, args: &RunArgs, language: &str) -> Ended {
    for cell in document.cells.iter_mut().filter(|cell| is_executed(cell)) {
        cell.outputs.clear();
        cell.execution_count = None;
    }
    let given: Vec<Parameter> = args.parameters.iter().chain(&args.texts).cloned().collect();
    check(&given, language).map_err(Failure::usage)?;
    for warning in parameters::warnings(document, &given, language) {
        eprintln!("notarium: {warning}");
    }
    inject(document, &given, language).map_err(Failure::failed)
}

/// True, as in `nbclient`, for code that is not blank, except cells tagged `skip-execution`.
fn is_executed(cell: &ipynb::DocumentCell) -> bool {
    matches!(cell.cell_type.as_str(), "code" | "sql")
        && !cell.source.trim().is_empty()
        && !has_tag(cell, "skip-execution")
}

fn steps(document: &Document) -> Result<Vec<CellStep>, Failure> {
    let executed = document.cells.iter().filter(|cell| is_executed(cell));
    let step = |cell: &ipynb::DocumentCell| {
        let cell_id = CellId::new(&cell.id).map_err(|error| Failure::failed(error.to_string()))?;
        Ok(CellStep { cell_id, may_fail: has_tag(cell, "raises-exception") })
    };
    executed.map(step).collect()
}

/// Imports and executes the notebook, and writes the file in any case.
async fn execute(args: &RunArgs, document: &Document, client: &RestClient, kernel: Option<RunKernel>) -> Ended {
    let mut stop = Stop::listen();
    let steps = steps(document)?;
    let content = ipynb::write(document).into();
    let notebook = client.notebook(notebooks::import_content(client, &args.file, content, None).await?.notebook);
    let mut runs = Runs::enter(notebook.clone()).await?;
    let kernelspec = kernel.map(|kernel| kernel.name).or_else(|| args.kernel.clone());
    let ended = execute_steps(args, &mut runs, &steps, kernelspec, &mut stop).await;
    let Exported { content, missing, .. } = notebooks::exported(&notebook, None, ExportFormat::Ipynb).await?;
    notebooks::write_file(&args.output(), &content).await?;
    ended.and_then(|()| notebooks::complete(missing))
}

async fn execute_steps(
    args: &RunArgs,
    runs: &mut Runs,
    steps: &[CellStep],
    kernelspec: Option<String>,
    stop: &mut Stop,
) -> Ended {
    let kernel = match kernelspec.filter(|_| !steps.is_empty()) {
        Some(name) => runs.command(&Command::LaunchKernel(LaunchKernel::of(Some(name)))).await?.kernel_session,
        None => None,
    };
    let progress = ProgressBar::new(steps.len() as u64);
    let progress = print::progress(progress, "{bar:30} {pos}/{len} cells {elapsed} {msg}");
    let mut failures = Failures::default();
    // A cell that may fail must not stop later cells: they are requested when it has ended.
    for group in steps.split_inclusive(|step| step.may_fail) {
        let cells: Vec<(ExecutionId, &CellStep)> =
            group.iter().map(|step| (ulid::Ulid::generate().into(), step)).collect();
        runs.follow(cells.iter().map(|(id, _)| id.clone()));
        let target = |step: &CellStep| ExecutionTarget::Cell { cell_id: step.cell_id.clone(), cell_version: None };
        let targets = cells.iter().map(|(id, step)| (id.clone(), target(step)));
        runs.command(&request(targets, kernel.as_ref(), args.timeout, !args.allow_errors, None)).await?;
        follow_group(runs, &cells, args.allow_errors, &progress, &mut failures, stop).await?;
        if failures.is_final() {
            break;
        }
    }
    progress.finish_and_clear();
    failures.report(&args.file)
}

/// Follows runs until all have ended. Ctrl-C interrupts the running one and cancels queued ones.
async fn follow_group(
    runs: &mut Runs,
    cells: &[(ExecutionId, &CellStep)],
    allow_errors: bool,
    progress: &ProgressBar,
    failures: &mut Failures,
    stop: &mut Stop,
) -> Ended {
    while !runs.is_done() {
        let event = tokio::select! {
            event = runs.follower.next() => event?,
            () = stop.asked() => {
                failures.is_interrupted = true;
                return interrupt(runs).await;
            }
        };
        for update in runs.updates(event).await {
            match update {
                RunUpdate::Outputs(id, outputs) => failures.outputs(&id, &outputs),
                RunUpdate::Ended(id, end) => {
                    progress.inc(1);
                    let step = cells.iter().find(|(of, _)| *of == id).map(|(_, step)| *step);
                    let may_fail = allow_errors || step.is_some_and(|step| step.may_fail);
                    let is_fine = match end.status {
                        ExecutionStatus::Ok => true,
                        ExecutionStatus::Error => may_fail,
                        // Cancelled here, because nobody can answer.
                        ExecutionStatus::Cancelled => may_fail && failures.questions.contains_key(&id),
                        _ => false,
                    };
                    failures.ended(&id, step.map(|step| &step.cell_id), &end, is_fine);
                }
                RunUpdate::Asks(RunQuestion { id: execution_id, prompt, .. }) => {
                    failures.questions.insert(execution_id.clone(), prompt);
                    let answer = end_of_input(runs.follower.state(), execution_id);
                    runs.command(&answer).await?;
                }
                // Printed above the bar, and also without one, as in a pipe.
                RunUpdate::Note(note) => progress.suspend(|| eprintln!("{note}")),
                RunUpdate::Started(_) | RunUpdate::Answered(_) | RunUpdate::Progress => {}
            }
        }
    }
    Ok(())
}

/// Answers a question of code that nobody can answer. In a Python kernel `input()` then raises an `EOFError`, which code can
/// catch; other kernels have no such answer, and the run is cancelled.
fn end_of_input(state: Option<&State>, execution_id: ExecutionId) -> Command {
    let kernel =
        state.and_then(|state| state.kernels.get(state.executions.get(&execution_id)?.kernel_session.as_ref()?));
    let is_python = kernel.is_some_and(|kernel| {
        let language: serde_json::Value = serde_json::from_str(kernel.language_info.get()).unwrap_or_default();
        language["name"] == "python"
    });
    match is_python {
        true => Command::AnswerInput { execution_id, value: END_OF_INPUT.to_owned() },
        false => Command::CancelExecution { execution_id },
    }
}

/// Stops everything, and waits for the ends up to a timeout.
async fn interrupt(runs: &mut Runs) -> Ended {
    runs.command(&Command::StopAll {}).await?;
    let ends = async {
        while !runs.is_done() {
            let event = runs.follower.next().await?;
            runs.updates(event).await;
        }
        Ok(())
    };
    tokio::time::timeout(INTERRUPT_PATIENCE, ends).await.unwrap_or(Ok(()))
}
