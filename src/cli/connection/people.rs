//! Resolves ids in events to names. Also finds the actor who requested the end of a kernel or run, from the event that led to it
//! or from the end itself.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AgentId, EndCause, Event, EventId, KernelCause, Recorded, ShareLinkId, Subject, UserId, WorkspaceId,
};
use notarium_wire::rest::{Guest, Person, Token, Workspace};
use tokio::sync::OnceCell;

use crate::cli::connection::client::Client;
use crate::cli::terminal::print;

/// Cache of names. Unresolved actors are named by their ids.
#[derive(Debug)]
pub struct People {
    client: Client,
    users: BTreeMap<UserId, String>,
    guests: BTreeMap<ShareLinkId, String>,
    agents: OnceCell<BTreeMap<AgentId, String>>,
    workspaces: OnceCell<BTreeMap<WorkspaceId, String>>,
}

impl People {
    pub fn new(client: &Client) -> Self {
        let (users, guests) = (BTreeMap::new(), BTreeMap::new());
        Self { client: client.clone(), users, guests, agents: OnceCell::new(), workspaces: OnceCell::new() }
    }

    /// The name of an actor.
    pub async fn name(&mut self, actor: &Actor) -> String {
        let name = match actor {
            Actor::User { id } => self.user(id).await,
            Actor::Assistant { for_user, .. } => format!("the assistant of {}", self.user(for_user).await),
            Actor::Agent { id } => self.agent(id).await,
            Actor::Guest { share_link } => self.guest(share_link).await,
            Actor::System => "the server".to_owned(),
        };
        print::clean(&name)
    }

    /// The name of a subject in an access list.
    pub async fn subject(&mut self, subject: &Subject) -> String {
        let name = match subject {
            Subject::User { id } => self.user(id).await,
            Subject::Agent { id } => self.agent(id).await,
            Subject::ShareLink { id } => format!("share link of {}", self.guest(id).await),
            Subject::Workspace { id } => self.workspace(id).await,
        };
        print::clean(&name)
    }

    async fn user(&mut self, id: &UserId) -> String {
        if let Some(name) = self.users.get(id) {
            return name.clone();
        }
        let found = self.client.get::<Person>(&format!("/api/people/{id}")).await;
        let name = found.map_or_else(|_| format!("user {}", print::short(id.as_str())), |person| person.name);
        self.users.insert(id.clone(), name.clone());
        name
    }

    async fn guest(&mut self, id: &ShareLinkId) -> String {
        if let Some(name) = self.guests.get(id) {
            return name.clone();
        }
        let found = self.client.get::<Guest>(&format!("/api/guests/{id}")).await;
        let name = match found {
            Ok(guest) if guest.name == "Guest" => "a guest".to_owned(),
            Ok(guest) => format!("{} (guest)", guest.name),
            Err(_) => format!("guest {}", print::short(id.as_str())),
        };
        self.guests.insert(id.clone(), name.clone());
        name
    }

    async fn agent(&mut self, id: &AgentId) -> String {
        let asking = async || {
            // Listed only for their creator; other users see the id.
            let tokens: Vec<Token> = self.client.get("/api/agents").await.unwrap_or_default();
            tokens.into_iter().filter_map(|token| Some((token.agent?, token.label))).collect()
        };
        let label = self.agents.get_or_init(asking).await.get(id).filter(|label| !label.is_empty());
        label.map_or_else(|| format!("agent {}", print::short(id.as_str())), |label| format!("agent \"{label}\""))
    }

    async fn workspace(&mut self, id: &WorkspaceId) -> String {
        let asking = async || {
            // Listed only for members; other users see the id.
            let workspaces: Vec<Workspace> = self.client.get("/api/workspaces").await.unwrap_or_default();
            workspaces.into_iter().map(|workspace| (workspace.id, workspace.name)).collect()
        };
        let name = self.workspaces.get_or_init(asking).await.get(id);
        name.map_or_else(|| format!("workspace {id}"), |name| format!("workspace \"{name}\""))
    }
}

// --- actors of ends ---

/// Actors of requests that may lead to an end.
#[derive(Debug, Default)]
pub struct Asked {
    by: BTreeMap<EventId, Actor>,
}

impl Asked {
    /// Remembers a request that may lead to an end.
    pub fn note(&mut self, recorded: &Recorded) {
        if let Event::KernelRestartRequested(_)
        | Event::KernelShutdownRequested(_)
        | Event::KernelInterruptRequested(_)
        | Event::ExecutionCancelRequested(_) = &recorded.event
        {
            self.by.insert(recorded.envelope.id.clone(), recorded.envelope.actor.clone());
        }
    }

    /// Actor and action that led to an end. `None`: it was not requested, or before the first noted event.
    pub fn led_to<'a>(&'a self, end: &'a Recorded) -> Option<(&'a Actor, &'static str)> {
        let did = match &end.event {
            Event::ExecutionCancelled(event) => did(*event.cause.known()?)?,
            Event::KernelSessionEnded(event) => match event.cause.known()? {
                KernelCause::Restarted => did(EndCause::KernelRestarted)?,
                KernelCause::ShutDown => did(EndCause::KernelShutDown)?,
                _ => return None,
            },
            Event::ExecutionCompleted(_) => did(EndCause::Interrupted)?,
            _ => return None,
        };
        let leading = end.envelope.causation_id.as_ref().and_then(|id| self.by.get(id));
        // A queued run ends directly by the command of the person who cancels it.
        let is_own = matches!(end.event, Event::ExecutionCancelled(_)) && is_person(&end.envelope.actor);
        let author = is_own.then_some(&end.envelope.actor);
        Some((leading.or(author)?, did))
    }
}

fn is_person(actor: &Actor) -> bool {
    matches!(actor, Actor::User { .. } | Actor::Guest { .. } | Actor::Assistant { .. })
}

/// The action that leads to this end, for example `restarted the kernel`.
pub fn did(cause: EndCause) -> Option<&'static str> {
    Some(match cause {
        EndCause::Requested => "cancelled it",
        EndCause::Interrupted => "interrupted it",
        EndCause::KernelRestarted => "restarted the kernel",
        EndCause::KernelShutDown => "shut the kernel down",
        EndCause::CellDeleted => "moved its cell to the trash",
        EndCause::GivenUp => "gave it up",
        _ => return None,
    })
}
