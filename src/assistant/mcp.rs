//! The server side of outside assistants: the Model Context Protocol over streamable HTTP, with the tools and gates of the chat.
//!
//! The server has checked the client's token, and passes its owner and rights in [`TokenOwner`]. Every call
//! is a tool call in the notebook's log, by an assistant that acts for that person. Destructive calls wait there, and the
//! client gets that answer immediately. No message of a client counts as a confirmation; elicitation is never used.

mod bridge;
mod creation;
mod handler;
mod prompts;
mod resources;
mod tools;
mod visitor;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use handler::Handler;
use hashlink::LinkedHashMap;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use notarium_core::{NotebookId, Scopes, TokenId, UserId};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::assistants::ToolCaller;
use crate::host::NotebookHost;

pub use bridge::{BridgeError, BridgeOptions, bridge};

/// Most bytes of one message of a client.
pub const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Owner and rights of the token that a request carries. The server has checked it.
#[derive(Clone)]
pub struct TokenOwner {
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
pub fn service(caller: Arc<dyn ToolCaller>, host: Arc<dyn NotebookHost>) -> McpService {
    let end = CancellationToken::new();
    let manager = Arc::new(session_manager());
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
    pub async fn answer<B>(&self, person: TokenOwner, mut request: Request<B>) -> McpResponse
    where
        B: BodyExt + Send + 'static,
        B::Error: fmt::Display,
    {
        let session = session_of(request.headers());
        if session.as_deref().is_some_and(|id| !self.sessions.belongs_to(id, &person.token_id)) {
            return unknown_session();
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
            && let Some(id) = session_of(response.headers())
        {
            self.sessions.begun(id, token_id).await;
        }
        response
    }
}

/// Most sessions of one token; a further one ends the oldest, whose client may begin a new one.
const MAX_PER_TOKEN: usize = 32;
/// Most sessions of all tokens together.
const MAX_SESSIONS: usize = 2_000;
/// Idle time after which a session ends.
const IDLE: Duration = Duration::from_secs(12 * 60 * 60);
const SESSION_HEADER: &str = "mcp-session-id";

fn session_manager() -> LocalSessionManager {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    manager
}

/// The session that a message names.
fn session_of(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(Arc::from)
}

/// Response as for an ended session, so that the client begins a new one.
fn unknown_session() -> McpResponse {
    let mut response = Response::new(Full::from("Not Found: Session not found").boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

struct McpSessions {
    manager: Arc<LocalSessionManager>,
    /// Sessions with their tokens, oldest first.
    owned: Mutex<LinkedHashMap<Arc<str>, TokenId>>,
}

impl McpSessions {
    pub fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, owned: Mutex::default() }
    }

    pub fn belongs_to(&self, session: &str, token_id: &TokenId) -> bool {
        self.owned.lock().get(session) == Some(token_id)
    }

    /// Records a new session, forgets ended ones, and ends those above the limits.
    pub async fn begun(&self, session: Arc<str>, token_id: TokenId) {
        let alive: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let surplus = {
            let mut owned = self.owned.lock();
            owned.insert(session, token_id.clone());
            owned.retain(|session, _| alive.contains(session));
            surplus(&mut owned, &token_id)
        };
        for session in surplus {
            // Fails only if the session has ended meanwhile.
            let _ = self.manager.close_session(&session).await;
        }
    }
}

fn surplus(owned: &mut LinkedHashMap<Arc<str>, TokenId>, token_id: &TokenId) -> Vec<Arc<str>> {
    let mut ended = Vec::new();
    let mut of_token = owned.iter().filter(|(_, owner)| *owner == token_id).map(|(session, _)| session);
    if of_token.clone().count() > MAX_PER_TOKEN
        && let Some(oldest) = of_token.next().cloned()
    {
        owned.remove(&oldest);
        ended.push(oldest);
    }
    if owned.len() > MAX_SESSIONS {
        ended.extend(owned.pop_front().map(|(session, _)| session));
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(session: &str, token: &str) -> (Arc<str>, TokenId) {
        (session.into(), token.parse().unwrap())
    }

    #[test]
    fn the_oldest_session_of_a_token_makes_room() {
        let mut all = LinkedHashMap::from_iter([owned("other", "b")]);
        all.extend((0..MAX_PER_TOKEN).map(|number| owned(&format!("s{number}"), "a")));
        assert!(surplus(&mut all, &"a".parse().unwrap()).is_empty());
        all.extend([owned("new", "a")]);
        let ended = surplus(&mut all, &"a".parse().unwrap());
        assert_eq!(ended, [Arc::from("s0")]);
        assert!(all.contains_key("other") && all.contains_key("new"));
    }
}
