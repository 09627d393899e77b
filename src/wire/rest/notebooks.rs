//! Notebooks as wholes, and any command.

use std::sync::Arc;

use notarium_core::{
    Actor, CellId, CommandId, CorrelationId, Document, Head, Millis, NotebookId, RawJson, RawObject, Role, UserId,
    Version, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::KernelStatus;

/// Which notebooks are listed, of those that you may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Words that all stand in title or sources.
    pub text: Option<String>,
    /// Only archived (true) or only unarchived (false) ones; absent: unarchived.
    pub archived: Option<bool>,
    /// A workspace's id.
    pub workspace: Option<WorkspaceId>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// `next` of the page before.
    pub cursor: Option<String>,
    /// True: each line says too what happens in its notebook this moment (`now`).
    pub live: Option<bool>,
    /// Absent: the last changed first.
    pub sort: Option<ListOrder>,
    /// With `text`, true: each line says too where the words were found (`found`).
    pub snippets: Option<bool>,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// The last changed first.
    Changed,
    /// By title, whatever the case.
    Title,
    /// The newest first.
    Created,
}

/// Where the words of a search stand in a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FoundText {
    /// The cell that holds most of them.
    pub cell_id: CellId,
    /// The line, or the part of it around the first word: at most 160 characters.
    pub text: String,
    /// Where words stand in `text`: first and last character (exclusive), in Unicode code points.
    pub marks: Vec<(u32, u32)>,
}

/// Notebooks, the last changed first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookPage {
    /// At most `limit` of them.
    pub notebooks: Vec<NotebookLine>,
    /// Ask again with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A notebook in a list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookLine {
    /// Names it in every path.
    pub id: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// The last version that the list knows. It has all that you have changed, and may lag behind what others do by a moment.
    pub version: Version,
    /// True: it can be read, exported and forked, and nothing else.
    pub archived: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// When the last event was recorded. Milliseconds since 1970.
    pub updated_at: Millis,
    /// The workspace that it is in, whose members have their role in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
    /// How many it has, archived notebooks included.
    pub cells: u64,
    /// The people who own it; `GET /api/people/{user}` has their names.
    #[serde(default)]
    pub owners: Vec<UserId>,
    /// Others may be made of it (`GET /api/templates`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_template: bool,
    /// Where it was asked for with `snippets`, and the words stand in a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundText>,
    /// Where it was asked for with `live`, and the notebook is open on this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<NotebookNow>,
}

/// What happens in a notebook this moment. Nothing of it is recorded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookNow {
    /// Runs that a kernel has begun.
    pub running: u64,
    /// Runs that wait for a kernel, or for those before them.
    pub queued: u64,
    /// People and guests who have it open, you among them: each once, at most 20.
    pub people: Vec<PersonHere>,
}

/// Somebody who has a notebook open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PersonHere {
    /// A person or a guest.
    pub actor: Actor,
    /// For people to read.
    pub name: String,
}

/// A notebook to be made; you are its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNotebook {
    /// Chosen by you, so that a repeat is the same creation; absent: from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
    /// 1 to 255 characters on one line; need not be unique. Blanks around it are cut off.
    pub title: String,
    /// As in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
    #[serde(default)]
    pub metadata: RawObject,
    /// With one empty code cell.
    #[serde(default)]
    pub with_cell: bool,
    /// Made of a template, which brings its own metadata and cells: leave `metadata` and `with_cell` out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateChoice>,
}

/// What a notebook is made of: cells without outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TemplateChoice {
    /// One that every server has, by its id.
    Starter(String),
    /// A notebook that is a template, and that you may read.
    Notebook(NotebookId),
}

/// What a new notebook can be made of.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Templates {
    /// Of this server.
    pub starters: Vec<Starter>,
    /// Notebooks that are templates and that you may see, the last changed first.
    pub notebooks: Vec<TemplateLine>,
    /// There are more notebooks than are listed.
    pub is_cut: bool,
}

/// A template that every server has.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Starter {
    /// Names it in a `TemplateChoice`.
    pub id: String,
    /// On one line.
    pub title: String,
    /// What it is for, on one line.
    pub description: String,
}

/// A notebook that is a template.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TemplateLine {
    /// Names it in a `TemplateChoice`.
    pub notebook: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// What it is for, on one line; may be empty.
    pub description: String,
    /// How many it has.
    pub cells: u64,
    /// Milliseconds since 1970.
    pub updated_at: Millis,
}

/// Makes a notebook a template: kept as `notarium.template` in its metadata.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateMark {
    /// What it is for: one line of at most 200 characters.
    pub description: String,
}

/// A new notebook made of what another is or was; you are its owner. Needs the right to read the other.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fork {
    /// Of the new notebook.
    pub id: Option<NotebookId>,
    /// Absent: the title of the old one, and "(fork)".
    pub title: Option<String>,
    /// Absent: as it is now.
    pub version: Option<Version>,
    /// Leave the outputs behind.
    pub without_outputs: bool,
}

/// Which state of a notebook is read, and how much of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuery {
    /// A version of the past; absent: now.
    pub at: Option<Version>,
    /// False: without the outputs.
    pub outputs: Option<bool>,
}

/// A notebook's state, as `protocol/schema/notebook.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookAnswer {
    /// The version of `notebook`: the value of `If-Match` for a command that must meet just this.
    pub version: Version,
    /// The end of the record: at `version`, or after it where the notebook is `read_only`. Absent for the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub head: Option<Head>,
    /// Yours, now.
    pub role: Role,
    /// True: a newer server has written this notebook. It is shown as it was before the first event that this one does not
    /// know, and takes no commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Whether each kernel can be reached and is busy. Empty for the past.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
    /// The state: as over the socket, `schema/notebook.json`.
    pub notebook: Arc<Document>,
}

/// What is to change about a notebook as a whole. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotebookChange {
    /// 1 to 255 characters on one line; absent: as it is.
    pub title: Option<String>,
    /// The whole metadata, as in nbformat.
    pub metadata: Option<RawObject>,
}

/// A name for a version, so that people find it again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionName {
    /// 1 up to the notebook's own version.
    pub version: Version,
    /// 1 to 255 characters on one line; replaces the name that the version has.
    pub name: String,
}

/// How much is undone or redone. The body may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Steps {
    /// Absent: one.
    pub steps: Option<u32>,
    /// One group, by its id, instead of your last ones. Undo only.
    pub correlation_id: Option<CorrelationId>,
    /// Of your groups those that changed text and touch this cell.
    pub cell_id: Option<CellId>,
}

/// Any command, as over the socket.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnyCommand {
    /// Chosen by you, new for every command; a repeat is applied once. Absent: `Idempotency-Key`, else new.
    pub id: Option<CommandId>,
    /// Refuse unless the notebook is at this version. Also as `If-Match`.
    pub expected_version: Option<Version>,
    /// The undo group.
    pub correlation_id: Option<CorrelationId>,
    /// A command of `protocol/schema/command.json`.
    pub body: RawJson,
}
