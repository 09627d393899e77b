//! Outbox: a bounded queue of frames to one connection.
//!
//! Answers always fit. Events and presence are dropped if the reader is slow, and the room catches it up later. The
//! outbox also counts unanswered commands: a connection with too many is not read.
//!
//! Outgoing frame: a text, of which a large part may be shared by all receivers.
//!
//! Registry of a server's connections by number, with the outboxes that rooms send to.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use dashmap::DashMap;
use notarium_core::RawJson;
use notarium_sync::ClientId;
use notarium_wire::frame::SharedText;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::subscription::News;

/// Bytes of queued frames above which the connection is closed: its reader does not even take answers.
const MAX_BACKLOG_BYTES: usize = 256 << 20;

/// Capacity of the buffer that is kept while the connection is idle, in frames.
const KEPT_CAPACITY: usize = 8;

/// Result of offering a frame that may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Queued,
    /// The queue is full: nothing was queued.
    Full,
    /// The connection has ended.
    Closed,
}

type Wake = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct OutboxState {
    frames: Vec<Frame>,
    bytes: usize,
    is_closed: bool,
    /// Callbacks for when the queue is empty.
    on_drained: Vec<Wake>,
}

#[derive(Default)]
struct OutboxParts {
    capacity: usize,
    max_bytes: usize,
    state: Mutex<OutboxState>,
    ready: Notify,
    /// Commands that rooms have accepted and not answered.
    unanswered: AtomicUsize,
    /// Notified when an answer was sent.
    fewer: Notify,
}

impl OutboxParts {
    fn push(&self, state: &mut OutboxState, frame: Frame) {
        state.bytes += frame.size_bytes();
        state.frames.push(frame);
        self.ready.notify_one();
    }
}

/// Sending side, for rooms and the server. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(Arc<OutboxParts>);

/// Receiving side, for the connection's writer. Dropping it closes the outbox.
pub struct OutboxReceiver(Arc<OutboxParts>);

impl Outbox {
    /// `capacity`, `max_bytes`: number and bytes of frames above which events and presence are dropped.
    pub fn new(capacity: usize, max_bytes: usize) -> (Outbox, OutboxReceiver) {
        let shared = Arc::new(OutboxParts { capacity, max_bytes, ..OutboxParts::default() });
        (Outbox(shared.clone()), OutboxReceiver(shared))
    }

    /// Queues a frame that must not be lost (answers, errors, `welcome`). False if the connection has ended, or if its
    /// backlog is so large that it is closed now.
    pub fn send(&self, frame: Frame) -> bool {
        let mut state = self.0.state.lock();
        if state.bytes > MAX_BACKLOG_BYTES {
            state.is_closed = true;
            self.0.ready.notify_one();
        }
        if state.is_closed {
            return false;
        }
        self.0.push(&mut state, frame);
        true
    }

    /// Queues a frame that can be sent again later, unless the queue is full.
    pub fn offer(&self, frame: Frame) -> Offered {
        let mut state = self.0.state.lock();
        if state.is_closed {
            return Offered::Closed;
        }
        if state.frames.len() >= self.0.capacity || state.bytes >= self.0.max_bytes {
            return Offered::Full;
        }
        self.0.push(&mut state, frame);
        Offered::Queued
    }

    /// Counts a command that a room accepts and will answer here.
    pub fn asked(&self) {
        self.0.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn answered(&self) {
        let before = self.0.unanswered.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        if before.is_ok() {
            self.0.fewer.notify_one();
        }
    }

    pub fn unanswered(&self) -> usize {
        self.0.unanswered.load(Ordering::Relaxed)
    }

    /// Waits until at most `count` commands are unanswered. Cancel safe.
    pub async fn at_most_unanswered(&self, count: usize) {
        while self.unanswered() > count {
            self.0.fewer.notified().await;
        }
    }

    /// Calls `wake` when the queue is empty, immediately if it is now.
    pub fn when_drained(&self, wake: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state.lock();
        if !state.frames.is_empty() {
            state.on_drained.push(Box::new(wake));
            return;
        }
        drop(state);
        wake();
    }

    /// Ends the connection after the queued frames.
    pub fn close(&self) {
        self.0.state.lock().is_closed = true;
        self.0.ready.notify_one();
    }
}

impl OutboxReceiver {
    /// Waits for frames and replaces the contents of `buffer` by all queued ones. False: closed and empty. Cancel safe.
    pub async fn recv_many(&mut self, buffer: &mut Vec<Frame>) -> bool {
        loop {
            if let Some(is_open) = self.take(buffer) {
                return is_open;
            }
            self.0.ready.notified().await;
        }
    }

    /// Takes the queued frames. `None`: there are none yet.
    pub(super) fn take(&self, buffer: &mut Vec<Frame>) -> Option<bool> {
        let mut state = self.0.state.lock();
        if state.frames.is_empty() {
            return state.is_closed.then_some(false);
        }
        buffer.clear();
        if buffer.capacity() > KEPT_CAPACITY {
            *buffer = Vec::new();
        }
        std::mem::swap(&mut state.frames, buffer);
        state.bytes = 0;
        let wakes = std::mem::take(&mut state.on_drained);
        drop(state);
        wakes.into_iter().for_each(|wake| wake());
        Some(true)
    }
}

impl Drop for OutboxReceiver {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        *state = OutboxState { is_closed: true, ..OutboxState::default() };
    }
}

/// An outgoing frame. Cheap to clone, and small: many wait in many outboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame(FrameKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum FrameKind {
    Text(Bytes),
    Shared(Arc<SharedFrame>),
    /// A whole WebSocket frame with its header: a pong or a close.
    Control(Bytes),
    /// For a subscriber in this process. It has no text.
    News(Arc<News>),
}

/// Text around a shared part.
#[derive(Debug, PartialEq, Eq)]
struct SharedFrame {
    head: Bytes,
    shared: RawJson,
    tail: Bytes,
}

impl Frame {
    /// A text frame with these bytes, which are UTF-8.
    pub fn text(bytes: Bytes) -> Self {
        Self(FrameKind::Text(bytes))
    }

    /// A control frame of the WebSocket, with its header.
    pub fn control(bytes: &[u8]) -> Self {
        Self(FrameKind::Control(Bytes::copy_from_slice(bytes)))
    }

    pub fn is_control(&self) -> bool {
        matches!(self.0, FrameKind::Control(_))
    }

    /// Bytes that count against the limits of a queue.
    pub fn size_bytes(&self) -> usize {
        match self.news().map(|news| &**news) {
            Some(News::Committed { payload_bytes, .. }) => *payload_bytes,
            _ => self.parts().iter().map(|part| part.len()).sum(),
        }
    }

    pub fn news(&self) -> Option<&Arc<News>> {
        match &self.0 {
            FrameKind::News(news) => Some(news),
            _ => None,
        }
    }

    /// Parts of the text, in order.
    pub fn parts(&self) -> [&[u8]; 3] {
        match &self.0 {
            FrameKind::Text(bytes) | FrameKind::Control(bytes) => [bytes, &[], &[]],
            FrameKind::Shared(frame) => [&frame.head, frame.shared.get().as_bytes(), &frame.tail],
            FrameKind::News(_) => [&[]; 3],
        }
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts().iter().try_for_each(|part| formatter.write_str(&String::from_utf8_lossy(part)))
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Self(FrameKind::Text(text.into()))
    }
}

impl From<News> for Frame {
    fn from(news: News) -> Self {
        Self(FrameKind::News(Arc::new(news)))
    }
}

impl From<&str> for Frame {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<SharedText> for Frame {
    fn from(text: SharedText) -> Self {
        let SharedText { before, shared, after } = text;
        match shared {
            None => (before + &after).into(),
            Some(shared) => {
                Self(FrameKind::Shared(Arc::new(SharedFrame { head: before.into(), shared, tail: after.into() })))
            }
        }
    }
}

/// All connections that rooms can send to.
#[derive(Default)]
pub(super) struct Clients {
    outboxes: DashMap<ClientId, Outbox>,
    /// Last number given.
    last: AtomicU64,
}

impl Clients {
    pub(super) fn add(self: &Arc<Self>, outbox: Outbox) -> ClientRegistration {
        let id = ClientId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        self.outboxes.insert(id, outbox);
        ClientRegistration { id, clients: self.clone() }
    }

    /// The connection's outbox. `None`: the connection has ended. Holds a lock: drop it right after sending.
    pub(super) fn outbox(&self, id: ClientId) -> Option<impl Deref<Target = Outbox>> {
        self.outboxes.get(&id)
    }
}

/// Registration of a connection, until it is dropped.
pub struct ClientRegistration {
    /// Unique among the connections of this process.
    pub id: ClientId,
    clients: Arc<Clients>,
}

impl Drop for ClientRegistration {
    fn drop(&mut self) {
        self.clients.outboxes.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn received(receiver: &mut OutboxReceiver) -> Vec<String> {
        let mut buffer = Vec::new();
        receiver.recv_many(&mut buffer).await;
        buffer.iter().map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn many_frames_come_in_one_piece_and_in_order() {
        let (outbox, mut receiver) = Outbox::new(8, 100);
        assert!(outbox.send("a".into()));
        assert_eq!(outbox.offer("b".into()), Offered::Queued);
        assert_eq!(received(&mut receiver).await, ["a", "b"]);
    }

    #[tokio::test]
    async fn a_full_queue_drops_events_and_keeps_answers() {
        let (outbox, mut receiver) = Outbox::new(1, 100);
        assert_eq!(outbox.offer("event".into()), Offered::Queued);
        assert_eq!(outbox.offer("dropped".into()), Offered::Full);
        assert!(outbox.send("ack".into()));
        assert_eq!(received(&mut receiver).await, ["event", "ack"]);
    }

    #[tokio::test]
    async fn few_frames_of_many_bytes_fill_the_queue_too() {
        let (outbox, mut receiver) = Outbox::new(8, 10);
        assert_eq!(outbox.offer("0123456789".into()), Offered::Queued);
        assert_eq!(outbox.offer("x".into()), Offered::Full);
        assert!(outbox.send("ack".into()));
        assert_eq!(received(&mut receiver).await, ["0123456789", "ack"]);
    }

    #[tokio::test]
    async fn the_reader_that_has_emptied_the_queue_is_reported_once() {
        let (outbox, mut receiver) = Outbox::new(1, 100);
        outbox.send("a".into());
        let (sender, mut woken) = tokio::sync::mpsc::unbounded_channel();
        outbox.when_drained(move || sender.send(()).unwrap());
        assert!(woken.try_recv().is_err());
        received(&mut receiver).await;
        assert_eq!(woken.recv().await, Some(()));
        assert_eq!(woken.recv().await, None);
    }

    #[tokio::test]
    async fn who_waits_for_fewer_commands_is_woken_by_answers() {
        let (outbox, _receiver) = Outbox::new(1, 100);
        (0..4).for_each(|_| outbox.asked());
        let waiting = outbox.at_most_unanswered(2);
        tokio::pin!(waiting);
        outbox.answered();
        assert!(futures_util::poll!(&mut waiting).is_pending());
        outbox.answered();
        assert!(futures_util::poll!(&mut waiting).is_ready());
        (0..9).for_each(|_| outbox.answered());
        assert_eq!(outbox.unanswered(), 0, "an answer too many is none");
    }

    #[tokio::test]
    async fn closing_delivers_what_is_queued_and_ends() {
        let (outbox, mut receiver) = Outbox::new(1, 100);
        outbox.send("last".into());
        outbox.close();
        assert!(!outbox.send("late".into()));
        assert_eq!(received(&mut receiver).await, ["last"]);
        assert!(!receiver.recv_many(&mut Vec::new()).await);
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_closes_the_queue() {
        let (outbox, receiver) = Outbox::new(1, 100);
        drop(receiver);
        assert_eq!(outbox.offer("a".into()), Offered::Closed);
        assert!(outbox.0.state.lock().is_closed);
    }

    #[test]
    fn a_frame_has_its_text_in_parts_and_shares_the_large_one() {
        let shared = RawJson::parse(r#"{"é":"a long text that many get"}"#).unwrap();
        let text = SharedText { before: "before ".into(), shared: Some(shared.clone()), after: " after".into() };
        let frame = Frame::from(text);
        let whole = format!("before {} after", shared.get());
        assert_eq!((frame.to_string(), frame.size_bytes()), (whole.clone(), whole.len()));
        assert_eq!(frame.parts().concat(), whole.as_bytes());
        assert_eq!(frame.parts()[1].as_ptr(), shared.get().as_ptr(), "the shared part is not copied");
    }
}
