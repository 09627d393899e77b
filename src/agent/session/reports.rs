//! Reports for the log, with the bytes of their blobs, which are stored before the report is sent.

pub(crate) mod blobs;
pub(crate) mod delivery;

use std::collections::BTreeMap;

use bytes::Bytes;
use notarium_core::{BlobPart, Command, ExecutionId, ExecutionReport, Output, RawJson};
use serde_json::value::RawValue;

use crate::outputs::{OutputObject, raw, stream_object};

/// Commands of one batch: all or nothing.
#[derive(Debug)]
pub struct Report {
    pub commands: Vec<PendingCommand>,
    /// Bytes that it counts against the session's memory limit.
    pub bytes: usize,
}

/// One command of a report. Reports of a run are numbered when they are sent.
#[derive(Debug)]
pub struct PendingCommand {
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

impl PendingCommand {
    /// A command that names no blobs.
    pub(super) fn plain(command: Command) -> Self {
        Self { command, to_store: ToStore::Parts(Vec::new()), registered_by: None }
    }

    pub(super) fn bytes(&self) -> usize {
        let content: usize = match &self.command {
            Command::SaveWidgets { state, .. } => state.get().len(),
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

/// An update has only data and metadata; this adds the type of a display.
pub(super) fn as_display(update: &RawValue) -> Box<RawValue> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(update.get()).unwrap_or_default();
    fields.insert("output_type".to_owned(), raw("display_data"));
    raw(&fields)
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
