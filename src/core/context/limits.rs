//! Limits of sizes and counts. Units are in the names.

use notarium_record::Millis;

/// Default time that a tool call waits for a person.
pub const EXPIRY_MS: Millis = 24 * 60 * 60 * 1_000;
/// Default limit of tool calls in a minute, for a person with one token.
pub const MAX_CALLS_PER_MINUTE: usize = 20;

/// Quotas that `decide` enforces; each has a typed rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// A cell's source, or code of no cell.
    pub max_source_bytes: usize,
    /// Metadata of a cell or of the notebook, as JSON.
    pub max_metadata_bytes: usize,
    /// All attachments of a cell together, as JSON.
    pub max_attachments_bytes: usize,
    /// A title or a name.
    pub max_title_characters: usize,
    /// Edits of one cell over which a late change is transformed.
    pub max_late_edits: usize,
    /// Live cells.
    pub max_cells: usize,
    /// An order key. Keys grow where cells are inserted into the same gap again and again.
    pub max_order_key_bytes: usize,
    /// Parts of one `Batch`.
    pub max_batch_commands: usize,
    /// Runs that have not ended.
    pub max_queued_executions: usize,
    /// Kernel sessions that have not ended.
    pub max_kernels: usize,
    /// All outputs of one report; larger outputs come in several reports.
    pub max_output_bytes_per_report: usize,
    /// Outputs that an agent writes of one run, with a cost for each event. Beyond the limit a notice is recorded.
    pub max_output_bytes_per_run: usize,
    /// All outputs of one run that an imported file brings.
    pub max_recorded_output_bytes: usize,
    /// Entries of the access list.
    pub max_access_entries: usize,
    /// Named versions.
    pub max_named_versions: usize,
    /// Groups that one `Undo` or `Redo` takes.
    pub max_undo_steps: usize,
    /// An answer to one input request of running code.
    pub max_input_bytes: usize,
    /// A `detail`; the rest is cut off.
    pub max_cause_characters: usize,
    /// Conversations in which a person has spoken.
    pub max_conversations: usize,
    /// Conversations of outside assistants. At the limit, the one that is idle longest is closed for another.
    pub max_outside_conversations: usize,
    /// Functions of a notebook. At the limit, the oldest whose kernel has ended are evicted.
    pub max_functions: usize,
    /// All blocks of a message together.
    pub max_message_bytes: usize,
    /// Pinned or skipped messages of one conversation.
    pub max_flagged_messages: usize,
    /// Tool calls that wait for a person or for another call.
    pub max_waiting_tool_calls: usize,
    /// Tool calls of a person with one token.
    pub max_tool_calls_per_minute: usize,
    /// Time that a tool call waits for a person.
    pub tool_call_expiry_ms: Millis,
    /// Result of a tool; larger ones are refused and belong in a blob.
    pub max_tool_result_bytes: usize,
    /// Grants that have not expired.
    pub max_grants: usize,
}

impl Limits {
    /// Cuts a detail to its limit; an empty one becomes `None`.
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
