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
use crate::session::Session;

/// Tokens with a connection. Beyond, the connection that was used longest ago ends.
const MAX_SESSIONS: usize = 64;
/// Longest token that is looked at.
const MAX_TOKEN_BYTES: usize = 1_024;

type SessionOpening = Arc<OnceCell<Arc<Session>>>;

/// Open sessions, by the SHA-256 of their token.
pub struct Sessions {
    server: String,
    open: Mutex<LruCache<[u8; 32], SessionOpening>>,
}

impl Sessions {
    pub fn new(server: String) -> Self {
        Self { server, open: Mutex::new(LruCache::new(MAX_SESSIONS)) }
    }

    /// The session of a request's token. Several requests with a new token wait for one connection.
    pub async fn of(&self, headers: &HeaderMap) -> Result<Arc<Session>, DoorError> {
        let token = token(headers)?;
        let key: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let opening = self.opening(key);
        let opened = opening.get_or_try_init(|| Session::open(&self.server, &token)).await;
        if opened.is_err() {
            // The next request with this token asks the server again.
            self.forget(&key, &opening);
        }
        opened.cloned()
    }

    fn opening(&self, key: [u8; 32]) -> SessionOpening {
        let mut open = self.open.lock();
        if let Some(opening) = open.get(&key)
            && opening.get().is_none_or(|session| session.is_open())
        {
            return opening.clone();
        }
        let opening = SessionOpening::default();
        open.insert(key, opening.clone());
        opening
    }

    fn forget(&self, key: &[u8; 32], opening: &SessionOpening) {
        let mut open = self.open.lock();
        if open.get(key).is_some_and(|held| Arc::ptr_eq(held, opening)) {
            open.remove(key);
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
