//! A bounded queue of frames towards one connection.
//!
//! Answers always fit; events and presence are dropped when the reader is slow, and the room then catches it up. It also
//! counts the commands that are not answered yet: who has too many is not read from until there are fewer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::frame::Frame;

/// Bytes of queued frames above which the connection is given up: its reader takes nothing, not even answers.
const MAX_BACKLOG_BYTES: usize = 256 << 20;

/// Frames whose room is kept while the connection is idle.
const KEPT_CAPACITY: usize = 8;

/// What became of a frame that may be dropped.
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
struct State {
    frames: Vec<Frame>,
    bytes: usize,
    is_closed: bool,
    /// Called when the queue has been emptied.
    on_drained: Vec<Wake>,
}

#[derive(Default)]
struct Shared {
    capacity: usize,
    max_bytes: usize,
    state: Mutex<State>,
    ready: Notify,
    /// Commands that rooms have taken and not answered.
    unanswered: AtomicUsize,
    /// An answer has gone out.
    fewer: Notify,
}

impl Shared {
    /// A poisoned lock is no reason to stop: every change of the state is one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, state: &mut State, frame: Frame) {
        state.bytes += frame.size_bytes();
        state.frames.push(frame);
        self.ready.notify_one();
    }
}

/// The side that rooms and the server write to. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(Arc<Shared>);

/// The side that the connection's writer reads. Dropping it closes the outbox.
pub struct OutboxReceiver(Arc<Shared>);

impl Outbox {
    /// `capacity`: frames above which events and presence are dropped. `max_bytes`: the same, whatever their number.
    pub fn new(capacity: usize, max_bytes: usize) -> (Outbox, OutboxReceiver) {
        let shared = Arc::new(Shared { capacity, max_bytes, ..Shared::default() });
        (Outbox(shared.clone()), OutboxReceiver(shared))
    }

    /// Queues a frame that must not be lost (answers, errors, `welcome`). False when the connection has ended, or takes so
    /// little that it is ended now.
    pub fn send(&self, frame: Frame) -> bool {
        let mut state = self.0.state();
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

    /// Queues a frame that can be made up for later, unless the queue is full.
    pub fn offer(&self, frame: Frame) -> Offered {
        let mut state = self.0.state();
        if state.is_closed {
            return Offered::Closed;
        }
        if state.frames.len() >= self.0.capacity || state.bytes >= self.0.max_bytes {
            return Offered::Full;
        }
        self.0.push(&mut state, frame);
        Offered::Queued
    }

    /// A room takes a command whose answer comes here.
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

    /// Waits until at most so many commands are unanswered. Cancel safe.
    pub async fn at_most_unanswered(&self, count: usize) {
        while self.unanswered() > count {
            self.0.fewer.notified().await;
        }
    }

    /// Calls `wake` once the queue is empty: now, when it is.
    pub(super) fn when_drained(&self, wake: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state();
        if !state.frames.is_empty() {
            state.on_drained.push(Box::new(wake));
            return;
        }
        drop(state);
        wake();
    }

    /// Ends the connection after what is queued.
    pub fn close(&self) {
        self.0.state().is_closed = true;
        self.0.ready.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.0.state().is_closed
    }
}

impl OutboxReceiver {
    /// Waits for frames and gives all that are queued for `buffer`, which is emptied. False: closed, and nothing is left.
    /// Cancel safe.
    pub async fn recv_many(&mut self, buffer: &mut Vec<Frame>) -> bool {
        loop {
            if let Some(is_open) = self.take(buffer) {
                return is_open;
            }
            self.0.ready.notified().await;
        }
    }

    /// `None`: nothing to take yet.
    fn take(&self, buffer: &mut Vec<Frame>) -> Option<bool> {
        let mut state = self.0.state();
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
        let mut state = self.0.state();
        *state = State { is_closed: true, ..State::default() };
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
        assert!(outbox.is_closed());
    }
}
