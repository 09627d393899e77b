//! Recovery from a failed append: discards the state that is ahead of the disk, and decides or answers its commands.

use std::collections::BTreeSet;

use notarium_core::{CommandRecord, Rejection, RejectionCode};
use notarium_wire::ErrorCode;

use super::batch::Batch;
use crate::io::{AppendFailure, Output, ReadFailure};
use crate::room::answers::recorded_answer;
use crate::room::queue::Pending;
use crate::room::{Cycle, Phase, Room, unavailable};

/// Maximum number of decisions of a command.
const MAX_ATTEMPTS: u32 = 8;

/// A batch whose append failed.
#[derive(Debug)]
pub(in crate::room) struct Recovery {
    pub batch: Batch,
    failure: AppendFailure,
}

impl Recovery {
    /// Returns the answer to the commands if the notebook cannot be reloaded to find out.
    pub(in crate::room) fn rejection(&self, failure: &str) -> Rejection {
        match &self.failure {
            AppendFailure::Unknown { reason } => unknown(reason),
            _ => unavailable(failure),
        }
    }
}

impl Room {
    /// Discards the state that is ahead of the disk.
    pub(in crate::room) fn take_append_failure(&mut self, cycle: &mut Cycle, failure: AppendFailure) {
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Appending(batch) if failure == AppendFailure::LeaseLost => self.lose_lease(cycle, *batch),
            Phase::Appending(batch) => {
                self.phase = Phase::Recovering(Box::new(Recovery { batch: *batch, failure }));
                cycle.out.push(Output::Load { recent_after: self.least_sent() });
            }
            other => self.phase = other,
        }
    }

    /// Ends the room, as another server has the notebook's lease. A later request opens a new room, which takes the lease.
    fn lose_lease(&mut self, cycle: &mut Cycle, batch: Batch) {
        self.failure = "another server has taken this notebook over: ask again".to_owned();
        self.answer_all(cycle, batch.into_commands(), &unavailable(&self.failure));
        self.turn_all_away(cycle);
        for lookup in std::mem::take(&mut self.lookups).into_values() {
            self.take_record(cycle, lookup, Err(ReadFailure::Unavailable { reason: self.failure.clone() }));
        }
        let joining = std::mem::take(&mut self.joins).into_values().map(|join| join.client);
        for client in joining.chain(std::mem::take(&mut self.subscribers).into_keys()).collect::<BTreeSet<_>>() {
            self.send_error(cycle, client, ErrorCode::Unavailable, &self.failure);
        }
        self.phase = Phase::Closed;
        cycle.out.push(Output::Unload);
    }

    /// Handles the batch after the reload of the state.
    pub(in crate::room) fn recover(&mut self, cycle: &mut Cycle, recovery: Recovery) {
        let Recovery { batch, failure } = recovery;
        let was_written = batch.head != batch.expected && batch.head == self.head;
        if was_written {
            return self.commit(cycle, batch);
        }
        self.fan_out(cycle, &[]);
        match failure {
            AppendFailure::VersionConflict => self.decide_again(cycle, batch.into_commands()),
            AppendFailure::DuplicateCommand => self.sort_out(cycle, batch),
            // Handled above: the room has ended.
            AppendFailure::LeaseLost => {}
            AppendFailure::Unavailable { reason } => self.give_up(cycle, batch, &unavailable(&reason)),
            AppendFailure::Unknown { reason } => self.give_up(cycle, batch, &unknown(&reason)),
        }
    }

    fn give_up(&mut self, cycle: &mut Cycle, batch: Batch, rejection: &Rejection) {
        self.rest_from_sweeps(cycle);
        self.answer_all(cycle, batch.into_commands(), rejection);
    }

    /// Delays the room's own commands, so that they are not retried in a loop.
    pub(in crate::room) fn rest_from_sweeps(&mut self, cycle: &Cycle) {
        self.sweep_at = self.sweep_at.map(|at| at.max(cycle.now + self.config.retry_load_ms));
    }

    fn decide_again(&mut self, cycle: &mut Cycle, commands: Vec<Pending>) {
        let mut again = Vec::new();
        for mut pending in commands {
            pending.attempts += 1;
            pending.ticket = None;
            pending.history = None;
            pending.judgements = 0;
            if pending.attempts < MAX_ATTEMPTS {
                again.push(pending);
            } else {
                let rejection = unavailable("others wrote faster every time: send it again");
                self.answer(cycle, pending, Err(rejection));
            }
        }
        self.queue.push_back_to_front(again);
    }

    /// Reads the records of the commands, as some are retries of recorded ones.
    fn sort_out(&mut self, cycle: &mut Cycle, batch: Batch) {
        let ticket = self.next_ticket();
        let commands = batch.entries.iter().map(|entry| (entry.pending.actor.clone(), entry.pending.id().clone()));
        cycle.out.push(Output::FindCommands { ticket, commands: commands.collect() });
        self.phase = Phase::Sorting(ticket, Box::new(batch));
    }

    pub(in crate::room) fn take_sorted(
        &mut self,
        cycle: &mut Cycle,
        batch: Batch,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        let Ok(mut records) = records else {
            return self.answer_all(cycle, batch.into_commands(), &unavailable("the store does not answer"));
        };
        let mut others = Vec::new();
        for pending in batch.into_commands() {
            let is_its = |record: &CommandRecord| record.actor == pending.actor && record.command_id == *pending.id();
            match records.iter().position(is_its) {
                Some(index) => {
                    let record = records.swap_remove(index);
                    let answer = recorded_answer(&self.notebook_id, &pending.digest, &record);
                    self.answer(cycle, pending, answer);
                }
                None => others.push(pending),
            }
        }
        self.decide_again(cycle, others);
    }
}

/// Rejects with the store's reason, which already says that the outcome is unknown.
fn unknown(reason: &str) -> Rejection {
    Rejection::new(RejectionCode::Unavailable, reason)
}
