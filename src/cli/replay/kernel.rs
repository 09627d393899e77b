//! A fresh kernel, which repeats the runs of one kernel of the record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notarium_agent::kernel::{EndCause, ExecuteRequest, FinishStatus, Kernel, KernelEvent, LaunchOptions};
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::{OutputChange, OutputCollector, OutputLimits, OutputObject};
use notarium_agent::supervisor::EffectRefusal;
use notarium_core::{Effects, ExecutionId, Hash, Output};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::cli::Failure;
use crate::cli::replay::recorded::RecordedRun;
use crate::cli::replay::run_outputs::RunOutputs;

/// Events that the driver may queue ahead.
const MAX_WAITING_EVENTS: usize = 8;
/// Timeout for an interrupted run to end; then its kernel is stopped.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(10);
/// Timeout of each step of a kernel's shutdown.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(2);

/// End of a repeated run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayedEnd {
    Ok,
    Error,
    TimedOut,
    /// It asked with this prompt, and the record has no answer.
    Asked(String),
    /// It was not begun: its code could change these things, which the kernel holds open.
    HoldsOpen(Vec<String>),
    /// Its kernel ended.
    Died(String),
}

/// A repeated run.
#[derive(Debug)]
pub struct ReplayedRun {
    pub end: ReplayedEnd,
    pub took: Duration,
    pub refused: Vec<EffectRefusal>,
}

/// Outputs of the repeated runs; large values are files of a folder.
pub struct ReplayedOutputs {
    pub outputs: RunOutputs,
    pub folder: PathBuf,
}

impl ReplayedOutputs {
    fn take(&mut self, id: &ExecutionId, changes: Vec<OutputChange>) -> Result<(), Failure> {
        for change in changes {
            match change {
                OutputChange::Append { object, display_id } => {
                    let output = Output { display_id, ..self.stored(object)? };
                    self.outputs.append(id, &[output]);
                }
                OutputChange::Update { display_id, object } => {
                    let output = self.stored(object)?;
                    self.outputs.update(&display_id, &output);
                }
                OutputChange::Clear => self.outputs.clear(id, false),
                // The notice of the limit is an output; what follows is not compared.
                OutputChange::Overflow(_) => {}
            }
        }
        Ok(())
    }

    fn stored(&self, object: OutputObject) -> Result<Output, Failure> {
        let mut blobs = Vec::with_capacity(object.large_parts.len());
        for mut part in object.large_parts {
            part.blob.sha256 = Hash(Sha256::digest(&part.bytes).into()).to_string();
            let file = self.folder.join(&part.blob.sha256);
            std::fs::write(&file, &part.bytes).map_err(|error| Failure::unwritable(&file, &error))?;
            blobs.push(part.blob);
        }
        Ok(Output { content: object.output.into(), blobs, display_id: None })
    }
}

/// A fresh kernel with its runs so far.
pub struct ReplayKernel {
    kernel: Option<Kernel>,
    events: mpsc::Receiver<KernelEvent>,
    limits: OutputLimits,
    collectors: BTreeMap<ExecutionId, OutputCollector>,
    /// The run that began last: output that names no run is its. Before the first it belongs to the kernel's start.
    latest: Option<ExecutionId>,
    clock: Instant,
    /// Text of the environment; absent: it is not known.
    pub environment: Option<String>,
    /// The cause of an end that nobody asked for.
    died: Option<String>,
}

impl ReplayKernel {
    pub async fn start(kernelspec: Kernelspec, options: LaunchOptions, limits: OutputLimits) -> Result<Self, Failure> {
        let (sender, mut events) = mpsc::channel(MAX_WAITING_EVENTS);
        let name = kernelspec.name.clone();
        let kernel = Kernel::launch(kernelspec, options, sender).await;
        let mut kernel =
            kernel.map_err(|error| Failure::usage(format!("the kernel '{name}' could not start: {error}")))?;
        kernel.refuse_server_requests();
        let environment = match events.recv().await {
            Some(KernelEvent::Ready { environment, .. }) => environment,
            _ => None,
        };
        Ok(Self {
            kernel: Some(kernel),
            events,
            limits,
            collectors: BTreeMap::new(),
            latest: None,
            clock: Instant::now(),
            environment,
            died: None,
        })
    }

    /// Repeats a run. After `limit` it is interrupted.
    pub async fn run(
        &mut self,
        run: &RecordedRun,
        source: &str,
        effects: Effects,
        limit: Duration,
        outputs: &mut ReplayedOutputs,
    ) -> Result<ReplayedRun, Failure> {
        let begun = Instant::now();
        let mut course =
            RunCourse { answers: run.answers.clone().into_iter(), end: None, asked: None, refused: Vec::new() };
        let collector = OutputCollector::new(self.limits);
        let collector = if run.is_assistants { collector.masking_keys() } else { collector };
        self.collectors.insert(run.id.clone(), collector);
        self.request(run, source, effects).await;
        let mut deadline = begun + limit;
        let mut is_interrupted = false;
        while course.end.is_none() && self.died.is_none() {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.take(event, &run.id, &mut course, outputs)?,
                    None => self.died = Some("its kernel is gone".to_owned()),
                },
                () = tokio::time::sleep_until(deadline.into()) => {
                    if is_interrupted {
                        self.died = Some("its kernel did not stop when it was interrupted".to_owned());
                        self.kernel = None;
                    }
                    self.interrupt();
                    (is_interrupted, deadline) = (true, Instant::now() + INTERRUPT_PATIENCE);
                }
            }
        }
        self.flush(&run.id, outputs)?;
        let end = match (course.asked, course.end) {
            (Some(prompt), _) => ReplayedEnd::Asked(prompt),
            (None, _) if is_interrupted => ReplayedEnd::TimedOut,
            (None, Some(end)) => end,
            (None, None) => ReplayedEnd::Died(self.died.clone().unwrap_or_default()),
        };
        Ok(ReplayedRun { end, took: begun.elapsed(), refused: course.refused })
    }

    async fn request(&self, run: &RecordedRun, source: &str, effects: Effects) {
        let Some(kernel) = &self.kernel else { return };
        let request = ExecuteRequest {
            store_history: run.cell.is_some(),
            allow_stdin: run.asked,
            cell_id: run.cell.as_ref().map(ToString::to_string),
            effects,
            ..ExecuteRequest::new(run.id.as_str(), source)
        };
        // If the kernel has ended, its event says so.
        let _ = kernel.execute(request).await;
    }

    fn interrupt(&self) {
        if let Some(kernel) = &self.kernel {
            // If the kernel has ended, its event says so.
            let _ = kernel.interrupt();
        }
    }

    fn take(
        &mut self,
        event: KernelEvent,
        run: &ExecutionId,
        course: &mut RunCourse,
        outputs: &mut ReplayedOutputs,
    ) -> Result<(), Failure> {
        match event {
            KernelEvent::Output { execution_id, output } => self.output(execution_id, output, outputs)?,
            KernelEvent::Started { execution_id } => self.latest = ExecutionId::new(&execution_id).ok(),
            KernelEvent::InputRequest { prompt, .. } => match (course.answers.next(), &self.kernel) {
                (Some(answer), Some(kernel)) => _ = kernel.answer_input(answer),
                _ => {
                    course.asked = Some(prompt);
                    self.interrupt();
                }
            },
            KernelEvent::EffectRefused { execution_id, refusal } if execution_id == run.as_str() => {
                course.refused(refusal);
            }
            KernelEvent::HoldsOpen { execution_id, open } if execution_id == run.as_str() => {
                course.end = Some(ReplayedEnd::HoldsOpen(open));
            }
            KernelEvent::Finished { execution_id, status, .. } if execution_id == run.as_str() => {
                course.end = Some(if status == FinishStatus::Ok { ReplayedEnd::Ok } else { ReplayedEnd::Error });
            }
            KernelEvent::Ended { cause, .. } => self.died = Some(words(&cause)),
            _ => {}
        }
        Ok(())
    }

    fn output(
        &mut self,
        execution_id: Option<String>,
        output: notarium_agent::outputs::KernelOutput,
        outputs: &mut ReplayedOutputs,
    ) -> Result<(), Failure> {
        let named =
            execution_id.and_then(|id| ExecutionId::new(&id).ok()).filter(|id| self.collectors.contains_key(id));
        let Some(id) = named.or_else(|| self.latest.clone()) else { return Ok(()) };
        let now_ms = self.now_ms();
        let Some(collector) = self.collectors.get_mut(&id) else { return Ok(()) };
        outputs.take(&id, collector.handle(now_ms, output))
    }

    fn flush(&mut self, id: &ExecutionId, outputs: &mut ReplayedOutputs) -> Result<(), Failure> {
        let now_ms = self.now_ms();
        let Some(collector) = self.collectors.get_mut(id) else { return Ok(()) };
        outputs.take(id, collector.finish(now_ms))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The cause for which it runs no more code.
    pub fn end(&self) -> Option<&str> {
        self.died.as_deref()
    }

    /// Stops the kernel, and takes the outputs that its threads have written since their runs ended.
    pub async fn stop(mut self, outputs: &mut ReplayedOutputs) -> Result<(), Failure> {
        if let Some(kernel) = self.kernel.take() {
            let shutting_down = tokio::spawn(kernel.shutdown(SHUTDOWN_PATIENCE));
            while let Some(event) = self.events.recv().await {
                match event {
                    KernelEvent::Output { execution_id, output } => self.output(execution_id, output, outputs)?,
                    KernelEvent::Ended { .. } => break,
                    _ => {}
                }
            }
            let _ = shutting_down.await;
        }
        let ids: Vec<ExecutionId> = self.collectors.keys().cloned().collect();
        ids.iter().try_for_each(|id| self.flush(id, outputs))
    }
}

/// Course of the run in work.
struct RunCourse {
    answers: std::vec::IntoIter<String>,
    end: Option<ReplayedEnd>,
    asked: Option<String>,
    refused: Vec<EffectRefusal>,
}

impl RunCourse {
    /// Later refusals of a kind have its final count.
    fn refused(&mut self, refusal: EffectRefusal) {
        self.refused.retain(|known| known.kind != refusal.kind);
        self.refused.push(refusal);
    }
}

fn words(cause: &EndCause) -> String {
    match cause {
        EndCause::Shutdown => "its kernel was shut down".to_owned(),
        EndCause::Died { status, .. } => format!("its kernel {status}"),
    }
}

/// The kernelspec of this name. The failure lists those that are there.
pub fn kernelspec(paths: &[PathBuf], name: &str) -> Result<Kernelspec, Failure> {
    let found = notarium_agent::kernelspecs::discover(paths);
    if let Some(kernelspec) = found.get(name) {
        return Ok(kernelspec.clone());
    }
    let names: Vec<&str> = found.kernelspecs.iter().map(|spec| spec.name.as_str()).collect();
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(Failure::usage(format!(
        "no kernel '{name}' on this machine (there are: {there}): name one with --run KERNELSPEC, or an environment that has it \
         with --kernel-path"
    )))
}

/// Makes a folder that only this user can read.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| Failure::unwritable(path, &error))
}
