//! WebSocket at `GET /api/socket`: many notebooks over one connection.
//!
//! One task per connection, with two futures for reading and writing. So a slow reader does not keep its own commands
//! from being read, and an idle connection costs little.
//!
//! Upgrades a request to a WebSocket (RFC 6455).

mod check;
mod dispatch;
mod edge;
mod hello;
mod pulse;
mod reader;
mod writer;

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use notarium_telemetry::{TRACEPARENT, pass_on};
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::app::App;
use crate::http::problem::Problem;
use crate::limits::connection_slots::ReadBudget;
use crate::rooms::Outbox;
use pulse::{Pulse, TimedWriter};
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
pub async fn upgrade(State(app): State<App>, mut request: Request) -> Response {
    let Ok(permit) = app.sockets.clone().try_acquire_owned() else {
        let detail = "too many connections: try again in a moment";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).into_response();
    };
    let address = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let forwarded = match edge::forwarded_client(&app, &mut request) {
        Ok(forwarded) => forwarded,
        Err(error) => return Problem::unavailable(error.to_string()).into_response(),
    };
    let place = app.strangers.enter(address);
    if place.is_none() && forwarded.is_none() {
        let detail = "too many connections that have not said hello yet: try again in a moment";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).into_response();
    }
    let Ok(mut response) = create_response_with_body(&request, Body::empty) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let Some(upgraded) = request.extensions_mut().remove::<OnUpgrade>() else {
        return refused(StatusCode::UPGRADE_REQUIRED);
    };
    if subprotocols(request.headers()).any(|name| name.eq_ignore_ascii_case(SUBPROTOCOL)) {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    // A token that is offered as the subprotocol `notarium.bearer.<token>`.
    let token = subprotocols(request.headers()).find_map(|name| name.strip_prefix(BEARER_SUBPROTOCOL));
    let token = token.map(str::to_owned);
    // The origin was checked against the allowed ones before.
    let is_page = request.headers().contains_key(header::ORIGIN);
    let budget = request.extensions().get::<ReadBudget>().cloned().unwrap_or_default();
    budget.limit(app.limits.max_hello_bytes);
    let mut trace = request.headers().clone();
    pass_on(&mut trace);
    let trace = trace.remove(TRACEPARENT);
    let stranger = Stranger { token, is_page, budget, forwarded, trace, _place: place };
    tokio::spawn(async move {
        match upgraded.await {
            Ok(socket) => Box::pin(run(app, TokioIo::new(socket), stranger, permit)).await,
            Err(error) => tracing::debug!(%error, "upgrade failed"),
        }
    });
    response
}

fn refused(status: StatusCode) -> Response {
    let detail = "this is a WebSocket: connect with ws:// or wss://, version 13 (see protocol/README.md)";
    Problem::new(status, "not_a_websocket", detail).into_response()
}

/// Subprotocols that the client offers.
fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter().filter_map(|value| value.to_str().ok());
    offered.flat_map(|list| list.split(',')).map(str::trim)
}

async fn run(app: App, socket: Raw, stranger: Stranger, _permit: OwnedSemaphorePermit) {
    let metrics = app.rooms.metrics.clone();
    let _counted = metrics.http.socket();
    let (outbox, receiver) = Outbox::new(app.limits.max_queued_frames, app.limits.max_queued_bytes);
    let (incoming, outgoing) = tokio::io::split(socket);
    let pulse = Pulse::new(app.limits.usual_heartbeat());
    let incoming = pulse.reader(incoming);
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
