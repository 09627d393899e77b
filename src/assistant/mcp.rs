//! The server side of outside assistants: the Model Context Protocol over streamable HTTP, with the tools and gates of the chat.
//!
//! The server has checked the client's token, and passes its owner and rights in [`Person`]. Every call
//! is a tool call in the notebook's log, by an assistant that acts for that person. Destructive calls wait there, and the
//! client gets that answer immediately. No message of a client counts as a confirmation; elicitation is never used.

mod bridge;
mod handler;
mod notebooks;
mod prompts;
mod resources;
mod results;
mod sessions;
mod tools;
mod visitor;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use notarium_core::{NotebookId, Scopes, TokenId, UserId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::caller::Caller;
use crate::host::Host;
use handler::Handler;
use sessions::McpSessions;

pub use bridge::{BridgeError, BridgeOptions, bridge};

/// Most bytes of one message of a client.
pub const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Owner and rights of the token that a request carries. The server has checked it.
#[derive(Clone)]
pub struct Person {
    pub user_id: UserId,
    pub token_id: TokenId,
    pub scopes: Scopes,
    /// Returns true if the token permits access to the notebook at all.
    pub covers: Arc<dyn Fn(&NotebookId) -> bool + Send + Sync>,
}

/// Response of the endpoint; its body may be a stream.
pub type McpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The MCP endpoint of this process. Dropping it ends every session.
pub struct McpService {
    http: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: McpSessions,
    _end: DropGuard,
}

/// Makes the service that a server mounts at `/mcp`, behind its own checks of token, `Host` and `Origin`.
pub fn service(caller: Arc<dyn Caller>, host: Arc<dyn Host>) -> McpService {
    let end = CancellationToken::new();
    let manager = Arc::new(sessions::manager());
    // `Host` and `Origin` were checked by the server, against its own lists.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .with_cancellation_token(end.clone());
    let make = move || Ok(Handler::new(caller.clone(), host.clone()));
    McpService {
        http: StreamableHttpService::new(make, manager.clone(), config),
        sessions: McpSessions::new(manager),
        _end: end.drop_guard(),
    }
}

impl McpService {
    /// Answers one authenticated request. A session accepts only the token that began it.
    pub async fn answer<B>(&self, person: Person, mut request: Request<B>) -> McpResponse
    where
        B: BodyExt + Send + 'static,
        B::Error: fmt::Display,
    {
        let session = sessions::id_of(request.headers());
        if session.as_deref().is_some_and(|id| !self.sessions.belongs_to(id, &person.token_id)) {
            return sessions::unknown();
        }
        let token_id = person.token_id.clone();
        let is_goodbye = request.method() == Method::DELETE;
        request.extensions_mut().insert(person);
        let mut response = self.http.handle(request).await;
        // 204 in place of 202: the session has ended, and clients warn of other codes.
        if is_goodbye && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if session.is_none()
            && let Some(id) = sessions::id_of(response.headers())
        {
            self.sessions.begun(id, token_id).await;
        }
        response
    }
}
