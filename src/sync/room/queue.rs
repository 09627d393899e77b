//! Queue of commands that wait for their decision, in order; control commands overtake output reports. A decision may wait for the past from the
//! store, for the names in the cells of a reactive notebook, or for a judgement of its code.

use std::collections::VecDeque;
use std::sync::Arc;

use notarium_core::reactive::{CodeNames, CodeText, KnownNames, needs_names};
use notarium_core::{
    Command, CommandId, Context, CorrelationId, History, HistoryQuery, Judgement, JudgementQuery, Past, Reactivity,
    Rejection, RejectionCode, RequestToolCall, Stored, Version, required_history, required_judgement,
};
use notarium_wire::CommandMessage;

use super::set_aside::Scan;
use super::{Cycle, Phase, Room, unavailable};
use crate::decoded_command::{DecodedCommand, is_control, is_output};
use crate::io::{ClientId, Identity, Output, OutsideFacts, ReadFailure, ReplyTo, Submission, Ticket};

/// A command without an answer, and the progress of its decision.
#[derive(Debug)]
pub(crate) struct PendingCommand {
    pub identity: Arc<Identity>,
    pub message: CommandMessage,
    pub reply_to: ReplyTo,
    pub facts: OutsideFacts,
    /// Repeats that arrived before the answer.
    pub also: Vec<ReplyTo>,
    /// Key of the actor, `Actor::key()`.
    pub actor: String,
    pub digest: [u8; 32],
    /// Parsed command. The decision takes it; a repeated decision parses `body` again.
    pub command: Option<Command>,
    /// Arrival number: a subscription waits for its client's earlier commands.
    pub arrival: u64,
    /// Ticket of the question to the store whose answer it needs.
    pub ticket: Option<Ticket>,
    pub history: Option<History>,
    /// Answer of a scan of the store, which later events complete.
    pub scan: Option<Scan>,
    /// Number of scans for this command.
    pub scans: u32,
    /// Judgement of its code, and the number of judgements so far.
    pub judgement: Option<Judgement>,
    pub judgements: u32,
    /// Number of failed attempts to decide and append it.
    pub attempts: u32,
}

impl PendingCommand {
    pub(crate) fn new(submission: Submission, arrival: u64) -> Self {
        let Submission { identity, decoded, reply_to, facts } = submission;
        let DecodedCommand { message, command, digest } = decoded;
        Self {
            also: Vec::new(),
            actor: identity.actor.key(),
            identity,
            message,
            reply_to,
            facts,
            digest,
            command: Some(command),
            arrival,
            ticket: None,
            history: None,
            scan: None,
            scans: 0,
            judgement: None,
            judgements: 0,
            attempts: 0,
        }
    }

    /// Notes a judgement of the command's code. `None`: the code counts as unknown.
    fn note_judgement(&mut self, judgement: Option<Judgement>) {
        self.judgements = if judgement.is_some() { self.judgements + 1 } else { MAX_JUDGEMENTS + 1 };
        self.judgement = judgement;
        self.forget_history();
    }

    /// Drops what was read for the decision: it is read again.
    pub(super) fn forget_history(&mut self) {
        (self.ticket, self.history, self.scan) = (None, None, None);
    }

    pub(crate) fn id(&self) -> &CommandId {
        &self.message.id
    }

    /// Returns the undo group: the sender's, else a group for this command.
    pub(crate) fn correlation(&self) -> CorrelationId {
        let own = || CorrelationId::new(self.id().as_str()).unwrap_or_else(|_| unreachable!("ids have one shape"));
        self.message.correlation_id.clone().unwrap_or_else(own)
    }

    fn bytes(&self) -> usize {
        self.message.body.get().len()
    }

    fn is_output(&self) -> bool {
        self.command.as_ref().is_some_and(is_output)
    }

    pub(super) fn is_from(&self, client: ClientId) -> bool {
        self.reply_to.client() == Some(client)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    commands: VecDeque<PendingCommand>,
    /// Bytes of all bodies.
    bytes: usize,
}

impl Queue {
    /// Adds a command; control goes before the output reports at the end.
    pub(crate) fn push(&mut self, pending: PendingCommand) {
        let is_control = pending.command.as_ref().is_some_and(is_control);
        let overtaken =
            if is_control { self.commands.iter().rev().take_while(|other| other.is_output()).count() } else { 0 };
        self.bytes += pending.bytes();
        self.commands.insert(self.commands.len() - overtaken, pending);
    }

    /// Puts commands back at the front for another decision, in their order.
    pub(crate) fn push_back_to_front(&mut self, again: Vec<PendingCommand>) {
        for pending in again.into_iter().rev() {
            self.push_front(pending);
        }
    }

    /// Returns the bytes of all waiting bodies.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn taken(&mut self, pending: PendingCommand) -> PendingCommand {
        self.bytes -= pending.bytes();
        pending
    }

    pub(crate) fn push_front(&mut self, pending: PendingCommand) {
        self.bytes += pending.bytes();
        self.commands.push_front(pending);
    }

    pub(crate) fn pop(&mut self) -> Option<PendingCommand> {
        let pending = self.commands.pop_front()?;
        Some(self.taken(pending))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PendingCommand> {
        self.commands.iter_mut()
    }

    pub(crate) fn drain(&mut self) -> Vec<PendingCommand> {
        self.bytes = 0;
        std::mem::take(&mut self.commands).into()
    }

    /// Removes the command that waits for this ticket; returns it with its position.
    pub(crate) fn remove_waiting(&mut self, ticket: Ticket) -> Option<(usize, PendingCommand)> {
        let index = self.commands.iter().position(|pending| pending.ticket == Some(ticket))?;
        let pending = self.commands.remove(index)?;
        Some((index, self.taken(pending)))
    }

    pub(crate) fn insert(&mut self, index: usize, pending: PendingCommand) {
        self.bytes += pending.bytes();
        self.commands.insert(index.min(self.commands.len()), pending);
    }

    /// Returns true if an earlier command of this client is in the queue.
    pub(crate) fn has_earlier(&self, client: ClientId, arrival: u64) -> bool {
        self.commands.iter().any(|pending| pending.is_from(client) && pending.arrival < arrival)
    }

    /// Drops the commands of a client, except one for which the room waits.
    pub(super) fn drop_of(&mut self, client: ClientId) {
        let is_kept =
            |pending: &PendingCommand| !pending.is_from(client) || pending.ticket.is_some() || !pending.also.is_empty();
        self.commands.retain(is_kept);
        self.bytes = self.commands.iter().map(PendingCommand::bytes).sum();
    }

    /// Returns the oldest version up to which a scan has read for a waiting command.
    pub(super) fn oldest_scan(&self) -> Option<Version> {
        self.commands.iter().filter_map(|pending| Some(pending.scan.as_ref()?.read_to)).min()
    }

    pub(crate) fn shrink(&mut self) {
        self.commands.shrink_to_fit();
    }
}

/// Maximum number and bytes of texts in one question.
const MAX_TEXTS: usize = 500;

const MAX_BYTES: usize = 4 << 20;

/// Known names, and the state of the analysis.
#[derive(Debug, Default)]
pub(super) struct NotebookNames {
    pub(super) known: Arc<KnownNames>,
    is_asked: bool,
    /// True if a command waits for the answer.
    is_holding: bool,
    /// Version up to which all names were requested.
    seen: Version,
}

/// Maximum number of judgements of a call while cells around it change; after that its code is unknown, and needs a confirmation.
const MAX_JUDGEMENTS: u32 = 3;

/// Maximum number of commands being judged; beyond it the code is unknown.
const MAX_JUDGING: usize = 32;

impl Room {
    /// Puts the command back at the front. Its question is sent when no append is in flight, so that the answer is complete.
    pub(super) fn hold(
        &mut self,
        cycle: &mut Cycle,
        is_first: bool,
        mut pending: PendingCommand,
        queries: Vec<HistoryQuery>,
    ) {
        if is_first {
            let ticket = self.next_ticket();
            pending.ticket = Some(ticket);
            self.phase = Phase::Reading;
            cycle.out.push(Output::ReadHistory { ticket, queries });
        }
        self.queue.push_front(pending);
    }

    /// Adds the history that the decision needs to its context. The error holds the queries for the store.
    pub(super) fn history_for(
        &mut self,
        cycle: &Cycle,
        context: &mut Context,
        pending: &mut PendingCommand,
        command: &Command,
    ) -> Result<(), Vec<HistoryQuery>> {
        if self.read_only.is_some() || !self.state.exists() {
            return Ok(());
        }
        let mut queries = required_history(&self.state, context, command);
        queries.dedup();
        // A sender who may not see the notebook causes no reads of the store.
        if queries.is_empty() || self.role(cycle.now, &pending.identity).is_none() {
            return Ok(());
        }
        queries.retain(|query| !self.remember_changes(&mut context.history, query));
        if queries.is_empty() || pending.ticket.is_some() {
            return Ok(());
        }
        let found = match pending.scan.take() {
            Some(scan) => self.completed(scan, &queries),
            None => self.ring.history(&self.notebook_id, &queries),
        };
        let History { events, executions, .. } = found.ok_or(queries)?;
        (context.history.events, context.history.executions) = (events, executions);
        Ok(())
    }

    /// Answers a query of the edits of one cell from memory alone. Returns false for other queries.
    fn remember_changes(&self, history: &mut History, query: &HistoryQuery) -> bool {
        let HistoryQuery::Cells { cells, since, with_notebook: false } = query else { return false };
        for cell in cells {
            match self.changes.after(cell, *since) {
                // Parts of a batch may have different bases.
                Some(changes) => {
                    let known = history.changes.entry(cell.clone()).or_default();
                    if changes.len() > known.len() {
                        *known = changes;
                    }
                }
                None => _ = history.forgotten.insert(cell.clone()),
            }
        }
        true
    }

    /// Takes the answer to a query of events: for a command, or for a joining client.
    pub(super) fn take_past(&mut self, cycle: &mut Cycle, ticket: Ticket, past: Result<Past<Stored>, ReadFailure>) {
        if let Some(past) = self.take_history(cycle, ticket, past)
            && let Some(past) = self.take_scan(cycle, ticket, past)
            && let Some(join) = self.joins.get_mut(&ticket)
        {
            join.found = Some(past.map(|past| past.events));
        }
    }

    /// Takes the answer to a command's query of the history; returns it if it belongs to no command.
    fn take_history(
        &mut self,
        cycle: &mut Cycle,
        ticket: Ticket,
        past: Result<Past<Stored>, ReadFailure>,
    ) -> Option<Result<Past<Stored>, ReadFailure>> {
        let Some((index, mut pending)) = self.queue.remove_waiting(ticket) else { return Some(past) };
        if matches!(self.phase, Phase::Reading) {
            self.phase = Phase::Live;
        }
        match past {
            Ok(past) => {
                pending.history = Some(past.into());
                self.queue.insert(index, pending);
            }
            Err(failure) => self.refuse(cycle, pending, not_readable(failure)),
        }
        None
    }

    /// Returns true if the decision needs names that are not known.
    pub(super) fn lacks_names(&mut self, cycle: &Cycle, pending: &PendingCommand, command: &Command) -> bool {
        self.read_only.is_none()
            && needs_names(&self.state, command)
            && self.role(cycle.now, &pending.identity).is_some()
            && !self.names.known.is_complete(&self.state)
            // Moved or deleted cells need no analysis, only a refresh.
            && !Arc::make_mut(&mut self.names.known).refresh(&self.state).is_empty()
    }

    /// Returns the names for the decision of a command, if it needs them.
    pub(super) fn names_for(&self, command: &Command) -> Option<Arc<KnownNames>> {
        needs_names(&self.state, command).then(|| self.names.known.clone())
    }

    /// Puts the command back at the front until the names are known. No other command is decided before it, so the plan uses the cells of
    /// one version.
    pub(super) fn hold_for_names(&mut self, cycle: &mut Cycle, is_first: bool, pending: PendingCommand) {
        if is_first {
            self.phase = Phase::Reading;
            self.names.is_holding = true;
            self.ask_for_names(cycle);
        }
        self.queue.push_front(pending);
    }

    fn ask_for_names(&mut self, cycle: &mut Cycle) {
        if self.names.is_asked {
            return;
        }
        let mut texts = Arc::make_mut(&mut self.names.known).refresh(&self.state);
        let mut bytes = 0;
        let few = texts.iter().take(MAX_TEXTS).take_while(|text| {
            let is_next = bytes == 0 || bytes + text.source.len() <= MAX_BYTES;
            bytes += text.source.len().max(1);
            is_next
        });
        let few = few.count();
        texts.truncate(few);
        if texts.is_empty() {
            self.names.seen = self.state.version;
        } else {
            self.names.is_asked = true;
            cycle.out.push(Output::ReadNames { texts });
        }
    }

    pub(super) fn take_names(&mut self, names: &[(CodeText, Option<CodeNames>)]) {
        let known = Arc::make_mut(&mut self.names.known);
        for (text, names) in names {
            known.learn(&text.cell_id, text.source_version, names.as_ref());
        }
        self.names.is_asked = false;
        if std::mem::take(&mut self.names.is_holding) && matches!(self.phase, Phase::Reading) {
            self.phase = Phase::Live;
        }
    }

    /// Requests names before a run needs them.
    pub(super) fn look_ahead_for_names(&mut self, cycle: &mut Cycle) {
        let is_wanted = self.state.reactivity != Reactivity::Off && self.names.seen != self.state.version;
        if is_wanted && matches!(self.phase, Phase::Live) && self.read_only.is_none() {
            self.ask_for_names(cycle);
        }
    }

    /// Returns the code that must be judged before the decision. `None`: none, or it is judged or counts as unknown.
    pub(super) fn unjudged(
        &self,
        cycle: &Cycle,
        pending: &PendingCommand,
        command: &Command,
    ) -> Option<JudgementQuery> {
        if self.is_unreadable(cycle, pending) || pending.judgements > MAX_JUDGEMENTS {
            return None;
        }
        let query = required_judgement(&self.state, command)?;
        let is_judged =
            |judgement: &Judgement| judgement.query == query || query.expects && judgement.query.codes == query.codes;
        (!pending.judgement.as_ref().is_some_and(is_judged)).then_some(query)
    }

    fn is_unreadable(&self, cycle: &Cycle, pending: &PendingCommand) -> bool {
        self.read_only.is_some() || self.role(cycle.now, &pending.identity).is_none()
    }

    /// Returns the ticket of the judgement that the command must wait for: of its own code, or of an earlier call.
    pub(super) fn judging_ticket(
        &mut self,
        cycle: &mut Cycle,
        pending: &PendingCommand,
        command: &Command,
        unjudged: Option<JudgementQuery>,
    ) -> Option<Ticket> {
        if self.is_unreadable(cycle, pending) {
            return None;
        }
        if let Some(ticket) = self.judging_before(command) {
            return Some(ticket);
        }
        let query = unjudged.filter(|_| self.judging.len() < MAX_JUDGING)?;
        let ticket = self.next_ticket();
        cycle.out.push(Output::Judge { ticket, query });
        Some(ticket)
    }

    fn judging_before(&self, command: &Command) -> Option<Ticket> {
        let Command::RequestToolCall(RequestToolCall { after: Some(earlier), .. }) = command else { return None };
        let is_earlier = |pending: &PendingCommand| matches!(&pending.command, Some(Command::RequestToolCall(RequestToolCall { call_id: Some(id), .. })) if id == earlier);
        self.judging.iter().find(|(_, waiting)| waiting.iter().any(is_earlier)).map(|(ticket, _)| *ticket)
    }

    /// Puts a person's run back at the front until its text is judged.
    pub(super) fn hold_for_judge(
        &mut self,
        cycle: &mut Cycle,
        is_first: bool,
        mut pending: PendingCommand,
        query: JudgementQuery,
    ) {
        if is_first {
            let ticket = self.next_ticket();
            pending.ticket = Some(ticket);
            self.phase = Phase::Reading;
            cycle.out.push(Output::Judge { ticket, query });
        }
        self.queue.push_front(pending);
    }

    pub(super) fn take_judgement(&mut self, ticket: Ticket, judgement: Option<Judgement>) {
        if let Some((index, mut pending)) = self.queue.remove_waiting(ticket) {
            if matches!(self.phase, Phase::Reading) {
                self.phase = Phase::Live;
            }
            pending.note_judgement(judgement);
            return self.queue.insert(index, pending);
        }
        let Some(mut waiting) = self.judging.remove(&ticket) else { return };
        if let Some(first) = waiting.first_mut() {
            first.note_judgement(judgement);
        }
        // Inserted behind the command whose history is being read, as its decision must follow that directly.
        let first = usize::from(matches!(self.phase, Phase::Reading));
        waiting.into_iter().enumerate().for_each(|(index, pending)| self.queue.insert(first + index, pending));
    }
}

pub(super) fn not_readable(failure: ReadFailure) -> Rejection {
    match failure {
        ReadFailure::TooLong => Rejection::new(
            RejectionCode::BaseTooOld,
            "this reaches too far back: read the notebook again and start from what it is now",
        ),
        ReadFailure::Unavailable { reason } => unavailable(&reason),
    }
}
