//! The server's interface for assistants, which know no store and no server: the server implements this trait.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_core::{
    Actor, BlobPart, CellId, Command, CommandId, Document, Epoch, Execution, ExecutionId, InstanceId, Millis,
    NotebookId, Recorded, Rejection, Stored, TurnId, Version,
};
use notarium_wire::{AckMessage, ConnectionSchema, OfferedConnection, TurnActivity};
use serde::Serialize;

use crate::preview::{MAX_READ_BYTES, ReadBlob};

/// Access to notebooks. Every caller acts as an assistant or as the server itself, never as a person.
#[async_trait]
pub trait NotebookHost: Send + Sync + 'static {
    /// Sends a command in the name of an assistant, or of the server. Answers when it is on disk. A repeat under
    /// the same id is applied once and gets the same answer.
    async fn execute_as(
        &self,
        id: CommandId,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection>;

    /// Like [`NotebookHost::execute_as`], under a new id.
    async fn execute(&self, actor: &Actor, notebook: &NotebookId, command: &Command) -> Result<AckMessage, Rejection> {
        self.execute_as(ulid::Ulid::generate().into(), actor, notebook, command).await
    }

    /// True if this process has the notebook's lease, or is the one to take it: only then its worker acts.
    async fn owns(&self, _: &NotebookId) -> Result<bool, Rejection> {
        Ok(true)
    }

    /// Like [`NotebookHost::execute`], for a command that follows from the state that was read in this epoch. `Unavailable`, and nothing
    /// is changed, if another process has the notebook's lease, or has had it since.
    async fn execute_in_epoch(
        &self,
        epoch: Epoch,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection>;

    /// The notebook as it is on disk now.
    async fn read(&self, notebook: &NotebookId) -> Result<DocumentInEpoch, Rejection>;

    /// The notebook, if this assistant's person may read it now.
    async fn read_as(&self, actor: &Actor, notebook: &NotebookId) -> Result<Arc<Document>, Rejection>;

    /// Reasons why cells of a reactive notebook are not fresh. Empty for other notebooks, and if they are not known.
    async fn stale_cells(&self, notebook: &NotebookId) -> BTreeMap<CellId, String>;

    /// Events after `since` in order, at most `limit`; a server may return fewer.
    async fn events(&self, notebook: &NotebookId, since: Version, limit: usize) -> Result<Vec<Stored>, Rejection>;

    /// Follows the notebook from now on: its events as they come on disk, without a read of the log.
    fn follow(&self, notebook: &NotebookId) -> CommittedEvents;

    /// A run from the record, however old.
    async fn execution(&self, notebook: &NotebookId, id: &ExecutionId) -> Result<Option<Execution>, Rejection>;

    /// Every event about these conversations or tool calls, in order, however old.
    async fn events_of_subjects(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, Rejection>;

    /// Every event about one conversation or tool call.
    async fn events_of_subject(&self, notebook: &NotebookId, subject: &str) -> Result<Vec<Stored>, Rejection> {
        self.events_of_subjects(notebook, &[subject.to_owned()]).await
    }

    /// A blob of the notebook; `None` if it does not exist, or has more than `most` bytes.
    async fn blob(&self, notebook: &NotebookId, sha256: &str, most: usize) -> Option<Bytes>;

    /// The notebooks that this assistant's person can see, the last changed first.
    async fn notebooks(
        &self,
        actor: &Actor,
        query: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ListedNotebook>, Rejection>;

    /// The databases that SQL cells of a notebook can name, if this assistant's person may read it now.
    async fn connections(&self, actor: &Actor, notebook: &NotebookId) -> Result<Vec<OfferedConnection>, Rejection>;

    /// The tables of one of them, as the notebook's kernel reaches it. The error is a sentence with the reason.
    async fn describe(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        connection: String,
        matching: String,
    ) -> Result<ConnectionSchema, String>;

    /// The next notebook with an event that may concern an assistant: of a conversation, a turn or a
    /// tool call; the end of a run, or its wait for input; the start, the end or the failed launch of a kernel; or it was
    /// opened with unfinished turns or calls. Only of notebooks whose lease this process owns. Several events may be
    /// merged. `None`: the server stops. For one listener.
    async fn next_notice(&self) -> Option<ChangeNotice>;

    /// Reserves the cost of a model call, in the name of the assistant that makes it. Waits while calls under way may use up
    /// the rest of a cap. `LimitExceeded`: a cap on spending is reached, or the model has no price under a cap in money.
    async fn reserve_model_call(&self, _: &Actor, _: &NotebookId, _: &PlannedModelCall) -> Result<(), Rejection> {
        Ok(())
    }

    /// Sends the activity of a turn to its followers; it is not in the log.
    fn publish(&self, notebook: &NotebookId, activity: TurnActivity);

    /// Id of this server process: claims under it are this process's own.
    fn instance(&self) -> &InstanceId;

    /// Milliseconds since 1970, by the server's clock.
    fn now(&self) -> Millis;

    /// Waits for this time, by the server's clock.
    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// A notebook as it is on disk.
#[derive(Debug, Clone)]
pub struct DocumentInEpoch {
    pub document: Arc<Document>,
    /// Epoch of the notebook's lease, if this process has it. Any other process that writes takes it first, which begins another epoch.
    pub epoch: Epoch,
}

/// A model call that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedModelCall {
    pub turn_id: TurnId,
    /// Number of the model call in its turn: 1, 2, 3 …
    pub number: u32,
    pub provider: String,
    pub model: String,
    /// Estimated tokens of the request, usually too high.
    pub input_tokens: u64,
    /// Most tokens of the reply.
    pub max_output_tokens: u64,
    /// Most tokens of both.
    pub context_tokens: u64,
}

/// Events of a notebook since it is followed.
pub struct CommittedEvents(Box<dyn FnMut() -> Vec<Arc<[Recorded]>> + Send + Sync>);

impl CommittedEvents {
    pub fn new(take: impl FnMut() -> Vec<Arc<[Recorded]>> + Send + Sync + 'static) -> Self {
        Self(Box::new(take))
    }

    /// Takes the commits since the last call, in order. A slow reader misses some: the log has them.
    pub fn take(&mut self) -> Vec<Arc<[Recorded]>> {
        (self.0)()
    }
}

/// A notebook has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeNotice {
    pub notebook: NotebookId,
    /// Version that is on disk at least.
    pub version: Version,
}

/// A notebook in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedNotebook {
    pub notebook_id: NotebookId,
    pub title: String,
    pub cells: u64,
    /// Milliseconds since 1970.
    pub updated_at: Millis,
}

/// Most renderings of one answer. Two are enough: the first names all blobs; the third is a reserve.
const MAX_ROUNDS: usize = 3;
/// Most blobs that one answer reads.
const MAX_BLOBS: usize = 64;
/// Most bytes that one answer reads; larger blobs are rendered as missing.
const MAX_BYTES: usize = 32 << 20;

/// The result of `render` once it has the blobs that it requests.
pub(crate) async fn with_blobs<T>(
    host: &dyn NotebookHost,
    notebook: &NotebookId,
    render: impl Fn(&ReadBlob) -> T + Send + Sync,
) -> T {
    let mut known: BTreeMap<String, Bytes> = BTreeMap::new();
    let mut left = MAX_BYTES;
    for _ in 0..MAX_ROUNDS {
        let (rendered, missing) = ask(&known, &render);
        if missing.is_empty() || known.len() >= MAX_BLOBS {
            return rendered;
        }
        for sha256 in missing.into_iter().take(MAX_BLOBS - known.len()) {
            let blob = host.blob(notebook, &sha256, left.min(MAX_READ_BYTES)).await.unwrap_or_default();
            left -= blob.len();
            known.insert(sha256, blob);
        }
    }
    ask(&known, &render).0
}

fn ask<T>(known: &BTreeMap<String, Bytes>, render: impl Fn(&ReadBlob) -> T) -> (T, BTreeSet<String>) {
    let missing = RefCell::new(BTreeSet::new());
    let read = |part: &BlobPart, most: usize| match known.get(&part.sha256) {
        Some(bytes) => (!bytes.is_empty()).then(|| bytes[..bytes.len().min(most)].to_vec()),
        None => {
            if part.size_bytes <= MAX_READ_BYTES as u64 {
                missing.borrow_mut().insert(part.sha256.clone());
            }
            None
        }
    };
    let rendered = render(&read);
    (rendered, missing.into_inner())
}
