//! Unanswered commands, in the order of their submission. Pure.

use std::collections::VecDeque;

use notarium_core::{CommandId, LimitName, NotebookId};
use notarium_wire::{AckMessage, ClientMessage, CommandMessage, RejectMessage};
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::{CommandError, ConnectError};

type Responder = oneshot::Sender<Result<AckMessage, CommandError>>;

struct Unanswered {
    id: CommandId,
    notebook: NotebookId,
    frame: Utf8Bytes,
    responder: Responder,
}

/// Commands that were sent and are not answered.
#[derive(Default)]
pub(super) struct SentCommands {
    /// Oldest first: answers come nearly in this order.
    unanswered: VecDeque<Unanswered>,
}

impl SentCommands {
    /// Keeps the command until it is answered and returns its frame. A command that is too large or invalid is answered with an error.
    pub fn push(&mut self, message: CommandMessage, responder: Responder, max_frame_bytes: u64) -> Option<Utf8Bytes> {
        let (id, notebook) = (message.id.clone(), message.notebook.clone());
        let frame = match frame_of(&ClientMessage::Command(message)) {
            Ok(frame) if frame.len() as u64 <= max_frame_bytes => frame,
            Ok(frame) => {
                let _ = responder.send(Err(too_large(id, notebook, frame.len(), max_frame_bytes)));
                return None;
            }
            Err(error) => {
                let _ = responder.send(Err(ConnectError::Refused(error.to_string()).into()));
                return None;
            }
        };
        self.unanswered.push_back(Unanswered { id, notebook, frame: frame.clone(), responder });
        Some(frame)
    }

    pub fn acked(&mut self, ack: AckMessage) {
        if let Some(responder) = self.take(&ack.id) {
            let _ = responder.send(Ok(ack));
        }
    }

    pub fn rejected(&mut self, reject: RejectMessage) {
        if let Some(responder) = self.take(&reject.id) {
            let _ = responder.send(Err(CommandError::Rejected(Box::new(reject))));
        }
    }

    /// Every frame to send again after a reconnect, oldest first. A command above the new server's frame limit is answered with an error.
    pub fn resend(&mut self, max_frame_bytes: u64) -> Vec<Utf8Bytes> {
        let fits = |waiting: &Unanswered| waiting.frame.len() as u64 <= max_frame_bytes;
        let (kept, large): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.unanswered).into_iter().partition(fits);
        self.unanswered = kept;
        for Unanswered { id, notebook, frame, responder } in large {
            let _ = responder.send(Err(too_large(id, notebook, frame.len(), max_frame_bytes)));
        }
        self.unanswered.iter().map(|waiting| waiting.frame.clone()).collect()
    }

    /// Answers all commands with `cause`: the connection has failed finally.
    pub fn fail(&mut self, cause: &ConnectError) {
        for waiting in self.unanswered.drain(..) {
            let _ = waiting.responder.send(Err(cause.clone().into()));
        }
    }

    fn take(&mut self, id: &CommandId) -> Option<Responder> {
        let index = self.unanswered.iter().position(|waiting| waiting.id == *id)?;
        self.unanswered.remove(index).map(|waiting| waiting.responder)
    }
}

pub(super) fn frame_of(message: &ClientMessage) -> Result<Utf8Bytes, serde_json::Error> {
    serde_json::to_string(message).map(Utf8Bytes::from)
}

fn too_large(id: CommandId, notebook: NotebookId, bytes: usize, limit: u64) -> CommandError {
    let message = format!("this command has {bytes} bytes and the server takes {limit} in a frame: split it");
    CommandError::Rejected(Box::new(RejectMessage {
        id,
        notebook,
        rejection: LimitName::Frame.refusal(limit, message),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{RawJson, RejectionCode};

    fn command(id: &str) -> CommandMessage {
        CommandMessage {
            id: CommandId::new(id).unwrap(),
            notebook: NotebookId::new("n").unwrap(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::parse(r#"{"StopAll":{}}"#).unwrap(),
        }
    }

    fn ack(id: &str) -> AckMessage {
        AckMessage {
            id: CommandId::new(id).unwrap(),
            notebook: NotebookId::new("n").unwrap(),
            version: 1,
            outcome: notarium_core::Outcome::default(),
            undo: None,
        }
    }

    #[test]
    fn what_is_not_answered_is_sent_again_in_order_under_the_same_id() {
        let mut outbox = SentCommands::default();
        let mut answers: Vec<_> = ["b", "a", "c"]
            .map(|id| {
                let (responder, answer) = oneshot::channel();
                assert!(outbox.push(command(id), responder, 1000).is_some());
                answer
            })
            .into();
        outbox.acked(ack("a"));
        assert!(answers[1].try_recv().unwrap().is_ok());
        let frames = outbox.resend(1000);
        assert_eq!(frames.len(), 2);
        assert!(frames[0].contains(r#""id":"b""#) && frames[1].contains(r#""id":"c""#));
        outbox.fail(&ConnectError::Closed);
        assert_eq!(answers[0].try_recv().unwrap(), Err(CommandError::Connection(ConnectError::Closed)));
        assert!(outbox.resend(1000).is_empty());
    }

    #[test]
    fn a_second_answer_changes_nothing() {
        let mut outbox = SentCommands::default();
        let (responder, mut answer) = oneshot::channel();
        outbox.push(command("a"), responder, 1000);
        outbox.acked(ack("a"));
        outbox.acked(ack("a"));
        assert!(answer.try_recv().unwrap().is_ok());
    }

    #[test]
    fn a_frame_above_the_limit_is_refused_here() {
        let mut outbox = SentCommands::default();
        let (responder, mut answer) = oneshot::channel();
        assert!(outbox.push(command("a"), responder, 10).is_none());
        assert_eq!(answer.try_recv().unwrap().unwrap_err().code(), Some(RejectionCode::LimitExceeded));
    }
}
