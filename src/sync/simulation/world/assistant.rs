//! The assistants' host in the server's process. It dies with the process, and is woken by the room.

use notarium_core::{Authority, DelegatedAuthority, InstanceId, RawJson, Rejection};

use super::super::assistant::{Assistant, Step, Work};
use super::*;
use crate::decoded_command::DecodedCommand;
use crate::io::{Caller, ReadState, Submission};

/// Time after which a missing answer is considered lost.
const LOST_AFTER_MS: Millis = 3_000;

impl World {
    pub(super) fn wake_assistant(&mut self, at: Millis) {
        if self.wakes_at.is_none_or(|planned| at < planned) {
            self.wakes_at = Some(at);
            let process = self.process;
            self.at(at, Happening::Wake { process });
        }
    }

    /// Reads the current state and takes a step.
    pub(super) fn assist(&mut self) {
        self.wakes_at = None;
        if self.disk.events.is_empty() {
            return;
        }
        if let Some(since) = self.busy_since.filter(|since| since + LOST_AFTER_MS > self.now) {
            return self.wake_assistant(since + LOST_AFTER_MS);
        }
        self.busy_since = Some(self.now);
        let identity = Identity {
            actor: Actor::System,
            authority: Authority::default(),
            name: "server".to_owned(),
            connection: String::new(),
        };
        self.feed(Input::Read { identity: Arc::new(identity), caller: Caller::new(drop) });
    }

    pub(super) fn take_state(&mut self, state: Result<ReadState, Rejection>) {
        self.busy_since = None;
        let Ok(state) = state else { return self.wake_assistant(self.now + 200) };
        let users = people().filter(|actor| matches!(actor, Actor::User { .. }));
        let delegated = DelegatedAuthority(users.map(|actor| (actor, Authority::session())).collect());
        match self.assistant.next(&state.notebook, &delegated, self.now, &mut self.chance) {
            Some(Work::Send(step)) => {
                self.busy_since = Some(self.now);
                let (delay, process) = (self.chance.below(20) + 1, self.process);
                self.after(delay, Happening::Step { process, step });
            }
            Some(Work::CarryOut(call_id)) => {
                let done = self.audit.carry_out(&call_id);
                self.note(done);
                self.wake_assistant(self.now + 1);
            }
            None => {
                if let Some(at) = self.assistant.wake_at(self.now) {
                    self.wake_assistant(at);
                }
            }
        }
    }

    pub(super) fn take_step(&mut self, Step { identity, command }: Step) {
        self.count += 1;
        let message = CommandMessage {
            id: CommandId::new(format!("assistant-{}", self.count)).expect("an id"),
            notebook: context_notebook(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::of(&command).expect("a command serialises"),
        };
        self.assistant.send(identity.actor.key(), command.clone());
        self.feed(Input::Command(Submission::new(
            identity,
            DecodedCommand::of(message, command),
            ReplyTo::Caller(Caller::new(drop)),
        )));
    }

    pub(super) fn take_answer(&mut self, is_accepted: bool) {
        self.busy_since = None;
        self.assistant.answered(is_accepted, self.now, &mut self.chance);
        self.wake_assistant(self.now + 1);
    }

    /// Resets the host, as its process has died.
    pub(super) fn forget_assistant(&mut self) {
        self.process += 1;
        let instance = InstanceId::new(format!("process-{}", self.process)).expect("an id");
        Arc::make_mut(&mut self.config).instance = instance.clone();
        self.assistant = Assistant::new(instance);
        (self.busy_since, self.wakes_at) = (None, None);
    }
}
