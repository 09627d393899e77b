//! `replay`: rebuilds the state from the record; with `--run` repeats its runs on a fresh kernel, and compares the outputs.
//!
//! A record can come from anywhere, and its runs had effects. So they are repeated with effects held, in an empty folder of their own: what
//! they write there stays there and goes with it. Nothing is recorded anywhere.

mod environment;
mod kernel;
mod plan;
mod recorded;
mod report;
mod report_page;
mod run_outputs;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::OutputLimits;
use notarium_core::{Effect, Effects, Head, KernelSessionId, NotebookId, UnheldCause};
use notarium_wire::EnvironmentText;
use serde::Serialize;

use crate::cli::agent::KernelSetup;
use crate::cli::connection::client::NotebookClient;
use crate::cli::history::rebuild::{self, RecordArgs};
use crate::cli::replay::kernel::{ReplayKernel, ReplayedOutputs, kernelspec, make_folder};
use crate::cli::replay::plan::{ReplayPart, ReplayStep};
use crate::cli::replay::recorded::Recording;
use crate::cli::replay::report::{ReplayReport, ReplayedKernel, ReplayedRunReport};
use crate::cli::replay::run_outputs::BlobSource;
use crate::cli::run::embedded::{RunFolder, local_kernel_paths};
use crate::cli::terminal::failure::FailureKind;
use crate::cli::terminal::input::{self, Stop};
use crate::cli::terminal::print;
use crate::cli::terminal::values::one_of;
use crate::cli::{CommonOptions, Ended, Failure, notebooks};

const EFFECTS: [&str; 7] = ["create", "write", "remove", "network", "signal", "database", "open"];

/// Order in which runs are repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReplayOrder {
    /// All runs, as their kernels began them; a fresh kernel for each kernel of the record.
    #[default]
    Record,
    /// The present cells from top to bottom, on one fresh kernel.
    Notebook,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium replay analysis                            # the state again, compared with the server's
  notarium replay analysis --run                      # the runs again on a fresh kernel, their outputs compared
  notarium replay analysis --run python3.13 --order notebook
  notarium replay --file analysis.jsonl.zst --run --html report.html
The runs work in an empty folder of their own, which is removed at the end. Effects outside of it are refused and named.
Exit code of --run: 0 the outputs are the same, 1 some differ, 2 it could not run.")]
pub struct ReplayArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// Repeat the runs on a fresh kernel of this kernelspec; without a name, of the recorded one.
    #[arg(long, value_name = "KERNELSPEC", num_args = 0..=1)]
    run: Option<Option<String>>,
    /// Order of the runs.
    #[arg(long, value_enum, default_value_t, requires = "run")]
    order: ReplayOrder,
    /// Interrupt a run after so many seconds; absent: ten times as long as it took in the record, at least 60.
    #[arg(long, value_name = "SECONDS", requires = "run", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Kinds of effects that the runs may have on this machine, with commas. You are asked once.
    #[arg(long = "effects", value_name = "KIND", requires = "run", value_delimiter = ',', value_parser = one_of::<Effect>(&EFFECTS))]
    allowed: Vec<Effect>,
    /// Allow these effects without a question.
    #[arg(long, requires = "allowed")]
    yes: bool,
    /// A folder whose files are copied into the runs' folder first, such as the data that they read.
    #[arg(long, value_name = "FOLDER", requires = "run")]
    files: Option<PathBuf>,
    /// Also write the report as a page.
    #[arg(long, value_name = "FILE", requires = "run")]
    html: Option<PathBuf>,
    #[command(flatten)]
    kernels: KernelSetup,
}

pub async fn replay(args: ReplayArgs, context: &CommonOptions) -> Ended {
    let Some(kernelspec) = &args.run else { return rebuild::rebuild(args.record, context).await };
    let mut stop = Stop::listen();
    let report = tokio::select! {
        report = repeated(&args, kernelspec.as_deref(), context) => report,
        () = stop.asked() => Err(Failure::interrupted("the replay was interrupted: nothing was compared")),
    };
    let report = report.map_err(could_not_run)?;
    if let Some(file) = &args.html {
        notebooks::write_file(file, report_page::page(&report).as_bytes()).await.map_err(could_not_run)?;
    }
    if args.record.json {
        print::json(&report)?
    } else {
        report.print()?
    }
    if report.same { Ok(()) } else { Err(Failure::failed(report.verdict())) }
}

/// A difference alone has the exit code 1.
fn could_not_run(failure: Failure) -> Failure {
    let kind = if failure.kind == FailureKind::Failed { FailureKind::Usage } else { failure.kind };
    Failure { kind, ..failure }
}

async fn repeated(
    args: &ReplayArgs,
    kernelspec: Option<&str>,
    context: &CommonOptions,
) -> Result<ReplayReport, Failure> {
    let (recording, source) = read(args, context).await?;
    let connections = args.kernels.connections()?;
    let planned = match (args.order, &recording.document) {
        (ReplayOrder::Notebook, Some(notebook)) => plan::in_order_of_notebook(&recording, notebook, &connections),
        _ => plan::in_order_of_record(&recording, &connections),
    };
    let folder = RunFolder::create()?;
    let files = folder.0.join("files");
    make_folder(&files)?;
    if let Some(from) = &args.files {
        copy_files(from, &files, &mut 0)?;
    }
    let parts = folder.0.join("parts");
    make_folder(&parts)?;
    let paths = local_kernel_paths(&args.kernels.kernel_paths)?;
    let kept = args.kernels.kept(&files, &paths, vec![parts.clone()]).await?;
    if let Err(reason) = &kept.sandbox
        && !args.kernels.sandbox.is_off()
    {
        return Err(Failure::usage(format!(
            "there is no sandbox here ({reason}), and a record may come from anywhere: replay it on another machine, or with \
             --kernel-sandbox off if its code may read all that you can"
        )));
    }
    let effects_sentence = kept.effects_sentence();
    let launch = LaunchOptions { owns_working_dir: true, ..args.kernels.launch_options(files, kept) };
    let kernelspecs = kernelspecs(&planned, &recording, kernelspec, &paths)?;
    for kernelspec in kernelspecs.values() {
        check_holding(kernelspec, &launch, &effects_sentence)?;
    }
    allow_effects(args).await?;
    let outputs = ReplayedOutputs { outputs: Default::default(), folder: parts };
    let replay = ReplayInWork { args, recording: &recording, source: &source, kernelspecs, launch, outputs };
    let report = replay.run(planned).await;
    drop(folder);
    report
}

/// Reads the record; the place of its large outputs.
async fn read(args: &ReplayArgs, context: &CommonOptions) -> Result<(Recording, BlobSource), Failure> {
    let mut recording = Recording::new(args.order == ReplayOrder::Notebook);
    let mut notebook = None::<NotebookId>;
    let served: Option<(NotebookClient, Head)> = rebuild::each_recorded(&args.record, context, |stored| {
        let id = &stored.envelope.notebook_id;
        if notebook.get_or_insert_with(|| id.clone()) != id {
            return Err(Failure::usage("the file has the records of several notebooks: export one of them alone"));
        }
        recording.take(stored)
    })
    .await?;
    let source = match (served, &args.record.file) {
        (Some((notebook, _)), _) => BlobSource::Server(notebook),
        (None, file) => {
            let mut name = file.clone().unwrap_or_default().into_os_string();
            name.push(".blobs");
            BlobSource::Folder(name.into())
        }
    };
    Ok((recording, source))
}

/// The kernelspec of each kernel that is needed.
fn kernelspecs(
    planned: &[ReplayStep],
    recording: &Recording,
    named: Option<&str>,
    paths: &[PathBuf],
) -> Result<BTreeMap<Option<KernelSessionId>, Kernelspec>, Failure> {
    let mut found = BTreeMap::new();
    for planned in planned.iter().filter(|planned| !matches!(planned.plan, ReplayPart::Skip(_))) {
        let session = planned.session.as_ref().and_then(|id| recording.sessions.get(id));
        let recorded = session.map(|session| session.kernelspec.as_str()).or_else(|| recording.last_kernelspec());
        let name = named.or(recorded).unwrap_or("python3");
        if let Entry::Vacant(place) = found.entry(planned.session.clone()) {
            place.insert(kernelspec(paths, name)?);
        }
    }
    Ok(found)
}

/// Refuses a kernel whose effects would happen, unless the user has switched the holding off.
fn check_holding(kernelspec: &Kernelspec, launch: &LaunchOptions, words: &str) -> Ended {
    match launch.holding(kernelspec) {
        Ok(_) | Err(UnheldCause::SwitchedOff) => Ok(()),
        Err(_) => Err(Failure::usage(format!(
            "the kernel '{}' would repeat on this machine what the record did: {words}. Replay it on another machine, or with \
             --kernel-effects off if that may happen",
            kernelspec.name
        ))),
    }
}

async fn allow_effects(args: &ReplayArgs) -> Ended {
    if args.allowed.is_empty() || args.yes {
        return Ok(());
    }
    let phrases: Vec<&str> = args.allowed.iter().map(|effect| effect.phrase()).collect();
    let may = phrases.join(", ");
    if !input::is_terminal() {
        return Err(Failure::usage(format!(
            "runs of the record would {may} on this machine: add --yes if that is meant"
        )));
    }
    match input::agrees(&format!("Runs of the record may {may} on this machine. Go on?")).await? {
        true => Ok(()),
        false => Err(Failure::usage("nothing was run")),
    }
}

/// Most bytes of copied files.
const MAX_COPIED_BYTES: u64 = 4 << 30;

/// Copies files and folders. Links are left out: they may lead anywhere.
fn copy_files(from: &Path, to: &Path, copied: &mut u64) -> Ended {
    let unreadable = |error| Failure::unreadable(from, &error);
    for entry in std::fs::read_dir(from).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|error| Failure::unreadable(&path, &error))?;
        if kind.is_dir() {
            make_folder(&place)?;
            copy_files(&path, &place, copied)?;
        } else if kind.is_file() {
            *copied += entry.metadata().map_or(0, |found| found.len());
            if *copied > MAX_COPIED_BYTES {
                let most = print::size(MAX_COPIED_BYTES);
                return Err(Failure::usage(format!("{} and what is beside it have more than {most}", path.display())));
            }
            std::fs::copy(&path, &place).map_err(|error| Failure::unreadable(&path, &error))?;
        }
    }
    Ok(())
}

/// The replay of one record.
struct ReplayInWork<'a> {
    args: &'a ReplayArgs,
    recording: &'a Recording,
    source: &'a BlobSource,
    kernelspecs: BTreeMap<Option<KernelSessionId>, Kernelspec>,
    launch: LaunchOptions,
    outputs: ReplayedOutputs,
}

impl ReplayInWork<'_> {
    async fn run(mut self, planned: Vec<ReplayStep>) -> Result<ReplayReport, Failure> {
        let progress = print::progress(ProgressBar::new(planned.len() as u64), "{bar:30} {pos}/{len} runs {elapsed}");
        let mut last = BTreeMap::new();
        planned.iter().enumerate().for_each(|(at, planned)| _ = last.insert(planned.session.clone(), at));
        let mut kernels: BTreeMap<Option<KernelSessionId>, ReplayKernel> = BTreeMap::new();
        let (mut told, mut reports) = (Vec::new(), Vec::with_capacity(planned.len()));
        for (at, planned) in planned.iter().enumerate() {
            let mut report = ReplayedRunReport::of(planned);
            if !matches!(planned.plan, ReplayPart::Skip(_)) {
                let kernel = match kernels.entry(planned.session.clone()) {
                    Entry::Occupied(kernel) => kernel.into_mut(),
                    Entry::Vacant(place) => {
                        let kernel = self.start(&planned.session).await?;
                        told.push(self.kernel_report(&planned.session, &kernel).await?);
                        place.insert(kernel)
                    }
                };
                self.repeat(planned, kernel, &mut report).await?;
            }
            reports.push(report);
            progress.inc(1);
            if last.get(&planned.session) == Some(&at)
                && let Some(kernel) = kernels.remove(&planned.session)
            {
                kernel.stop(&mut self.outputs).await?;
            }
        }
        progress.finish_and_clear();
        for (planned, report) in planned.iter().zip(&mut reports).filter(|(_, report)| report.is_compared()) {
            self.compare(planned, report).await?;
        }
        let effects_held = self.kernelspecs.values().all(|kernelspec| self.launch.holding(kernelspec).is_ok());
        Ok(ReplayReport::new(self.args.order, effects_held, self.args.allowed.clone(), told, reports))
    }

    async fn start(&self, session: &Option<KernelSessionId>) -> Result<ReplayKernel, Failure> {
        let kernelspec = self.kernelspecs.get(session).cloned();
        let kernelspec = kernelspec.ok_or_else(|| Failure::usage("no kernel was chosen: please report it"))?;
        let limits = OutputLimits { max_overflow_bytes: 0, ..OutputLimits::default() };
        ReplayKernel::start(kernelspec, self.launch.clone(), limits).await
    }

    async fn repeat(
        &mut self,
        planned: &ReplayStep,
        kernel: &mut ReplayKernel,
        report: &mut ReplayedRunReport,
    ) -> Ended {
        if let Some(cause) = kernel.end() {
            report.differs("kernel", "ran it", format!("not run: {cause} in an earlier run"));
            return Ok(());
        }
        let holds = self.kernelspecs.get(&planned.session).is_some_and(|spec| self.launch.holding(spec).is_ok());
        let effects = if holds { Effects::held(self.args.allowed.iter().copied()) } else { Effects::Free };
        let limit = planned.limit(self.args.timeout.map(Duration::from_secs));
        let replayed = kernel.run(&planned.run, &planned.source, effects, limit, &mut self.outputs).await?;
        report.ran(planned, replayed, limit);
        Ok(())
    }

    async fn compare(&self, planned: &ReplayStep, report: &mut ReplayedRunReport) -> Ended {
        let id = &planned.run.id;
        let recorded = self.source.whole(self.recording.outputs_of(id)).await?;
        let replayed = BlobSource::Folder(self.outputs.folder.clone()).whole(self.outputs.outputs.of(id)).await?;
        match (recorded, replayed) {
            (Ok(recorded), Ok(replayed)) => report.compared(notarium_comparison::compare(&recorded, &replayed)),
            (Err(missing), _) => report.differs("outputs", missing, "(not compared)"),
            (_, Err(missing)) => report.differs("outputs", "(not compared)", missing),
        }
        Ok(())
    }

    /// The kernel's environment against that of the recorded one.
    async fn kernel_report(
        &self,
        session: &Option<KernelSessionId>,
        kernel: &ReplayKernel,
    ) -> Result<ReplayedKernel, Failure> {
        let recorded = match session {
            Some(id) => self.recording.sessions.get(id),
            None => self.recording.sessions.values().next_back(),
        };
        let mut known = None;
        if let Some(environment) = recorded.and_then(|session| session.environment.as_ref()) {
            let bytes = self.source.read(&environment.sha256.to_string(), environment.size_bytes).await?;
            known = bytes.and_then(|bytes| EnvironmentText::parse(&String::from_utf8_lossy(&bytes)));
        }
        let own = kernel.environment.as_deref().and_then(EnvironmentText::parse);
        let changes = known.zip(own).map(|(recorded, own)| environment::changes(&recorded, &own));
        let name = |spec: &Kernelspec| spec.name.clone();
        Ok(ReplayedKernel {
            kernel_session: session.clone(),
            recorded_kernelspec: recorded.map(|session| session.kernelspec.clone()),
            kernelspec: self.kernelspecs.get(session).map(name).unwrap_or_default(),
            environment_changes: changes,
        })
    }
}
