//! Limit of memory for a runtime agent's reports until they are stored, over all notebooks.

use std::sync::Arc;

use notarium_core::Rejection;
use notarium_sync::Caller;
use notarium_wire::{AckMessage, CommandMessage, ServerMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::parse::reject;
use crate::agents::frame;
use crate::rooms::{Outbox, ReplyTo};

/// Size below which commands are sent the usual way: their answers come after the events that they cause.
const SMALL_BYTES: usize = 4 << 10;

/// Limit of one agent's connection.
pub struct Waiting {
    /// One permit per KiB.
    left: Arc<Semaphore>,
    max_permits: u32,
}

impl Waiting {
    pub fn new(max_bytes: usize) -> Self {
        let max_permits = u32::try_from(max_bytes >> 10).unwrap_or(u32::MAX).max(1);
        Self { left: Arc::new(Semaphore::new(max_permits as usize)), max_permits }
    }

    /// Reply handler of a large report, which holds its place until the answer. Waits while too many bytes are pending:
    /// then the agent is not read. `None`: the command is small.
    pub async fn reply_to(&self, message: &CommandMessage, outbox: &Outbox) -> Option<ReplyTo> {
        let bytes = message.body.get().len();
        if bytes < SMALL_BYTES {
            return None;
        }
        let place = self.place(bytes).await;
        let (outbox, id, notebook) = (outbox.clone(), message.id.clone(), message.notebook.clone());
        Some(ReplyTo::Caller(Caller::new(move |answer: Result<AckMessage, Rejection>| {
            drop(place);
            let answer = match answer {
                Ok(ack) => ServerMessage::Ack(ack),
                Err(rejection) => ServerMessage::Reject(reject(id, notebook, rejection)),
            };
            // If the connection has ended, the agent gets the answer when it resends.
            let _ = outbox.send(frame(&answer));
        })))
    }

    async fn place(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes >> 10).unwrap_or(u32::MAX).min(self.max_permits);
        self.left.clone().acquire_many_owned(permits).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn what_is_too_much_waits_until_something_is_stored() {
        let waiting = Waiting::new(100 << 10);
        let first = waiting.place(60 << 10).await;
        let second = waiting.place(40 << 10).await;
        let third = waiting.place(10 << 10);
        let mut third = std::pin::pin!(third);
        assert!(third.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.await.is_some());
        drop(second);
    }

    #[tokio::test]
    async fn one_that_is_larger_than_all_may_come_alone() {
        let waiting = Waiting::new(100 << 10);
        let large = waiting.place(200 << 10).await;
        assert!(waiting.place(1 << 10).now_or_never().is_none());
        drop(large);
        assert!(waiting.place(1 << 10).now_or_never().is_some());
    }
}
