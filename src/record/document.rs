//! Document of one notebook at one version: what every client shows and reproduces. Its serialised form is the
//! snapshot; its digest is computed over canonical JSON (RFC 8785), one text for each value in every language.
//!
//! [`Document::apply`] folds in a recorded event. It is dispatched to one file for each group of events, which also has
//! the parts of the document that these events change. No event carries one of these structs.
//!
//! Invariant: no constant, time window or eviction decides here. Only events remove state.

pub(crate) mod assistants;
pub(crate) mod cells;
pub(crate) mod executions;
pub(crate) mod kernels;
pub(crate) mod schedules;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::{AccessEntry, Actor, Grant, Role, Subject};
use crate::cell::{OrderKey, is_default};
use crate::document::assistants::{AssistantGrant, Conversation, ToolCall, Turn};
use crate::document::cells::{Cell, Thread};
use crate::document::executions::Execution;
use crate::document::kernels::{KernelNotice, KernelSession, RegisteredFunction};
use crate::document::schedules::Schedule;
use crate::envelope::Recorded;
use crate::event::{Event, EventGroup, NotebookCreated, NotebookErased};
use crate::execution::{ExecutionSubject, Reactivity};
use crate::ids::{
    CellId, ConversationId, ExecutionId, GrantId, Hash, KernelSessionId, Millis, NotebookId, ScheduleId, ThreadId,
    ToolCallId, TurnId, Version,
};
use crate::json::RawObject;
use crate::placement::KernelSettings;
use crate::tool_call::Policy;

/// Erasure of a notebook: who, when and why, and the end of the record that was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Erasure {
    /// Author of the event.
    pub by: Actor,
    /// Time of the event, in milliseconds since 1970.
    pub at: Millis,
    /// The reason, in words of the author.
    pub reason: String,
    /// Version of the last erased event.
    pub version: Version,
    /// Hash of the last erased event.
    pub hash: Hash,
}

/// The document of one notebook at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The notebook's id, which its creator's client has chosen.
    pub notebook_id: NotebookId,
    /// Version of the last applied event; 0 before the notebook exists.
    pub version: Version,
    /// The title: 1 to 255 characters on one line; empty before the first event.
    pub title: String,
    /// True: the notebook can be read, exported and forked, but neither changed nor run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The erasure, after which nothing else is left but `access`. Absent: the notebook was not erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<Erasure>,
    /// The notebook's metadata, as in nbformat.
    pub metadata: RawObject,
    /// Time of the first event, in milliseconds since 1970.
    #[serde(default)]
    pub created_at: Millis,
    /// Time of the last event, in milliseconds since 1970.
    #[serde(default)]
    pub updated_at: Millis,
    /// The access list, sorted by subject.
    pub access: Vec<AccessEntry>,
    /// The live cells by id. The trash is a projection of the log.
    pub cells: BTreeMap<CellId, Arc<Cell>>,
    /// Cell ids in page order: by order key, then id. Derived from `cells`.
    pub order: Vec<CellId>,
    /// The latest execution of each live cell, whose outputs the cell shows.
    pub latest: BTreeMap<CellId, ExecutionId>,
    /// Threads of comments, also resolved ones and those of cells in the trash.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<ThreadId, Arc<Thread>>,
    /// Executions that are unfinished, or the latest of a live cell.
    pub executions: BTreeMap<ExecutionId, Arc<Execution>>,
    /// The kernel sessions that have not ended, also unclaimed ones.
    pub kernels: BTreeMap<KernelSessionId, KernelSession>,
    /// The last unrequested end or failed launch of a kernel. Absent: none since a kernel started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_notice: Option<KernelNotice>,
    /// Functions that kernels have registered as tools, by name; also those of ended kernels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, RegisteredFunction>,
    /// Names of versions, by version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_versions: BTreeMap<Version, String>,
    /// Version of the last redaction: what was read before it may have content that is gone. Absent: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redaction_epoch: Version,
    /// The policy: which tool calls of assistants need no confirmation. Absent: `guarded`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    /// The setting that says which other cells a run of a cell also updates. Absent: `off`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reactivity: Reactivity,
    /// The settings of the notebook's kernels. Absent: `ask`, and no labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kernel_settings: KernelSettings,
    /// Conversations, without their messages, which are a projection of the log.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// Turns that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub turns: BTreeMap<TurnId, Turn>,
    /// Tool calls that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls: BTreeMap<ToolCallId, Arc<ToolCall>>,
    /// Grants that are not revoked. Expired ones may still be here: check `expires_at`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<GrantId, AssistantGrant>,
    /// Schedules by which the notebook runs by itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schedules: BTreeMap<ScheduleId, Schedule>,
}

impl Document {
    /// The document before the first event.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self {
            notebook_id,
            version: 0,
            title: String::new(),
            archived: false,
            erased: None,
            metadata: RawObject::default(),
            created_at: 0,
            updated_at: 0,
            access: Vec::new(),
            cells: BTreeMap::new(),
            order: Vec::new(),
            latest: BTreeMap::new(),
            threads: BTreeMap::new(),
            executions: BTreeMap::new(),
            kernels: BTreeMap::new(),
            kernel_notice: None,
            functions: BTreeMap::new(),
            named_versions: BTreeMap::new(),
            redaction_epoch: 0,
            policy: Policy::default(),
            reactivity: Reactivity::default(),
            kernel_settings: KernelSettings::default(),
            conversations: BTreeMap::new(),
            turns: BTreeMap::new(),
            tool_calls: BTreeMap::new(),
            grants: BTreeMap::new(),
            schedules: BTreeMap::new(),
        }
    }

    /// Returns true after the first event.
    pub fn exists(&self) -> bool {
        self.version > 0
    }

    /// The cell's latest execution, if it has one.
    pub fn latest_execution(&self, cell_id: &CellId) -> Option<(&ExecutionId, &Arc<Execution>)> {
        self.executions.get_key_value(self.latest.get(cell_id)?)
    }

    /// Cells in page order.
    pub fn ordered_cells(&self) -> impl Iterator<Item = (&CellId, &Arc<Cell>)> {
        self.order.iter().filter_map(|id| self.cells.get_key_value(id))
    }

    /// Returns true if the cell's source differs from that of its latest execution or of its reply's prompt.
    pub fn is_stale(&self, cell_id: &CellId) -> bool {
        let Some(cell) = self.cells.get(cell_id) else { return false };
        if cell.reply.as_ref().is_some_and(|reply| *reply.prompt != *cell.content.source) {
            return true;
        }
        self.latest_execution(cell_id).is_some_and(|(_, execution)| match &execution.subject {
            ExecutionSubject::Cell { source, .. } => **source != *cell.content.text_to_run(),
            ExecutionSubject::Scratch { .. } | ExecutionSubject::Tool { .. } => false,
        })
    }

    /// Index of the cell in `order`.
    pub fn position(&self, cell_id: &CellId) -> Option<usize> {
        let index = self.place_of(&self.cells.get(cell_id)?.content.order_key, cell_id);
        (self.order.get(index) == Some(cell_id)).then_some(index)
    }

    /// Index in `order` of a cell with this key and id, or the index at which it would be inserted.
    pub fn place_of(&self, key: &OrderKey, cell_id: &CellId) -> usize {
        let place = (key, cell_id);
        self.order.partition_point(|other| {
            let cell = self.cells.get(other);
            cell.is_none_or(|cell| (&cell.content.order_key, other) < place)
        })
    }
}

impl Document {
    /// Folds in one event. Total: it cannot fail. An event that was applied already (its version is not later) changes
    /// nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        let envelope = &recorded.envelope;
        if envelope.version <= self.version {
            return;
        }
        self.version = envelope.version;
        self.updated_at = envelope.recorded_at;
        match recorded.event.group() {
            EventGroup::Notebook => apply_notebook(self, recorded),
            EventGroup::Cells => cells::apply(self, recorded),
            EventGroup::Comments => cells::apply_comments(self, recorded),
            EventGroup::Executions => executions::apply(self, recorded),
            EventGroup::Kernels => kernels::apply(self, recorded),
            EventGroup::Conversations => assistants::apply(self, recorded),
            EventGroup::ToolCalls => assistants::apply_tool_calls(self, recorded),
            EventGroup::Schedules => schedules::apply(self, recorded),
        }
    }
}

pub(crate) fn apply_notebook(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::NotebookCreated(event) => create(document, recorded, event),
        Event::NotebookRenamed(event) => document.title.clone_from(&event.title),
        Event::NotebookMetadataSet(event) => document.metadata = event.metadata.clone(),
        Event::NotebookArchived(_) => document.archived = true,
        Event::NotebookUnarchived(_) => document.archived = false,
        Event::NotebookVersionNamed(event) => _ = document.named_versions.insert(event.version, event.name.clone()),
        Event::ContentRedacted(_) => document.redaction_epoch = recorded.envelope.version,
        Event::AccessGranted(event) => {
            grant(document, &event.subject, Grant { role: event.role, expires_at: event.expires_at });
        }
        Event::AccessRevoked(event) => document.access.retain(|entry| entry.subject != event.subject),
        Event::NotebookPolicyChanged(event) => document.policy = event.policy,
        Event::NotebookReactivitySet(event) => document.reactivity = event.reactivity,
        Event::NotebookKernelSettingsSet(event) => document.kernel_settings = event.settings.clone(),
        Event::NotebookErased(event) => erase(document, recorded, event),
        _ => {}
    }
}

/// Leaves the same document as the event alone does, when all events before it are deleted.
fn erase(document: &mut Document, recorded: &Recorded, event: &NotebookErased) {
    let NotebookErased { reason, version, hash, access } = event.clone();
    let (by, at) = (recorded.envelope.actor.clone(), recorded.envelope.recorded_at);
    let Document { notebook_id, version: now, updated_at, .. } = document;
    *document = Document {
        version: *now,
        updated_at: *updated_at,
        access,
        erased: Some(Erasure { by, at, reason, version, hash }),
        ..Document::new(notebook_id.clone())
    };
}

fn create(document: &mut Document, recorded: &Recorded, event: &NotebookCreated) {
    document.title.clone_from(&event.title);
    document.metadata = event.metadata.clone();
    document.created_at = recorded.envelope.recorded_at;
    grant(document, &event.owner, Grant { role: Role::Owner, expires_at: None });
}

fn grant(document: &mut Document, subject: &Subject, grant: Grant) {
    let entry = AccessEntry { subject: subject.clone(), grant };
    match document.access.binary_search_by(|other| other.subject.cmp(subject)) {
        Ok(index) => document.access[index] = entry,
        Err(index) => document.access.insert(index, entry),
    }
}

/// Returns the canonical JSON of a value: keys sorted by their UTF-16 code units, numbers as ECMAScript prints them, no
/// blanks.
///
/// # Errors
/// The value has no canonical form: half of a surrogate pair, a number beyond a double, more than 127 levels.
pub fn canonical_json<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    // Converts to a value first: raw JSON inside is parsed, not passed through.
    serde_json_canonicalizer::to_vec(&serde_json::to_value(value)?)
}

impl Document {
    /// SHA-256 of the document's canonical JSON: equal for all replicas that have applied the same events.
    ///
    /// # Errors
    /// Those of [`canonical_json`].
    pub fn digest(&self) -> Result<Hash, serde_json::Error> {
        Ok(Hash(Sha256::digest(canonical_json(self)?).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let canonical = canonical_json(&RawJson::parse(json).expect("it is JSON")).expect("it has a canonical form");
        assert_eq!(String::from_utf8(canonical).as_deref(), Ok(expected));
    }

    #[test]
    fn keys_are_sorted_by_their_utf_16_units() {
        check(r#"{"b":1, "a":{"\u0000":0,"":2} }"#, "{\"a\":{\"\":2,\"\\u0000\":0},\"b\":1}");
        // U+1F600 is the units D83D DE00.
        check("{\"\u{fb33}\":1,\"😀\":2,\"ö\":3,\"\\r\":4}", "{\"\\r\":4,\"ö\":3,\"😀\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn numbers_are_those_of_ecmascript() {
        check("[1.50, -0, 1e21, 1E-7, 100000000000000000000]", "[1.5,0,1e+21,1e-7,100000000000000000000]");
        check(
            "[12345678901234567890, 9007199254740993, -9223372036854775808]",
            "[12345678901234567000,9007199254740992,-9223372036854776000]",
        );
        // Correct to the last bit.
        check(
            "[2.2250738585072011e-308, 0.1, 5e-324, 1.7976931348623157e308]",
            "[2.225073858507201e-308,0.1,5e-324,1.7976931348623157e+308]",
        );
    }

    #[test]
    fn strings_escape_only_what_must_be() {
        check(r#""\u20ac\/\u000F\n\"\\\u007f""#, "\"€/\\u000f\\n\\\"\\\\\u{7f}\"");
    }

    #[test]
    fn of_two_fields_with_one_name_the_last_counts() {
        check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        for json in [r#""\ud800""#.to_owned(), "1e400".to_owned(), "[".repeat(200) + &"]".repeat(200)] {
            assert!(canonical_json(&RawJson::parse(&json).expect("it is JSON")).is_err(), "{json}");
        }
    }
}
