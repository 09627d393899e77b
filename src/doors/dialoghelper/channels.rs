//! `/wsx?chan=NAME`: relays frames between the peers of a channel. A channel belongs to one person.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use notarium_core::Actor;
use parking_lot::Mutex;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use crate::DialoghelperDoor;
use crate::error::DoorError;
use crate::forms::Form;
use crate::session::Session;

/// Largest frame.
const MAX_FRAME_BYTES: usize = 64 << 10;
/// Frames that a slow peer may be behind. Beyond, its connection ends.
const MAX_BEHIND: usize = 32;
const MAX_CHANNELS: usize = 64;
const MAX_PEERS: usize = 64;
const MAX_NAME_CHARACTERS: usize = 200;

/// A frame, and the number of the peer that sent it.
type RelayedFrame = (u64, Utf8Bytes);

/// Open channels, by person and name.
#[derive(Default)]
pub struct RelayChannels {
    open: Mutex<OpenChannels>,
}

#[derive(Default)]
struct OpenChannels {
    channels: HashMap<(String, String), broadcast::Sender<RelayedFrame>>,
    last_peer: u64,
}

/// A peer's place in a channel.
struct Peer {
    number: u64,
    sender: broadcast::Sender<RelayedFrame>,
    receiver: broadcast::Receiver<RelayedFrame>,
}

impl RelayChannels {
    fn join(&self, actor: &Actor, name: &str) -> Result<Peer, DoorError> {
        if name.is_empty() || name.chars().count() > MAX_NAME_CHARACTERS {
            return Err(DoorError::new(format!("a channel's name has 1 to {MAX_NAME_CHARACTERS} characters")));
        }
        let mut open = self.open.lock();
        open.channels.retain(|_, sender| sender.receiver_count() > 0);
        let key = (format!("{actor:?}"), name.to_owned());
        if !open.channels.contains_key(&key) && open.channels.len() >= MAX_CHANNELS {
            return Err(DoorError::new(format!("more than {MAX_CHANNELS} channels are open: close some")));
        }
        open.last_peer += 1;
        let number = open.last_peer;
        let sender = open.channels.entry(key).or_insert_with(|| broadcast::channel(MAX_BEHIND).0).clone();
        if sender.receiver_count() >= MAX_PEERS {
            return Err(DoorError::new(format!("a channel has at most {MAX_PEERS} peers: close some")));
        }
        let receiver = sender.subscribe();
        Ok(Peer { number, sender, receiver })
    }
}

/// Upgrades to a WebSocket, after the token was checked.
pub async fn connect(
    State(door): State<Arc<DialoghelperDoor>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let joined = async {
        let session = door.sessions.of(&headers, None).await?;
        let form = Form::parse(query.unwrap_or_default().as_bytes())?;
        let upgrade = upgrade.map_err(|refused| DoorError::new(format!("this is a WebSocket: {refused}")))?;
        let peer = door.channels.join(&session.actor, form.required("chan")?)?;
        Ok::<_, DoorError>((session, peer, upgrade))
    };
    match joined.await {
        Ok((session, peer, upgrade)) => upgrade
            .max_message_size(MAX_FRAME_BYTES)
            .on_upgrade(move |socket| relay(socket, peer, session, door.stopping.clone())),
        Err(error) => error.or_status(http::StatusCode::BAD_REQUEST).into_response(),
    }
}

/// Relays until either side closes, the peer is too slow, or its token has ended.
async fn relay(mut socket: WebSocket, mut peer: Peer, session: Arc<Session>, stopping: CancellationToken) {
    let _hold = session.hold();
    loop {
        tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Text(frame))) => drop(peer.sender.send((peer.number, frame))),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => break,
            },
            frame = peer.receiver.recv() => match frame {
                Ok((from, _)) if from == peer.number => {}
                Ok((_, frame)) => {
                    if socket.send(Message::Text(frame)).await.is_err() {
                        break;
                    }
                }
                Err(RecvError::Lagged(_) | RecvError::Closed) => break,
            },
            () = session.ended() => break,
            () = stopping.cancelled() => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(id: &str) -> Actor {
        Actor::User { id: id.parse().unwrap() }
    }

    #[tokio::test]
    async fn frames_reach_the_same_person_s_peers_of_the_channel_alone() {
        let channels = RelayChannels::default();
        let one = channels.join(&actor("ann"), "c").unwrap();
        let mut two = channels.join(&actor("ann"), "c").unwrap();
        let mut other = channels.join(&actor("ann"), "d").unwrap();
        let mut stranger = channels.join(&actor("bob"), "c").unwrap();
        one.sender.send((one.number, "hello".into())).unwrap();
        assert_eq!(two.receiver.recv().await.unwrap(), (one.number, "hello".into()));
        assert!(other.receiver.try_recv().is_err() && stranger.receiver.try_recv().is_err());
    }

    #[test]
    fn names_and_numbers_are_limited() {
        let channels = RelayChannels::default();
        assert!(channels.join(&actor("ann"), "").is_err());
        let peers: Vec<_> = (0..MAX_PEERS).map(|_| channels.join(&actor("ann"), "c").unwrap()).collect();
        assert!(channels.join(&actor("ann"), "c").is_err());
        drop(peers);
        assert!(channels.join(&actor("ann"), "c").is_ok());
    }
}
