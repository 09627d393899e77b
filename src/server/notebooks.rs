//! Access to notebooks for the parts of the server: reads, and commands with their checks.

pub mod blame;
pub mod cold_events;
pub mod diff;
pub mod erasure;
pub mod files;
pub mod graph;
pub mod history;
pub mod listing;
pub mod output_spill;
pub mod past_text;
pub mod proof;
pub mod redaction;
pub mod retention;
pub mod schedule_check;
pub mod served_record;
pub mod templates;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use notarium_core::{
    Actor, Authority, Command, Document, Epoch, Labels, NotebookId, RawJson, Rejection, RejectionCode, operation,
    required_level, required_past,
};
use notarium_store::{CatalogEntry, CatalogQuery, EventStore, StoreError};
use notarium_wire::{AckMessage, CommandMessage};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::agents::outputs::AgentOutputs;
use crate::auth::{Accounts, Authenticated, account_status};
use crate::blobs::NotebookBlobs;
use crate::cluster::Cluster;
use crate::limits::ServerLimits;
use crate::limits::clock::Clock;
use crate::limits::usage::UsageCounters;
use crate::rooms::{
    DecodedCommand, Identity, OutsideFacts, ReadState, RoomHandle, Rooms, Subscription, decode, identity,
};
use crate::spending::Spending;
use crate::upgrade::UpgradeState;
use blame::Blames;
use history::Replays;

/// Notebooks, with everything that reads and commands need.
pub struct Notebooks {
    pub store: Arc<dyn EventStore>,
    pub cluster: Arc<dyn Cluster>,
    pub upgrade: Arc<UpgradeState>,
    pub blobs: Arc<NotebookBlobs>,
    pub rooms: Arc<Rooms>,
    pub accounts: Accounts,
    /// Reads notebooks at earlier versions.
    pub replays: Replays,
    /// Authors of the characters of cells.
    pub blames: Blames,
    pub clock: Clock,
    pub limits: ServerLimits,
    /// Usage and quotas of people and workspaces.
    pub usage: Arc<UsageCounters>,
    /// Spending on models, and its caps.
    pub spending: Arc<Spending>,
    pub agents: Arc<Agents>,
    pub agent_outputs: AgentOutputs,
    /// One permit per MiB of memory for exports in progress.
    pub making_files: Semaphore,
    /// Held while an erased notebook is deleted: one after the other.
    pub erasing: Mutex<()>,
    /// Cancelled when the server begins to stop.
    pub stopping: CancellationToken,
}

impl Notebooks {
    /// Returns the room of a notebook that the token covers. Otherwise the notebook is reported as unknown.
    pub fn room(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<RoomHandle, Rejection> {
        self.rooms.open_for(authenticated, notebook)
    }

    /// Reads the notebook as it is on disk; the caller needs the right to read.
    pub async fn read(&self, authenticated: &Authenticated, notebook: &NotebookId) -> Result<ReadState, Rejection> {
        self.rooms.read_for(authenticated, notebook).await
    }

    /// Executes a command of a request; returns its ack when it is on disk.
    pub async fn execute(
        &self,
        authenticated: &Authenticated,
        message: CommandMessage,
    ) -> Result<AckMessage, Rejection> {
        self.room(authenticated, &message.notebook)?;
        let decoded = decode(message).await.map_err(|undecoded| undecoded.rejection)?;
        self.execute_decoded(authenticated, decoded).await
    }

    /// Like [`Self::execute`], for a command that the server has in its typed form.
    pub async fn execute_decoded(
        &self,
        authenticated: &Authenticated,
        decoded: DecodedCommand,
    ) -> Result<AckMessage, Rejection> {
        self.room(authenticated, &decoded.message.notebook)?;
        self.execute_as(identity(authenticated, &decoded.message.notebook, ""), decoded).await
    }

    /// Executes a command as this identity; returns its ack when it is on disk. Boxed, as [`RoomHandle::read`].
    pub fn execute_as(
        &self,
        identity: Arc<Identity>,
        decoded: DecodedCommand,
    ) -> BoxFuture<'_, Result<AckMessage, Rejection>> {
        self.check_and_execute(identity, decoded, None).boxed()
    }

    /// Like [`Self::execute_as`], only in this process, and only while the notebook's lease is in this epoch. For senders that
    /// decide from the state that they read in it, and act for the owner of the lease.
    pub fn execute_in_epoch(
        &self,
        epoch: Epoch,
        identity: Arc<Identity>,
        decoded: DecodedCommand,
    ) -> BoxFuture<'_, Result<AckMessage, Rejection>> {
        self.check_and_execute(identity, decoded, Some(epoch)).boxed()
    }

    async fn check_and_execute(
        &self,
        identity: Arc<Identity>,
        decoded: DecodedCommand,
        epoch: Option<Epoch>,
    ) -> Result<AckMessage, Rejection> {
        if let Some(node) = self.rooms.elsewhere(&decoded.message.notebook).await? {
            return match epoch {
                None => self.rooms.execute_at(node, &identity, &decoded.message).await,
                Some(_) => Err(owned_elsewhere()),
            };
        }
        let facts = self.check(&identity, &decoded).await;
        let mut facts = facts.inspect_err(|rejection| self.rooms.metrics.rooms.answered(Some(rejection.code)))?;
        facts.epoch = epoch;
        let erased = matches!(decoded.command, Command::EraseNotebook(_)).then(|| decoded.message.notebook.clone());
        let ack = self.rooms.handle(&decoded.message.notebook).execute(identity, decoded, facts).await?;
        if let Some(notebook) = erased
            && let Err(error) = erasure::finish(self, &notebook).await
        {
            tracing::error!(%notebook, %error, "an erased notebook was not deleted completely: it is tried again");
        }
        Ok(ack)
    }

    /// Checks the release's level, quotas, spending, blobs and attachments; returns the account status of the subjects that the command names, the past
    /// that it needs, and for assistants the kernelspecs that hold effects, and for agents their labels.
    pub async fn check(&self, identity: &Arc<Identity>, decoded: &DecodedCommand) -> Result<OutsideFacts, Rejection> {
        let DecodedCommand { message: CommandMessage { notebook, .. }, command, .. } = decoded;
        let actor = &identity.actor;
        self.upgrade.check(required_level(command))?;
        self.usage.check(actor, notebook, command)?;
        schedule_check::check(self, identity, notebook, command).await?;
        self.spending.check(actor, notebook, command).await?;
        self.agent_outputs.check(actor, decoded, self.clock.now())?;
        self.blobs.check(notebook, command).await?;
        let account_status = account_status::look_up(&self.accounts, notebook, command).await?;
        let is_assistant = matches!(actor, Actor::Assistant { .. });
        let holding_kernelspecs = if is_assistant { self.agents.holding(notebook) } else { BTreeSet::new() };
        let agent_labels = match actor {
            Actor::Agent { id } => self.agents.labels(id),
            _ => Labels::new(),
        };
        let past = self.past_for(identity, notebook, command).await?;
        Ok(OutsideFacts { past, account_status, holding_kernelspecs, agent_labels, ..OutsideFacts::default() })
    }

    /// Reads the past that a command needs; `None` where its decision refuses it anyway.
    async fn past_for(
        &self,
        identity: &Arc<Identity>,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<Option<Arc<Document>>, Rejection> {
        let Some(version) = required_past(command) else { return Ok(None) };
        let now = self.rooms.handle(notebook).read(identity.clone()).await?;
        let may = operation(command).is_open_to(now.role) && !now.read_only;
        if !may || !(1..=now.head.version).contains(&version) {
            return Ok(None);
        }
        let past = self.replays.state_at(&*self.store, notebook, version).await;
        past.map(|past| Some(Arc::new(past))).map_err(|problem| {
            let message = format!("nothing was changed: version {version} was not read: {}", problem.detail);
            Rejection::new(RejectionCode::Unavailable, message)
        })
    }

    /// Reads the notebook as it is on disk, as the server.
    pub async fn read_by_server(&self, notebook: &NotebookId) -> Result<ReadState, Rejection> {
        self.rooms.handle(notebook).read(by_server()).await
    }

    /// Follows the notebook as the server, without presence.
    pub fn follow_by_server(&self, notebook: &NotebookId) -> Subscription {
        Subscription::start(self.rooms.handle(notebook), self.limits.max_queued_bytes, |_| by_server())
    }

    /// Executes a command as the server.
    pub async fn execute_by_server(&self, notebook: &NotebookId, command: Command) -> Result<AckMessage, Rejection> {
        let message = CommandMessage::new(ulid::Ulid::generate().into(), notebook.clone(), body_of(&command)?);
        self.execute_as(by_server(), DecodedCommand::of(message, command)).await
    }

    /// Executes a command as the server, one that follows from a state read in this epoch.
    pub async fn execute_by_server_in_epoch(
        &self,
        epoch: Epoch,
        notebook: &NotebookId,
        command: Command,
    ) -> Result<AckMessage, Rejection> {
        let message = CommandMessage::new(ulid::Ulid::generate().into(), notebook.clone(), body_of(&command)?);
        self.execute_in_epoch(epoch, by_server(), DecodedCommand::of(message, command)).await
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

fn owned_elsewhere() -> Rejection {
    let message = "nothing was changed: the notebook is at another server now, which goes on";
    Rejection::new(RejectionCode::Unavailable, message)
}

/// Serialises the command as a message's body.
pub fn body_of(command: &Command) -> Result<RawJson, Rejection> {
    RawJson::of(command).map_err(|error| Rejection::new(RejectionCode::InvalidValue, format!("not a command: {error}")))
}

/// Identity of the server, without any authority: the core knows what the server may do.
pub(crate) fn by_server() -> Arc<Identity> {
    let (name, connection) = ("server".to_owned(), String::new());
    Arc::new(Identity { actor: Actor::System, authority: Authority::default(), name, connection })
}
