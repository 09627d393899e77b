//! Loading of the stored state, and recovery from failed loads and appends.

use std::collections::BTreeSet;

use notarium_core::{CommandRecord, Epoch, Millis, Notebook, Rejection, RejectionCode, sweep_due};
use notarium_wire::ErrorCode;

use super::answers::recorded_answer;
use super::batch::Batch;
use super::joining::WaitingRequest;
use super::kernels::AgentLeases;
use super::queue::PendingCommand;
use super::set_aside::SetAside;
use super::{Cycle, Phase, Room, RoomConfig, unavailable};
use crate::io::{AppendFailure, Output, ReadFailure};
use crate::replay::Loaded;
use crate::ring::Ring;

/// Backoff of failed loads: the delay doubles each time, up to these limits.
const MAX_DOUBLINGS: u32 = 10;

const MAX_RETRY_LOAD_MS: Millis = 300_000;

/// Maximum number of decisions of a command.
const MAX_ATTEMPTS: u32 = 8;

/// A batch whose append failed.
#[derive(Debug)]
pub(super) struct Recovery {
    pub batch: Batch,
    failure: AppendFailure,
}

impl Recovery {
    /// Returns the answer to the commands if the notebook cannot be reloaded to find out.
    pub(super) fn rejection(&self, failure: &str) -> Rejection {
        match &self.failure {
            AppendFailure::Unknown { reason } => unknown(reason),
            _ => unavailable(failure),
        }
    }
}

impl Room {
    /// Requests a lease. WaitingRequest commands are decided, or answered with the reason, when the answer arrives.
    pub(super) fn ask_for_lease(&mut self, cycle: &mut Cycle) {
        self.phase = Phase::Loading;
        cycle.out.push(Output::Load { recent_after: self.least_sent() });
    }

    pub(super) fn take_loaded(&mut self, cycle: &mut Cycle, loaded: Loaded, lease: Result<Epoch, String>) {
        self.no_lease = match lease {
            Ok(epoch) => {
                self.epoch = epoch;
                None
            }
            Err(reason) => {
                let waiting = self.queue.drain();
                self.answer_all(cycle, waiting, &unavailable(&reason));
                Some(reason)
            }
        };
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Recovering(recovery) => {
                self.adopt(cycle, loaded);
                self.recover(cycle, *recovery);
            }
            Phase::Loading => {
                self.adopt(cycle, loaded);
                if self.no_lease.is_some() {
                    self.rest_from_sweeps(cycle);
                }
                // After a failed load there may already be subscribers.
                self.fan_out(cycle, &[]);
                self.resync_after_redaction(cycle);
                self.ask_for_work(cycle);
            }
            other => self.phase = other,
        }
    }

    fn adopt(&mut self, cycle: &mut Cycle, loaded: Loaded) {
        let RoomConfig { max_cell_change_bytes, .. } = *self.config;
        self.changes.load(self.committed, loaded.notebook.version, &loaded.recent, max_cell_change_bytes);
        self.head = loaded.head;
        self.committed = loaded.notebook.version;
        self.state = loaded.notebook;
        self.read_only = loaded.read_only;
        self.load_failures = 0;
        self.ring = Ring::of(self.committed, &loaded.recent);
        self.snapshot_version = loaded.snapshot_version;
        self.rendering.forget();
        self.idle_at = Some(cycle.now + self.config.idle_ms);
        if self.read_only.is_some() {
            // A read-only notebook cannot end kernels or tool calls.
            (self.leases, self.sweep_at) = (AgentLeases::default(), None);
        } else {
            self.leases.follow(&self.state, cycle.now, &self.config);
            self.sweep_at = sweep_due(&self.state);
        }
        self.recheck_access(cycle);
        self.resync_unreachable(cycle);
        self.snapshot_when_due(cycle);
    }

    /// Requests agents for unclaimed launches, after a load.
    fn ask_for_work(&self, cycle: &mut Cycle) {
        if self.read_only.is_some() || self.no_lease.is_some() {
            return;
        }
        cycle.out.extend(waiting_launches(&self.state));
        if !self.state.turns.is_empty() || !self.state.tool_calls.is_empty() {
            cycle.out.push(Output::WakeAssistants { version: self.committed });
        }
        if self.state.schedules.values().any(|schedule| schedule.run.is_some()) {
            cycle.out.push(Output::WakeSchedules { version: self.committed });
        }
    }

    pub(super) fn take_load_failure(&mut self, cycle: &mut Cycle, reason: String) {
        let backoff = (self.config.retry_load_ms << self.load_failures.min(MAX_DOUBLINGS)).min(MAX_RETRY_LOAD_MS);
        self.load_failures += 1;
        let phase = std::mem::replace(&mut self.phase, Phase::Failed(cycle.now + backoff));
        self.failure = format!("the notebook cannot be read: {reason}");
        if let Phase::Recovering(recovery) = phase {
            let rejection = recovery.rejection(&self.failure);
            self.answer_all(cycle, recovery.batch.into_commands(), &rejection);
        }
        self.turn_all_away(cycle);
    }

    /// Answers all waiting requests with the failure.
    fn turn_all_away(&mut self, cycle: &mut Cycle) {
        let mut pending = self.queue.drain();
        pending.extend(std::mem::take(&mut self.judging).into_values().flatten());
        pending.extend(std::mem::take(&mut self.set_aside).into_values().flat_map(SetAside::into_commands));
        self.answer_all(cycle, pending, &unavailable(&self.failure));
        for waiting in std::mem::take(&mut self.waiting) {
            self.turn_away(cycle, waiting);
        }
        self.answer_lists(cycle);
    }

    pub(super) fn retry_load(&mut self, cycle: &mut Cycle) {
        if matches!(self.phase, Phase::Failed(at) if at <= cycle.now) {
            self.phase = Phase::Loading;
            cycle.out.push(Output::Load { recent_after: self.least_sent() });
        }
    }

    pub(super) fn turn_away(&self, cycle: &mut Cycle, waiting: WaitingRequest) {
        match waiting {
            WaitingRequest::Read { caller, .. } => {
                let state = Err(unavailable(&self.failure));
                cycle.out.push(Output::State { caller, state });
            }
            WaitingRequest::Subscribe { client, .. } => {
                self.send_error(cycle, client, ErrorCode::Unavailable, &self.failure);
            }
        }
    }

    /// Discards the state that is ahead of the disk.
    pub(super) fn take_append_failure(&mut self, cycle: &mut Cycle, failure: AppendFailure) {
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
        let failure = ReadFailure::Unavailable { reason: self.failure.clone() };
        for refused in std::mem::take(&mut self.lookups).into_values() {
            self.answer_refused(cycle, refused, Err(&failure));
        }
        let joining = std::mem::take(&mut self.joins).into_values().map(|join| join.client);
        for client in joining.chain(std::mem::take(&mut self.subscribers).into_keys()).collect::<BTreeSet<_>>() {
            self.send_error(cycle, client, ErrorCode::Unavailable, &self.failure);
        }
        self.phase = Phase::Closed;
        cycle.out.push(Output::Unload);
    }

    /// Handles the batch after the reload of the state.
    fn recover(&mut self, cycle: &mut Cycle, recovery: Recovery) {
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
    fn rest_from_sweeps(&mut self, cycle: &Cycle) {
        self.sweep_at = self.sweep_at.map(|at| at.max(cycle.now + self.config.retry_load_ms));
    }

    fn decide_again(&mut self, cycle: &mut Cycle, commands: Vec<PendingCommand>) {
        let mut again = Vec::new();
        for mut pending in commands {
            pending.attempts += 1;
            pending.forget_history();
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
        self.phase = Phase::Deciding(ticket, Box::new(batch));
    }

    pub(super) fn take_sorted(
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

/// Returns requests for agents: kernels of the state that no agent has claimed.
fn waiting_launches(notebook: &Notebook) -> impl Iterator<Item = Output> {
    let requested = notebook.kernels.iter().filter(|(_, session)| session.agent.is_none());
    requested.map(|(id, session)| Output::WorkWanted {
        kernel_session: id.clone(),
        kernelspec: session.kernelspec.clone(),
        placement: session.placement.clone(),
    })
}
