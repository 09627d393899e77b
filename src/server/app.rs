//! What every handler shares. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use notarium_core::{Actor, CommandId, NotebookId, RawJson, Rejection, RejectionCode, Version};
use notarium_store::{Blobs, EventStore};
use notarium_wire::{AckMessage, CommandMessage};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

use crate::agent_locks::AgentLocks;
use crate::agents::Agents;
use crate::assistant_host::NoticeQueue;
use crate::auth::{Accounts, Authenticated};
use crate::blob_check;
use crate::checks::Checks;
use crate::clock::Clock;
use crate::limits::ServerLimits;
use crate::rooms::{ClientId, Identity, ReadState, RoomHandle, Rooms};
use crate::routes::mcp::McpMount;
use crate::sweep::InUse;
use crate::turn_activity::TurnActivityHub;

/// The server's parts, as handlers see them.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What [`App`] holds.
pub struct Parts {
    pub store: Arc<dyn EventStore>,
    pub blobs: Blobs,
    /// Old blobs that somebody has just been promised.
    pub in_use: InUse,
    pub rooms: Arc<Rooms>,
    pub accounts: Accounts,
    pub agents: Agents,
    pub assistants: NoticeQueue,
    /// What assistants are writing, beside the log.
    pub turn_activity: TurnActivityHub,
    /// Something carries turns on here. Without it nobody would answer.
    pub has_assistants: bool,
    /// Answers outside assistants, once it is mounted.
    pub mcp: McpMount,
    pub agent_locks: AgentLocks,
    pub checks: Checks,
    pub clock: Clock,
    pub limits: ServerLimits,
    /// Cancelled when the server begins to stop.
    pub stopping: CancellationToken,
    /// False until what was under way before the start is watched again.
    pub is_ready: AtomicBool,
    /// One permit per connection of a socket.
    pub sockets: Arc<Semaphore>,
    pub last_client: AtomicU64,
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

    /// A number that no other connection of this process has.
    pub fn next_client(&self) -> ClientId {
        ClientId(self.last_client.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The room of a notebook that the token covers. Elsewhere the notebook is unknown, whoever asks.
    pub fn room(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<RoomHandle, Rejection> {
        if authenticated.may_see(notebook) {
            return Ok(self.rooms.open(notebook));
        }
        Err(unknown_notebook(notebook))
    }

    /// The notebook as it is on disk now, for somebody who may read it.
    pub async fn read(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<ReadState, Rejection> {
        let room = self.room(authenticated, notebook)?;
        room.read(identity(authenticated, notebook, "")).await
    }

    /// A command of a request, answered when it is on disk. An absent id is a new one.
    pub async fn execute(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        request: CommandRequest,
    ) -> Result<AckMessage, Rejection> {
        let room = self.room(authenticated, notebook)?;
        blob_check::check(self, notebook, &request.body).await?;
        let message = CommandMessage {
            id: request.id.unwrap_or_else(|| Ulid::generate().into()),
            notebook: notebook.clone(),
            expected_version: request.expected_version,
            correlation_id: None,
            body: request.body,
        };
        room.execute(identity(authenticated, notebook, ""), message).await
    }
}

/// What a request asks a room for.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    pub id: Option<CommandId>,
    pub expected_version: Option<Version>,
    pub body: RawJson,
}

/// Who somebody is towards one notebook.
pub fn identity(authenticated: &Authenticated, notebook: &NotebookId, connection: &str) -> Arc<Identity> {
    Arc::new(Identity {
        actor: authenticated.actor.clone(),
        authority: authenticated.authority_for(notebook),
        name: authenticated.name.clone(),
        connection: connection.to_owned(),
    })
}

/// The refusal that tells nobody whether the notebook exists.
pub fn unknown_notebook(notebook: &NotebookId) -> Rejection {
    let message = format!("no notebook {notebook} that you may see: check the id, or ask for access");
    Rejection::new(RejectionCode::UnknownNotebook, message)
}

/// Whether it is a runtime agent.
pub fn is_agent(actor: &Actor) -> bool {
    matches!(actor, Actor::Agent { .. })
}
