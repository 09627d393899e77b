//! Refusals. A retry may be refused although the first one was accepted: the record decides, so it is asked first.

use notarium_core::{CommandRecord, Rejection, Stored};

use crate::answers::recorded_answer;
use crate::io::{Output, ReadFailure, Ticket};
use crate::queue::Queued;
use crate::room::{Cycle, Phase, Room, unavailable};

/// A refused command whose record is being looked for.
#[derive(Debug)]
pub(crate) struct Lookup {
    queued: Queued,
    rejection: Rejection,
}

impl Room {
    /// Refuses a command, unless the store knows that it was accepted before.
    pub(crate) fn refuse(&mut self, cycle: &mut Cycle, queued: Queued, rejection: Rejection) {
        let may_be_recorded = self.state.exists() && self.role(cycle.now, &queued.identity).is_some();
        if !may_be_recorded {
            return self.answer(cycle, &queued, Err(rejection));
        }
        let ticket = self.next_ticket();
        let commands = vec![(queued.actor.clone(), queued.id.clone())];
        cycle.out.push(Output::FindCommands { ticket, commands });
        self.lookups.insert(ticket, Lookup { queued, rejection });
    }

    pub(crate) fn take_records(
        &mut self,
        cycle: &mut Cycle,
        ticket: Ticket,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        if let Some(lookup) = self.lookups.remove(&ticket) {
            return self.take_record(cycle, &lookup, records);
        }
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Sorting(waited, batch) if waited == ticket => self.take_sorted(cycle, *batch, records),
            other => self.phase = other,
        }
    }

    pub(crate) fn take_record(
        &self,
        cycle: &mut Cycle,
        lookup: &Lookup,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    ) {
        let Lookup { queued, rejection } = lookup;
        let answer = match records {
            Ok(records) => match records.first() {
                Some(record) => recorded_answer(&self.notebook_id, &queued.digest, record),
                None => Err(rejection.clone()),
            },
            // Nobody knows whether it was accepted before: the refusal could be wrong.
            Err(_) => Err(unavailable("the store does not answer: send it again")),
        };
        self.answer(cycle, queued, answer);
    }

    /// The answer to a question about events: of a command, or of somebody who joins.
    pub(crate) fn take_events(&mut self, cycle: &mut Cycle, ticket: Ticket, events: Result<Vec<Stored>, ReadFailure>) {
        if let Some(events) = self.take_history(cycle, ticket, events)
            && let Some(join) = self.joins.get_mut(&ticket)
        {
            join.found = Some(events);
        }
    }
}
