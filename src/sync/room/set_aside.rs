//! Commands whose decision needs a scan of the store, for instance the undo of an old group. They leave the queue until the store has
//! answered; the room decides the commands of others meanwhile. Later commands of the same client wait behind them.

use notarium_core::{History, HistoryQuery, Past, Rejection, RejectionCode, Stored, Version};

use super::queue::{PendingCommand, not_readable};
use super::{Cycle, Phase, Room};
use crate::decoded_command::is_control;
use crate::io::{ClientId, Output, ReadFailure, Ticket};

/// Maximum number of scans for a command, while the notebook changes.
const MAX_SCANS: u32 = 3;

/// A command that waits for a scan.
#[derive(Debug)]
pub(crate) struct SetAside {
    first: PendingCommand,
    /// Later commands of its client.
    behind: Vec<PendingCommand>,
    queries: Vec<HistoryQuery>,
    /// Version up to which the answer is complete.
    read_to: Version,
}

/// Answer of a scan.
#[derive(Debug)]
pub(crate) struct Scan {
    queries: Vec<HistoryQuery>,
    /// Version up to which the answer is complete; the ring has later events.
    pub(super) read_to: Version,
    history: History,
}

impl SetAside {
    pub(super) fn wait(&mut self, pending: PendingCommand) {
        self.behind.push(pending);
    }

    pub(super) fn is_from(&self, client: ClientId) -> bool {
        self.first.is_from(client)
    }

    /// Returns true if it has a command of this client that arrived earlier.
    pub(super) fn has_earlier(&self, client: ClientId, arrival: u64) -> bool {
        self.is_from(client) && self.first.arrival < arrival
    }

    pub(super) fn into_commands(self) -> impl Iterator<Item = PendingCommand> {
        [self.first].into_iter().chain(self.behind)
    }
}

/// Returns true if the store answers the query by reading all events since a version.
pub(super) fn is_scan(query: &HistoryQuery) -> bool {
    matches!(query, HistoryQuery::Cells { .. })
}

impl Room {
    /// Requests a scan for the command, unless the notebook changed too often during its scans.
    pub(super) fn set_aside(&mut self, cycle: &mut Cycle, mut pending: PendingCommand, queries: Vec<HistoryQuery>) {
        pending.scans += 1;
        if pending.scans > MAX_SCANS {
            let message = "nothing was changed: the notebook changes faster than its past can be read: send it again";
            return self.refuse(cycle, pending, Rejection::new(RejectionCode::Unavailable, message));
        }
        let ticket = self.next_ticket();
        cycle.out.push(Output::ReadHistory { ticket, queries: queries.clone() });
        let set_aside = SetAside { first: pending, behind: Vec::new(), queries, read_to: self.committed };
        self.set_aside.insert(ticket, set_aside);
    }

    /// Returns the command behind which this one must wait: an earlier one of its client.
    pub(super) fn set_aside_before(&mut self, pending: &PendingCommand) -> Option<&mut SetAside> {
        let client = pending.reply_to.client()?;
        if pending.command.as_ref().is_some_and(is_control) {
            return None;
        }
        self.set_aside.values_mut().find(|set_aside| set_aside.has_earlier(client, pending.arrival))
    }

    /// Returns true if an earlier command of this client waits.
    pub(super) fn has_earlier(&self, client: ClientId, arrival: u64) -> bool {
        let is_set_aside = self.set_aside.values().any(|set_aside| set_aside.has_earlier(client, arrival));
        is_set_aside || self.queue.has_earlier(client, arrival)
    }

    /// Takes the answer to a scan; returns it if it belongs to no command.
    pub(super) fn take_scan(
        &mut self,
        cycle: &mut Cycle,
        ticket: Ticket,
        past: Result<Past<Stored>, ReadFailure>,
    ) -> Option<Result<Past<Stored>, ReadFailure>> {
        let Some(SetAside { mut first, behind, queries, read_to }) = self.set_aside.remove(&ticket) else {
            return Some(past);
        };
        // Inserted behind the command whose history is being read, as its decision must follow that directly.
        let mut index = usize::from(matches!(self.phase, Phase::Reading));
        match past {
            Ok(mut past) => {
                past.events.retain(|stored| stored.envelope.version <= read_to);
                first.scan = Some(Scan { queries, read_to, history: past.into() });
                self.queue.insert(index, first);
                index += 1;
            }
            Err(failure) => self.refuse(cycle, first, not_readable(failure)),
        }
        for (offset, pending) in behind.into_iter().enumerate() {
            self.queue.insert(index + offset, pending);
        }
        None
    }

    /// Completes a scan by the events since. `None`: they are not in memory, or the command needs another part of the past by now.
    pub(super) fn completed(&self, scan: Scan, queries: &[HistoryQuery]) -> Option<History> {
        let Scan { queries: answered, read_to, mut history } = scan;
        if answered != queries {
            return None;
        }
        history.events.extend(self.ring.later(&self.notebook_id, queries, read_to)?);
        Some(history)
    }

    /// Returns the oldest version after which the ring must keep all events for a scan.
    pub(super) fn oldest_scan(&self) -> Option<Version> {
        let waiting = self.set_aside.values().map(|set_aside| set_aside.read_to);
        waiting.chain(self.queue.oldest_scan()).min()
    }
}
