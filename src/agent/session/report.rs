//! Reports on their way to the log: large parts still inside, to be put into blobs before they are sent.

use std::collections::BTreeMap;

use notarium_core::{BlobPart, Command, ExecutionId, ExecutionReport, Output, RawJson, Version};
use serde_json::value::RawValue;

use crate::outputs::{LargePart, OutputObject, PartEncoding, raw, stream_object};

/// Several commands that go together: all or nothing.
#[derive(Debug)]
pub struct Report {
    pub commands: Vec<PendingCommand>,
    /// What it counts against the session's memory.
    pub bytes: usize,
}

/// One command of a report.
#[derive(Debug)]
pub enum PendingCommand {
    Kernel(Command),
    /// Goes alone: what is wrong with it is said in the run that caused it.
    Functions {
        execution_id: ExecutionId,
        command: Command,
    },
    Execution {
        execution_id: ExecutionId,
        fence: Version,
        report: PendingReport,
    },
}

/// What is reported of an execution.
#[derive(Debug)]
pub enum PendingReport {
    Plain(ExecutionReport),
    Outputs(Vec<Displayed>),
    /// `object` is `{"data", "metadata"}`; the display id is never absent.
    Update(Displayed),
    /// What the run has spilled becomes a blob, and an output names it.
    Overflow,
}

/// An output and the name for its updates.
#[derive(Debug)]
pub struct Displayed {
    pub object: OutputObject,
    pub display_id: Option<String>,
}

/// Bytes that a report costs beside its content.
const OVERHEAD_BYTES: usize = 128;

impl PendingCommand {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Kernel(Command::SaveWidgets { state, .. }) => OVERHEAD_BYTES + state.get().len(),
            Self::Kernel(_) => OVERHEAD_BYTES,
            Self::Functions { command, .. } => OVERHEAD_BYTES + bytes_of(command),
            Self::Execution { report, .. } => report.bytes(),
        }
    }

    /// The parts that must be blobs before the command can be sent.
    pub fn large_parts(&self) -> impl Iterator<Item = &LargePart> {
        let displayed: &[Displayed] = match self {
            Self::Execution { report: PendingReport::Outputs(outputs), .. } => outputs,
            Self::Execution { report: PendingReport::Update(update), .. } => std::slice::from_ref(update),
            _ => &[],
        };
        displayed.iter().flat_map(|displayed| &displayed.object.large_parts)
    }

    /// The command, with the blobs that hold its large parts, in their order. A report is numbered when it is sent.
    pub fn to_command(&self, blobs: &mut impl Iterator<Item = BlobPart>, overflow: Option<&BlobPart>) -> Command {
        match self {
            Self::Kernel(command) | Self::Functions { command, .. } => command.clone(),
            Self::Execution { execution_id, fence, report } => Command::ReportExecution {
                execution_id: execution_id.clone(),
                fence: *fence,
                seq: 0,
                report: report.to_report(blobs, overflow),
            },
        }
    }
}

fn bytes_of(command: &Command) -> usize {
    let Command::RegisterFunctions { functions, .. } = command else { return 0 };
    functions.iter().map(|function| function.schema.get().len() + function.description.len() + OVERHEAD_BYTES).sum()
}

impl PendingReport {
    pub(super) fn bytes(&self) -> usize {
        let displayed: &[Displayed] = match self {
            Self::Outputs(outputs) => outputs,
            Self::Update(update) => std::slice::from_ref(update),
            Self::Plain(_) | Self::Overflow => &[],
        };
        let content =
            displayed.iter().map(|displayed| displayed.object.inline_bytes() + displayed.object.large_bytes());
        OVERHEAD_BYTES + usize::try_from(content.sum::<u64>()).unwrap_or(usize::MAX)
    }

    fn to_report(&self, blobs: &mut impl Iterator<Item = BlobPart>, overflow: Option<&BlobPart>) -> ExecutionReport {
        match self {
            Self::Plain(report) => report.clone(),
            Self::Outputs(outputs) => ExecutionReport::Output {
                outputs: outputs.iter().map(|displayed| displayed.to_output(blobs)).collect(),
            },
            Self::Update(update) => {
                let display_id = update.display_id.clone().unwrap_or_default();
                let output = Output { content: as_display(&update.object.output), ..update.to_output(blobs) };
                ExecutionReport::UpdateDisplay { display_id, output }
            }
            Self::Overflow => ExecutionReport::Output { outputs: overflow.map(overflow_output).into_iter().collect() },
        }
    }
}

impl Displayed {
    /// Words of the agent in the run.
    pub(crate) fn notice(text: &str) -> Self {
        let object = OutputObject { output: stream_object("stderr", text), large_parts: Vec::new() };
        Self { object, display_id: None }
    }

    fn to_output(&self, blobs: &mut impl Iterator<Item = BlobPart>) -> Output {
        let OutputObject { output, large_parts } = &self.object;
        let content = RawJson::from(output.clone());
        let blobs = blobs.by_ref().take(large_parts.len()).collect();
        Output { content, blobs, display_id: self.display_id.clone() }
    }
}

/// Where a part belongs: RFC 6901.
fn pointer(part: &LargePart) -> String {
    part.path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

/// How a part is named in an output, once its bytes are stored under `sha256`.
pub fn blob_part(part: &LargePart, sha256: String) -> BlobPart {
    let json = part.encoding == PartEncoding::Json;
    BlobPart { pointer: pointer(part), sha256, size_bytes: part.bytes.len() as u64, json }
}

/// An update says only data and metadata; what is shown is a display.
fn as_display(update: &RawValue) -> RawJson {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(update.get()).unwrap_or_default();
    fields.insert("output_type".to_owned(), raw("display_data"));
    RawJson::from(raw(&fields))
}

/// Where the overflow stands in its output. Files leave it out: `metadata.notarium` is ours.
pub const OVERFLOW_POINTER: &str = "/metadata/notarium/overflow";

fn overflow_output(blob: &BlobPart) -> Output {
    let text = format!(
        "[notarium: the rest of this run's output, {} bytes, is kept as the blob {}]",
        blob.size_bytes, blob.sha256
    );
    let content = serde_json::json!({
        "output_type": "display_data",
        "data": { "text/plain": text },
        "metadata": { "notarium": {} },
    });
    Output { content: RawJson::from(raw(&content)), blobs: vec![blob.clone()], display_id: None }
}
