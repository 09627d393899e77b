//! Asks runtime agents for files in the folder in which kernels start: finding the agent, requests, and transfers.
//!
//! The right that is checked is that to run code, because code can read and write the same files. Requests do not enter
//! the log, as code's access to files does not.
//!
//! Pending file transfers between people and runtime agents. In memory alone; of a file's bytes there are only the
//! pieces in transit.
//!
//! A person's request and the agent's are paired by the name of a transfer. The body of one becomes the response body
//! of the other, so the reader's pace is the sender's back-pressure.

mod pieces;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt;
use notarium_core::{AgentId, Document, KernelPhase, KernelSessionId, NotebookId, Operation, TokenId, default_session};
use notarium_wire::{
    FileAnswer, FileEntry, FileRefusal, FileRequest, FolderPage, KernelStatus, MAX_LISTED_FILES, MovedFile,
    ServerMessage, TrashPage, TrashedFile, WrittenFile,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use ulid::Ulid;

pub use pieces::FilePieces;
use pieces::{at_most, whole};

use super::{Agents, Reachable, first_number, frame};
use crate::auth::{Accounts, Authenticated};
use crate::http::guarded_stream;
use crate::http::problem::Problem;
use crate::rooms::{ClientId, Offered, Rooms};

/// Timeout of an agent's answer: network disks are slow.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Time that an upload may make no progress, including the agent's writing to disk.
const STALLED_AFTER: Duration = Duration::from_secs(120);

/// Parts of the server that requests for files go through.
#[derive(Clone, Copy)]
pub struct FileService<'a> {
    pub rooms: &'a Arc<Rooms>,
    pub accounts: &'a Accounts,
    pub agents: &'a Agents,
    pub transfers: &'a AgentTransfers,
    pub max_file_bytes: u64,
}

/// A caller who may run code in a notebook, and the agent whose folder is used.
pub struct FileAsker<'a> {
    service: FileService<'a>,
    who: &'a Authenticated,
    notebook: &'a NotebookId,
    pub agent: Reachable,
}

/// A file that is sent to a person.
pub struct Download {
    pub entry: FileEntry,
    pub size_bytes: u64,
    pub body: Body,
}

impl<'a> FileAsker<'a> {
    /// Finds the agent: that of the named kernel, else of the kernel that a cell would run on, else the only agent.
    pub async fn new(
        service: FileService<'a>,
        who: &'a Authenticated,
        notebook: &'a NotebookId,
        kernel: Option<&KernelSessionId>,
    ) -> Result<Self, Problem> {
        let state = service.rooms.read_for(who, notebook).await?;
        if state.notebook.archived {
            return Err(refused(FileRefusal::NotebookArchived, "the notebook is archived: unarchive it first"));
        }
        let agent = match agent_of(&state.notebook, &state.kernels, kernel)? {
            Some(id) => service.agents.reachable(&id).ok_or_else(|| problem(unreachable()))?,
            None => only_agent(service.agents.covering(notebook))?,
        };
        if !agent.knows.files {
            let message =
                format!("the runtime agent {} is too old to move files: update it, and restart it", agent.name);
            return Err(refused(FileRefusal::AgentTooOld, message));
        }
        Ok(Self { service, who, notebook, agent })
    }

    pub async fn list(
        &self,
        path: String,
        after: Option<String>,
        limit: u32,
        all: bool,
    ) -> Result<FolderPage, Problem> {
        match self.ask(FileRequest::List { path, after, limit, all }).await? {
            FileAnswer::Listed(page) => Ok(page),
            other => Err(problem(other)),
        }
    }

    pub async fn look(&self, path: String) -> Result<FileEntry, Problem> {
        match self.ask(FileRequest::Look { path }).await? {
            FileAnswer::Found(entry) => Ok(entry),
            other => Err(problem(other)),
        }
    }

    pub async fn relocate(&self, from: String, to: String) -> Result<MovedFile, Problem> {
        moved(self.change(FileRequest::Move { from, to }).await?)
    }

    pub async fn remove(&self, path: String) -> Result<TrashedFile, Problem> {
        match self.change(FileRequest::Remove { path }).await? {
            FileAnswer::Trashed(trashed) => Ok(trashed),
            other => Err(problem(other)),
        }
    }

    pub async fn trash(&self) -> Result<TrashPage, Problem> {
        trash_page(self.change(FileRequest::Trash { limit: MAX_LISTED_FILES }).await?)
    }

    pub async fn restore(&self, id: String, to: Option<String>) -> Result<MovedFile, Problem> {
        moved(self.change(FileRequest::Restore { id, to }).await?)
    }

    pub async fn empty_trash(&self, id: Option<String>) -> Result<TrashPage, Problem> {
        trash_page(self.change(FileRequest::EmptyTrash { id }).await?)
    }

    /// Asks like [`Self::ask`], but is refused if the agent does not support changes of files.
    async fn change(&self, request: FileRequest) -> Result<FileAnswer, Problem> {
        if self.agent.knows.file_changes {
            return self.ask(request).await;
        }
        let name = &self.agent.name;
        let message =
            format!("the runtime agent {name} is too old to rename or delete files: update it, and restart it");
        Err(refused(FileRefusal::AgentTooOld, message))
    }

    async fn ask(&self, request: FileRequest) -> Result<FileAnswer, Problem> {
        let waits = self.begin(String::new(), None)?;
        self.send(waits.id, request)?;
        answered(waits.answer).await
    }

    /// Streams the bytes of a file, while the caller may run code here.
    pub async fn download(&self, path: String) -> Result<Download, Problem> {
        let (sender, coming) = oneshot::channel();
        let transfer = transfer_name(&self.service);
        let OpenRequest { id, answer, place } = self.begin(transfer.clone(), Some(TransferWay::ToPerson(sender)))?;
        self.send(id, FileRequest::Read { path, transfer })?;
        let entry = match answered(answer).await? {
            FileAnswer::Found(entry) => entry,
            other => return Err(problem(other)),
        };
        let size_bytes = entry.size_bytes.unwrap_or_default();
        let max_bytes = self.service.max_file_bytes;
        if size_bytes > max_bytes {
            let message =
                format!("the file has {size_bytes} bytes, and the server lets {max_bytes} through: read it by code");
            return Err(refused(FileRefusal::TooLarge, message));
        }
        let coming = tokio::time::timeout(ANSWER_WITHIN, coming).await.map_err(|_| late())?;
        let pieces = coming.map_err(|_| problem(unreachable()))?;
        let pieces = whole(pieces, size_bytes).inspect(move |_| _ = &place);
        let pieces = guarded_stream::pieces_while(
            (self.service.rooms, self.service.accounts),
            self.who,
            self.notebook,
            Operation::Run,
            pieces,
        )
        .await?;
        Ok(Download { entry, size_bytes, body: Body::from_stream(pieces) })
    }

    /// Stores the bytes of a body, all of them or none.
    pub async fn upload(
        &self,
        path: String,
        overwrite: bool,
        size_bytes: Option<u64>,
        body: Body,
    ) -> Result<WrittenFile, Problem> {
        let max_bytes = self.service.max_file_bytes;
        if size_bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(too_large(max_bytes));
        }
        let progress = Arc::new(Notify::new());
        let moved = progress.clone();
        let pieces = body.into_data_stream();
        let pieces = guarded_stream::pieces_while(
            (self.service.rooms, self.service.accounts),
            self.who,
            self.notebook,
            Operation::Run,
            pieces,
        )
        .await?;
        // A body without Content-Length is bounded here as well, whatever the agent does.
        let (exceeds, exceeded) = oneshot::channel();
        let pieces = at_most(pieces, max_bytes, exceeds).inspect(move |_| moved.notify_one()).boxed();
        let transfer = transfer_name(&self.service);
        let OpenRequest { id, answer, place: _place } =
            self.begin(transfer.clone(), Some(TransferWay::ToAgent(pieces)))?;
        self.send(id, FileRequest::Write { path, transfer, overwrite, size_bytes, max_bytes })?;
        let answer = tokio::select! {
            biased;
            Ok(()) = exceeded => return Err(too_large(max_bytes)),
            answer = stored(answer, &progress) => answer?,
        };
        match answer {
            FileAnswer::Written(written) => Ok(written),
            other => Err(problem(other)),
        }
    }

    fn begin(&self, transfer: String, way: Option<TransferWay>) -> Result<OpenRequest, Problem> {
        let Reachable { id: agent, client, .. } = self.agent.clone();
        let asked = TransferAgent { agent, client, token: self.who.token_id.clone(), transfer };
        self.service.transfers.begin(asked, way).map_err(problem)
    }

    fn send(&self, id: u64, request: FileRequest) -> Result<(), Problem> {
        let message = ServerMessage::FileRequest { id, notebook: self.notebook.clone(), request };
        match self.agent.outbox.offer(frame(&message)) {
            Offered::Queued => Ok(()),
            Offered::Full => Err(refused(FileRefusal::Busy, "the runtime agent is behind: try again in a moment")),
            Offered::Closed => Err(problem(unreachable())),
        }
    }
}

fn moved(answer: FileAnswer) -> Result<MovedFile, Problem> {
    match answer {
        FileAnswer::Moved(moved) => Ok(moved),
        other => Err(problem(other)),
    }
}

fn trash_page(answer: FileAnswer) -> Result<TrashPage, Problem> {
    match answer {
        FileAnswer::Trash(page) => Ok(page),
        other => Err(problem(other)),
    }
}

/// Random name of a transfer, which cannot be guessed. It begins with the node in whose memory the transfer is.
fn transfer_name(service: &FileService<'_>) -> String {
    format!("{}-{}{}", service.rooms.instance(), Ulid::generate(), Ulid::generate())
}

/// Agent of the named or default kernel. `None`: no kernel runs.
fn agent_of(
    notebook: &Document,
    statuses: &[KernelStatus],
    named: Option<&KernelSessionId>,
) -> Result<Option<AgentId>, Problem> {
    let Some(id) = named.or_else(|| default_session(notebook)) else { return Ok(None) };
    let unknown = || format!("no kernel session {id} in this notebook: it has ended, or never was");
    let session = notebook.kernels.get(id).ok_or_else(|| refused(FileRefusal::UnknownKernelSession, unknown()))?;
    match (session.phase, &session.agent) {
        (KernelPhase::Started | KernelPhase::Ending, Some(agent)) => {
            let is_reachable = statuses.iter().any(|status| status.kernel_session == *id && status.reachable);
            if is_reachable { Ok(Some(agent.clone())) } else { Err(problem(unreachable())) }
        }
        (_, agent) => Ok(agent.clone()),
    }
}

fn only_agent(mut agents: Vec<Reachable>) -> Result<Reachable, Problem> {
    match (agents.pop(), agents.is_empty()) {
        (Some(agent), true) => Ok(agent),
        (Some(_), false) => Err(refused(
            FileRefusal::NoKernel,
            "several runtime agents could run this notebook, each with a folder of its own: run a cell or start a kernel, so that \
             it is known whose folder is meant",
        )),
        (None, _) => Err(refused(
            FileRefusal::AgentUnreachable,
            "no runtime agent is connected, and the files are on its machine: start one with `notarium agent`",
        )),
    }
}

async fn answered(answer: oneshot::Receiver<FileAnswer>) -> Result<FileAnswer, Problem> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await.map_err(|_| late())?;
    answer.map_err(|_| problem(unreachable()))
}

/// The answer to an upload; times out if its bytes make no progress.
async fn stored(mut answer: oneshot::Receiver<FileAnswer>, progress: &Notify) -> Result<FileAnswer, Problem> {
    loop {
        tokio::select! {
            answer = &mut answer => return answer.map_err(|_| problem(unreachable())),
            () = progress.notified() => {}
            () = tokio::time::sleep(STALLED_AFTER) => {
                let message = "the runtime agent does not say whether the file is stored: look at the list before you try again";
                return Err(refused(FileRefusal::Timeout, message));
            }
        }
    }
}

fn late() -> Problem {
    refused(FileRefusal::Timeout, "the runtime agent did not answer in time: try again")
}

fn too_large(max_bytes: u64) -> Problem {
    let message = format!("a file has at most {max_bytes} bytes here: send a smaller one, or raise --max-file-size");
    refused(FileRefusal::TooLarge, message)
}

/// Problem of a refusal. An answer of another kind counts as a failure.
pub fn problem(answer: FileAnswer) -> Problem {
    match answer {
        FileAnswer::Refused { code, message } => refused(code, message),
        _ => refused(FileRefusal::SystemRefused, "the runtime agent answered something else: update it, and try again"),
    }
}

fn refused(code: FileRefusal, message: impl Into<String>) -> Problem {
    Problem::no_file(code, message)
}

/// Limit of concurrent requests to one runtime agent, which is as many as it works on.
const MAX_PER_AGENT: usize = 32;
/// Limit of concurrent requests of one token.
const MAX_PER_TOKEN: usize = 8;

/// Open requests to runtime agents. Cheap to clone.
#[derive(Clone, Default)]
pub struct AgentTransfers(Arc<Mutex<TransferState>>);

struct TransferState {
    /// Number of the last request.
    last: u64,
    open: BTreeMap<u64, PendingRequest>,
}

impl Default for TransferState {
    fn default() -> Self {
        Self { last: first_number(), open: BTreeMap::new() }
    }
}

struct PendingRequest {
    asked: TransferAgent,
    answer: Option<oneshot::Sender<FileAnswer>>,
    way: Option<TransferWay>,
}

/// Addressee of a request, and its token.
#[derive(Debug, Clone)]
pub struct TransferAgent {
    pub agent: AgentId,
    /// Connection of the agent.
    pub client: ClientId,
    pub token: TokenId,
    /// Name that the agent gives for the bytes. Secret: only the agent learns it.
    pub transfer: String,
}

/// Direction of the bytes.
pub enum TransferWay {
    /// To a person whose request waits for them.
    ToPerson(oneshot::Sender<FilePieces>),
    ToAgent(FilePieces),
}

/// A request that waits for its answer.
pub struct OpenRequest {
    /// Number that the agent's answer repeats.
    pub id: u64,
    pub answer: oneshot::Receiver<FileAnswer>,
    /// Place of the request: until it is dropped, the agent may bring or fetch the bytes.
    pub place: RequestSlot,
}

impl AgentTransfers {
    /// Registers a request that waits for an answer, and for bytes, if any. Refused above a limit.
    pub fn begin(&self, asked: TransferAgent, way: Option<TransferWay>) -> Result<OpenRequest, FileAnswer> {
        let mut state = self.0.lock();
        let count = |is_same: fn(&TransferAgent, &TransferAgent) -> bool| {
            state.open.values().filter(|open| is_same(&open.asked, &asked)).count()
        };
        if count(|one, other| one.token == other.token) >= MAX_PER_TOKEN {
            let message = format!("you have {MAX_PER_TOKEN} files on their way already: wait until one is there");
            return Err(FileRefusal::Busy.because(message));
        }
        if count(|one, other| one.client == other.client) >= MAX_PER_AGENT {
            return Err(
                FileRefusal::Busy.because("the runtime agent has too many files on their way: try again in a moment")
            );
        }
        state.last += 1;
        let id = state.last;
        let (sender, answer) = oneshot::channel();
        state.open.insert(id, PendingRequest { asked, answer: Some(sender), way });
        Ok(OpenRequest { id, answer, place: RequestSlot { transfers: self.clone(), id } })
    }

    /// Passes on the answer of an agent's connection to a request that went there.
    pub fn answer(&self, client: ClientId, id: u64, answer: FileAnswer) {
        let mut state = self.0.lock();
        let Some(open) = state.open.get_mut(&id).filter(|open| open.asked.client == client) else { return };
        if let Some(sender) = open.answer.take() {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
        }
    }

    /// Answers all requests to an agent whose connection has ended. Bytes in transit have their own connection.
    pub fn agent_left(&self, client: ClientId) {
        let mut state = self.0.lock();
        for open in state.open.values_mut().filter(|open| open.asked.client == client) {
            if let Some(sender) = open.answer.take() {
                let _ = sender.send(unreachable());
            }
        }
    }

    /// Receiver of the bytes of a transfer. Only the first call gets it.
    pub fn to_person(&self, agent: &AgentId, transfer: &str) -> Option<oneshot::Sender<FilePieces>> {
        match self.take(agent, transfer, |way| matches!(way, TransferWay::ToPerson(_)))? {
            TransferWay::ToPerson(sender) => Some(sender),
            TransferWay::ToAgent(_) => None,
        }
    }

    /// Bytes for this agent. Only the first call gets them.
    pub fn to_agent(&self, agent: &AgentId, transfer: &str) -> Option<FilePieces> {
        match self.take(agent, transfer, |way| matches!(way, TransferWay::ToAgent(_)))? {
            TransferWay::ToAgent(pieces) => Some(pieces),
            TransferWay::ToPerson(_) => None,
        }
    }

    fn take(&self, agent: &AgentId, transfer: &str, is_meant: fn(&TransferWay) -> bool) -> Option<TransferWay> {
        let mut state = self.0.lock();
        let is_it = |open: &&mut PendingRequest| open.asked.transfer == transfer && open.asked.agent == *agent;
        state.open.values_mut().find(is_it)?.way.take_if(|way| is_meant(way))
    }
}

/// Removes its request when dropped, however the request ends.
pub struct RequestSlot {
    transfers: AgentTransfers,
    id: u64,
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        // Dropped after the lock is released: bytes that were not fetched may own a connection.
        let _open = self.transfers.0.lock().open.remove(&self.id);
    }
}

pub fn unreachable() -> FileAnswer {
    FileRefusal::AgentUnreachable.because("the runtime agent cannot be reached: wait until it is back, and try again")
}
