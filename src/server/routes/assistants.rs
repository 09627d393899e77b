//! Routes for assistants: models, policy, grants, conversations and their messages; and `/mcp` for outside assistants.
//!
//! The program that starts the server mounts the handler of `/mcp`; this file checks tokens, and ends streams when they end.

use std::collections::BTreeMap;
use std::pin::Pin;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use futures_util::StreamExt;
use http::header;
use notarium_core::{
    CallResults, Command, ConversationId, Event, FlagMessage, GrantId, MessageFlags, MessageId, NotebookId, Operation,
    Recorded, missing_results,
};
use notarium_wire::rest::{
    Conversations, Grants, IssuedGrant, Message, MessagePage, MessagesQuery, Models, NewFlags, NewGrant, PolicyOf,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answers::{NotebookReader, Submit, WantedPage, command, latest};
use crate::app::App;
use crate::auth::{Authenticated, Follow};
use crate::http::extract::{BytesBody, Conditions, Created, JsonBody, NoBody, Params, QueryOf};
use crate::http::forward::{local_mcp_session, name_mcp_session};
use crate::http::guard::{Guard, GuardedRouter, require_assistant, route_table};
use crate::http::problem::Problem;

type MessagePath = (NotebookId, ConversationId, MessageId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let of = Guard::Notebook;
    route_table!(router; "assistants" "/api" {
        /// The models that assistants of this server ask, the default first.
        GET "/models", Guard::Authenticated => list_models;
    } "assistants" "/api/notebooks/{notebook}" {
        /// The policy: how much assistants may do unasked.
        GET "/policy", of(Operation::Read) => read_policy;
        /// Sets how much assistants may do unasked. For owners.
        PUT "/policy", of(Operation::SetPolicy) =>
            command(|_: NotebookId, JsonBody(PolicyOf { policy })| Command::SetPolicy { policy });
        /// Grants: what conversations may do unasked for a while.
        GET "/grants", of(Operation::Read) => list_grants;
        /// Lets the calls of one conversation pass for a while; never what destroys.
        POST "/grants", of(Operation::Confirm) => issue_grant;
        /// Ends a grant.
        DELETE "/grants/{grant}", of(Operation::ConfirmEdit) =>
            command(|(_, grant_id): (NotebookId, GrantId), _: NoBody| Command::RevokeGrant { grant_id });
        /// The conversations with assistants. All who may read the notebook read them.
        GET "/conversations", of(Operation::Read) => list_conversations;
        /// The messages of a conversation, the latest first.
        GET "/conversations/{conversation}/messages", of(Operation::Read) => list_messages;
        /// Pins a message of a conversation, skips it, or takes that back.
        PUT "/conversations/{conversation}/messages/{message}/flags", of(Operation::Edit) =>
            command(|(_, conversation_id, message_id): MessagePath, JsonBody(NewFlags { pinned, skipped })|
                Command::FlagMessage(FlagMessage { conversation_id, message_id, pinned, skipped }));
    } "" "" {
        /// The Model Context Protocol, for assistants from outside: messages of a client.
        POST "/mcp", Guard::Assistant => answer;
        /// The Model Context Protocol: messages to a client.
        GET "/mcp", Guard::Assistant => answer;
        /// The Model Context Protocol: the end of a session.
        DELETE "/mcp", Guard::Assistant => answer;
    })
}

// --- models ---

async fn list_models(State(app): State<App>) -> Json<Models> {
    Json(Models { models: app.assistants.models.clone() })
}

// --- policy ---

async fn read_policy(NotebookReader { now, .. }: NotebookReader) -> Json<PolicyOf> {
    Json(PolicyOf { policy: now.notebook.policy })
}

// --- grants ---

async fn list_grants(NotebookReader { app, now, .. }: NotebookReader) -> Json<Grants> {
    let mut grants = now.notebook.grants.clone();
    let at = app.clock.now();
    grants.retain(|_, grant| grant.expires_at > at);
    Json(Grants { grants })
}

async fn issue_grant(submit: Submit, JsonBody(new): JsonBody<NewGrant>) -> Result<Created<Json<IssuedGrant>>, Problem> {
    // The id is chosen here, so that the answer can contain it. It is made from the command's id, so that a repeat
    // makes the same grant.
    let command_id = submit.conditions.command_id.clone().unwrap_or_else(|| ulid::Ulid::generate().into());
    let named = || command_id.as_str().parse().unwrap_or_else(|_| ulid::Ulid::generate().into());
    let id: GrantId = new.id.unwrap_or_else(named);
    let command = Command::IssueGrant {
        grant_id: Some(id.clone()),
        conversation_id: new.conversation,
        functions: new.functions,
        kinds: new.kinds,
        expires_at: new.expires_at,
    };
    let conditions = Conditions { command_id: Some(command_id), ..submit.conditions };
    let answer = Submit { conditions, ..submit }.command(&command).await?;
    Ok(Created(Json(IssuedGrant { id, version: answer.0.version })))
}

// --- conversations ---

async fn list_conversations(NotebookReader { now, .. }: NotebookReader) -> Json<Conversations> {
    Json(Conversations { conversations: now.notebook.conversations.clone(), turns: now.notebook.turns.clone() })
}

async fn list_messages(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    Params((_, conversation)): Params<(NotebookId, ConversationId)>,
    QueryOf(query): QueryOf<MessagesQuery>,
) -> Result<Json<MessagePage>, Problem> {
    let Some(flagged) = now.notebook.conversations.get(&conversation).map(|known| &known.flagged) else {
        return Ok(Json(MessagePage { messages: Vec::new(), next: None }));
    };
    let wanted = WantedPage::page(query.before, query.limit);
    let pick = |recorded| message(recorded, &conversation, flagged);
    let (mut messages, next) = latest(&*app.store, &notebook, "MessagePosted", wanted, pick).await?;
    let missing: Vec<String> = messages.iter().flat_map(|message: &Message| missing_results(&message.blocks)).collect();
    let results = CallResults::of(&app.store.events_of_subject(&notebook, &missing).await?);
    messages.iter_mut().for_each(|message| results.fill(&mut message.blocks));
    Ok(Json(MessagePage { messages, next }))
}

fn message(
    Recorded { envelope, event }: Recorded,
    conversation: &ConversationId,
    flagged: &BTreeMap<MessageId, MessageFlags>,
) -> Option<Message> {
    let Event::MessagePosted(event) = event else { return None };
    let flags = flagged.get(&event.message_id).copied().unwrap_or_default();
    (event.conversation_id == *conversation).then_some(Message {
        id: event.message_id,
        version: envelope.version,
        posted_at: envelope.recorded_at,
        posted_by: envelope.actor,
        role: event.role,
        turn_id: event.turn_id,
        blocks: event.blocks,
        is_partial: event.is_partial,
        pinned: flags.pinned,
        skipped: flags.skipped,
    })
}

// --- MCP ---

/// Query parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct McpQuery {
    /// The only notebook that the connection may use.
    #[serde(default)]
    notebook: Option<NotebookId>,
}

async fn answer(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<McpQuery>,
    request: Request,
) -> Result<Response, Problem> {
    if let Some(notebook) = &query.notebook {
        // An unreadable notebook is refused here, and not with each call.
        app.read(&who, notebook).await?;
    }
    let handler = app.assistants.mcp.get()?;
    let mut end = end(&app, &who).await?;
    let (parts, body) = request.into_parts();
    let BytesBody(bytes) = BytesBody::from_request(Request::from_parts(parts.clone(), body), &app).await?;
    let mut request = Request::from_parts(parts, Body::from(bytes));
    let node = app.notebooks.cluster.peers().map(|_| app.notebooks.cluster.instance());
    if let Some(node) = node {
        local_mcp_session(request.headers_mut(), node);
    }
    let mut response = tokio::select! {
        response = handler.answer(who, request) => response,
        problem = &mut end => return Err(problem),
    };
    if let Some(node) = node {
        name_mcp_session(response.headers_mut(), node);
    }
    Ok(if is_stream(&response) { response.map(|body| until(body, end)) } else { response })
}

type StreamEnd = Pin<Box<dyn Future<Output = Problem> + Send>>;

/// Resolves when an assistant may no longer use the token, or when the server stops.
async fn end(app: &App, who: &Authenticated) -> Result<StreamEnd, Problem> {
    let mut follow = Follow::new(&app.accounts, who).await?;
    let stopping = app.stopping.clone();
    let refused = async move {
        loop {
            match follow.changed().await.map_err(Problem::from).and_then(|who| require_assistant(&who)) {
                Ok(()) => {}
                Err(problem) => return problem,
            }
        }
    };
    Ok(Box::pin(async move {
        let stopped = stopping.run_until_cancelled(refused).await;
        stopped.unwrap_or_else(|| Problem::unavailable("the server stops: try again in a moment"))
    }))
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn until(body: Body, end: StreamEnd) -> Body {
    Body::from_stream(body.into_data_stream().take_until(end))
}
#[cfg(test)]
mod tests;
