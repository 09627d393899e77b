//! Sessions by token: a token's requests share one connection to the server.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hashlink::LruCache;
use http::{HeaderMap, header};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::error::DoorError;
use crate::session::{KernelCode, Session};

/// Tokens with a connection. Beyond, the connection that was used longest ago ends.
const MAX_SESSIONS: usize = 64;
/// Longest token that is looked at.
const MAX_TOKEN_BYTES: usize = 1_024;

/// SHA-256 of a token.
type TokenKey = [u8; 32];
type SessionOpening = Arc<OnceCell<Arc<Session>>>;

/// Sessions by the SHA-256 of their token.
pub struct Sessions {
    server: String,
    tables: Mutex<SessionTables>,
}

struct SessionTables {
    open: LruCache<TokenKey, Arc<Session>>,
    /// Tokens that the server has not accepted yet: wrong ones never take the place of an open session.
    opening: LruCache<TokenKey, SessionOpening>,
}

impl Sessions {
    pub fn new(server: String) -> Self {
        let tables = SessionTables { open: LruCache::new(MAX_SESSIONS), opening: LruCache::new(MAX_SESSIONS) };
        Self { server, tables: Mutex::new(tables) }
    }

    /// The session of a request's token. Several requests with a new token wait for one connection.
    /// `code`: the request is of code in a kernel.
    pub async fn of(&self, headers: &HeaderMap, code: Option<KernelCode>) -> Result<Arc<Session>, DoorError> {
        let token = token(headers)?;
        let key: TokenKey = Sha256::digest(format!("{token} {code:?}")).into();
        let opening = match self.tables.lock().find(key) {
            Ok(session) => return Ok(session),
            Err(opening) => opening,
        };
        let opened = opening.get_or_try_init(|| Session::open(&self.server, &token, code)).await.cloned();
        self.tables.lock().opened(key, &opening, opened.as_ref().ok());
        opened
    }
}

impl SessionTables {
    /// The open session, else the attempt to open one.
    fn find(&mut self, key: TokenKey) -> Result<Arc<Session>, SessionOpening> {
        match self.open.get(&key) {
            Some(session) if session.is_open() => return Ok(session.clone()),
            Some(_) => _ = self.open.remove(&key),
            None => {}
        }
        if let Some(opening) = self.opening.get(&key) {
            return Err(opening.clone());
        }
        let opening = SessionOpening::default();
        self.opening.insert(key, opening.clone());
        Err(opening)
    }

    /// Ends an attempt; the next request with a refused token asks the server again.
    fn opened(&mut self, key: TokenKey, opening: &SessionOpening, session: Option<&Arc<Session>>) {
        if self.opening.get(&key).is_some_and(|held| Arc::ptr_eq(held, opening)) {
            self.opening.remove(&key);
        }
        if let Some(session) = session {
            self.open.insert(key, session.clone());
        }
    }
}

/// The token in `Authorization`: `Bearer TOKEN`, `token TOKEN`, or `Basic` with the token as the password.
fn token(headers: &HeaderMap) -> Result<String, DoorError> {
    let missing = || {
        DoorError::unauthenticated(
            "this needs a token: make one with `notarium token new`, and send it in the header 'Authorization: Bearer TOKEN'",
        )
    };
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(missing()) };
    let value = value.to_str().ok().filter(|value| value.len() <= MAX_TOKEN_BYTES).ok_or_else(missing)?;
    let (scheme, credentials) = value.split_once(' ').ok_or_else(missing)?;
    let token = match scheme.to_ascii_lowercase().as_str() {
        "bearer" | "token" => Some(credentials.trim().to_owned()),
        "basic" => password(credentials.trim()),
        _ => None,
    };
    token.filter(|token| !token.is_empty()).ok_or_else(missing)
}

fn password(credentials: &str) -> Option<String> {
    let decoded = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn found(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        token(&headers).ok()
    }

    #[test]
    fn a_token_comes_in_three_ways() {
        let basic = format!("Basic {}", STANDARD.encode("x:secret"));
        for value in ["Bearer secret", "token secret", "bearer  secret ", &basic] {
            assert_eq!(found(&[value]).as_deref(), Some("secret"), "{value}");
        }
    }

    #[test]
    fn without_one_token_there_is_no_answer() {
        let long = format!("Bearer {}", "x".repeat(MAX_TOKEN_BYTES));
        for values in
            [&[][..], &["Bearer"], &["Bearer "], &["Digest x"], &["Basic ???"], &["Bearer a", "Bearer b"], &[&long]]
        {
            assert_eq!(found(values), None, "{values:?}");
        }
    }
}
