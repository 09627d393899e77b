//! Upgrades a request to a WebSocket (RFC 6455).

use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// A connection after its upgrade.
pub type Raw = TokioIo<Upgraded>;

/// A request that may become a socket.
pub struct Handshake {
    key: HeaderValue,
    on_upgrade: OnUpgrade,
    /// Protocol that the server selects from the client's offer.
    protocol: Option<&'static str>,
}

impl Handshake {
    /// Checks the request's headers. The error is the status with which to refuse it.
    pub fn of(parts: &mut Parts, protocol: &'static str) -> Result<Self, StatusCode> {
        let headers = &parts.headers;
        if parts.method != Method::GET {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let is_upgrade =
            has_word(headers, header::CONNECTION, "upgrade") && has_word(headers, header::UPGRADE, "websocket");
        let is_known = headers.get(header::SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
        let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_upgrade && is_known);
        let key = key.ok_or(StatusCode::BAD_REQUEST)?.clone();
        let protocol = has_word(headers, header::SEC_WEBSOCKET_PROTOCOL, protocol).then_some(protocol);
        let on_upgrade = parts.extensions.remove().ok_or(StatusCode::UPGRADE_REQUIRED)?;
        Ok(Self { key, on_upgrade, protocol })
    }

    /// Response, and the connection after it was sent.
    pub fn accept(self) -> (Response, impl Future<Output = hyper::Result<Raw>> + Send) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        if let Ok(accept) = HeaderValue::from_str(&derive_accept_key(self.key.as_bytes())) {
            headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        }
        if let Some(protocol) = self.protocol {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        let on_upgrade = self.on_upgrade;
        (response, async move { on_upgrade.await.map(TokioIo::new) })
    }
}

/// True if a header that is a list contains this word.
fn has_word(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let lists = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}
