//! Reports of a session for the log: collected into batches, counted until they are answered, with the bytes of their blobs, which
//! are stored before the report is sent.

pub(crate) mod blobs;
pub(crate) mod delivery;

use std::collections::BTreeMap;

use bytes::Bytes;
use notarium_core::{BlobPart, Command, ExecutionId, ExecutionReport, NextInput, Output, RawJson, RejectionCode};
use serde_json::value::RawValue;

use super::runs::not_registered;
use super::{KernelSessionMachine, SessionOutput};
use crate::outputs::{OutputChange, OutputObject, raw, stream_object};

impl KernelSessionMachine {
    /// Turns the collector's changes into reports; consecutive outputs go in one.
    pub(super) fn emit(&mut self, now_ms: u64, id: &ExecutionId, emits: Vec<OutputChange>) {
        let mut shown = (Vec::new(), Vec::new());
        for emit in emits {
            match emit {
                OutputChange::Append { object, display_id } => {
                    if let (Some(display_id), Some(count)) = (&display_id, count_of_result(&object.output)) {
                        self.results.insert(display_id.clone(), count);
                    }
                    shown.0.push(displayed(object, display_id, &mut shown.1))
                }
                OutputChange::Overflow(bytes) => {
                    if let Some(run) = self.runs.get_mut(id) {
                        run.has_spilled = true;
                    }
                    self.out.push(SessionOutput::Spill { execution_id: id.clone(), bytes });
                }
                OutputChange::Update { display_id, mut object } => {
                    self.push_outputs(now_ms, id, &mut shown);
                    object.output = as_output(&object.output, self.results.get(&display_id).map(|count| &**count));
                    let mut parts = Vec::new();
                    let output = displayed(object, Some(display_id.clone()), &mut parts);
                    self.push_output(now_ms, id, ExecutionReport::UpdateDisplay { display_id, output }, parts);
                }
                OutputChange::Clear => {
                    self.push_outputs(now_ms, id, &mut shown);
                    self.push_report(now_ms, id, ExecutionReport::Clear { wait: false });
                }
            }
        }
        self.push_outputs(now_ms, id, &mut shown);
    }

    fn push_outputs(&mut self, now_ms: u64, id: &ExecutionId, shown: &mut (Vec<notarium_core::Output>, Vec<Bytes>)) {
        let (outputs, parts) = std::mem::take(shown);
        if !outputs.is_empty() {
            self.push_output(now_ms, id, ExecutionReport::Output { outputs }, parts);
        }
    }

    /// Adds an output. Without a connection, above the buffer limit, it is dropped and counted.
    fn push_output(&mut self, now_ms: u64, id: &ExecutionId, report: ExecutionReport, parts: Vec<Bytes>) {
        let held = self.unanswered_bytes + self.pending_bytes;
        let Some(run) = self.runs.get_mut(id) else { return };
        let pending = run.report(id, report, ToStore::Parts(parts));
        let bytes = pending.bytes();
        if !self.online && held + bytes > self.limits.max_buffered_bytes {
            run.dropped_bytes += bytes;
            return;
        }
        self.mark_gap(now_ms, id);
        self.push_lingering(now_ms, pending);
    }

    /// Adds a notice in place of dropped output, before anything that follows.
    pub(super) fn mark_gap(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let dropped = std::mem::take(&mut run.dropped_bytes);
        if dropped > 0 {
            let limit = self.limits.max_buffered_bytes >> 20;
            let text = format!(
                "\n[notarium: {dropped} bytes of output are missing here: the server could not be reached, and the \
                 agent keeps at most {limit} MiB meanwhile]\n"
            );
            self.push_report(now_ms, id, notice(&text));
        }
    }

    /// Adds the output that names the run's overflow, if that has grown.
    pub(super) fn push_overflow(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        if std::mem::take(&mut run.has_spilled) {
            let pending = run.report(id, ExecutionReport::Output { outputs: Vec::new() }, ToStore::Overflow);
            self.push_lingering(now_ms, pending);
        }
    }

    pub(super) fn push_report(&mut self, now_ms: u64, id: &ExecutionId, report: ExecutionReport) {
        let Some(run) = self.runs.get(id) else { return };
        self.push_lingering(now_ms, run.report(id, report, ToStore::Parts(Vec::new())));
    }

    fn push_lingering(&mut self, now_ms: u64, pending: ReportCommand) {
        if self.pending_bytes + pending.bytes() > self.limits.max_batch_bytes {
            self.flush();
        }
        self.push(pending);
        self.pending_since.get_or_insert(now_ms);
    }

    /// Sends a command in its own report, so that its refusal affects no other.
    pub(super) fn push_alone(&mut self, pending: ReportCommand) {
        self.flush();
        self.push(pending);
        self.flush();
    }

    /// Adds the report of the kernel's start. `environment` is the blob that it names.
    pub(super) fn push_report_of_start(&mut self, command: Command, environment: Option<Bytes>) {
        let to_store = ToStore::Parts(environment.into_iter().collect());
        self.push(ReportCommand { to_store, ..ReportCommand::plain(command) });
    }

    pub(super) fn push_command(&mut self, command: Command) {
        self.push(ReportCommand::plain(command));
    }

    fn push(&mut self, command: ReportCommand) {
        self.pending_bytes += command.bytes();
        self.pending.push(command);
    }

    pub(super) fn flush_if_due(&mut self, now_ms: u64) {
        if self.pending_since.is_some_and(|since| now_ms >= since + self.limits.linger_ms) {
            self.show_busy();
            self.flush();
        }
    }

    /// Reports the busy state, if it changed. Short runs are not shown.
    fn show_busy(&mut self) {
        let busy = self.runs.values().any(|run| run.is_started() && !run.is_finished());
        if busy != self.busy_shown {
            self.busy_shown = busy;
            self.out.push(SessionOutput::Busy(busy));
        }
    }

    pub(super) fn flush(&mut self) {
        if self.busy_shown {
            self.show_busy();
        }
        self.pending_since = None;
        if self.pending.is_empty() {
            return;
        }
        let report =
            Report { commands: std::mem::take(&mut self.pending), bytes: std::mem::take(&mut self.pending_bytes) };
        self.unanswered_bytes += report.bytes;
        self.unanswered += 1;
        self.out.push(SessionOutput::Report(report));
    }

    /// Takes the answer to a report: it is in the log, or was refused. Notices are about functions that were left out.
    pub(super) fn answered(
        &mut self,
        now_ms: u64,
        report: Report,
        answer: Result<Vec<String>, (RejectionCode, String)>,
    ) {
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(report.bytes);
        self.unanswered = self.unanswered.saturating_sub(1);
        let problems: Vec<String> = match answer {
            Ok(notices) => {
                notices.into_iter().map(|notice| format!("a function was not registered: {notice}")).collect()
            }
            Err((code, _)) if is_over(code) => {
                return self.abandon();
            }
            Err((_, message)) => {
                for ReportCommand { command, .. } in &report.commands {
                    if let Command::ReportNextInput(NextInput { execution_id, text, .. }) = command {
                        self.show_text(now_ms, execution_id, text);
                    }
                }
                vec![not_registered(&message)]
            }
        };
        for id in report.commands.into_iter().filter_map(|command| command.registered_by) {
            problems.iter().for_each(|problem| self.say_of_functions(now_ms, &id, problem));
        }
    }
}

/// Commands of one batch: all or nothing.
#[derive(Debug)]
pub struct Report {
    pub commands: Vec<ReportCommand>,
    /// Bytes that it counts against the session's memory limit.
    pub bytes: usize,
}

/// One command of a report. Reports of a run are numbered when they are sent.
#[derive(Debug)]
pub struct ReportCommand {
    pub command: Command,
    pub to_store: ToStore,
    /// The run that gets the notice of a refusal. Set for functions, which are sent alone.
    pub registered_by: Option<ExecutionId>,
}

/// Blobs to store before a command can be sent.
#[derive(Debug)]
pub enum ToStore {
    /// The bytes of the blobs that its outputs name, in their order.
    Parts(Vec<Bytes>),
    /// The run's overflow; the output that names it is the report's only one.
    Overflow,
}

/// Cost of a report beside its content, in bytes.
const OVERHEAD_BYTES: usize = 128;

impl ReportCommand {
    /// A command that names no blobs.
    pub(super) fn plain(command: Command) -> Self {
        Self { command, to_store: ToStore::Parts(Vec::new()), registered_by: None }
    }

    pub(super) fn bytes(&self) -> usize {
        let content: usize = match &self.command {
            Command::SaveWidgets { state, .. } => state.get().len(),
            Command::ReportNextInput(NextInput { text, .. }) => text.len(),
            Command::RegisterFunctions { functions, .. } => {
                let of = |it: &notarium_core::UserFunction| it.schema.get().len() + it.description.len();
                functions.iter().map(|function| of(function) + OVERHEAD_BYTES).sum()
            }
            Command::ReportExecution { report: ExecutionReport::Output { outputs }, .. } => {
                outputs.iter().map(|output| output.content.get().len()).sum()
            }
            Command::ReportExecution { report: ExecutionReport::UpdateDisplay { output, .. }, .. } => {
                output.content.get().len()
            }
            _ => 0,
        };
        let parts: &[Bytes] = if let ToStore::Parts(parts) = &self.to_store { parts } else { &[] };
        OVERHEAD_BYTES + content + parts.iter().map(Bytes::len).sum::<usize>()
    }
}

/// True if no further report of the session can be recorded.
fn is_over(code: RejectionCode) -> bool {
    use RejectionCode as C;
    matches!(code, C::StaleFence | C::Forbidden | C::UnknownNotebook | C::Erased)
}

/// The blobs that a command names.
pub fn blobs_of(command: &mut Command) -> impl Iterator<Item = &mut BlobPart> {
    let outputs: &mut [Output] = match command {
        Command::ReportExecution { report: ExecutionReport::Output { outputs }, .. } => outputs,
        Command::ReportExecution { report: ExecutionReport::UpdateDisplay { output, .. }, .. } => {
            std::slice::from_mut(output)
        }
        _ => &mut [],
    };
    outputs.iter_mut().flat_map(|output| &mut output.blobs)
}

/// An output in its reported form; the bytes of its blobs go into `parts`.
pub(super) fn displayed(object: OutputObject, display_id: Option<String>, parts: &mut Vec<Bytes>) -> Output {
    let take = |part: crate::outputs::LargePart| {
        parts.push(part.bytes);
        part.blob
    };
    Output { content: object.output.into(), blobs: object.large_parts.into_iter().map(take).collect(), display_id }
}

/// An update has only data and metadata; this adds the type of a display, or the type and count of a result.
fn as_output(update: &RawValue, count: Option<&RawValue>) -> Box<RawValue> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(update.get()).unwrap_or_default();
    let kind = if count.is_some() { "execute_result" } else { "display_data" };
    fields.insert("output_type".to_owned(), raw(kind));
    fields.extend(count.map(|count| ("execution_count".to_owned(), count.to_owned())));
    raw(&fields)
}

/// The `execution_count` of an `execute_result`; `None` for other outputs.
fn count_of_result(output: &RawValue) -> Option<Box<RawValue>> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(output.get()).ok()?;
    let is_result = fields.get("output_type").is_some_and(|kind| kind.get() == "\"execute_result\"");
    fields.remove("execution_count").filter(|_| is_result)
}

/// A notice of the agent in the run.
pub(crate) fn notice(text: &str) -> ExecutionReport {
    let content = RawJson::from(stream_object("stderr", text));
    ExecutionReport::Output { outputs: vec![Output { content, blobs: Vec::new(), display_id: None }] }
}

/// Position of the overflow in its output. Exported files omit it: `metadata.notarium` is ours.
const OVERFLOW_POINTER: &str = "/metadata/notarium/overflow";

/// The output that names a run's overflow.
pub fn overflow_output(sha256: String, size_bytes: u64) -> Output {
    let text = format!("[notarium: the rest of this run's output, {size_bytes} bytes, is kept as the blob {sha256}]");
    let content = serde_json::json!({
        "output_type": "display_data",
        "data": { "text/plain": text },
        "metadata": { "notarium": {} },
    });
    let blob = BlobPart { pointer: OVERFLOW_POINTER.to_owned(), sha256, size_bytes, json: false };
    Output { content: RawJson::from(raw(&content)), blobs: vec![blob], display_id: None }
}
