//! Refusals. A refused command may be a retry of an accepted one, so its record is looked up first.

use notarium_core::{CommandRecord, Past, Rejection, Stored};

use super::{Cycle, Phase, Room, unavailable};
use crate::io::{Output, ReadFailure, Ticket};
use crate::room::answers::recorded_answer;
use crate::room::queue::Pending;

/// A refused command whose record is being looked up.
#[derive(Debug)]
pub(super) struct Lookup {
    pending: Pending,
    rejection: Rejection,
}

impl Room {
    /// Refuses a command, unless the store has a record of it as accepted.
    pub(super) fn refuse(&mut self, cycle: &mut Cycle, pending: Pending, rejection: Rejection) {
        let may_be_recorded = self.state.exists() && self.role(cycle.now, pending.identity()).is_some();
        if !may_be_recorded {
            return self.answer(cycle, pending, Err(rejection));
        }
        let ticket = self.next_ticket();
        let commands = vec![(pending.actor.clone(), pending.id().clone())];
        cycle.out.push(Output::FindCommands { ticket, commands });
        self.lookups.insert(ticket, Lookup { pending, rejection });
    }

    pub(super) fn take_records(
        &mut self,
        cycle: &mut Cycle,
        ticket: Ticket,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        if let Some(lookup) = self.lookups.remove(&ticket) {
            return self.take_record(cycle, lookup, records);
        }
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Sorting(waited, batch) if waited == ticket => self.take_sorted(cycle, *batch, records),
            other => self.phase = other,
        }
    }

    pub(super) fn take_record(
        &self,
        cycle: &mut Cycle,
        lookup: Lookup,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        let Lookup { pending, rejection } = lookup;
        let answer = match records {
            Ok(records) => match records.first() {
                Some(record) => recorded_answer(&self.notebook_id, &pending.digest, record),
                None => Err(rejection),
            },
            // It may have been accepted before, so the refusal could be wrong.
            Err(_) => Err(unavailable("the store does not answer: send it again")),
        };
        self.answer(cycle, pending, answer);
    }

    /// Takes the answer to a query of events: for a command, or for a joining client.
    pub(super) fn take_past(&mut self, cycle: &mut Cycle, ticket: Ticket, past: Result<Past<Stored>, ReadFailure>) {
        if let Some(past) = self.take_history(cycle, ticket, past)
            && let Some(join) = self.joins.get_mut(&ticket)
        {
            join.found = Some(past.map(|past| past.events));
        }
    }
}
