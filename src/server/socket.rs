//! WebSocket at `GET /api/socket`: many notebooks over one connection.
//!
//! One task per connection, with two futures for reading and writing. So a slow reader does not keep its own commands
//! from being read, and an idle connection costs little.
//!
//! Upgrades a request to a WebSocket (RFC 6455).

mod dispatch;
mod hello;
mod pulse;
mod reader;
mod writer;

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::app::App;
use crate::http::problem::Problem;
use crate::limits::connection_slots::ReadBudget;
use crate::rooms::Outbox;
use pulse::{Pulse, TimedReader, TimedWriter};
use reader::Stranger;
use writer::Replies;

/// Server's choice in `Sec-WebSocket-Protocol`.
const SUBPROTOCOL: &str = "notarium";
const BEARER_SUBPROTOCOL: &str = "notarium.bearer.";
/// Approximate memory of an idle connection; more is used only while a large frame arrives.
const READ_BUFFER_BYTES: usize = 2 << 10;
/// Time that a connection that ends has to receive its queued frames.
const FAREWELL: Duration = Duration::from_secs(5);

/// Upgrades to a socket. Its first message has to be `hello`.
pub async fn upgrade(State(app): State<App>, request: Request) -> Response {
    let Ok(permit) = app.sockets.clone().try_acquire_owned() else {
        let detail = "too many connections: try again in a moment";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).into_response();
    };
    let (mut parts, _) = request.into_parts();
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let Some(place) = app.strangers.enter(address) else {
        let detail = "too many connections that have not said hello yet: try again in a moment";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).into_response();
    };
    let budget = parts.extensions.get::<ReadBudget>().cloned().unwrap_or_default();
    let token = bearer_subprotocol(&parts.headers);
    // The origin was checked against the allowed ones before.
    let is_page = parts.headers.contains_key(header::ORIGIN);
    let handshake = match Handshake::of(&mut parts, SUBPROTOCOL) {
        Ok(handshake) => handshake,
        Err(status) => return refused(status),
    };
    budget.limit(app.limits.max_hello_bytes);
    let stranger = Stranger { token, is_page, budget, _place: place };
    let (response, socket) = handshake.accept();
    tokio::spawn(async move {
        match socket.await {
            Ok(socket) => Box::pin(run(app, socket, stranger, permit)).await,
            Err(error) => tracing::debug!(%error, "upgrade failed"),
        }
    });
    response
}

fn refused(status: StatusCode) -> Response {
    let detail = "this is a WebSocket: connect with ws:// or wss://, version 13 (see protocol/README.md)";
    let status = if status.is_client_error() { status } else { StatusCode::BAD_REQUEST };
    Problem::new(status, "not_a_websocket", detail).into_response()
}

/// Token that is offered as the subprotocol `notarium.bearer.<token>`.
fn bearer_subprotocol(headers: &HeaderMap) -> Option<String> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter().filter_map(|value| value.to_str().ok());
    let mut names = offered.flat_map(|list| list.split(',')).map(str::trim);
    names.find_map(|name| name.strip_prefix(BEARER_SUBPROTOCOL)).map(str::to_owned)
}

async fn run(app: App, socket: Raw, stranger: Stranger, _permit: OwnedSemaphorePermit) {
    let (outbox, receiver) = Outbox::new(app.limits.max_queued_frames, app.limits.max_queued_bytes);
    let (incoming, outgoing) = tokio::io::split(socket);
    let pulse = Pulse::new(app.limits.usual_heartbeat());
    let incoming = TimedReader { stream: incoming, pulse: pulse.clone() };
    let outgoing = TimedWriter::new(outgoing, pulse.clone());
    let incoming = tokio::io::join(incoming, Replies(outbox.clone()));
    // Frames above the promised size get an error up to this size; beyond, the connection ends.
    let hard_limit = Some(app.limits.max_frame_bytes.saturating_mul(2));
    let config = WebSocketConfig::default().read_buffer_size(READ_BUFFER_BYTES).write_buffer_size(0);
    let config = config.max_message_size(hard_limit).max_frame_size(hard_limit);
    let mut stream = WebSocketStream::from_raw_socket(incoming, Role::Server, Some(config)).await;
    let mut writing = pin!(writer::write(outgoing, receiver, &app, &pulse));
    let reading = reader::read(&app, &mut stream, &outbox, &pulse, stranger);
    tokio::select! {
        // The client accepts no more bytes, so the connection is dropped.
        () = &mut writing => {}
        () = reading => {
            outbox.close();
            let _ = tokio::time::timeout(FAREWELL, &mut writing).await;
        }
    }
}

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
