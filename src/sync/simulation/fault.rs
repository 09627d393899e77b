//! Bugs around a room, to see that the simulation would catch them: they change what goes in and what comes out of it.

use std::sync::Arc;

use notarium_core::{Command, Millis, RawJson};

use super::disk::context_notebook;
use crate::config::RoomConfig;
use crate::io::{Input, Output};
use crate::room::Room;
use crate::submission::Submission;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Some events are never shown.
    DropEvent,
    /// A retried command is applied again.
    ApplyTwice,
    /// An agent's report is taken whatever its fence.
    AcceptStaleFence,
}

/// A room with a bug, or without one.
pub(crate) struct FaultyRoom {
    room: Room,
    fault: Option<Fault>,
}

impl FaultyRoom {
    pub(crate) fn new(fault: Option<Fault>, config: Arc<RoomConfig>, entropy: [u8; 32]) -> (Self, Vec<Output>) {
        let config = match fault {
            // Neither the room nor the store remembers which commands were accepted.
            Some(Fault::ApplyTwice) => Arc::new(RoomConfig { max_recent_answers: 0, ..(*config).clone() }),
            _ => config,
        };
        let (room, outputs) = Room::new(context_notebook(), config, entropy);
        (Self { room, fault }, outputs)
    }

    pub(crate) fn handle(&mut self, now: Millis, mut input: Input) -> Vec<Output> {
        if self.fault == Some(Fault::AcceptStaleFence) {
            self.renew_fence(&mut input);
        }
        let mut outputs = self.room.handle(now, input);
        match self.fault {
            Some(Fault::DropEvent) => outputs.retain(|output| !is_dropped(output)),
            Some(Fault::ApplyTwice) => outputs.iter_mut().for_each(forget_commands),
            Some(Fault::AcceptStaleFence) | None => {}
        }
        outputs
    }

    pub(crate) fn wake_at(&self, now: Millis) -> Option<Millis> {
        self.room.wake_at(now)
    }

    /// Whether nothing waits for a decision.
    pub(crate) fn is_idle(&self) -> bool {
        self.room.is_settled() && self.room.queue.is_empty() && self.room.judging.is_empty()
    }

    /// Every report gets the fence that is wanted.
    fn renew_fence(&self, input: &mut Input) {
        if let Input::Command(Submission { message, .. }) = input
            && let Ok(mut command) = serde_json::from_str(message.body.get())
            && let Command::ReportExecution { execution_id, fence, .. } = &mut command
            && let Some(wanted) = self.room.state.executions.get(execution_id).and_then(|execution| execution.fence)
        {
            *fence = wanted;
            message.body = RawJson::of(&command).expect("a command serialises");
        }
    }
}

fn is_dropped(output: &Output) -> bool {
    matches!(output, Output::Events { from, .. } if from.is_multiple_of(7))
}

fn forget_commands(output: &mut Output) {
    if let Output::Append(append) = output {
        append.commands.clear();
    }
}
