//! What assistants may do unasked, and what was said to them and by them.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use notarium_core::{
    Actor, AssistantGrant, Command, Conversation, ConversationId, Event, GrantId, MessageBlock, MessageFlags,
    MessageId, MessageRole, Millis, NotebookId, Operation, Policy, Recorded, Stored, Turn, TurnId, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::{Answer, created, execute};
use super::scan::backwards;
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Conditions, JsonBody, Params, QueryOf};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

/// Events that one page of messages looks through.
const MAX_SCANNED_EVENTS: usize = 20_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Read), routes!(read_policy))
        .routes(Guard::Notebook(Operation::SetPolicy), routes!(set_policy))
        .routes(Guard::Notebook(Operation::Read), routes!(list_grants))
        .routes(Guard::Notebook(Operation::Confirm), routes!(issue_grant))
        .routes(Guard::Notebook(Operation::ConfirmEdit), routes!(revoke_grant))
        .routes(Guard::Notebook(Operation::Read), routes!(list_conversations))
        .routes(Guard::Notebook(Operation::Read), routes!(list_messages))
        .routes(Guard::Notebook(Operation::Edit), routes!(flag_message))
        .routes(Guard::Notebook(Operation::Edit), routes!(undo_turn))
}

// --- policy ---

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PolicyOf {
    /// `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or
    /// `trusted` (all passes that destroys nothing). What destroys asks under every policy.
    #[schema(value_type = String)]
    policy: Policy,
}

/// How much assistants may do unasked.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/policy", tag = "assistants",
    params(("notebook" = String, Path)),
    responses((status = 200, body = PolicyOf), (status = "default", body = Problem)))]
async fn read_policy(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<PolicyOf>, Problem> {
    let policy = app.read(&authenticated, &notebook).await?.notebook.policy;
    Ok(Json(PolicyOf { policy }))
}

/// Sets how much assistants may do unasked. For owners.
#[utoipa::path(put, path = "/api/notebooks/{notebook}/policy", tag = "assistants", request_body = PolicyOf,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn set_policy(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(PolicyOf { policy }): JsonBody<PolicyOf>,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::SetPolicy { policy }).await
}

// --- grants ---

#[derive(Debug, Serialize, ToSchema)]
struct Grants {
    /// By id: conversation, functions (none: every function), `expires_at`, who issued it.
    #[schema(value_type = Object)]
    grants: BTreeMap<GrantId, AssistantGrant>,
}

/// What conversations may do unasked for a while.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/grants", tag = "assistants",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Grants), (status = "default", body = Problem)))]
async fn list_grants(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Grants>, Problem> {
    let mut grants = app.read(&authenticated, &notebook).await?.notebook.grants.clone();
    let now = app.clock.now();
    grants.retain(|_, grant| grant.expires_at > now);
    Ok(Json(Grants { grants }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewGrant {
    /// Chosen by you; absent: a new one.
    #[schema(value_type = Option<String>)]
    id: Option<GrantId>,
    #[schema(value_type = String)]
    conversation: ConversationId,
    /// Empty: every function but those that destroy.
    #[serde(default)]
    functions: Vec<String>,
    /// Milliseconds since 1970, within seven days.
    expires_at: Millis,
}

#[derive(Debug, Serialize, ToSchema)]
struct IssuedGrant {
    #[schema(value_type = String)]
    id: GrantId,
    version: Version,
}

/// Lets the calls of one conversation pass for a while; never what destroys.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/grants", tag = "assistants", request_body = NewGrant,
    params(("notebook" = String, Path)),
    responses((status = 201, body = IssuedGrant), (status = "default", body = Problem)))]
async fn issue_grant(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(new): JsonBody<NewGrant>,
) -> Result<Response, Problem> {
    // Named here, so that the answer can say it; from the command's id, so that a repeat is the same grant.
    let command_id = conditions.command_id.clone().unwrap_or_else(|| ulid::Ulid::generate().into());
    let named = || command_id.as_str().parse().unwrap_or_else(|_| ulid::Ulid::generate().into());
    let id: GrantId = new.id.unwrap_or_else(named);
    let command = Command::IssueGrant {
        grant_id: Some(id.clone()),
        conversation_id: new.conversation,
        functions: new.functions,
        expires_at: new.expires_at,
    };
    let conditions = Conditions { command_id: Some(command_id), ..conditions };
    let answer = execute(&app, &authenticated, &notebook, conditions, &command).await?;
    Ok(created(Json(IssuedGrant { id, version: answer.version })))
}

/// Ends a grant.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/grants/{grant}", tag = "assistants",
    params(("notebook" = String, Path), ("grant" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn revoke_grant(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, grant_id)): Params<(NotebookId, GrantId)>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::RevokeGrant { grant_id }).await
}

// --- conversations ---

#[derive(Debug, Serialize, ToSchema)]
struct Conversations {
    /// By id: title, who started it and when, the unfinished turn.
    #[schema(value_type = Object)]
    conversations: BTreeMap<ConversationId, Conversation>,
    /// The unfinished turns, by id.
    #[schema(value_type = Object)]
    turns: BTreeMap<TurnId, Turn>,
}

/// The conversations with assistants. All who may read the notebook read them.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/conversations", tag = "assistants",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Conversations), (status = "default", body = Problem)))]
async fn list_conversations(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Conversations>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    Ok(Json(Conversations { conversations: state.conversations.clone(), turns: state.turns.clone() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MessagesQuery {
    /// Messages posted before this version: `next` of the page before.
    before: Option<Version>,
    /// 1 to 200; absent: 50.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct MessagePage {
    messages: Vec<Message>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Version>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Message {
    #[schema(value_type = String)]
    id: MessageId,
    version: Version,
    /// Milliseconds since 1970.
    posted_at: Millis,
    #[schema(value_type = Object)]
    posted_by: Actor,
    /// `user`, `assistant` or `tool`.
    #[schema(value_type = String)]
    role: MessageRole,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<TurnId>,
    /// Texts, calls of tools and their results.
    #[schema(value_type = Vec<Object>)]
    blocks: Vec<MessageBlock>,
    /// Always in the assistant's context.
    pinned: bool,
    /// Never in the assistant's context.
    skipped: bool,
}

/// What was said in a conversation, the latest first.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/conversations/{conversation}/messages", tag = "assistants",
    params(("notebook" = String, Path), ("conversation" = String, Path), MessagesQuery),
    responses((status = 200, body = MessagePage), (status = "default", body = Problem)))]
async fn list_messages(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, conversation)): Params<(NotebookId, ConversationId)>,
    QueryOf(query): QueryOf<MessagesQuery>,
) -> Result<Json<MessagePage>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let mut messages = Vec::new();
    let Some(flagged) = state.conversations.get(&conversation).map(|known| &known.flagged) else {
        return Ok(Json(MessagePage { messages, next: None }));
    };
    let limit = query.limit.unwrap_or(50).clamp(1, 200);
    let next = backwards(&*app.store, &notebook, query.before, MAX_SCANNED_EVENTS, |stored| {
        messages.extend(message(stored, &conversation, flagged));
        messages.len() == limit
    });
    let next = next.await?;
    Ok(Json(MessagePage { messages, next }))
}

fn message(
    stored: &Stored,
    conversation: &ConversationId,
    flagged: &BTreeMap<MessageId, MessageFlags>,
) -> Option<Message> {
    if stored.envelope.event_type != "MessagePosted" {
        return None;
    }
    let Ok(Recorded { envelope, event: Event::MessagePosted(event) }) = stored.typed() else { return None };
    let flags = flagged.get(&event.message_id).copied().unwrap_or_default();
    (event.conversation_id == *conversation).then_some(Message {
        id: event.message_id,
        version: envelope.version,
        posted_at: envelope.recorded_at,
        posted_by: envelope.actor,
        role: event.role,
        turn_id: event.turn_id,
        blocks: event.blocks,
        pinned: flags.pinned,
        skipped: flags.skipped,
    })
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewFlags {
    /// Always in the assistant's context. Absent: as it is.
    pinned: Option<bool>,
    /// Never in the assistant's context. Absent: as it is. Not both.
    skipped: Option<bool>,
}

/// Pins a message of a conversation, skips it, or takes that back.
#[utoipa::path(put, path = "/api/notebooks/{notebook}/conversations/{conversation}/messages/{message}/flags",
    tag = "assistants", request_body = NewFlags,
    params(("notebook" = String, Path), ("conversation" = String, Path), ("message" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn flag_message(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, conversation_id, message_id)): Params<(NotebookId, ConversationId, MessageId)>,
    conditions: Conditions,
    JsonBody(NewFlags { pinned, skipped }): JsonBody<NewFlags>,
) -> Result<Answer, Problem> {
    let command = Command::FlagMessage { conversation_id, message_id, pinned, skipped };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

/// Undoes what the assistant did in one turn, also after others edited on top. Runs are not undone.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/turns/{turn}/undo", tag = "assistants",
    params(("notebook" = String, Path), ("turn" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn undo_turn(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, turn)): Params<(NotebookId, TurnId)>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    let command = Command::Undo { steps: 1, correlation_id: None, turn_id: Some(turn) };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}
