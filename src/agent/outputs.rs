//! Outputs of a run on their way from the kernel to the log: coalesced, cleared, capped. A state machine without I/O
//! or clock. The server has a cap too: `within_limit` in `src/core/runs/reports.rs`.
//!
//! **Invariants.** Kernel output is never lost without a visible notice, except what the run itself cleared
//! before it was sent. Outputs keep their order. The emitted stream pieces, put together, render like the kernel's
//! text. Must never wait, read a clock or know where the outputs go.

mod output_object;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use notarium_core::mask::{mask_continued, mask_output};
use notarium_terminal::StreamFold;
use output_object::without_arrow;
use serde_json::value::RawValue;

pub use output_object::{LargePart, OutputObject, stream_object};
pub(crate) use output_object::{raw, raw_json};

/// One change of a run's outputs by the kernel.
#[derive(Debug, Clone)]
pub enum KernelOutput {
    /// Text on `stdout` or `stderr`.
    Stream { name: String, text: String },
    /// An nbformat output object (`display_data`, `execute_result` or `error`). `display_id` names it for updates.
    Object { output: Box<RawValue>, display_id: Option<String> },
    /// New content for every output that was displayed under `display_id`, in this run or another:
    /// `{"data", "metadata"}`.
    Update { display_id: String, content: Box<RawValue> },
    /// Remove the outputs so far; with `wait` only when the next output comes.
    Clear { wait: bool },
}

/// A change to record.
#[derive(Debug, Clone)]
pub enum OutputChange {
    /// Append an output. Text of the same stream that follows directly continues it.
    Append { object: OutputObject, display_id: Option<String> },
    /// Replace the content of the outputs with this `display_id`; `object` is `{"data", "metadata"}`.
    Update { display_id: String, object: OutputObject },
    /// Remove the outputs so far.
    Clear,
    /// Bytes for the run's overflow, which is read as one text: stream text unchanged, other outputs as one line of JSON each.
    Overflow(Bytes),
}

notarium_core::with_defaults! {
    /// Limits of one run.
    #[derive(Debug, Clone, Copy)]
    pub struct OutputLimits {
        /// Most bytes in the log; large parts of displays do not count, stream text does.
        pub max_log_bytes: u64 = 10 << 20,
        /// Most lines of stream text in the log; any other output counts as one line.
        pub max_log_lines: u64 = 100_000,
        /// Most bytes in the overflow when the log is full; later output is dropped, and a notice says how much.
        pub max_overflow_bytes: u64 = 256 << 20,
        /// Most bytes of large parts (blobs), together.
        pub max_large_bytes: u64 = 256 << 20,
        /// A value longer than this becomes a [`LargePart`].
        pub large_part_bytes: usize = 8 << 10,
        /// Longest piece of stream text, in bytes.
        pub max_piece_bytes: usize = 64 << 10,
        /// Time for which outputs are collected while a run is busy, in milliseconds.
        pub coalesce_ms: u64 = 50,
    }
}

/// Most bytes of a stream's tail that are kept to recognise a key that two pieces share.
const MAX_TAIL_BYTES: usize = 512;

#[derive(Debug)]
enum QueuedOutput {
    Stream { name: String, text: String },
    Object { output: Box<RawValue>, display_id: Option<String> },
    Update { display_id: String, content: Box<RawValue> },
}

/// Turns the outputs of one run into changes to record.
///
/// Call [`handle`](Self::handle) for each output, [`tick`](Self::tick) when [`deadline`](Self::deadline) has come and
/// [`finish`](Self::finish) at the end of the run. Outputs may still come after that (threads of the kernel).
#[derive(Debug)]
pub struct OutputCollector {
    limits: OutputLimits,
    queue: VecDeque<QueuedOutput>,
    queued_bytes: usize,
    /// The stream of the current piece; its text is not in `queue` yet.
    stream_name: String,
    stream: StreamFold,
    clear_with_next_output: bool,
    clear_queued: bool,
    emitted_at_ms: Option<u64>,
    tally: OutputTally,
    /// Set if keys are masked: the last piece of each stream, in which a key may have begun.
    masked: Option<BTreeMap<String, String>>,
}

impl OutputCollector {
    /// A collector for a run that has not written anything.
    pub fn new(limits: OutputLimits) -> Self {
        Self {
            limits,
            queue: VecDeque::new(),
            queued_bytes: 0,
            stream_name: String::new(),
            stream: StreamFold::default(),
            clear_with_next_output: false,
            clear_queued: false,
            emitted_at_ms: None,
            tally: OutputTally::default(),
            masked: None,
        }
    }

    /// Masks keys before anything is recorded or stored; for runs that an assistant requested.
    pub fn masking_keys(mut self) -> Self {
        self.masked = Some(BTreeMap::new());
        self
    }

    /// Takes an output that came at `now_ms` (any monotonic clock) and returns the changes that are due.
    pub fn handle(&mut self, now_ms: u64, output: KernelOutput) -> Vec<OutputChange> {
        if self.clear_with_next_output && matches!(output, KernelOutput::Stream { .. } | KernelOutput::Object { .. }) {
            self.clear();
        }
        match output {
            KernelOutput::Stream { name, text } => self.write_stream(&name, &text),
            KernelOutput::Object { output, display_id } => self.enqueue(QueuedOutput::Object { output, display_id }),
            KernelOutput::Update { display_id, content } => self.update(display_id, content),
            KernelOutput::Clear { wait: true } => self.clear_with_next_output = true,
            KernelOutput::Clear { wait: false } => self.clear(),
        }
        if self.is_due(now_ms) { self.flush(now_ms) } else { Vec::new() }
    }

    /// Time of the next [`tick`](Self::tick), on the clock of [`handle`](Self::handle).
    pub fn deadline(&self) -> Option<u64> {
        let emitted = self.emitted_at_ms?;
        self.has_queued().then(|| emitted.saturating_add(self.limits.coalesce_ms))
    }

    /// Returns the queued changes if they are due.
    pub fn tick(&mut self, now_ms: u64) -> Vec<OutputChange> {
        if self.deadline().is_some_and(|deadline| now_ms >= deadline) { self.flush(now_ms) } else { Vec::new() }
    }

    /// Returns all queued changes and, if outputs were dropped, the notice of how much.
    pub fn finish(&mut self, now_ms: u64) -> Vec<OutputChange> {
        let mut emits = self.flush(now_ms);
        emits.extend(self.tally.dropped_notice().map(notice));
        emits
    }

    fn is_due(&self, now_ms: u64) -> bool {
        let idle = self.emitted_at_ms.is_none_or(|emitted| now_ms.saturating_sub(emitted) >= self.limits.coalesce_ms);
        self.has_queued() && (idle || self.queued_bytes + self.stream.len() >= self.limits.max_piece_bytes)
    }

    fn has_queued(&self) -> bool {
        self.clear_queued || !self.queue.is_empty() || !self.stream.is_empty()
    }

    fn write_stream(&mut self, name: &str, mut text: &str) {
        if self.stream_name != name && !text.is_empty() {
            self.end_stream();
            name.clone_into(&mut self.stream_name);
        }
        while !text.is_empty() {
            let room = self.limits.max_piece_bytes.saturating_sub(self.stream.len());
            let at = if text.len() <= room { text.len() } else { text.ceil_char_boundary(room.max(1)) };
            self.stream.push(&text[..at]);
            text = &text[at..];
            if self.stream.len() >= self.limits.max_piece_bytes {
                self.queue_piece();
            }
        }
    }

    /// Queues the text of the stream; later text of the same stream continues its last line.
    fn queue_piece(&mut self) {
        let text = self.stream.take();
        if !text.is_empty() {
            self.queued_bytes += text.len();
            self.queue.push_back(QueuedOutput::Stream { name: self.stream_name.clone(), text });
        }
    }

    /// Ends the stream before another output: its later text begins a new output, and so a new line.
    fn end_stream(&mut self) {
        self.queue_piece();
        self.stream = StreamFold::default();
        self.stream_name.clear();
    }

    fn enqueue(&mut self, queued: QueuedOutput) {
        self.end_stream();
        self.queued_bytes += queued.bytes();
        self.queue.push_back(queued);
    }

    /// Replaces earlier updates of the same id; the new one goes behind everything displayed since.
    fn update(&mut self, display_id: String, content: Box<RawValue>) {
        self.queue.retain(|queued| !matches!(queued, QueuedOutput::Update { display_id: id, .. } if *id == display_id));
        self.queue_piece();
        self.queue.push_back(QueuedOutput::Update { display_id, content });
        self.queued_bytes = self.queue.iter().map(QueuedOutput::bytes).sum();
    }

    /// Removes queued outputs. Updates stay: they may be meant for outputs of other runs.
    fn clear(&mut self) {
        self.clear_with_next_output = false;
        self.clear_queued = true;
        self.queue.retain(|queued| matches!(queued, QueuedOutput::Update { .. }));
        self.queued_bytes = self.queue.iter().map(QueuedOutput::bytes).sum();
        self.stream = StreamFold::default();
        self.stream_name.clear();
    }

    fn flush(&mut self, now_ms: u64) -> Vec<OutputChange> {
        self.queue_piece();
        let mut emits = Vec::new();
        // A full log takes no new outputs after a clear, so the old ones stay, and the notice too.
        if std::mem::take(&mut self.clear_queued) && !self.tally.limit_reached {
            emits.push(OutputChange::Clear);
        }
        while let Some(queued) = self.queue.pop_front() {
            self.record(queued, &mut emits);
        }
        self.queued_bytes = 0;
        if !emits.is_empty() {
            self.emitted_at_ms = Some(now_ms);
        }
        emits
    }

    fn record(&mut self, queued: QueuedOutput, emits: &mut Vec<OutputChange>) {
        match queued {
            QueuedOutput::Stream { name, text } => {
                let text = self.mask_stream(&name, text);
                self.record_stream(&name, &text, emits);
            }
            QueuedOutput::Object { output, display_id } => {
                self.record_object(output, emits, |object| OutputChange::Append { object, display_id });
            }
            QueuedOutput::Update { display_id, content } => {
                self.record_object(content, emits, |object| OutputChange::Update { display_id, object });
            }
        }
    }

    fn record_object(
        &mut self,
        output: Box<RawValue>,
        emits: &mut Vec<OutputChange>,
        emit: impl FnOnce(OutputObject) -> OutputChange,
    ) {
        let output = self.mask(output);
        let is_error = is_error(&output);
        let (object, whole) = OutputObject::split(output, self.limits.large_part_bytes);
        if self.tally.admit_object(&self.limits, &object, is_error) {
            emits.push(emit(object));
        } else {
            let mut line = Box::<str>::from(whole.unwrap_or(object.output)).into_string().into_bytes();
            line.push(b'\n');
            self.spill(Bytes::from(line), emits);
        }
    }

    fn mask(&self, output: Box<RawValue>) -> Box<RawValue> {
        if self.masked.is_none() {
            return output;
        }
        let output = without_arrow(output);
        mask_output(output.get()).unwrap_or(output)
    }

    fn mask_stream(&mut self, name: &str, text: String) -> String {
        let Some(tails) = &mut self.masked else { return text };
        let tail = tails.entry(name.to_owned()).or_default();
        let text = match mask_continued(tail, &text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        };
        tail.push_str(&text);
        tail.drain(..tail.floor_char_boundary(tail.len().saturating_sub(MAX_TAIL_BYTES)));
        text
    }

    fn record_stream(&mut self, name: &str, text: &str, emits: &mut Vec<OutputChange>) {
        let (kept, rest) = text.split_at(self.tally.admit_text(&self.limits, text));
        if !kept.is_empty() {
            let (object, _) = OutputObject::split(stream_object(name, kept), self.limits.large_part_bytes);
            emits.push(OutputChange::Append { object, display_id: None });
        }
        if !rest.is_empty() {
            self.spill(Bytes::copy_from_slice(rest.as_bytes()), emits);
        }
    }

    fn spill(&mut self, mut bytes: Bytes, emits: &mut Vec<OutputChange>) {
        emits.extend(self.tally.limit_notice(&self.limits).map(notice));
        bytes.truncate(self.tally.admit_overflow(&self.limits, &bytes));
        if !bytes.is_empty() {
            emits.push(OutputChange::Overflow(bytes));
        }
    }
}

impl QueuedOutput {
    fn bytes(&self) -> usize {
        match self {
            Self::Stream { text, .. } => text.len(),
            Self::Object { output, .. } => output.get().len(),
            Self::Update { content, .. } => content.get().len(),
        }
    }
}

fn notice(text: String) -> OutputChange {
    OutputChange::Append {
        object: OutputObject { output: stream_object("stderr", &text), large_parts: Vec::new() },
        display_id: None,
    }
}

fn is_error(output: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        output_type: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Kind>(output.get()).is_ok_and(|kind| kind.output_type == "error")
}

/// Output of a run so far, in bytes and lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTally {
    pub log_bytes: u64,
    pub log_lines: u64,
    pub large_bytes: u64,
    pub overflow_bytes: u64,
    /// Bytes that were dropped.
    pub dropped_bytes: u64,
    /// The log of this run is full.
    pub limit_reached: bool,
    dropped_reported: u64,
}

impl OutputTally {
    /// Bytes of `text` that go in the log: all, or up to the limit.
    fn admit_text(&mut self, limits: &OutputLimits, text: &str) -> usize {
        if self.limit_reached {
            return 0;
        }
        let room_bytes = limits.max_log_bytes.saturating_sub(self.log_bytes);
        let fits = text.floor_char_boundary(usize::try_from(room_bytes).unwrap_or(usize::MAX));
        let room_lines = limits.max_log_lines.saturating_sub(self.log_lines);
        let (admitted, lines) = within_lines(&text[..fits], room_lines);
        self.log_bytes += admitted as u64;
        self.log_lines += lines;
        self.limit_reached = admitted < text.len();
        admitted
    }

    /// True if `object` goes in the log. An error always does: it explains why the run failed.
    fn admit_object(&mut self, limits: &OutputLimits, object: &OutputObject, is_error: bool) -> bool {
        let fits_log = !self.limit_reached
            && self.log_lines < limits.max_log_lines
            && self.log_bytes.saturating_add(object.inline_bytes()) <= limits.max_log_bytes;
        let fits_large = self.large_bytes.saturating_add(object.large_bytes()) <= limits.max_large_bytes;
        let admitted = is_error || (fits_log && fits_large);
        if admitted {
            self.log_lines += 1;
            self.log_bytes += object.inline_bytes();
            self.large_bytes += object.large_bytes();
        }
        self.limit_reached |= !fits_log && !is_error;
        admitted
    }

    /// Bytes that go in the overflow. After the first dropped byte everything is dropped: the overflow has no gaps.
    fn admit_overflow(&mut self, limits: &OutputLimits, bytes: &[u8]) -> usize {
        let room =
            if self.dropped_bytes > 0 { 0 } else { limits.max_overflow_bytes.saturating_sub(self.overflow_bytes) };
        let admitted = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.overflow_bytes += admitted as u64;
        self.dropped_bytes += (bytes.len() - admitted) as u64;
        admitted
    }

    /// The notice that the log of this run is full, once.
    fn limit_notice(&mut self, limits: &OutputLimits) -> Option<String> {
        let first = self.overflow_bytes == 0 && self.dropped_bytes == 0;
        first.then(|| {
            format!(
                "\n[notarium: this run has reached its output limit ({} in {} lines recorded; the limit is {} or {} lines). \
                 What follows is kept in the run's overflow, up to {}.]\n",
                size(self.log_bytes),
                self.log_lines,
                size(limits.max_log_bytes),
                limits.max_log_lines,
                size(limits.max_overflow_bytes)
            )
        })
    }

    /// The notice of output that was dropped since the last notice.
    fn dropped_notice(&mut self) -> Option<String> {
        let dropped = self.dropped_bytes - std::mem::replace(&mut self.dropped_reported, self.dropped_bytes);
        (dropped > 0).then(|| {
            format!(
                "\n[notarium: the overflow is full at {}; {dropped} bytes of output after it were dropped.]\n",
                size(self.overflow_bytes)
            )
        })
    }
}

/// The longest beginning of `text` that ends at most `lines` lines, and the number of lines it ends.
fn within_lines(text: &str, lines: u64) -> (usize, u64) {
    let mut ended = 0;
    for (at, _) in text.match_indices('\n') {
        if ended == lines {
            return (text[..at].rfind('\n').map_or(0, |at| at + 1), ended);
        }
        ended += 1;
    }
    (text.len(), ended)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
