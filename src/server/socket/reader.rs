//! Reads from the client: the `hello`, then one message after the other.

use std::time::Duration;

use futures_util::StreamExt;
use http::HeaderValue;
use notarium_core::{Door, LimitName};
use notarium_wire::{
    ClientMessage, ErrorCode, ErrorMessage, HelloMessage, NoCommonProtocol, PROTOCOLS, ProtocolRange, ServerMessage,
};
use tokio::io::{Join, ReadHalf};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::Raw;
use super::dispatch::SocketConnection;
use super::edge::{ClientEdge, ForwardedClient};
use super::hello::{Named, agent_lock, fatal, let_in, parse, problem, refusal};
use super::pulse::{Pulse, TimedReader};
use super::writer::Replies;
use crate::agents::frame;
use crate::app::App;
use crate::auth::{AuthError, Authenticated, Follow};
use crate::http::guard::COMMAND_LINE;
use crate::limits::clock::Window;
use crate::limits::connection_slots::{ConnectionSlot, ReadBudget};
use crate::rooms::Outbox;

pub type Stream = WebSocketStream<Join<TimedReader<ReadHalf<Raw>>, Replies>>;

/// Time for the client to read the error after a message that was far too long, before the connection is closed.
const LINGER: Duration = Duration::from_millis(500);

/// Result of one read.
pub enum Received {
    Text(Utf8Bytes),
    Error(ErrorMessage),
    /// Ping or pong: resets the idle timer.
    Life,
    /// The client has closed the WebSocket.
    Closed,
    /// The client sends nothing more. It may still read.
    Ended,
    Gone,
}

/// A connection before its `hello`.
pub struct Stranger {
    /// Token from the subprotocol, if any.
    pub token: Option<String>,
    /// True for a page in a browser.
    pub is_page: bool,
    /// Limit of bytes that may be read until the `welcome`.
    pub budget: ReadBudget,
    /// The client of another node, which has authenticated it.
    pub forwarded: Option<ForwardedClient>,
    /// Trace of the request for the socket.
    pub trace: Option<HeaderValue>,
    /// Slot among the connections without a `hello`.
    pub _place: Option<ConnectionSlot>,
}

impl Stranger {
    fn door(&self, client: &str) -> Door {
        match self.is_page {
            true => Door::Page,
            false if client.starts_with(COMMAND_LINE) => Door::Terminal,
            false => Door::Socket,
        }
    }
}

/// Reads until the connection ends. Its last messages are in the outbox.
pub async fn read(app: &App, stream: &mut Stream, outbox: &Outbox, pulse: &Pulse, stranger: Stranger) {
    match Box::pin(greet(app, stream, outbox, pulse, stranger)).await {
        Ok(Some((Greeted::Here(mut connection), mut follow))) => {
            serve(&mut connection, stream, pulse, &mut follow).await;
        }
        Ok(Some((Greeted::Edge(edge), follow))) => Box::pin(edge.serve(stream, pulse, follow)).await,
        Ok(None) => {}
        Err(error) => {
            let is_cut = error.code == ErrorCode::FrameTooLarge;
            let _ = outbox.send(frame(&ServerMessage::Error(error)));
            linger(is_cut).await;
        }
    }
}

// --- the greeting ---

/// A welcomed client.
enum Greeted {
    /// Its notebooks are here.
    Here(Box<SocketConnection>),
    /// Its notebooks are at the nodes of the cluster.
    Edge(Box<ClientEdge>),
}

/// Authenticates the client by its `hello`; `None`: it left before.
async fn greet(
    app: &App,
    stream: &mut Stream,
    outbox: &Outbox,
    pulse: &Pulse,
    stranger: Stranger,
) -> Result<Option<(Greeted, Follow)>, ErrorMessage> {
    let limit = app.limits.hello_timeout;
    let hello = tokio::select! {
        biased;
        hello = timeout(limit, first_message(app, stream)) => hello.map_err(|_| {
            fatal(ErrorCode::HelloTimeout, format!("no hello within {} s: send it first", limit.as_secs()))
        })??,
        () = stranger.budget.spent() => return Err(hello_too_large(app)),
    };
    let Some(hello) = hello else { return Ok(None) };
    let protocol = PROTOCOLS.common(hello.protocols).ok_or_else(|| no_common_protocol(hello.protocols))?;
    let door = stranger.door(&hello.client);
    let (connection, admitted) = match stranger.forwarded {
        Some(ForwardedClient { caller, connection }) => {
            let who = app.accounts.forwarded(caller);
            (Some(connection), app.accounts.follow_forwarded(who).await)
        }
        None => (None, let_in(app, hello.token.clone().or(stranger.token), door).await),
    };
    let (authenticated, follow) = admitted.map_err(|error| refusal(&error))?;
    let is_edge = connection.is_none() && app.cluster.peers().is_some();
    // The nodes that an edge connects to take the lock.
    let agent_lock = if is_edge { None } else { agent_lock(app, &authenticated, hello.instance.clone())? };
    let person = Named::new(authenticated.clone(), hello.name.clone())?;
    person.tell(&app.accounts);
    stranger.budget.lift();
    pulse.set(app.limits.heartbeat_of(&person.authenticated.actor));
    let greeted = match is_edge {
        true => {
            let edge = ClientEdge::new(app.clone(), (protocol, hello), person, authenticated, outbox.clone());
            Greeted::Edge(edge.in_trace(stranger.trace))
        }
        false => {
            let (outbox, features) = (outbox.clone(), &hello.features);
            let here = SocketConnection::new(app.clone(), protocol, person, agent_lock, outbox, features);
            Greeted::Here(Box::new(here.of_edge(connection)))
        }
    };
    Ok(Some((greeted, follow)))
}

fn hello_too_large(app: &App) -> ErrorMessage {
    let limit = app.limits.max_hello_bytes;
    fatal(
        ErrorCode::FrameTooLarge,
        format!("hello has at most {limit} bytes: send it first, and what is larger after the welcome"),
    )
}

fn no_common_protocol(client: ProtocolRange) -> ErrorMessage {
    let message = format!("this server speaks the protocols {PROTOCOLS}, this client {client}: update the older one");
    let protocols = Some(NoCommonProtocol { client, server: PROTOCOLS });
    ErrorMessage { protocols, ..fatal(ErrorCode::UnsupportedProtocol, message) }
}

async fn first_message(app: &App, stream: &mut Stream) -> Result<Option<HelloMessage>, ErrorMessage> {
    loop {
        match receive(app, stream).await {
            Received::Closed | Received::Ended | Received::Gone => return Ok(None),
            Received::Life => {}
            Received::Error(error) => return Err(ErrorMessage { fatal: true, ..error }),
            Received::Text(text) => {
                return match parse(&text) {
                    Ok(ClientMessage::Hello(hello)) => Ok(Some(hello)),
                    Ok(_) => Err(fatal(ErrorCode::Unauthenticated, "the first message is hello: send it first")),
                    Err(error) => Err(ErrorMessage { fatal: true, ..error }),
                };
            }
        }
    }
}

// --- the conversation ---

/// Next event of a connection.
pub enum Next {
    Received(Received),
    TokenChanged(Result<Box<Authenticated>, AuthError>),
    Silent,
    CaughtUp,
    TakenOver,
    Stopping,
}

/// Most connections idle in this future: keep it small.
async fn serve(connection: &mut SocketConnection, stream: &mut Stream, pulse: &Pulse, follow: &mut Follow) {
    let app = connection.app().clone();
    let mut errors = Window::new(Duration::from_secs(60));
    let mut is_paused = false;
    loop {
        let pauses = is_paused || connection.has_too_many_unanswered();
        if pauses && !is_paused {
            connection.slow_down();
        }
        is_paused = pauses;
        let next_input = tokio::select! {
            next_input = hear(&app, stream, pulse), if !is_paused => next_input,
            () = connection.caught_up(), if is_paused => Next::CaughtUp,
            changed = follow.changed() => Next::TokenChanged(changed.map(Box::new)),
            () = connection.taken_over() => Next::TakenOver,
            () = app.stopping.cancelled() => Next::Stopping,
        };
        let done = match next_input {
            Next::Received(Received::Life) => Ok(()),
            Next::CaughtUp => {
                is_paused = false;
                Ok(())
            }
            Next::Received(Received::Gone) | Next::Silent => return,
            Next::Received(Received::Closed) => return connection.close(),
            Next::Received(Received::Ended) => return Box::pin(answer_all(connection, pulse, follow)).await,
            Next::Received(Received::Error(error)) => Err(error),
            Next::Received(Received::Text(text)) => Box::pin(connection.handle(&text, follow)).await,
            Next::TokenChanged(Ok(authenticated)) => {
                connection.identity_changed(*authenticated);
                Ok(())
            }
            Next::TokenChanged(Err(error)) => Err(refusal(&error)),
            Next::TakenOver => Err(fatal(ErrorCode::AgentConnected, "a newer connection of this agent has taken over")),
            // The client connects again, to another node.
            Next::Stopping if app.cluster.peers().is_some() => return,
            Next::Stopping => Err(fatal(ErrorCode::Unavailable, "the server is stopping: reconnect with backoff")),
        };
        let Err(error) = done else { continue };
        let is_cut = error.fatal && error.code == ErrorCode::FrameTooLarge;
        if !complain(connection.outbox(), error, errors.take(app.limits.max_errors_per_minute)) {
            linger(is_cut).await;
            return;
        }
    }
}

/// Waits until all commands of a client that sends nothing more are answered. If it reads nothing more either, the writer ends first.
async fn answer_all(connection: &mut SocketConnection, pulse: &Pulse, follow: &mut Follow) {
    let (app, since) = (connection.app().clone(), Instant::now());
    loop {
        let changed = tokio::select! {
            biased;
            () = connection.all_answered() => return connection.close(),
            changed = follow.changed() => changed,
            () = connection.taken_over() => return,
            () = app.stopping.cancelled() => return,
            () = pulse.silence(since) => return,
        };
        let Ok(authenticated) = changed else { return };
        connection.identity_changed(authenticated);
    }
}

/// The client's next message, unless it is silent for too long from now on. Cancel safe.
pub async fn hear(app: &App, stream: &mut Stream, pulse: &Pulse) -> Next {
    let since = Instant::now();
    tokio::select! {
        // Read first: bytes may have arrived while the whole process was suspended.
        biased;
        received = receive(app, stream) => Next::Received(received),
        () = pulse.silence(since) => Next::Silent,
    }
}

/// Waits before closing: with unread bytes of a frame, the system would drop the error that was just sent.
pub async fn linger(is_cut: bool) {
    if is_cut {
        tokio::time::sleep(LINGER).await;
    }
}

/// Sends an error. False: the connection ends.
pub fn complain(outbox: &Outbox, error: ErrorMessage, may_go_on: Result<(), Duration>) -> bool {
    let error = match may_go_on {
        Ok(()) => error,
        Err(_) => fatal(ErrorCode::TooManyRequests, "too many wrong messages: mend the client, then connect again"),
    };
    let stays = !error.fatal;
    outbox.send(frame(&ServerMessage::Error(error)));
    stays
}

/// Reads one message. Cancel safe.
async fn receive(app: &App, stream: &mut Stream) -> Received {
    let next = stream.next().await;
    if let Some(Ok(Message::Close(_))) = next {
        // Reading on sends the reply to the close, and does not block.
        let _ = stream.next().await;
    }
    classify(app, next)
}

fn classify(app: &App, next: Option<Result<Message, Error>>) -> Received {
    match next {
        Some(Ok(Message::Text(text))) if text.len() > app.limits.max_frame_bytes => {
            Received::Error(too_large(app, false))
        }
        Some(Ok(Message::Text(text))) => Received::Text(text),
        Some(Ok(Message::Binary(_))) => {
            Received::Error(problem(ErrorCode::Malformed, "binary frames are not used: send JSON in text frames"))
        }
        // Fragments are joined before they come here.
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Received::Life,
        Some(Ok(Message::Close(_))) | None => Received::Closed,
        Some(Err(error)) => broken(app, &error),
    }
}

fn too_large(app: &App, fatal: bool) -> ErrorMessage {
    let limit = app.limits.max_frame_bytes;
    let message = format!("a frame has at most {limit} bytes: send less at once, and put large outputs in blobs");
    let details = Some(Box::new(LimitName::Frame.details(limit as u64)));
    ErrorMessage { fatal, details, ..problem(ErrorCode::FrameTooLarge, message) }
}

/// Handles a broken stream. A mistake of the client is answered.
fn broken(app: &App, error: &Error) -> Received {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => Received::Error(too_large(app, true)),
        Error::Utf8(_) => Received::Error(fatal(ErrorCode::Malformed, "a text frame is not UTF-8: send JSON in UTF-8")),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Received::Ended,
        Error::Protocol(_) => Received::Error(fatal(ErrorCode::Malformed, format!("that is not WebSocket: {error}"))),
        _ => {
            tracing::debug!(%error, "a connection broke");
            Received::Gone
        }
    }
}
