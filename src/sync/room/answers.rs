//! Answers to commands and requests. A cache of recent ones lets a retry get the same answer without a read of the store. A refused command
//! may be a retry of an accepted one, so its record is looked up first.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use notarium_core::{CommandId, CommandRecord, NextSteps, NotebookId, Rejection, RejectionCode, Version};
use notarium_wire::{AckMessage, ErrorCode, ErrorMessage, RejectMessage, ServerMessage, frame};

use super::queue::PendingCommand;
use super::{CommandAnswer, Cycle, Phase, Room, unavailable};
use crate::io::{ClientId, Identity, Output, ReadFailure, ReplyTo, Submission, Ticket};
use crate::replay::ReadOnly;

#[derive(Debug, Default)]
pub(super) struct RecentAnswers {
    /// Records by command id, oldest first. Ids are unique for each actor only, but nearly always there is one record.
    by_id: BTreeMap<CommandId, Vec<CommandRecord>>,
    oldest_first: VecDeque<CommandId>,
}

impl RecentAnswers {
    pub(super) fn remember(&mut self, record: CommandRecord, limit: usize) {
        let id = record.command_id.clone();
        let records = self.by_id.entry(id.clone()).or_insert_with(|| Vec::with_capacity(1));
        match records.iter_mut().find(|known| known.actor == record.actor) {
            Some(known) => *known = record,
            None => {
                records.push(record);
                self.oldest_first.push_back(id);
            }
        }
        while self.oldest_first.len() > limit {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(id) = self.oldest_first.pop_front() else { return };
        if let Entry::Occupied(mut records) = self.by_id.entry(id) {
            records.get_mut().remove(0);
            if records.get().is_empty() {
                records.remove();
            }
        }
    }

    /// Returns the answer to a repeated command; `None`: not in the cache.
    pub(super) fn find(
        &self,
        notebook: &NotebookId,
        actor: &str,
        id: &CommandId,
        digest: &[u8; 32],
    ) -> Option<Result<AckMessage, Rejection>> {
        let record = self.by_id.get(id)?.iter().find(|record| record.actor == actor)?;
        Some(recorded_answer(notebook, digest, record))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A refused command whose record is looked up.
#[derive(Debug)]
pub(super) struct RefusedCommand {
    pending: PendingCommand,
    rejection: Rejection,
}

impl Room {
    /// Refuses a command, unless the store has a record of it as accepted.
    pub(super) fn refuse(&mut self, cycle: &mut Cycle, pending: PendingCommand, rejection: Rejection) {
        let may_be_recorded = self.state.exists() && self.role(cycle.now, &pending.identity).is_some();
        if !may_be_recorded {
            return self.answer(cycle, pending, Err(rejection));
        }
        self.refused.push(RefusedCommand { pending, rejection });
    }

    /// Looks up the records of all commands that this call has refused.
    pub(super) fn look_up_refused(&mut self, cycle: &mut Cycle) {
        if self.refused.is_empty() {
            return;
        }
        let refused = std::mem::take(&mut self.refused);
        let commands = refused.iter().map(|it| (it.pending.actor.clone(), it.pending.id().clone())).collect();
        let ticket = self.next_ticket();
        cycle.out.push(Output::FindCommands { ticket, commands });
        self.lookups.insert(ticket, refused);
    }

    pub(super) fn take_records(
        &mut self,
        cycle: &mut Cycle,
        ticket: Ticket,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        if let Some(refused) = self.lookups.remove(&ticket) {
            return self.answer_refused(cycle, refused, records.as_deref());
        }
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Deciding(waited, batch) if waited == ticket => self.take_sorted(cycle, *batch, records),
            other => self.phase = other,
        }
    }

    pub(super) fn answer_refused(
        &self,
        cycle: &mut Cycle,
        refused: Vec<RefusedCommand>,
        records: Result<&[CommandRecord], &ReadFailure>,
    ) {
        for RefusedCommand { pending, rejection } in refused {
            let is_its = |record: &&CommandRecord| record.actor == pending.actor && record.command_id == *pending.id();
            let answer = match records {
                Ok(records) => match records.iter().find(is_its) {
                    Some(record) => recorded_answer(&self.notebook_id, &pending.digest, record),
                    None => Err(rejection),
                },
                // It may have been accepted before, so the refusal could be wrong.
                Err(_) => Err(unavailable("the store does not answer: send it again")),
            };
            self.answer(cycle, pending, answer);
        }
    }

    /// Answers the sender, and the senders of repeats.
    pub(super) fn answer(&self, cycle: &mut Cycle, pending: PendingCommand, answer: CommandAnswer) {
        let PendingCommand { identity, message, reply_to, also, .. } = pending;
        for repeat in also {
            self.reply_to(cycle, repeat, &identity, &message.id, answer.clone());
        }
        self.reply_to(cycle, reply_to, &identity, &message.id, answer);
    }

    pub(super) fn answer_all(&self, cycle: &mut Cycle, commands: Vec<PendingCommand>, rejection: &Rejection) {
        for pending in commands {
            self.answer(cycle, pending, Err(rejection.clone()));
        }
    }

    pub(super) fn reply(&self, cycle: &mut Cycle, submission: Submission, answer: CommandAnswer) {
        let Submission { identity, decoded, reply_to, .. } = submission;
        self.reply_to(cycle, reply_to, &identity, &decoded.message.id, answer);
    }

    fn reply_to(&self, cycle: &mut Cycle, to: ReplyTo, identity: &Identity, id: &CommandId, answer: CommandAnswer) {
        match to {
            ReplyTo::Client(client) => {
                let refusal = answer.as_ref().err().map(|rejection| rejection.code);
                let message = match answer {
                    Ok(ack) => ServerMessage::Ack(AckMessage { undo: self.next_steps(identity), ..ack }),
                    Err(rejection) => ServerMessage::Reject(self.reject(id, rejection)),
                };
                cycle.out.push(Output::Reply { client, text: frame::text(&message), refusal });
            }
            ReplyTo::Caller(caller) => cycle.out.push(Output::Answer { caller, answer }),
            ReplyTo::Nobody => {}
        }
    }

    /// Returns a person's next steps to undo and redo; `None` while the state is ahead of the disk.
    pub(super) fn next_steps(&self, identity: &Identity) -> Option<NextSteps> {
        if self.state.version > self.committed {
            return None;
        }
        self.state.ledger.next_steps(&identity.actor)
    }

    fn reject(&self, id: &CommandId, rejection: Rejection) -> RejectMessage {
        RejectMessage { id: id.clone(), notebook: self.notebook_id.clone(), rejection }
    }

    pub(super) fn send_error(&self, cycle: &mut Cycle, client: ClientId, code: ErrorCode, message: &str) {
        // The code of the rejection is not sent.
        self.send_refusal(cycle, client, code, Rejection::new(RejectionCode::Unavailable, message));
    }

    /// Sends the sentence and the facts of a rejection as an error.
    pub(super) fn send_refusal(&self, cycle: &mut Cycle, client: ClientId, code: ErrorCode, rejection: Rejection) {
        let Rejection { message, details, .. } = rejection;
        let notebook = Some(self.notebook_id.clone());
        let error = ErrorMessage { code, message, notebook, protocols: None, details, fatal: false };
        cycle.send(client, &ServerMessage::Error(error));
    }
}

/// Returns the recorded answer for a repeat of its command.
pub(super) fn recorded_answer(
    notebook: &NotebookId,
    digest: &[u8; 32],
    record: &CommandRecord,
) -> Result<AckMessage, Rejection> {
    if *digest != record.digest {
        return Err(reused(&record.command_id));
    }
    let outcome = serde_json::from_str(record.outcome.get()).unwrap_or_default();
    let (id, notebook) = (record.command_id.clone(), notebook.clone());
    Ok(AckMessage { id, notebook, version: record.version, outcome, undo: None })
}

pub(super) fn reused(id: &CommandId) -> Rejection {
    let message = format!("command {id} was sent before with another body: choose a new id for every command");
    Rejection::new(RejectionCode::CommandIdReused, message)
}

/// Refusal of a command for an earlier epoch.
pub(super) fn moved() -> Rejection {
    unavailable("the notebook has been at another server since it was read: read it again")
}

/// Refusal of a command in a notebook that cannot be written.
pub(super) fn read_only(reason: &ReadOnly, version: Version) -> Rejection {
    let message = match reason {
        ReadOnly::Unknown(unknown) => format!(
            "nothing was changed: a newer server has written this notebook ({unknown}); update this server, \
            until then read and export the notebook as it was at version {version}"
        ),
        ReadOnly::Damaged(damage) => format!(
            "nothing was changed: the record of this notebook is damaged ({damage}); it is whole up to version {version}: \
            read, export or fork that, and ask the server's operator to restore a backup"
        ),
    };
    Rejection::new(RejectionCode::ReadOnly, message)
}
