//! State shared by all handlers. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use notarium_core::{AccountStatuses, Actor, Authority, Command, NotebookId, RawJson, Rejection, RejectionCode};
use notarium_store::{Blobs, CatalogEntry, CatalogQuery, EventStore, StoreError};
use notarium_wire::rest::Model;
use notarium_wire::{AckMessage, CommandMessage};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::agents::kernel_questions::KernelQuestions;
use crate::agents::locks::AgentLocks;
use crate::agents::outputs::AgentOutputs;
use crate::agents::transfers::Transfers;
use crate::assistants::call_pace::CallPace;
use crate::assistants::mcp::McpMount;
use crate::assistants::turn_activity::TurnActivityHub;
use crate::auth::account_status;
use crate::auth::oidc::Oidc;
use crate::auth::{Accounts, Authenticated};
use crate::blobs::attachments;
use crate::blobs::check;
use crate::blobs::claims::BlobClaims;
use crate::limits::ServerLimits;
use crate::limits::clock::Clock;
use crate::limits::connection_slots::Places;
use crate::limits::usage::Usage;
use crate::notebooks::checks::Checks;
use crate::notebooks::replay::Replays;
use crate::notebooks::state_texts::StateTexts;
use crate::rooms::notices::NoticeQueue;
use crate::rooms::{Identity, ReadState, RoomHandle, Rooms};

/// The server's parts, as handlers see them: state that they share.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// Contents of [`App`].
pub struct Parts {
    pub store: Arc<dyn EventStore>,
    pub blobs: Blobs,
    /// Old blobs that a client was promised a moment ago.
    pub blob_claims: BlobClaims,
    pub rooms: Arc<Rooms>,
    pub accounts: Accounts,
    /// OpenID Connect provider for sign-in.
    pub oidc: Option<Arc<Oidc>>,
    pub agents: Agents,
    pub kernel_questions: KernelQuestions,
    /// Pending file transfers to and from runtime agents.
    pub transfers: Transfers,
    pub assistants: NoticeQueue,
    /// Notebooks where assistants were asked with tokens that may expire.
    pub expiring: NoticeQueue,
    /// Live activity of assistants, outside the log.
    pub turn_activity: TurnActivityHub,
    /// True if an assistants' host runs here. Otherwise turns get no answer.
    pub has_assistants: bool,
    /// Models of the assistants that run here, the default first.
    pub models: Vec<Model>,
    /// MCP handler for outside assistants, once it is mounted.
    pub mcp: McpMount,
    pub agent_locks: AgentLocks,
    pub checks: Checks,
    /// Reads notebooks at earlier versions.
    pub replays: Replays,
    pub clock: Clock,
    pub limits: ServerLimits,
    /// Usage and quotas of people and workspaces.
    pub usage: Arc<Usage>,
    pub agent_outputs: AgentOutputs,
    /// Rate limit of tool calls per session or token.
    pub call_pace: CallPace,
    /// Cache of states as JSON, shared by concurrent readers.
    pub state_texts: StateTexts,
    /// One permit per MiB of memory for exports in progress.
    pub making_files: Semaphore,
    /// One permit per file that is being imported.
    pub imports: Semaphore,
    /// Cancelled when the server begins to stop.
    pub stopping: CancellationToken,
    /// False until work that was under way before the start is watched again.
    pub is_ready: AtomicBool,
    /// One permit per socket connection.
    pub sockets: Arc<Semaphore>,
    /// Sockets that have not sent their `hello` yet.
    pub strangers: Places,
}

impl Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the room of a notebook that the token covers. Otherwise the notebook is reported as unknown.
    pub fn room(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<RoomHandle, Rejection> {
        if authenticated.may_see(notebook) {
            return Ok(self.rooms.open(notebook));
        }
        Err(unknown_notebook(notebook))
    }

    /// Reads the notebook as it is on disk; the caller needs the right to read.
    pub async fn read(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<ReadState, Rejection> {
        let room = self.room(authenticated, notebook)?;
        room.read(identity(authenticated, notebook, "")).await
    }

    /// Executes a command of a request; returns its ack when it is on disk.
    pub async fn execute(
        &self,
        authenticated: &Authenticated,
        message: CommandMessage,
    ) -> Result<AckMessage, Rejection> {
        self.room(authenticated, &message.notebook)?;
        self.execute_as(identity(authenticated, &message.notebook, ""), message).await
    }

    /// Executes a command as this identity; returns its ack when it is on disk.
    pub async fn execute_as(&self, identity: Arc<Identity>, message: CommandMessage) -> Result<AckMessage, Rejection> {
        let standings = self.check(&identity.actor, &message).await?;
        self.rooms.open(&message.notebook).execute(identity, message, standings).await
    }

    /// Checks quotas, blobs and attachments; returns the account status of the subjects the command names.
    pub async fn check(&self, actor: &Actor, message: &CommandMessage) -> Result<AccountStatuses, Rejection> {
        let now = self.clock.now();
        self.usage.check(actor, message)?;
        self.agent_outputs.check(actor, message, now)?;
        check::check(&self.blobs, &self.blob_claims, now, message).await?;
        attachments::check(&self.blobs, message).await?;
        account_status::look_up(&self.accounts, message).await
    }

    /// Reads the notebook as it is on disk, as the server.
    pub async fn read_by_server(&self, notebook: &NotebookId) -> Result<ReadState, Rejection> {
        self.rooms.open(notebook).read(by_server()).await
    }

    /// Executes a command as the server.
    pub async fn execute_by_server(&self, notebook: &NotebookId, command: &Command) -> Result<AckMessage, Rejection> {
        let message = CommandMessage::new(ulid::Ulid::generate().into(), notebook.clone(), body_of(command)?);
        self.execute_as(by_server(), message).await
    }

    /// Calls `each` for every notebook that the query finds, page by page.
    pub async fn each_listed(
        &self,
        mut query: CatalogQuery,
        mut each: impl FnMut(CatalogEntry),
    ) -> Result<(), StoreError> {
        loop {
            let page = self.store.catalog(query.clone()).await?;
            page.entries.into_iter().for_each(&mut each);
            if page.next.is_none() {
                return Ok(());
            }
            query.after = page.next;
        }
    }
}

/// Serialises the command as a message's body.
pub fn body_of(command: &Command) -> Result<RawJson, Rejection> {
    RawJson::of(command).map_err(|error| Rejection::new(RejectionCode::InvalidValue, format!("not a command: {error}")))
}

/// Identity of the server, without any authority: the core knows what the server may do.
fn by_server() -> Arc<Identity> {
    let (name, connection) = ("server".to_owned(), String::new());
    Arc::new(Identity { actor: Actor::System, authority: Authority::default(), name, connection })
}

/// Identity of the caller in one notebook.
pub fn identity(authenticated: &Authenticated, notebook: &NotebookId, connection: &str) -> Arc<Identity> {
    Arc::new(Identity {
        actor: authenticated.actor.clone(),
        authority: authenticated.authority_for(notebook),
        name: authenticated.name.clone(),
        connection: connection.to_owned(),
    })
}

/// Rejection that does not reveal if the notebook exists.
pub fn unknown_notebook(notebook: &NotebookId) -> Rejection {
    let message = format!("no notebook {notebook} that you may see: check the id, or ask for access");
    Rejection::new(RejectionCode::UnknownNotebook, message)
}

/// True for runtime agents.
pub fn is_agent(actor: &Actor) -> bool {
    matches!(actor, Actor::Agent { .. })
}
