//! Input of a decision beside the notebook: sender, time, new ids, limits, and the answers to its queries about the past
//! and about code. So the core stays pure and the state small.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use ulid::Ulid;

use crate::account_status::AccountStatuses;
use crate::authority::Authority;
use crate::redaction::RedactionPlan;
use crate::values::code_names::KnownNames;
use notarium_record::text::ChangeSet;
use notarium_record::{
    Actor, CellId, CommandId, CorrelationId, Document, Effect, Effects, Event, EventId, ExecutionId, Hash, InstanceId,
    KernelSessionId, Labels, Logged, Millis, Past, Recorded, ReplayedExecution, Risk, Salt, TurnId, Version,
};

/// Input of one `decide`. Built by the server from the connection and its own clock and entropy.
#[derive(Debug, Clone)]
pub struct Context {
    /// Time of the decision, never before the last event's `recorded_at`.
    pub now: Millis,
    /// The server instance that decides: claims are made in its name.
    pub instance: InstanceId,
    /// Sender of the command.
    pub actor: Actor,
    /// Rights of the actor besides the notebook's access list.
    pub authority: Authority,
    /// Id of the command, chosen by the sender.
    pub command_id: CommandId,
    /// The undo group; the server uses the command's own id where the sender names none.
    pub correlation_id: CorrelationId,
    /// The event that led to this command. `decide` sets it for commands of the server's reactors and reports of
    /// agents.
    pub causation_id: Option<EventId>,
    /// `conflict` refuses the command where the notebook is at another version.
    pub expected_version: Option<Version>,
    /// Hash of the notebook's last event; zeros before the first.
    pub head_hash: Hash,
    /// New ids and salts.
    pub ids: IdSource,
    /// The answer to [`crate::required_history`].
    pub history: History,
    /// The answer to [`crate::required_past`]: the notebook at that version.
    pub past: Option<Arc<Document>>,
    /// Changes of a redaction, as the server read them from the record.
    pub redaction: Option<Arc<RedactionPlan>>,
    /// The answer to [`crate::required_account_status`].
    pub account_status: AccountStatuses,
    /// Kernel sessions whose runtime agent is not connected. Their state is unknown until it is back.
    pub away: BTreeSet<KernelSessionId>,
    /// Kernel sessions whose runtime agent has been away so long that all clients are notified.
    pub unreachable: BTreeSet<KernelSessionId>,
    /// Kernelspecs whose kernels would hold effects: all connected agents that offer them say so. A kernel that has
    /// started says it itself.
    pub holding_kernelspecs: BTreeSet<String>,
    /// Labels of the sender, if it is a runtime agent, from its offer.
    pub agent_labels: Labels,
    /// Effects of the runs that an assistant's call requests. `decide` sets it for the call that it starts.
    pub run_effects: Option<Effects>,
    /// Texts that the model of an open turn has written and no message holds, one for each block.
    pub unposted: BTreeMap<TurnId, Vec<String>>,
    /// Quotas of this server.
    pub limits: Limits,
}

impl Context {
    /// Effects of a run that the sender requests: people's runs are free, and all others are held unless a call that
    /// passed the gate says otherwise.
    pub(crate) fn effects(&self) -> Effects {
        match &self.actor {
            Actor::User { .. } | Actor::Guest { .. } => Effects::Free,
            _ => self.run_effects.clone().unwrap_or_else(|| Effects::held([])),
        }
    }
}

/// Makes ids and salts from a seed: the same seed gives the same ones.
#[derive(Debug, Clone)]
pub struct IdSource {
    now: Millis,
    seed: [u8; 32],
    count: u64,
}

impl IdSource {
    /// `seed` must be fresh entropy for every command in production.
    pub fn new(now: Millis, seed: [u8; 32]) -> Self {
        Self { now, seed, count: 0 }
    }

    /// A new id; later ones sort after earlier ones of the same source.
    pub fn ulid(&mut self) -> Ulid {
        self.count += 1;
        let mut random = [0_u8; 16];
        random[6..].copy_from_slice(&self.seed[..10]);
        // The top bit stays free, so that counting up cannot overflow into the time.
        random[6] &= 0x7f;
        Ulid::from_parts(self.now, u128::from_be_bytes(random) + u128::from(self.count))
    }

    /// Sixteen bytes that cannot be guessed without the seed.
    pub fn salt(&mut self) -> Salt {
        self.count += 1;
        let digest = Sha256::new().chain_update(b"salt").chain_update(self.seed).chain_update(self.count.to_be_bytes());
        let mut salt = [0_u8; 16];
        salt.copy_from_slice(&digest.finalize()[..16]);
        Salt(salt)
    }
}

// --- answers about the past and about code ---

/// Answers to all queries of a command: each event once, in the order of versions. Empty without queries.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Events that the queries of [`crate::required_history`] have found.
    pub events: Vec<Arc<Recorded>>,
    /// Executions that the queries ask for, as the record has them.
    pub executions: BTreeMap<ExecutionId, ReplayedExecution>,
    /// The answer to [`crate::required_judgement`].
    pub judgement: Option<Judgement>,
    /// The names of the notebook's cells, where [`crate::reactive::needs_names`] asks for them.
    pub names: Option<Arc<KnownNames>>,
    /// Changes of the texts of cells with older bases, from memory. `events` has only later changes of these cells.
    pub changes: BTreeMap<CellId, Vec<Arc<RecordedChange>>>,
    /// Cells whose changes since the base are not in memory any more: their edits are refused.
    pub forgotten: BTreeSet<CellId>,
}

/// A change of a cell's text in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// Version of its event.
    pub version: Version,
    /// The change as it was applied.
    pub change: ChangeSet,
}

impl History {
    /// Makes a history from events in the order of versions.
    pub fn of(events: impl IntoIterator<Item = Recorded>) -> Self {
        Self { events: events.into_iter().map(Arc::new).collect(), ..Self::default() }
    }
}

impl<T: Logged> From<Past<T>> for History {
    /// Leaves out events that this build cannot read.
    fn from(past: Past<T>) -> Self {
        let events = past.events.iter().filter_map(|event| Some(event.recorded()?.into_owned()));
        Self { executions: past.executions, ..Self::of(events) }
    }
}

/// Pieces of Python that a tool call or a person's run would run, for a judge outside the core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgementQuery {
    /// Sources of the other cells, as they are and as they last ran: the code sees their names.
    pub earlier: Vec<String>,
    /// Places in `earlier` of the sources that a person ran last in the present kernel: their variables are that person's.
    pub people_ran: Vec<usize>,
    /// Sources to run, in this order.
    pub codes: Vec<String>,
    /// Functions that a kernel has registered, with their risks: code that mentions one has its risk.
    pub functions: Vec<(String, Risk)>,
    /// The codes run only to register their functions again in a new kernel: no function is called.
    pub registers: bool,
    /// A person runs the codes: the question is to which kinds of effects their texts can lead.
    pub expects: bool,
}

/// Judgement of the code of a query. It counts for that code only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The query that was judged.
    pub query: JudgementQuery,
    /// Risk of the code. `Read`: the judge has nothing to warn of.
    pub risk: Risk,
    /// Risk of each of the query's `codes`.
    pub each: Vec<Risk>,
    /// Reasons for the risk, as sentences.
    pub reasons: Vec<String>,
    /// Kinds of effects to which each of the query's `codes` can lead, if the query `expects`.
    pub kinds: Vec<Vec<Effect>>,
}

impl Judgement {
    /// A judgement that finds nothing in the code.
    pub fn of(query: JudgementQuery) -> Self {
        let (each, kinds) = (vec![Risk::Read; query.codes.len()], vec![Vec::new(); query.codes.len()]);
        Self { query, risk: Risk::Read, each, reasons: Vec::new(), kinds }
    }
}

/// Changes of a cell's text after `base`, in order. An insertion of the cell after `base` resets the list.
pub(crate) fn edits_after<'a>(history: &'a History, cell_id: &CellId, base: Version) -> Vec<&'a ChangeSet> {
    let known = history.changes.get(cell_id).into_iter().flatten();
    let mut edits: Vec<_> = known.filter(|known| known.version > base).map(|known| &known.change).collect();
    for recorded in history.events.iter().filter(|recorded| recorded.envelope.version > base) {
        match &recorded.event {
            Event::CellSourceEdited(event) if event.cell_id == *cell_id => edits.push(&event.change),
            Event::CellInserted(event) if event.cell_id == *cell_id => edits.clear(),
            _ => {}
        }
    }
    edits
}

// --- limits ---

/// Default time that a tool call waits for a person.
pub const EXPIRY_MS: Millis = 24 * 60 * 60 * 1_000;
/// Default limit of tool calls in a minute, for one conversation.
pub const MAX_CALLS_PER_MINUTE: usize = 20;
/// Conversations at their limit that one session or token has room for.
pub const BUSY_CONVERSATIONS_PER_TOKEN: usize = 5;

/// Declares a struct with the default of each field behind its type, and implements [`Default`] with them.
#[macro_export]
macro_rules! with_defaults {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_visibility:vis $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$meta])*
        $visibility struct $name { $($(#[$field_meta])* $field_visibility $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

with_defaults! {
    /// Quotas that `decide` enforces; each has a typed rejection.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Limits {
        /// A cell's source, or code of no cell.
        pub max_source_bytes: usize = 1 << 20,
        /// Metadata of a cell or of the notebook, as JSON.
        pub max_metadata_bytes: usize = 1 << 20,
        /// All attachments of a cell together, as JSON.
        pub max_attachments_bytes: usize = 16 << 20,
        /// A title or a name.
        pub max_title_characters: usize = 255,
        /// Edits of one cell over which a late change is transformed.
        pub max_late_edits: usize = 10_000,
        /// Live cells.
        pub max_cells: usize = 20_000,
        /// An order key. Keys grow where cells are inserted into the same gap again and again.
        pub max_order_key_bytes: usize = 1_000,
        /// Parts of one `Batch`.
        pub max_batch_commands: usize = 60_000,
        /// Runs that have not ended.
        pub max_queued_executions: usize = 20_000,
        /// Kernel sessions that have not ended.
        pub max_kernels: usize = 8,
        /// All outputs of one report; larger outputs come in several reports.
        pub max_output_bytes_per_report: usize = 4 << 20,
        /// Outputs that an agent writes of one run, with a cost for each event. Beyond the limit a notice is recorded.
        pub max_output_bytes_per_run: usize = 64 << 20,
        /// All outputs of one run that an imported file brings.
        pub max_recorded_output_bytes: usize = 64 << 20,
        /// Entries of the access list.
        pub max_access_entries: usize = 1_000,
        /// Named versions.
        pub max_named_versions: usize = 1_000,
        /// Groups that one `Undo` or `Redo` takes.
        pub max_undo_steps: usize = 100,
        /// An answer to one input request of running code.
        pub max_input_bytes: usize = 64 << 10,
        /// A `detail`; the rest is cut off.
        pub max_cause_characters: usize = 2_000,
        /// Conversations in which a person has spoken.
        pub max_conversations: usize = 1_000,
        /// Conversations of outside assistants. At the limit, the one that is idle longest is closed for another.
        pub max_outside_conversations: usize = 100,
        /// Functions of a notebook. At the limit, the oldest whose kernel has ended are evicted.
        pub max_functions: usize = 128,
        /// All blocks of a message together.
        pub max_message_bytes: usize = 1 << 20,
        /// Pinned or skipped messages of one conversation.
        pub max_flagged_messages: usize = 500,
        /// Tool calls that wait for a person or for another call.
        pub max_waiting_tool_calls: usize = 2_000,
        /// Tool calls of one conversation.
        pub max_tool_calls_per_minute: usize = MAX_CALLS_PER_MINUTE,
        /// Tool calls of all conversations of a person with one session or token.
        pub max_token_calls_per_minute: usize = MAX_CALLS_PER_MINUTE * BUSY_CONVERSATIONS_PER_TOKEN,
        /// Time that a tool call waits for a person.
        pub tool_call_expiry_ms: Millis = EXPIRY_MS,
        /// Result of a tool; larger ones are refused and belong in a blob.
        pub max_tool_result_bytes: usize = 256 << 10,
        /// Grants that have not expired.
        pub max_grants: usize = 100,
        /// Schedules of a notebook.
        pub max_schedules: usize = 20,
        /// Parameters of a schedule, as JSON.
        pub max_schedule_parameters_bytes: usize = 64 << 10,
    }
}

impl Limits {
    /// Cuts a detail to its limit; an empty one becomes `None`.
    pub(crate) fn detail(&self, text: Option<String>) -> Option<String> {
        text.filter(|text| !text.is_empty()).map(|text| text.chars().take(self.max_cause_characters).collect())
    }
}
