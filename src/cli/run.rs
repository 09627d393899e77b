//! `run`: executes a notebook file from top to bottom, and writes the result.

mod parameters;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use notarium_agent::kernelspecs::{FoundKernelspecs, Kernelspec, discover};
use notarium_core::{CellId, Command, ExecutionId, ExecutionStatus, ExecutionTarget, Output};
use notarium_server::{RunningServer, ServerConfig};
use notarium_wire::ipynb::{self, Document};
use notarium_wire::rest::ExportFormat;
use serde::Deserialize;

use crate::cli::agent::{KernelArgs, LocalAgent, kernel_paths};
use crate::cli::connection::client::RestClient;
use crate::cli::connection::context;
use crate::cli::notebooks::{self, Exported};
use crate::cli::run::parameters::{Parameter, has_tag};
use crate::cli::runs::follow::{End, RunQuestion, RunUpdate, Runs, request};
use crate::cli::serve::up::{self, Keys};
use crate::cli::serve::{self};
use crate::cli::terminal::failure::FailureKind;
use crate::cli::terminal::input::Stop;
use crate::cli::terminal::print;
use crate::cli::words::outputs;
use crate::cli::{CommonOptions, Ended, Failure};

/// Timeout for interrupted runs to end; then the file is written without their end.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The notebook file.
    #[arg(value_name = "FILE.ipynb")]
    file: PathBuf,
    /// Sets a variable in a cell after the one tagged `parameters`, or first. Numbers, true/false, null and JSON are
    /// read as such, anything else as text; may be repeated.
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", value_parser = parameters::parse)]
    parameters: Vec<Parameter>,
    /// The same, the value being text whatever it looks like.
    #[arg(short = 'r', long = "parameter-text", value_name = "NAME=TEXT", value_parser = parameters::parse_text)]
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
        prepare(&mut document, &args, "python")?;
        return execute(&args, &document, &client, None).await;
    }
    let (kernelspec, language, paths) =
        choose_kernel(&document, args.kernel.as_deref(), &args.kernels.kernel_paths).await?;
    prepare(&mut document, &args, &language)?;
    let embedded = Embedded::start(&args.kernels, paths).await?;
    let ended = execute(&args, &document, &embedded.client, Some(kernelspec)).await;
    let stopped = embedded.stop().await;
    ended.and(stopped)
}

fn read(bytes: &[u8], path: &Path) -> Result<Document, Failure> {
    let mut count = 0_u32;
    let mut new_id = || {
        count += 1;
        format!("cell-{count}")
    };
    let imported = ipynb::read(bytes, &ipynb::FileLimits::default(), &mut new_id)
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
    parameters::inject(document, &given, language).map_err(Failure::failed)
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
async fn execute(args: &RunArgs, document: &Document, client: &RestClient, kernelspec: Option<String>) -> Ended {
    let mut stop = Stop::listen();
    let steps = steps(document)?;
    let content = ipynb::write(document).into();
    let notebook = client.notebook(notebooks::import_content(client, &args.file, content, None).await?.notebook);
    let mut runs = Runs::enter(notebook.clone()).await?;
    let kernelspec = kernelspec.or_else(|| args.kernel.clone());
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
        Some(name) => runs.command(&Command::LaunchKernel { kernelspec: Some(name) }).await?.kernel_session,
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
                    let is_fine =
                        end.status == ExecutionStatus::Ok || (end.status == ExecutionStatus::Error && may_fail);
                    failures.ended(&id, step.map(|step| &step.cell_id), &end, is_fine);
                }
                RunUpdate::Asks(RunQuestion { id: execution_id, prompt, .. }) => {
                    failures.questions.insert(execution_id.clone(), prompt);
                    runs.command(&Command::CancelExecution { execution_id }).await?;
                }
                // Printed above the bar, and also without one, as in a pipe.
                RunUpdate::Note(note) => progress.suspend(|| eprintln!("{note}")),
                RunUpdate::Started(_) | RunUpdate::Answered(_) | RunUpdate::Progress => {}
            }
        }
    }
    Ok(())
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

// --- failures ---

/// Errors of all cells, and the failures that count.
#[derive(Debug, Default)]
struct Failures {
    tracebacks: BTreeMap<ExecutionId, String>,
    /// Prompts of runs that were cancelled because no person can answer.
    questions: BTreeMap<ExecutionId, String>,
    counted: Vec<String>,
    is_interrupted: bool,
}

impl Failures {
    fn outputs(&mut self, id: &ExecutionId, new: &[Output]) {
        if let Some(error) = new.iter().find(|output| output.is_error()) {
            self.tracebacks.insert(id.clone(), outputs::shown(error).text.trim_end().to_owned());
        }
    }

    /// Takes the end of a cell. Cells that were cancelled after a failure do not count.
    fn ended(&mut self, id: &ExecutionId, cell: Option<&CellId>, end: &End, is_fine: bool) {
        let (traceback, question) = (self.tracebacks.remove(id), self.questions.remove(id));
        let adds_nothing = end.status == ExecutionStatus::Cancelled && !self.counted.is_empty();
        if is_fine || adds_nothing || self.is_interrupted {
            return;
        }
        let cell = cell.map(ToString::to_string).unwrap_or_default();
        let status = format!("{:?}", end.status).to_lowercase();
        if let Some(prompt) = question {
            let prompt = prompt.escape_debug();
            self.counted.push(format!(
                "cell {cell}: the code asks '{prompt}', and nobody can answer in a headless run: give the value with -p \
                 NAME=VALUE instead of input()"
            ));
            return;
        }
        let notice = end.notice.as_ref().map(|notice| format!(": {notice}")).unwrap_or_default();
        let traceback = traceback.map(|text| format!("\n{text}")).unwrap_or_default();
        self.counted.push(format!("cell {cell}: {status}{notice}{traceback}"));
    }

    /// True if no further cell may run.
    fn is_final(&self) -> bool {
        self.is_interrupted || !self.counted.is_empty()
    }

    fn report(self, file: &Path) -> Ended {
        let file = file.display();
        if self.is_interrupted {
            return Err(Failure::interrupted(format!("{file} was interrupted: the output holds what ran until then")));
        }
        match self.counted.first() {
            None => Ok(()),
            Some(first) => Err(Failure::failed(format!("{file} failed in {first}"))),
        }
    }
}

// --- server and kernel of a headless run ---

/// Server, agent and client of a headless run.
pub struct Embedded {
    server: RunningServer,
    agent: LocalAgent,
    folder: RunFolder,
    pub client: RestClient,
}

impl Embedded {
    pub async fn start(kernels: &KernelArgs, kernel_paths: Vec<PathBuf>) -> Result<Self, Failure> {
        let folder = RunFolder::create()?;
        let server = serve::start(ServerConfig::in_folder(&folder.0)).await?;
        let keys = Keys::make(&server).await?;
        let client = up::client(&server, &keys.session)?;
        let kept = kernels.kept(&kernel_paths, vec![folder.0.clone()]).await?;
        let agent = keys.start_agent(&server, kernels, kernel_paths, None, kept);
        Ok(Self { server, agent, folder, client })
    }

    pub async fn stop(self) -> Ended {
        let stopped = self.agent.stop().await;
        self.server.shut_down().await;
        drop(self.folder);
        stopped
    }
}

/// A folder that is removed when dropped.
struct RunFolder(PathBuf);

impl RunFolder {
    fn create() -> Result<Self, Failure> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("notarium-{}", ulid::Ulid::generate()));
        let failed = |error| Failure::failed(format!("{}: {error}", path.display()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WantedKernel {
    name: Option<String>,
    language: Option<String>,
}

/// Chooses a kernel: the named one, the notebook's own, else one of the same language. Returns its kernelspec's name, its
/// language, and the search path.
pub async fn choose_kernel(
    document: &Document,
    named: Option<&str>,
    given: &[PathBuf],
) -> Result<(String, String, Vec<PathBuf>), Failure> {
    let mut paths = given.to_vec();
    let mut found = discover(&paths);
    if found.kernelspecs.is_empty() {
        let folder = context::data_folder()?;
        paths = kernel_paths(given, &folder).await?;
        found = discover(&paths);
    }
    let chosen = choose(&found, &wanted_kernel(document), named)?;
    Ok((chosen.name.clone(), chosen.language.clone(), paths))
}

fn wanted_kernel(document: &Document) -> WantedKernel {
    let kernelspec = document.metadata.get("kernelspec");
    kernelspec.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
}

fn choose<'a>(
    found: &'a FoundKernelspecs,
    wanted: &WantedKernel,
    named: Option<&str>,
) -> Result<&'a Kernelspec, Failure> {
    if let Some(name) = named {
        return found.get(name).ok_or_else(|| missing(found, name));
    }
    let own = wanted.name.as_deref().unwrap_or("python3");
    if let Some(own) = found.get(own) {
        return Ok(own);
    }
    let language = wanted.language.as_deref().unwrap_or("python");
    let same = found.kernelspecs.iter().find(|spec| spec.language.eq_ignore_ascii_case(language));
    let same = same.ok_or_else(|| missing(found, own))?;
    eprintln!("notarium: there is no kernel '{own}' here: running on '{}'", same.name);
    Ok(same)
}

fn missing(found: &FoundKernelspecs, name: &str) -> Failure {
    let names: Vec<&str> = found.kernelspecs.iter().map(|spec| spec.name.as_str()).collect();
    Failure::failed(format!(
        "no kernel '{name}' on this machine (there are: {}): choose one with --kernel",
        names.join(", ")
    ))
}
