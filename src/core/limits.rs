//! What is allowed at most. Units are in the names.

use notarium_record::Millis;

/// How long a tool call waits for a person, unless the limits say otherwise.
pub const EXPIRY_MS: Millis = 24 * 60 * 60 * 1_000;
/// Tool calls of one conversation in a minute, at most, unless the limits say otherwise.
pub const MAX_CALLS_PER_MINUTE: usize = 20;

/// Quotas that `decide` enforces; each has a typed rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Of a cell's source, or of code of no cell.
    pub max_source_bytes: usize,
    /// Of a cell's or the notebook's metadata, as JSON.
    pub max_metadata_bytes: usize,
    /// Of all attachments of a cell together, as JSON.
    pub max_attachments_bytes: usize,
    /// Of a title or a name.
    pub max_title_characters: usize,
    /// Edits of one cell that a late change is transformed over.
    pub max_late_edits: usize,
    /// Live ones.
    pub max_cells: usize,
    /// Keys grow where cells are put into the same gap again and again.
    pub max_order_key_bytes: usize,
    /// Parts of one `Batch`.
    pub max_batch_commands: usize,
    /// Runs that have not ended.
    pub max_queued_executions: usize,
    /// Sessions that have not ended.
    pub max_kernels: usize,
    /// All outputs of one report; what is larger comes in several reports.
    pub max_output_bytes_per_report: usize,
    /// What an agent may write of one run, with what each event costs; a notice takes the place of what goes beyond.
    pub max_output_bytes_per_run: usize,
    /// All outputs of one run that a file brings.
    pub max_recorded_output_bytes: usize,
    /// Subjects with a role.
    pub max_access_entries: usize,
    /// Versions that have a name.
    pub max_named_versions: usize,
    /// Groups that one `Undo` or `Redo` takes.
    pub max_undo_steps: usize,
    /// The answer to one question of running code.
    pub max_input_bytes: usize,
    /// Of a `detail`; the rest is cut off.
    pub max_cause_characters: usize,
    /// Conversations in which a person has spoken.
    pub max_conversations: usize,
    /// Conversations of outside assistants; the longest idle one makes room for another.
    pub max_outside_conversations: usize,
    /// Functions that a notebook keeps; of those whose kernel has ended the oldest make room.
    pub max_functions: usize,
    /// All blocks of a message together.
    pub max_message_bytes: usize,
    /// Of one conversation.
    pub max_flagged_messages: usize,
    /// Calls that wait for a person.
    pub max_waiting_tool_calls: usize,
    /// Of one conversation.
    pub max_tool_calls_per_minute: usize,
    /// How long a call waits for a person.
    pub tool_call_expiry_ms: Millis,
    /// Larger ones are refused: the rest belongs into a blob.
    pub max_tool_result_bytes: usize,
    /// Grants that hold at one time.
    pub max_grants: usize,
}

impl Limits {
    /// The beginning of a detail, as long as one may be; an empty one says nothing.
    pub(crate) fn detail(&self, text: Option<String>) -> Option<String> {
        text.filter(|text| !text.is_empty()).map(|text| text.chars().take(self.max_cause_characters).collect())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_source_bytes: 1 << 20,
            max_metadata_bytes: 1 << 20,
            max_attachments_bytes: 16 << 20,
            max_title_characters: 255,
            max_late_edits: 10_000,
            max_cells: 20_000,
            max_order_key_bytes: 1_000,
            max_batch_commands: 60_000,
            max_queued_executions: 20_000,
            max_kernels: 8,
            max_output_bytes_per_report: 4 << 20,
            max_output_bytes_per_run: 64 << 20,
            max_recorded_output_bytes: 64 << 20,
            max_access_entries: 1_000,
            max_named_versions: 1_000,
            max_undo_steps: 100,
            max_input_bytes: 64 << 10,
            max_cause_characters: 2_000,
            max_conversations: 1_000,
            max_outside_conversations: 100,
            max_functions: 128,
            max_message_bytes: 1 << 20,
            max_flagged_messages: 500,
            max_waiting_tool_calls: 2_000,
            max_tool_calls_per_minute: MAX_CALLS_PER_MINUTE,
            tool_call_expiry_ms: EXPIRY_MS,
            max_tool_result_bytes: 256 << 10,
            max_grants: 100,
        }
    }
}
