//! Sessions of clients, in protocol versions that have them: their owners, and their limits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use notarium_core::TokenId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::McpResponse;

/// Most sessions of one token; a further one ends the oldest, whose client may begin a new one.
const MAX_PER_TOKEN: usize = 32;
/// Most sessions of all tokens together.
const MAX_SESSIONS: usize = 2_000;
/// Idle time after which a session ends.
const IDLE: Duration = Duration::from_secs(12 * 60 * 60);
const SESSION_HEADER: &str = "mcp-session-id";

pub fn manager() -> LocalSessionManager {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    manager
}

/// The session that a message names.
pub fn id_of(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(Arc::from)
}

/// Response as for an ended session, so that the client begins a new one.
pub fn unknown() -> McpResponse {
    let mut response = Response::new(Full::from("Not Found: Session not found").boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    session: Arc<str>,
    token_id: TokenId,
}

pub struct McpSessions {
    manager: Arc<LocalSessionManager>,
    /// Sessions with their tokens, oldest first.
    owned: Mutex<VecDeque<Owned>>,
}

impl McpSessions {
    pub fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, owned: Mutex::default() }
    }

    pub fn belongs_to(&self, session: &str, token_id: &TokenId) -> bool {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        owned.iter().any(|one| *one.session == *session && one.token_id == *token_id)
    }

    /// Records a new session, forgets ended ones, and ends those above the limits.
    pub async fn begun(&self, session: Arc<str>, token_id: TokenId) {
        let alive: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let surplus = {
            let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
            owned.push_back(Owned { session, token_id: token_id.clone() });
            owned.retain(|one| alive.contains(&one.session));
            surplus(&mut owned, &token_id)
        };
        for session in surplus {
            // Fails only if the session has ended meanwhile.
            let _ = self.manager.close_session(&session).await;
        }
    }
}

fn surplus(owned: &mut VecDeque<Owned>, token_id: &TokenId) -> Vec<Arc<str>> {
    let mut ended = Vec::new();
    let of_token = owned.iter().filter(|one| one.token_id == *token_id).count();
    if of_token > MAX_PER_TOKEN
        && let Some(oldest) = owned.iter().position(|one| one.token_id == *token_id)
    {
        ended.extend(owned.remove(oldest));
    }
    if owned.len() > MAX_SESSIONS {
        ended.extend(owned.pop_front());
    }
    ended.into_iter().map(|one| one.session).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(session: &str, token: &str) -> Owned {
        Owned { session: session.into(), token_id: token.parse().unwrap() }
    }

    #[test]
    fn the_oldest_session_of_a_token_makes_room() {
        let mut all: VecDeque<Owned> = [owned("other", "b")].into();
        all.extend((0..MAX_PER_TOKEN).map(|number| owned(&format!("s{number}"), "a")));
        assert!(surplus(&mut all, &"a".parse().unwrap()).is_empty());
        all.push_back(owned("new", "a"));
        let ended = surplus(&mut all, &"a".parse().unwrap());
        assert_eq!(ended, [Arc::from("s0")]);
        assert!(all.iter().any(|one| &*one.session == "other") && all.iter().any(|one| &*one.session == "new"));
    }
}
