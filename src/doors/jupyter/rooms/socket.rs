//! The WebSocket of a room: one client, with a connection of its own to the server, so that its rights are those of its token.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use notarium_client::{ConnectError, Connection, ConnectionEvent};
use notarium_core::{Document, EventId, NotebookId};
use notarium_wire::ServerMessage;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::api::CallerToken;
use crate::door::JupyterDoor;
use crate::rooms::message::{self, SyncMessage};
use crate::rooms::room::{JupyterRoom, NewMember, Outgoing, RoomInput, RoomNews, reload_payload};
use crate::rooms::words::TokenEvents;

/// Close codes that jupyter-collaboration shows as an error when they come before the first synchronisation.
const NOT_FOUND: u16 = 4404;
const FAILED: u16 = 4500;
/// Close code by which clients load the notebook again.
const RELOAD: u16 = 1003;
/// Close code of a client whose token ended.
pub const NOT_ALLOWED: u16 = 1008;
/// A connection without an answer to its pings for so long has ended.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// Numbers of members.
static NEXT_MEMBER: AtomicU64 = AtomicU64::new(1);

/// Serves a client of a notebook's room until it leaves.
pub async fn serve(
    door: JupyterDoor,
    token: CallerToken,
    notebook: NotebookId,
    session: String,
    mut socket: WebSocket,
) {
    let room = match door.rooms.find(&token, &notebook).await {
        Some(room) if room.session() == session => room,
        other => {
            let present = other.map(|room| room.session()).unwrap_or_default();
            return close(&mut socket, RELOAD, &reload_payload(&present)).await;
        }
    };
    let followed = timeout(door.limits.command_timeout, follow(&door, &token, &notebook)).await;
    match followed {
        Ok(Ok(FollowedNotebook { connection, document, event_id, .. })) => {
            let (outbox, outgoing) = mpsc::channel(door.limits.max_queued_frames);
            let client = NewMember { outbox, sender: connection.sender(), token, document, event_id };
            Box::pin(run(room, &notebook, client, outgoing, connection, socket)).await;
        }
        Ok(Err((code, reason))) => close(&mut socket, code, &reason).await,
        Err(_) => close(&mut socket, FAILED, "the server did not answer in time: try again").await,
    }
}

/// A connection that follows a notebook.
pub struct FollowedNotebook {
    pub connection: Connection,
    /// Name of the connection, as other messages have it.
    pub name: String,
    pub document: Document,
    /// The event at the document's version.
    pub event_id: EventId,
}

/// Connects with the client's token and subscribes to the notebook.
pub async fn follow(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookId,
) -> Result<FollowedNotebook, (u16, String)> {
    let (mut connection, welcome) = door.connect(token).await.map_err(|error| (code_of(&error), error.to_string()))?;
    connection.subscribe(notebook);
    loop {
        match connection.next().await {
            ConnectionEvent::Subscribed(message) => {
                let document = connection.replica(notebook).cloned();
                let document =
                    document.ok_or_else(|| (FAILED, "the notebook could not be read: try again".to_owned()))?;
                let (name, event_id) = (welcome.connection, message.event_id);
                return Ok(FollowedNotebook { connection, name, document, event_id });
            }
            ConnectionEvent::Message(ServerMessage::Error(error)) => return Err((NOT_FOUND, error.message)),
            ConnectionEvent::Failed(error) => return Err((code_of(&error), error.to_string())),
            _ => {}
        }
    }
}

fn code_of(error: &ConnectError) -> u16 {
    if error.is_final() { NOT_ALLOWED } else { FAILED }
}

pub async fn close(socket: &mut WebSocket, code: u16, reason: &str) {
    let _ = socket.send(close_message(code, reason)).await;
}

pub fn close_message(code: u16, reason: &str) -> Message {
    // A close frame has room for 123 bytes of reason.
    let reason = &reason[..reason.floor_char_boundary(123)];
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

async fn run(
    room: JupyterRoom,
    notebook: &NotebookId,
    client: NewMember,
    outgoing: mpsc::Receiver<Outgoing>,
    connection: Connection,
    socket: WebSocket,
) {
    let member = NEXT_MEMBER.fetch_add(1, Ordering::Relaxed);
    let client = Box::new(client);
    if room.inbox.send(RoomInput::Join { member, client }).await.is_err() {
        return;
    }
    let (sink, stream) = socket.split();
    // A task of its own: while the room decides, this client's events must still reach it.
    let mut reader = AbortOnDropHandle::new(tokio::spawn(read(room.clone(), member, stream)));
    tokio::select! {
        () = write(sink, outgoing, notebook, connection, &room) => {}
        _ = &mut reader => {}
    }
    let _ = room.inbox.send(RoomInput::Leave { member }).await;
}

/// Passes the client's messages to the room; ends with the connection, or at a malformed message.
async fn read(room: JupyterRoom, member: u64, mut stream: SplitStream<WebSocket>) {
    while let Some(Ok(received)) = stream.next().await {
        let received = match received {
            Message::Binary(bytes) => SyncMessage::read(&bytes),
            Message::Close(_) => return,
            _ => continue,
        };
        let Some(message) = received else { return };
        if room.inbox.send(RoomInput::Message { member, message }).await.is_err() {
            return;
        }
    }
}

/// Writes to the client, and passes the notebook's events to the room.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut outgoing: mpsc::Receiver<Outgoing>,
    notebook: &NotebookId,
    mut connection: Connection,
    room: &JupyterRoom,
) {
    let mut pings = interval(PING_INTERVAL);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            frame = outgoing.recv() => match frame {
                Some(Outgoing::Frame(bytes)) => Message::Binary(bytes),
                Some(Outgoing::Close(code, reason)) => {
                    let _ = sink.send(close_message(code, &reason)).await;
                    return;
                }
                None => return,
            },
            event = connection.next() => match news_of(event, &connection, notebook) {
                MemberNews::Room(news) => {
                    if room.news.send(news).await.is_err() {
                        return;
                    }
                    continue;
                }
                MemberNews::Other => continue,
                MemberNews::Ended(reason) => {
                    let _ = sink.send(close_message(NOT_ALLOWED, &reason)).await;
                    return;
                }
            },
            _ = pings.tick() => Message::Ping(bytes::Bytes::new()),
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
}

enum MemberNews {
    Room(RoomNews),
    Ended(String),
    Other,
}

fn news_of(event: ConnectionEvent, connection: &Connection, notebook: &NotebookId) -> MemberNews {
    match event {
        ConnectionEvent::Events { recorded, .. } => MemberNews::Room(RoomNews::Events(recorded)),
        ConnectionEvent::Subscribed(message) => match connection.replica(notebook) {
            Some(document) => {
                let event_id = (message.version == document.version).then_some(message.event_id);
                MemberNews::Room(RoomNews::State(Box::new(document.clone()), event_id))
            }
            None => MemberNews::Other,
        },
        ConnectionEvent::Failed(error) => MemberNews::Ended(error.to_string()),
        ConnectionEvent::Message(ServerMessage::Access { role: None, .. }) => {
            MemberNews::Ended("you may no longer see this notebook".to_owned())
        }
        _ => MemberNews::Other,
    }
}

// --- sockets without a notebook ---

/// Serves the room of names in JupyterLab's sidebar, which stays open and says nothing: names of people in other notebooks are nobody's
/// business here.
pub async fn serve_silent(door: JupyterDoor, token: CallerToken, socket: WebSocket) {
    serve_beside(door, token, socket, None).await;
}

/// Serves the socket of events: sentences about changes that were undone.
pub async fn serve_events(door: JupyterDoor, token: CallerToken, socket: WebSocket) {
    let events = door.rooms.events().subscribe(&token);
    serve_beside(door, token, socket, Some(events)).await;
}

async fn serve_beside(door: JupyterDoor, token: CallerToken, mut socket: WebSocket, mut events: Option<TokenEvents>) {
    let Ok((mut connection, _)) = door.connect(&token).await else {
        return close(&mut socket, NOT_ALLOWED, "the token is not accepted: make a new one").await;
    };
    loop {
        let next_event = async {
            match &mut events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Binary(bytes))) => match SyncMessage::read(&bytes) {
                    Some(SyncMessage::Step1(_)) => Message::Binary(message::step_2(&[0, 0]).into()),
                    _ => continue,
                },
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            event = next_event => Message::Text(event.to_string().into()),
            event = connection.next() => match event {
                ConnectionEvent::Failed(error) => {
                    return close(&mut socket, NOT_ALLOWED, &error.to_string()).await;
                }
                _ => continue,
            },
        };
        if socket.send(answer).await.is_err() {
            return;
        }
    }
}
