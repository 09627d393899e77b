//! Notebooks: lists, templates, forks, imports, changes; the record of events, the trash, and the verification of the hash chain.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, CellContent, CellId, CommandId, CorrelationId, Document, Hash, Head, Millis, NotebookId, Outcome, RawJson,
    RawObject, Role, Stored, UserId, Version, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::KernelStatus;
use crate::ipynb::Notice;

/// Filter and order of the notebook list, which has only notebooks that you may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Search words, all of which must occur in title or sources.
    pub text: Option<String>,
    /// Only archived (true) or only unarchived (false) ones; absent: unarchived.
    pub archived: Option<bool>,
    /// Only notebooks of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// `next` of the page before.
    pub cursor: Option<String>,
    /// True: each line has the notebook's current activity (`now`).
    pub live: Option<bool>,
    /// Order of the list; absent: the last changed first.
    pub sort: Option<ListOrder>,
    /// True: each line has an excerpt with the found words (`found`); requires `text`.
    pub snippets: Option<bool>,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// The last changed first.
    Changed,
    /// By title, ignoring case.
    Title,
    /// The last created first.
    Created,
}

/// Excerpt of a source with the search words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FoundText {
    /// The cell that contains most of the words.
    pub cell_id: CellId,
    /// The line, or a part of at most 160 characters around the first word.
    pub text: String,
    /// Positions of words in `text`: start and end (exclusive), in Unicode code points.
    pub marks: Vec<(u32, u32)>,
}

/// Page of the notebook list, by default the last changed first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookPage {
    /// Notebooks, at most `limit`.
    pub notebooks: Vec<NotebookLine>,
    /// Value of `cursor` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A notebook in a list.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookLine {
    /// Notebook id.
    pub id: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// Last version that the list knows. It includes all of your changes; changes of others may be missing for a moment.
    pub version: Version,
    /// True if it is archived: it can only be read, exported and forked.
    pub archived: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Time of the last event, in milliseconds since 1970.
    pub updated_at: Millis,
    /// The notebook's workspace, whose members have their role in it.
    pub workspace: Option<WorkspaceId>,
    /// Number of cells, also for archived notebooks.
    pub cells: u64,
    /// Ids of the owners; `GET /api/people/{user}` has their names.
    #[serde(default)]
    pub owners: Vec<UserId>,
    /// True if it is a template for new notebooks (`GET /api/templates`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_template: bool,
    /// Excerpt; only if requested with `snippets`, and the words occur in a source.
    pub found: Option<FoundText>,
    /// Current activity; only if requested with `live`, and the notebook is open on this server.
    pub now: Option<NotebookNow>,
}

/// Current activity in a notebook. It is not recorded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookNow {
    /// Number of runs that a kernel executes.
    pub running: u64,
    /// Number of runs that wait for a kernel, or for runs before them.
    pub queued: u64,
    /// People and guests who have the notebook open, including you: each once, at most 20.
    pub people: Vec<PersonHere>,
}

/// A person or guest who has a notebook open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PersonHere {
    /// A person or a guest.
    pub actor: Actor,
    /// Display name.
    pub name: String,
}

/// A notebook to create; you are its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNotebook {
    /// Notebook id, chosen by you, so that a retry is the same creation. Absent: derived from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
    /// Title, 1 to 255 characters on one line; need not be unique. White space around it is removed.
    pub title: String,
    /// Metadata as in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
    #[serde(default)]
    pub metadata: RawObject,
    /// True: the notebook has one empty code cell.
    #[serde(default)]
    pub with_cell: bool,
    /// Template, which brings its metadata and cells: omit `metadata` and `with_cell`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateChoice>,
}

/// Template of a new notebook: cells without outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TemplateChoice {
    /// A template that every server has, by its id.
    Starter(String),
    /// A notebook that is a template, and that you may read.
    Notebook(NotebookId),
}

/// Templates for new notebooks.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Templates {
    /// Built-in templates of this server.
    pub starters: Vec<Starter>,
    /// Notebooks that are templates and that you may see, the last changed first.
    pub notebooks: Vec<TemplateLine>,
    /// True if there are more notebooks than listed.
    pub is_cut: bool,
}

/// A template that every server has.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Starter {
    /// Template id, for `TemplateChoice`.
    pub id: String,
    /// Title on one line.
    pub title: String,
    /// Purpose, on one line.
    pub description: String,
}

/// A notebook that is a template.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TemplateLine {
    /// Notebook id, for `TemplateChoice`.
    pub notebook: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// Purpose, on one line; may be empty.
    pub description: String,
    /// Number of cells.
    pub cells: u64,
    /// Milliseconds since 1970.
    pub updated_at: Millis,
}

/// Makes a notebook a template; stored as `notarium.template` in its metadata.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateMark {
    /// Purpose: one line of at most 200 characters.
    pub description: String,
}

/// A new notebook, copied from a version of another; you are its owner. Needs the right to read the other.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fork {
    /// Id of the new notebook; absent: chosen by the server.
    pub id: Option<NotebookId>,
    /// Title; absent: that of the original, with "(fork)".
    pub title: Option<String>,
    /// Version to copy; absent: the current one.
    pub version: Option<Version>,
    /// True: outputs are not copied.
    pub without_outputs: bool,
}

/// Version of a notebook to read, with or without outputs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuery {
    /// A past version; absent: the current one.
    pub at: Option<Version>,
    /// False: without outputs.
    pub outputs: Option<bool>,
}

/// A notebook's state, as in `protocol/schema/notebook.json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookAnswer {
    /// Version of `notebook`: the value of `If-Match` for a command that requires this version.
    pub version: Version,
    /// End of the record: at `version`, or after it if the notebook is `read_only`. Absent for past versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub head: Option<Head>,
    /// Your role now.
    pub role: Role,
    /// True: a newer server has written this notebook. It is shown as it was before the first event that this server does not know, and
    /// takes no commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Reachability and activity of each kernel. Empty for past versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
    /// The state as over the socket: `schema/notebook.json`.
    pub notebook: Arc<Document>,
}

/// Changes of a notebook as a whole. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotebookChange {
    /// 1 to 255 characters on one line; absent: unchanged.
    pub title: Option<String>,
    /// New metadata as a whole, as in nbformat; absent: unchanged.
    pub metadata: Option<RawObject>,
}

/// A name for a version.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionName {
    /// Version, from 1 to the notebook's current one.
    pub version: Version,
    /// 1 to 255 characters on one line; replaces the name that the version has.
    pub name: String,
}

/// The version to which a notebook is taken back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoredVersion {
    /// Version, from 1 to the notebook's current one. `POST …/undo` takes the restoration back.
    pub version: Version,
}

/// An erasure of a notebook, which nothing takes back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureReason {
    /// The reason, which people who had access may read: 1 to 1,000 characters.
    pub reason: String,
}

/// Extent of an undo or redo. The body may be omitted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Steps {
    /// Number of groups; absent: one.
    pub steps: Option<u32>,
    /// Correlation id of one group, instead of your last ones. Undo only.
    pub correlation_id: Option<CorrelationId>,
    /// Considers only those of your groups that changed text and touch this cell.
    pub cell_id: Option<CellId>,
}

/// Any command of the core, as over the socket.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnyCommand {
    /// Command id, chosen by you and new for every command; a retry is applied once. Absent: `Idempotency-Key`, else new.
    pub id: Option<CommandId>,
    /// Refuses the command unless the notebook is at this version. Alternatively the header `If-Match`.
    pub expected_version: Option<Version>,
    /// The undo group; absent: a group for this command.
    pub correlation_id: Option<CorrelationId>,
    /// A command of `protocol/schema/command.json`.
    pub body: RawJson,
}

/// Options of an import; the `.ipynb` file is the body of the request.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// Title; absent: the title in the file, else the file's name.
    pub title: Option<String>,
    /// Name of the file.
    pub filename: Option<String>,
    /// Id of the new notebook, chosen by you; absent: derived from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
}

/// An imported notebook; you are its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    /// Id of the notebook: `id` of the query, else derived from `Idempotency-Key`, else new.
    pub notebook: NotebookId,
    /// Title: as requested, else from the file's metadata or name, else `Untitled`.
    pub title: String,
    /// The notebook's version at which the whole file is in the log.
    pub version: Version,
    /// Outcome of the import; `cells` has the ids of the cells from top to bottom.
    pub outcome: Outcome,
    /// Notices of repairs, conversions and entries put aside, each with a code and a sentence.
    pub notices: Vec<Notice>,
}

/// Part of the record to read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Lower bound: events after this version. Absent: from the beginning; for a stream, from now on.
    #[serde(alias = "since")]
    pub after: Option<Version>,
    /// Size of a page, 1 to 1,000; absent: 200.
    pub limit: Option<usize>,
}

/// Page of the record, oldest event first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// Events with all hashed fields: see `protocol/README.md`, The record.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Stored>,
    /// The notebook's last version and its hash now.
    #[schemars(with = "Value")]
    pub head: Head,
    /// Value of `after` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Cells in the trash, which can be restored, the last deleted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Trash {
    /// Cells as they were when deleted, each once. At most 1,000.
    pub cells: Vec<TrashedCell>,
    /// True: older cells may be missing, as the log was not read to its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrashedCell {
    /// Cell id; a restored cell keeps it.
    pub cell_id: CellId,
    /// Type, source, metadata, attachments and flags.
    pub cell: CellContent,
    /// Actor who deleted it; for an undone insertion, who undid it.
    pub deleted_by: Actor,
    /// Milliseconds since 1970.
    pub deleted_at: Millis,
    /// Version of the event that deleted it.
    pub deleted_version: Version,
}

/// Result of a verification: reads the record up to a version and hashes every event.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// True if the hash chain is intact, and every author might do what is recorded, as far as the record tells.
    pub ok: bool,
    /// Last version that is verified.
    pub version: Version,
    /// The hash of that event.
    pub hash: Hash,
    /// SHA-256 of the state after these events, as JSON: the same on every server that has the same events.
    pub state_hash: Option<Hash>,
    /// True if the served state equals the replayed one. Absent for past versions.
    pub state_is_replayed: Option<bool>,
    /// People whose rights do not follow from the record alone (members of workspaces, administrators), with the count of their events that needed
    /// more than the access list gives. Absent: an event is unknown, and rights were not audited.
    pub untold: Option<BTreeMap<UserId, u64>>,
    /// Place and kind of the first break: in the chain, or an event that nobody might have written.
    pub problem: Option<String>,
    /// Contradiction between the events and what the server keeps beside them: an answer to a command, or a snapshot. The record may be whole.
    pub contradiction: Option<String>,
    /// Comparison of the kept answers to commands with the events. Absent for a record in a file.
    pub commands: Option<ComparedCommands>,
    /// Count of kept snapshots that hold the state to which the events lead. Absent for a record in a file.
    pub snapshots: Option<u64>,
}

/// Kept answers to commands, compared with the events.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCommands {
    /// Count of commands with events, whose answers agree with these.
    pub agree: u64,
    /// Count of answers to commands that led to no event: nothing proves them. Absent if they were not counted.
    pub unproven: Option<u64>,
    /// Version up to which the record was imported: the answers to its commands stayed on the server that accepted them.
    pub imported_to: Option<Version>,
}

/// Extent of a verification.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationQuery {
    /// Verify up to a past version; absent: the current one.
    pub at: Option<Version>,
    /// False: answers to commands that led to no event are not counted. Counting reads the commands of all notebooks.
    pub unproven: Option<bool>,
}
