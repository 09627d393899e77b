//! Tool calls whose code is being judged: they leave the queue, and other commands continue.

use notarium_core::{Command, Judgement, RequestToolCall, required_judgement};

use super::{Cycle, Phase, Room};
use crate::io::{Output, Ticket};
use crate::room::queue::Pending;

/// Maximum number of judgements of a call while cells around it change; after that its code is unknown, and needs a confirmation.
const MAX_JUDGEMENTS: u32 = 3;
/// Maximum number of commands being judged; beyond it the code is unknown.
const MAX_JUDGING: usize = 32;

impl Room {
    /// Returns the ticket of the judgement that the command must wait for: of its own code, or of an earlier call.
    pub(super) fn judging_ticket(&mut self, cycle: &mut Cycle, pending: &Pending, command: &Command) -> Option<Ticket> {
        if self.read_only.is_some() || self.role(cycle.now, pending.identity()).is_none() {
            return None;
        }
        if let Some(ticket) = self.judging_before(command) {
            return Some(ticket);
        }
        if pending.judgements > MAX_JUDGEMENTS || self.judging.len() >= MAX_JUDGING {
            return None;
        }
        let query = required_judgement(&self.state, command)?;
        if pending.judgement.as_ref().is_some_and(|judgement| judgement.query == query) {
            return None;
        }
        let ticket = self.next_ticket();
        cycle.out.push(Output::Judge { ticket, query });
        Some(ticket)
    }

    fn judging_before(&self, command: &Command) -> Option<Ticket> {
        let Command::RequestToolCall(RequestToolCall { after: Some(earlier), .. }) = command else { return None };
        let is_earlier = |pending: &Pending| matches!(&pending.command, Some(Command::RequestToolCall(RequestToolCall { call_id: Some(id), .. })) if id == earlier);
        self.judging.iter().find(|(_, waiting)| waiting.iter().any(is_earlier)).map(|(ticket, _)| *ticket)
    }

    pub(super) fn take_judgement(&mut self, ticket: Ticket, judgement: Option<Judgement>) {
        let Some(mut waiting) = self.judging.remove(&ticket) else { return };
        if let Some(first) = waiting.first_mut() {
            first.judgements = if judgement.is_some() { first.judgements + 1 } else { MAX_JUDGEMENTS + 1 };
            first.judgement = judgement;
            (first.ticket, first.history) = (None, None);
        }
        // Inserted behind the command whose history is being read, as its decision must follow that directly.
        let first = usize::from(matches!(self.phase, Phase::Reading));
        waiting.into_iter().enumerate().for_each(|(index, pending)| self.queue.insert(first + index, pending));
    }
}
