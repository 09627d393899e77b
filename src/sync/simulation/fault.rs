//! Planted bugs that alter a room's inputs and outputs, to test that the simulation detects them.

use std::sync::Arc;

use notarium_core::{Actor, Command, Millis, RawJson, Role, ToolCallPhase};
use notarium_wire::CommandMessage;

use super::disk::context_notebook;
use super::wishes::people;
use crate::RoomConfig;
use crate::decoded_command::DecodedCommand;
use crate::io::{ClientInput, Identity, Input, Output, Submission};
use crate::room::Room;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Some events are never sent.
    DropEvent,
    /// A retried command is applied again.
    ApplyTwice,
    /// An agent's report is accepted with any fence.
    AcceptStaleFence,
    /// A report is accepted although an earlier one is missing.
    AcceptGap,
    /// Waiting calls count as confirmed.
    OpenGate,
    /// Started calls count as not started.
    StartAgain,
    /// A confirmation applies to the call's current arguments, whatever hash it names.
    ConfirmAnything,
    /// Everybody is an owner when sending commands.
    IgnoreRoles,
    /// Followers keep their access forever.
    ShowToAll,
    /// An event is sent with different content than written.
    GarbleEvent,
    /// Some commands are acked but not written.
    LoseAppend,
}

/// A room with or without a bug.
pub(crate) struct FaultyRoom {
    room: Room,
    fault: Option<Fault>,
}

impl FaultyRoom {
    pub(crate) fn new(fault: Option<Fault>, config: Arc<RoomConfig>, entropy: [u8; 32]) -> (Self, Vec<Output>) {
        let config = match fault {
            // Neither the room nor the store remembers accepted commands.
            Some(Fault::ApplyTwice) => Arc::new(RoomConfig { max_recent_answers: 0, ..(*config).clone() }),
            _ => config,
        };
        let (room, outputs) = Room::new(context_notebook(), config, entropy);
        (Self { room, fault }, outputs)
    }

    pub(crate) fn handle(&mut self, now: Millis, mut input: Input) -> Vec<Output> {
        match self.fault {
            Some(Fault::AcceptStaleFence) => self.renew_fence(&mut input),
            Some(Fault::AcceptGap) => self.close_gap(&mut input),
            Some(Fault::ConfirmAnything) => self.renew_hash(&mut input),
            Some(Fault::OpenGate) => self.confirm_all(|phase| *phase == ToolCallPhase::Waiting),
            Some(Fault::StartAgain) => self.confirm_all(|phase| matches!(phase, ToolCallPhase::Started { .. })),
            Some(Fault::IgnoreRoles) => raise_sender(&mut input),
            Some(Fault::ShowToAll) => raise_reader(&mut input),
            _ => {}
        }
        let mut outputs = self.room.handle(now, input);
        match self.fault {
            Some(Fault::DropEvent) => outputs.retain(|output| !is_dropped(output)),
            Some(Fault::ApplyTwice) => outputs.iter_mut().for_each(forget_commands),
            Some(Fault::GarbleEvent) => outputs.iter_mut().for_each(garble),
            Some(Fault::LoseAppend) => self.lose_append(now, &mut outputs),
            _ => {}
        }
        outputs
    }

    pub(crate) fn wake_at(&self, now: Millis) -> Option<Millis> {
        self.room.wake_at(now)
    }

    /// Returns true if no decision is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.room.is_settled() && self.room.queue.is_empty() && self.room.judging.is_empty()
    }

    /// Replaces the fence of every report by the expected one.
    fn renew_fence(&self, input: &mut Input) {
        if let Input::Command(Submission { decoded, .. }) = input
            && let Command::ReportExecution { execution_id, fence, .. } = &mut decoded.command
            && let Some(wanted) = self.room.state.executions.get(execution_id).and_then(|execution| execution.fence)
        {
            *fence = wanted;
            rewrite(decoded);
        }
    }

    /// Replaces the number of an early report by the expected one.
    fn close_gap(&self, input: &mut Input) {
        if let Input::Command(Submission { decoded, .. }) = input
            && self.room.queue.is_empty()
            && let Command::ReportExecution { execution_id, fence, seq, .. } = &mut decoded.command
            && let Some(run) = self.room.state.executions.get(execution_id).filter(|run| run.fence == Some(*fence))
        {
            *seq = (*seq).min(run.output_seq + 1);
            rewrite(decoded);
        }
    }

    /// Replaces the hash of a confirmation by the expected one.
    fn renew_hash(&self, input: &mut Input) {
        if let Input::Command(Submission { decoded, .. }) = input
            && let Command::ConfirmToolCall { call_id, arguments_hash } = &mut decoded.command
            && let Some(call) = self.room.state.tool_calls.get(call_id)
        {
            *arguments_hash = call.arguments_hash;
            rewrite(decoded);
        }
    }

    /// Marks these calls as confirmed by the owner.
    fn confirm_all(&mut self, is_meant: impl Fn(&ToolCallPhase) -> bool) {
        if !self.room.state.tool_calls.values().any(|call| is_meant(&call.phase)) {
            return;
        }
        let by = people().next().expect("an owner");
        let document = Arc::make_mut(&mut Arc::make_mut(&mut self.room.state).document);
        for call in document.tool_calls.values_mut().filter(|call| is_meant(&call.phase)) {
            Arc::make_mut(call).phase = ToolCallPhase::Confirmed { by: by.clone() };
        }
    }

    /// Reports some appends as synced without writing them.
    fn lose_append(&mut self, now: Millis, outputs: &mut Vec<Output>) {
        let is_lost = |output: &Output| matches!(output, Output::Append(append) if append.expected.version % 11 == 5);
        if let Some(at) = outputs.iter().position(is_lost) {
            outputs.remove(at);
            outputs.extend(self.room.handle(now, Input::Appended));
        }
    }
}

fn raise(identity: &mut Arc<Identity>) {
    let identity = Arc::make_mut(identity);
    if matches!(identity.actor, Actor::User { .. } | Actor::Guest { .. }) {
        identity.authority.ambient_role = Some(Role::Owner);
    }
}

fn raise_sender(input: &mut Input) {
    if let Input::Command(Submission { identity, .. }) = input {
        raise(identity);
    }
}

fn raise_reader(input: &mut Input) {
    if let Input::Client(_, ClientInput::Subscribe { identity, .. }) = input {
        raise(identity);
    }
}

/// Changes a title in a frame.
fn garble(output: &mut Output) {
    if let Output::Events { text, .. } = output {
        *text = text.replace("title 1", "title 2");
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

/// Renews text and digest of a command that was changed.
fn rewrite(decoded: &mut DecodedCommand) {
    let body = RawJson::of(&decoded.command).expect("a command serialises");
    *decoded = DecodedCommand::of(CommandMessage { body, ..decoded.message.clone() }, decoded.command.clone());
}
