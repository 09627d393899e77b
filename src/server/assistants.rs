//! The assistants' host: the access to notebooks for the assistants in this process.
//!
//! Invariants:
//! - Every caller acts as an assistant or as the server, never as a person: the core lets neither confirm.
//! - The person's rights are read from the accounts at each command. A deactivated account, a lost role or a lost
//!   workspace takes effect with the next command.
//! - The same holds for the person who confirmed a call, when it starts, and for people whose grants could let a call
//!   pass.
//! - Nothing is decided here: the gate is in the core.
//!
//! Mount of the Model Context Protocol handler, which the program that starts the server provides.

pub mod call_pace;
pub mod calls;
pub mod chat;
pub mod revocation;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::TryStreamExt;
use http::StatusCode;
use notarium_assistant::host::{
    ChangeNotice, CommittedEvents, DocumentInEpoch, ListedNotebook, NotebookHost, PlannedModelCall,
};
use notarium_assistant::mcp::{McpService, TokenOwner};
use notarium_core::{
    ASSISTANT_SCOPES, Actor, Authority, CellId, Command, CommandId, DelegatedAuthority, Document, Epoch, Event,
    Execution, ExecutionId, InstanceId, Millis, NotebookId, Reactivity, Rejection, RejectionCode, Stored, TokenId,
    ToolCallId, ToolCallPhase, UserId, Version,
};
use notarium_store::BlobError;
use notarium_store::accounts::{AccountError, Coverage};
use notarium_wire::rest::Model;
use notarium_wire::{
    AckMessage, AskKernelMessage, CommandMessage, ConnectionSchema, KernelAnswer, OfferedConnection, QuestionKind,
    TurnActivity,
};

use crate::agents::Agents;
use crate::agents::kernel_questions::{KernelAskService, KernelAsker, KernelQuestions};
use crate::auth::Authenticated;
use crate::blobs::parse_hash;
use crate::http::problem::Problem;
use crate::notebooks::graph::graph_of;
use crate::notebooks::listing::{self, ListingQuery};
use crate::notebooks::{Notebooks, body_of};
use crate::rooms::notices::NoticeQueue;
use crate::rooms::{DecodedCommand, Identity, ReadState};
use call_pace::{CallPace, CallPaceKey};
use parking_lot::RwLock;

/// The assistants' host. Cheap to clone. It keeps the server's data open: drop it when the server stops.
#[derive(Clone)]
pub struct AssistantHost {
    notebooks: Arc<Notebooks>,
    assistants: Arc<AssistantState>,
    agents: Arc<Agents>,
    kernel_questions: Arc<KernelQuestions>,
}

/// State of the server for assistants.
pub struct AssistantState {
    pub notices: NoticeQueue,
    /// Notebooks where assistants were asked with tokens that may expire.
    pub expiring: NoticeQueue,
    /// True if an assistants' host runs here. Otherwise turns get no answer.
    pub are_here: bool,
    /// Models of the assistants that run here, the default first.
    pub models: Vec<Model>,
    /// MCP handler for outside assistants, once it is mounted.
    pub mcp: McpMount,
    /// Rate limit of tool calls per session or token.
    pub call_pace: CallPace,
}

impl AssistantState {
    pub fn new(are_here: bool, models: Vec<Model>, max_calls_per_minute: usize) -> Self {
        Self {
            notices: NoticeQueue::default(),
            expiring: NoticeQueue::default(),
            are_here,
            models,
            mcp: McpMount::default(),
            call_pace: CallPace::new(max_calls_per_minute),
        }
    }
}

impl AssistantHost {
    pub(crate) fn new(
        notebooks: Arc<Notebooks>,
        assistants: Arc<AssistantState>,
        agents: Arc<Agents>,
        kernel_questions: Arc<KernelQuestions>,
    ) -> Self {
        Self { notebooks, assistants, agents, kernel_questions }
    }

    async fn authority(&self, actor: &Actor, notebook: &NotebookId) -> Result<Authority, Rejection> {
        match actor {
            Actor::System => Ok(Authority { reactor: Some(DelegatedAuthority::default()), ..Authority::default() }),
            Actor::Assistant { for_user, .. } => {
                let person = self.rights_of(for_user, notebook).await?.ok_or_else(account_closed)?;
                let scopes = person.scopes.into_iter().filter(|scope| ASSISTANT_SCOPES.contains(scope)).collect();
                Ok(Authority { scopes, reactor: Some(DelegatedAuthority::default()), ..person })
            }
            _ => Err(not_for(actor)),
        }
    }

    /// Rights of the person who confirmed the call, and of the people whose grants the conversation has. A call that
    /// still waits is refused here. If it were confirmed a moment later, the core would miss the confirming person and
    /// void a valid call.
    async fn delegated(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        call_id: Option<&ToolCallId>,
    ) -> Result<DelegatedAuthority, Rejection> {
        let state = self.read(notebook).await?.document;
        let phase = call_id.and_then(|call_id| state.tool_calls.get(call_id)).map(|call| &call.phase);
        if let (Some(call_id), Some(ToolCallPhase::Waiting)) = (call_id, phase) {
            let message = format!("call {call_id} waits for a person: nobody else opens the gate");
            return Err(Rejection::new(RejectionCode::ToolCallState, message));
        }
        let now = self.now();
        let granted = state
            .grants
            .values()
            .filter(|grant| grant.expires_at > now && Some(&grant.conversation_id) == actor.conversation());
        let mut people: BTreeSet<&Actor> = granted.map(|grant| &grant.issued_by).collect();
        if let Some(ToolCallPhase::Confirmed { by }) = phase {
            people.insert(by);
        }
        let mut delegated = DelegatedAuthority::default();
        for person in people {
            let Actor::User { id } = person else { continue };
            let rights = self.rights_of(id, notebook).await?;
            delegated.0.extend(rights.map(|authority| (person.clone(), authority)));
        }
        Ok(delegated)
    }

    /// Limits the rights with which a call starts to those of the token with which it was requested: a turn that it begins
    /// has no more. Refuses if the token was revoked or has expired. Such calls are also withdrawn in the background; this
    /// check covers the time until then.
    async fn limit_to_token(
        &self,
        authority: &mut Authority,
        notebook: &NotebookId,
        call_id: &ToolCallId,
    ) -> Result<(), Rejection> {
        let token = self.token_in(notebook, call_id.to_string(), |event| match event {
            Event::ToolCallRequested(event) => event.token,
            _ => None,
        });
        let Some(token) = token.await? else { return Ok(()) };
        let Some(token) = self.notebooks.accounts.living_token(&token).await.map_err(unread)? else {
            let message = "the session or token with which this was asked for has ended: nothing is done for it";
            return Err(Rejection::new(RejectionCode::Forbidden, message));
        };
        authority.scopes.retain(|scope| token.scopes.scopes().contains(scope));
        authority.is_bound |= token.coverage != Coverage::All;
        Ok(())
    }

    /// Person and token for whom a tool call is requested or a notebook is made; `None` for other commands.
    async fn asker(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<Option<CallPaceKey>, Rejection> {
        let Actor::Assistant { for_user, .. } = actor else { return Ok(None) };
        let call = match command {
            Command::RequestToolCall(call) => call,
            // No tool call of a notebook led to it, or one that was counted already.
            Command::CreateNotebook { .. } => return Ok(Some((for_user.clone(), None))),
            _ => return Ok(None),
        };
        let token = match &call.turn_id {
            Some(turn_id) => {
                let begun = |event| match event {
                    Event::TurnStarted(event) => event.token,
                    _ => None,
                };
                self.token_in(notebook, turn_id.to_string(), begun).await?
            }
            None => call.token.clone(),
        };
        Ok(Some((for_user.clone(), token)))
    }

    /// The token that the first matching event of a subject names.
    async fn token_in(
        &self,
        notebook: &NotebookId,
        subject: String,
        token: fn(Event) -> Option<TokenId>,
    ) -> Result<Option<TokenId>, Rejection> {
        let events = self.notebooks.store.events_of_subject(notebook, &[subject]).await.map_err(unread)?;
        Ok(events.iter().find_map(|stored| token(stored.typed().ok()?.event)))
    }

    async fn rights_of(&self, user: &UserId, notebook: &NotebookId) -> Result<Option<Authority>, Rejection> {
        self.notebooks.accounts.rights_of(user, notebook).await.map_err(|error| accounts_failed(&error, user))
    }

    /// Sends a command; `epoch`: that of the state which it follows from.
    async fn send(
        &self,
        id: CommandId,
        epoch: Option<Epoch>,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        let mut authority = self.authority(actor, notebook).await?;
        match command {
            Command::StartToolCall { call_id } => {
                self.limit_to_token(&mut authority, notebook, call_id).await?;
                authority.reactor = Some(self.delegated(actor, notebook, Some(call_id)).await?);
            }
            Command::RequestToolCall(_) => {
                authority.reactor = Some(self.delegated(actor, notebook, None).await?);
            }
            _ => {}
        }
        let body = body_of(command)?;
        let asker = self.asker(actor, notebook, command).await?;
        asker.iter().try_for_each(|asker| self.assistants.call_pace.take(asker, self.now()))?;
        let decoded = DecodedCommand::of(CommandMessage::new(id, notebook.clone(), body), command.clone());
        let identity = identity(actor, authority);
        let answer = match epoch {
            Some(epoch) => self.notebooks.execute_in_epoch(epoch, identity, decoded).await,
            None => self.notebooks.execute_as(identity, decoded).await,
        };
        if let (Some(asker), Err(_)) = (&asker, &answer) {
            self.assistants.call_pace.give_back(asker);
        }
        answer
    }
}

#[async_trait]
impl NotebookHost for AssistantHost {
    /// `Forbidden` if the person's account is missing or deactivated: [`Actor::System`] cancels its unfinished turns.
    async fn execute_as(
        &self,
        id: CommandId,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        self.send(id, None, actor, notebook, command).await
    }

    async fn execute_in_epoch(
        &self,
        epoch: Epoch,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        self.send(ulid::Ulid::generate().into(), Some(epoch), actor, notebook, command).await
    }

    async fn owns(&self, notebook: &NotebookId) -> Result<bool, Rejection> {
        Ok(self.notebooks.rooms.elsewhere(notebook).await?.is_none())
    }

    async fn read(&self, notebook: &NotebookId) -> Result<DocumentInEpoch, Rejection> {
        let ReadState { notebook: document, epoch, .. } = self.notebooks.read_by_server(notebook).await?;
        Ok(DocumentInEpoch { document, epoch })
    }

    async fn read_as(&self, actor: &Actor, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        let authority = self.authority(actor, notebook).await?;
        Ok(self.notebooks.rooms.handle(notebook).read(identity(actor, authority)).await?.notebook)
    }

    async fn stale_cells(&self, notebook: &NotebookId) -> BTreeMap<CellId, String> {
        let Ok(now) = self.notebooks.read_by_server(notebook).await else { return BTreeMap::new() };
        if now.notebook.reactivity == Reactivity::Off {
            return BTreeMap::new();
        }
        match graph_of(&self.notebooks.rooms, now).await {
            Ok(graph) => graph.cells.into_iter().filter_map(|cell| Some((cell.cell_id, cell.why?))).collect(),
            Err(error) => {
                tracing::error!(%error, "the graph of a notebook could not be made");
                BTreeMap::new()
            }
        }
    }

    async fn events(&self, notebook: &NotebookId, since: Version, limit: usize) -> Result<Vec<Stored>, Rejection> {
        self.notebooks.store.read(notebook, since, limit).await.map_err(unread)
    }

    fn follow(&self, notebook: &NotebookId) -> CommittedEvents {
        let mut subscription = self.notebooks.follow_by_server(notebook);
        CommittedEvents::new(move || subscription.take_commits())
    }

    async fn events_of_subjects(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, Rejection> {
        self.notebooks.store.events_of_subject(notebook, subjects).await.map_err(unread)
    }

    async fn execution(&self, notebook: &NotebookId, id: &ExecutionId) -> Result<Option<Execution>, Rejection> {
        let replayed = self.notebooks.store.execution(notebook, id).await.map_err(unread)?;
        Ok(replayed.map(|replayed| replayed.execution))
    }

    async fn blob(&self, notebook: &NotebookId, sha256: &str, most: usize) -> Option<Bytes> {
        let hash = parse_hash(sha256).ok()?;
        let read = async {
            let found = self.notebooks.blobs.find(notebook, &hash).await?;
            if found.is_none_or(|found| found.size_bytes > most as u64) {
                return Ok(None);
            }
            self.notebooks.blobs.get(notebook, &hash).await?.bytes.try_collect::<Vec<Bytes>>().await.map(Some)
        };
        match read.await {
            Ok(pieces) => pieces.map(|pieces| pieces.concat().into()),
            Err(BlobError::NotFound) => None,
            Err(error) => {
                tracing::error!(%error, %notebook, sha256, "blob not read");
                None
            }
        }
    }

    /// Notebooks that the person can see, without archived ones.
    async fn notebooks(
        &self,
        actor: &Actor,
        query: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ListedNotebook>, Rejection> {
        let Actor::Assistant { for_user, .. } = actor else { return Err(not_for(actor)) };
        let person =
            self.notebooks.accounts.as_session(for_user).await.map_err(|error| accounts_failed(&error, for_user))?;
        let person = person.ok_or_else(account_closed)?;
        let limit = limit.clamp(1, 200);
        let wanted = ListingQuery { text: query.map(str::to_owned), limit, ..ListingQuery::default() };
        let page = listing::visible(&self.notebooks, &person, wanted).await.map_err(unread)?;
        let listed = page.entries.into_iter().map(|(entry, _)| ListedNotebook {
            notebook_id: entry.notebook_id,
            title: entry.title,
            cells: entry.cells,
            updated_at: entry.updated_at,
        });
        Ok(listed.collect())
    }

    async fn connections(&self, actor: &Actor, notebook: &NotebookId) -> Result<Vec<OfferedConnection>, Rejection> {
        self.read_as(actor, notebook).await?;
        Ok(self.agents.connections(notebook))
    }

    async fn describe(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        connection: String,
        matching: String,
    ) -> Result<ConnectionSchema, String> {
        let authority = self.authority(actor, notebook).await.map_err(|rejection| rejection.message)?;
        let number = self.kernel_questions.next_number();
        let (identity, room) = (identity(actor, authority), self.notebooks.rooms.handle(notebook));
        let (agents, questions, limits) = (&*self.agents, &*self.kernel_questions, &self.notebooks.limits);
        let service = KernelAskService { agents, questions, limits };
        let asker = KernelAsker { identity, room, name: "assistant".to_owned(), number };
        let question = AskKernelMessage {
            id: 0,
            notebook: notebook.clone(),
            cell_id: None,
            kernel_session: None,
            code: String::new(),
            cursor: 0,
            kind: QuestionKind::Describe { connection, matching },
        };
        match asker.ask(service, question).await {
            KernelAnswer::Described(schema) => Ok(schema),
            KernelAnswer::Refused { message, .. } => Err(message),
            _ => Err("the kernel answered something else: ask again".to_owned()),
        }
    }

    async fn next_notice(&self) -> Option<ChangeNotice> {
        tokio::select! {
            biased;
            () = self.notebooks.stopping.cancelled() => None,
            notice = self.assistants.notices.take() => Some(notice),
        }
    }

    async fn reserve_model_call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        planned: &PlannedModelCall,
    ) -> Result<(), Rejection> {
        let Actor::Assistant { for_user, .. } = actor else { return Err(not_for(actor)) };
        // A node that was stopped may not have heard that another one makes this call now.
        self.notebooks.cluster.forget(notebook);
        if !self.owns(notebook).await? {
            return Err(Rejection::new(RejectionCode::Unavailable, "another server goes on with this turn"));
        }
        self.notebooks.spending.reserve(for_user, notebook, planned).await
    }

    fn publish(&self, notebook: &NotebookId, activity: TurnActivity) {
        self.notebooks.rooms.publish(notebook, activity);
    }

    fn instance(&self) -> &InstanceId {
        self.notebooks.rooms.instance()
    }

    fn now(&self) -> Millis {
        self.notebooks.clock.now()
    }

    async fn sleep(&self, time: Duration) {
        self.notebooks.clock.sleep(time).await;
    }
}

fn unread(error: impl Display) -> Rejection {
    tracing::error!(%error, "the assistants' host could not read");
    Rejection::new(RejectionCode::Unavailable, "the server could not read its data: try again later")
}

fn account_closed() -> Rejection {
    let message = "the account of the person whom this assistant acts for is closed: nothing is done for it";
    Rejection::new(RejectionCode::Forbidden, message)
}

fn accounts_failed(error: &AccountError, user: &UserId) -> Rejection {
    tracing::error!(%error, %user, "rights not read");
    Rejection::new(RejectionCode::Unavailable, "the server could not read the accounts: try again later")
}

fn not_for(actor: &Actor) -> Rejection {
    let message = format!(
        "this host serves assistants and the server itself, not {}: people and agents have their connections",
        actor.key()
    );
    Rejection::new(RejectionCode::Forbidden, message)
}

fn identity(actor: &Actor, authority: Authority) -> Arc<Identity> {
    let name = if *actor == Actor::System { "server" } else { "assistant" };
    Arc::new(Identity { actor: actor.clone(), authority, name: name.to_owned(), connection: String::new() })
}

/// Handler of the Model Context Protocol.
#[async_trait]
pub trait McpHandler: Send + Sync + 'static {
    /// Answers a request of an authenticated caller. It must check `who` for every notebook. The body is read, and
    /// within the limits.
    async fn answer(&self, who: Authenticated, request: Request) -> Response;
}

#[async_trait]
impl McpHandler for McpService {
    async fn answer(&self, who: Authenticated, request: Request) -> Response {
        let (token_id, scopes) = (who.token_id.clone(), who.scopes.clone());
        // The guard admits only people's tokens.
        let Some(user_id) = who.user_id().cloned() else { return StatusCode::FORBIDDEN.into_response() };
        let person = TokenOwner { user_id, token_id, scopes, covers: Arc::new(move |notebook| who.may_see(notebook)) };
        McpService::answer(self, person, request).await.map(Body::new)
    }
}

/// Holder of the one handler.
#[derive(Default)]
pub struct McpMount(RwLock<Option<Arc<dyn McpHandler>>>);

impl McpMount {
    /// Sets the handler; `None` removes it.
    pub(crate) fn set(&self, handler: Option<Arc<dyn McpHandler>>) {
        *self.0.write() = handler;
    }

    pub(crate) fn get(&self) -> Result<Arc<dyn McpHandler>, Problem> {
        let handler = self.0.read().clone();
        let detail = "this server has no handler for outside assistants, or it just starts or stops: try again later";
        handler.ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail))
    }
}
