//! Decides all waiting commands as one append; when it is synced, sends the events and the answers, and runs the effects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notarium_core::{
    AgentId, Append, Command, CommandRecord, ContentRemoval, Context, Decision, Event, ExecutionId, Head,
    JudgementQuery, KernelSessionId, MessageRole, NewEvent, RawJson, Recorded, Rejection, RejectionCode, TurnId,
    decide, seal, sweep_due,
};
use notarium_wire::{ServerMessage, frame};

use super::answers::{moved, read_only, recorded_answer, reused};
use super::queue::{NotebookNames, PendingCommand};
use super::set_aside::is_scan;
use super::{Cycle, Phase, Room, RoomConfig};
use crate::cell_changes::CellChanges;
use crate::decoded_command::{parse, secrets};
use crate::io::{ClientId, Output, ReplyTo};
use crate::ring::Ring;

/// An accepted command, not synced yet.
#[derive(Debug)]
pub(super) struct AcceptedCommand {
    pub(super) pending: PendingCommand,
    record: CommandRecord,
}

impl AcceptedCommand {
    fn clients(&self) -> impl Iterator<Item = ClientId> {
        let PendingCommand { reply_to, also, .. } = &self.pending;
        also.iter().chain([reply_to]).filter_map(ReplyTo::client)
    }
}

/// Commands that are decided together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) expected: Head,
    /// Head after the batch.
    pub(super) head: Head,
    bytes: usize,
    events: Vec<NewEvent>,
    /// The same events, for in-process subscribers.
    recorded: Vec<Recorded>,
    pub(super) entries: Vec<AcceptedCommand>,
    /// Content that a redaction removes.
    removal: ContentRemoval,
    effects: BatchEffects,
}

impl Batch {
    pub(super) fn into_commands(self) -> Vec<PendingCommand> {
        self.entries.into_iter().map(|entry| entry.pending).collect()
    }

    /// Returns the same command if it is already in the batch.
    fn find(&mut self, pending: &PendingCommand) -> Option<&mut AcceptedCommand> {
        self.entries.iter_mut().find(|entry| entry.pending.id() == pending.id() && entry.pending.actor == pending.actor)
    }

    fn records(&self) -> Vec<CommandRecord> {
        self.entries.iter().map(|entry| entry.record.clone()).collect()
    }
}

/// Outcome of one command in the loop.
enum DecisionStep {
    Done,
    /// The command waits for the store, so earlier ones are appended first.
    Wait(Box<PendingCommand>, Vec<notarium_core::HistoryQuery>),
    /// The command waits for the names of cells, in the same way.
    WaitForNames(Box<PendingCommand>),
    /// Waits for the judgement of a person's run, before all others: runs keep their order.
    WaitForJudge(Box<PendingCommand>, JudgementQuery),
}

/// Effects of a batch's events after their sync.
#[derive(Debug, Default)]
pub(super) struct BatchEffects {
    access: bool,
    kernels: bool,
    /// Events that the assistants' host acts on.
    assistants: bool,
    /// Events that the runner of schedules acts on.
    schedules: bool,
    /// Turns whose model's answer is in the log, complete or partial.
    answered: BTreeSet<TurnId>,
    /// Changes of cells that waiting tool calls may have as a target, or of a call itself.
    targets: bool,
    /// Updates of the catalog: now, or after a delay.
    pub(super) catalog_now: bool,
    pub(super) catalog_later: bool,
    work: Vec<Output>,
    /// Answers to input requests, with their agents.
    values: Vec<(AgentId, ExecutionId, String)>,
}

impl BatchEffects {
    fn note(&mut self, event: &Event) {
        self.note_assistants(event);
        match event {
            Event::NotebookCreated(_)
            | Event::NotebookRenamed(_)
            | Event::NotebookArchived(_)
            | Event::NotebookUnarchived(_) => self.catalog_now = true,
            Event::NotebookErased(_) => self.kernels = true,
            Event::AccessGranted(_) | Event::AccessRevoked(_) => {
                self.access = true;
                self.catalog_now = true;
            }
            // The list says when the next run is due.
            event if event.schedule_id().is_some() => (self.schedules, self.catalog_now) = (true, true),
            // The list shows only their version, which the end of the run updates.
            Event::ExecutionOutputAppended(_)
            | Event::ExecutionOutputUpdated(_)
            | Event::ExecutionOutputsCleared(_) => {}
            event => {
                self.catalog_later = true;
                self.note_kernels(event);
            }
        }
    }

    fn note_assistants(&mut self, event: &Event) {
        use Event as E;
        match event {
            // The list shows where calls wait: it is used to find pending confirmations.
            E::ToolCallRequested(event) if event.gate.waits() => {
                (self.assistants, self.targets, self.catalog_now) = (true, true, true);
            }
            event if event.tool_call_id().is_some() => (self.assistants, self.targets) = (true, true),
            E::CellSourceEdited(_) | E::CellMoved(_) | E::CellTypeChanged(_) | E::CellDeleted(_) => self.targets = true,
            E::CellInserted(_) | E::CellRestored(_) => self.targets = true,
            E::KernelSessionEnded(_) | E::KernelLaunchFailed(_) | E::KernelFunctionsRegistered(_) => {
                (self.assistants, self.targets) = (true, true)
            }
            E::KernelSessionStarted(_) | E::ExecutionInputRequested(_) => self.assistants = true,
            E::MessagePosted(event) => {
                self.assistants = true;
                let answered = event.turn_id.clone().filter(|_| event.role == MessageRole::Assistant);
                self.answered.extend(answered);
            }
            E::TurnFinished(_) | E::TurnCancelled(_) | E::TurnFailed(_) => {
                self.assistants = true;
                self.answered.extend(event.turn_id().cloned());
            }
            E::ConversationStarted(_)
            | E::MessageFlagged(_)
            | E::TurnStarted(_)
            | E::TurnModelCallStarted(_)
            | E::TurnModelCallFinished(_) => self.assistants = true,
            E::NotebookPolicyChanged(_) | E::GrantIssued(_) | E::GrantRevoked(_) => self.assistants = true,
            E::NotebookErased(_) => self.assistants = true,
            E::ExecutionCompleted(_) | E::ExecutionCancelled(_) | E::ExecutionBlocked(_) | E::ExecutionLost(_) => {
                self.assistants = true
            }
            _ => {}
        }
    }

    fn note_kernels(&mut self, event: &Event) {
        match event {
            Event::KernelLaunchRequested(event) => {
                self.catalog_now = true;
                let (kernel_session, kernelspec) = (event.kernel_session.clone(), event.kernelspec.clone());
                self.work.push(Output::WorkWanted { kernel_session, kernelspec, placement: event.placement() });
            }
            Event::KernelLaunchClaimed(event) => self.settled(&event.kernel_session),
            Event::KernelLaunchFailed(event) => self.ended(&event.kernel_session),
            Event::KernelSessionEnded(event) => self.ended(&event.kernel_session),
            Event::KernelSessionStarted(_) | Event::KernelRestartRequested(_) => self.kernels = true,
            _ => {}
        }
    }

    /// Notes the end of a kernel. The list shows which notebooks have work: a restart opens them.
    fn ended(&mut self, kernel_session: &KernelSessionId) {
        self.catalog_now = true;
        self.settled(kernel_session);
    }

    fn settled(&mut self, kernel_session: &KernelSessionId) {
        self.kernels = true;
        self.work.push(Output::WorkSettled { kernel_session: kernel_session.clone() });
    }
}

impl Room {
    pub(super) fn decide_batch(&mut self, cycle: &mut Cycle) {
        let mut batch = Batch {
            expected: self.head,
            head: self.head,
            bytes: 0,
            events: Vec::new(),
            recorded: Vec::new(),
            entries: Vec::new(),
            removal: ContentRemoval::default(),
            effects: BatchEffects::default(),
        };
        // The state has what a redaction takes away: nothing is decided on it any more.
        let has_room = |batch: &Batch, config: &RoomConfig| {
            batch.entries.len() < config.max_batch_commands
                && batch.bytes < config.max_batch_bytes
                && batch.removal.is_empty()
        };
        while has_room(&batch, &self.config) {
            let Some(pending) = self.queue.pop() else { break };
            match self.decide_next(cycle, &mut batch, pending) {
                DecisionStep::Done => continue,
                DecisionStep::Wait(pending, queries) => self.hold(cycle, batch.entries.is_empty(), *pending, queries),
                DecisionStep::WaitForNames(pending) => self.hold_for_names(cycle, batch.entries.is_empty(), *pending),
                DecisionStep::WaitForJudge(pending, query) => {
                    self.hold_for_judge(cycle, batch.entries.is_empty(), *pending, query);
                }
            }
            break;
        }
        self.append(cycle, batch);
    }

    fn append(&mut self, cycle: &mut Cycle, mut batch: Batch) {
        if batch.entries.is_empty() {
            return;
        }
        batch.head = self.head;
        let events = std::mem::take(&mut batch.events);
        let (commands, removal) = (batch.records(), batch.removal.clone());
        let (notebook_id, expected) = (self.notebook_id.clone(), batch.expected);
        cycle.out.push(Output::Append(Append { notebook_id, epoch: self.epoch, expected, events, commands, removal }));
        self.idle_at = Some(cycle.now + self.config.idle_ms);
        self.phase = Phase::Appending(Box::new(batch));
    }

    fn decide_next(&mut self, cycle: &mut Cycle, batch: &mut Batch, pending: PendingCommand) -> DecisionStep {
        let Some(mut pending) = self.answer_repeat(cycle, batch, pending) else { return DecisionStep::Done };
        if let Some(earlier) = self.set_aside_before(&pending) {
            earlier.wait(pending);
            return DecisionStep::Done;
        }
        // A decision takes the command: after a failed append it is read from the message again.
        let command = match pending.command.take().map_or_else(|| parse(&pending.message.body), Ok) {
            Ok(command) => command,
            Err(rejection) => {
                self.refuse(cycle, pending, rejection);
                return DecisionStep::Done;
            }
        };
        let query = self.unjudged(cycle, &pending, &command);
        if let Some(query) = query.as_ref().filter(|query| query.expects) {
            pending.command = Some(command);
            return DecisionStep::WaitForJudge(Box::new(pending), query.clone());
        }
        if let Some(ticket) = self.judging_ticket(cycle, &pending, &command, query) {
            pending.command = Some(command);
            self.judging.entry(ticket).or_default().push(pending);
            return DecisionStep::Done;
        }
        if self.lacks_names(cycle, &pending, &command) {
            pending.command = Some(command);
            return DecisionStep::WaitForNames(Box::new(pending));
        }
        let mut context = self.context(cycle, &mut pending);
        context.unposted = self.activity.unposted.for_command(&self.state, &command, &batch.effects.answered);
        match self.history_for(cycle, &mut context, &mut pending, &command) {
            Ok(()) => {}
            Err(queries) if !queries.iter().any(is_scan) => {
                pending.command = Some(command);
                return DecisionStep::Wait(Box::new(pending), queries);
            }
            Err(queries) => {
                pending.command = Some(command);
                self.set_aside(cycle, pending, queries);
                return DecisionStep::Done;
            }
        }
        context.history.judgement = pending.judgement.take();
        context.history.names = self.names_for(&command);
        self.decide_one(cycle, batch, pending, context, command);
        DecisionStep::Done
    }

    fn decide_one(
        &mut self,
        cycle: &mut Cycle,
        batch: &mut Batch,
        pending: PendingCommand,
        mut context: Context,
        command: Command,
    ) {
        let secrets = secrets(&command);
        let decided = match &self.read_only {
            Some(reason) => Err(read_only(reason, self.committed)),
            None if pending.facts.epoch.is_some_and(|epoch| epoch != self.epoch) => Err(moved()),
            None => decide(&self.state, &mut context, command),
        };
        let outcome = match decided.and_then(|decision| self.record(batch, &mut context, decision)) {
            Ok(outcome) => outcome,
            Err(rejection) => return self.refuse(cycle, pending, rejection),
        };
        batch.effects.values.extend(secrets.into_iter().filter_map(|(id, value)| self.addressed(id, value)));
        let record = CommandRecord {
            actor: pending.actor.clone(),
            command_id: pending.id().clone(),
            digest: pending.digest,
            version: self.head.version,
            outcome,
        };
        batch.entries.push(AcceptedCommand { pending, record });
    }

    /// Answers a repeat of a command like the first one; returns any other command.
    fn answer_repeat(
        &mut self,
        cycle: &mut Cycle,
        batch: &mut Batch,
        pending: PendingCommand,
    ) -> Option<PendingCommand> {
        if let Some(answer) = self.answers.find(&self.notebook_id, &pending.actor, pending.id(), &pending.digest) {
            self.answer(cycle, pending, answer);
            return None;
        }
        let Some(first) = batch.find(&pending) else { return Some(pending) };
        if first.pending.digest == pending.digest {
            first.pending.also.push(pending.reply_to);
            first.pending.also.extend(pending.also);
        } else {
            let rejection = reused(pending.id());
            self.answer(cycle, pending, Err(rejection));
        }
        None
    }

    fn context(&mut self, cycle: &Cycle, pending: &mut PendingCommand) -> Context {
        Context {
            now: cycle.now,
            instance: self.config.instance.clone(),
            actor: pending.identity.actor.clone(),
            authority: pending.identity.authority.clone(),
            command_id: pending.id().clone(),
            correlation_id: pending.correlation(),
            causation_id: None,
            expected_version: pending.message.expected_version,
            head_hash: self.head.hash,
            ids: self.next_ids(cycle.now),
            history: pending.history.take().unwrap_or_default(),
            past: pending.facts.past.clone(),
            redaction: pending.facts.redaction.clone(),
            account_status: pending.facts.account_status.clone(),
            away: self.leases.away(&self.state),
            unreachable: self.leases.unreachable(&self.state, cycle.now, &self.config),
            holding_kernelspecs: pending.facts.holding_kernelspecs.clone(),
            agent_labels: pending.facts.agent_labels.clone(),
            run_effects: None,
            unposted: BTreeMap::new(),
            limits: self.config.limits.clone(),
        }
    }

    /// Seals the events, applies them, and notes their effects.
    fn record(&mut self, batch: &mut Batch, context: &mut Context, decision: Decision) -> Result<RawJson, Rejection> {
        let before = self.head;
        let sealed = seal(&mut self.head, &self.notebook_id, context, &decision.events).and_then(|events| {
            let texts = events.iter().map(frame::event).collect::<Result<Vec<_>, _>>()?;
            Ok((events, texts, RawJson::of(&decision.outcome)?))
        });
        batch.removal = decision.removal;
        let (events, texts, outcome) = sealed.map_err(|error| {
            self.head = before;
            Rejection::new(RejectionCode::InvalidValue, format!("this cannot be written as JSON: {error}"))
        })?;
        let state = Arc::make_mut(&mut self.state);
        if decision.events.iter().any(|decided| matches!(decided.event, Event::NotebookErased(_))) {
            // The agents forget launches that none of them has claimed.
            state.kernels.keys().for_each(|kernel_session| batch.effects.settled(kernel_session));
        }
        for ((decided, stored), text) in decision.events.into_iter().zip(events).zip(texts) {
            let recorded = Recorded { envelope: stored.envelope.clone(), event: decided.event };
            batch.effects.note(&recorded.event);
            state.apply(&recorded);
            self.ring.push(recorded.event.subject(), text);
            batch.bytes += stored.payload.get().len();
            batch.events.push(NewEvent::new(stored, &recorded.event));
            self.changes.note(&recorded, self.config.max_cell_change_bytes);
            batch.recorded.push(recorded);
        }
        Ok(outcome)
    }

    pub(super) fn take_appended(&mut self, cycle: &mut Cycle) {
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Appending(batch) => self.commit(cycle, *batch),
            other => self.phase = other,
        }
    }

    /// Sends the events, then the answers, then runs the effects.
    pub(super) fn commit(&mut self, cycle: &mut Cycle, batch: Batch) {
        self.committed = self.head.version;
        if self.joins.is_empty() {
            self.rendering.forget();
        }
        if (batch.effects.access && self.state.erased.is_none()) || self.grant_ends_at.is_some_and(|at| at <= cycle.now)
        {
            self.recheck_access(cycle);
        }
        if batch.effects.assistants {
            // Live activity precedes the event with its result.
            self.send_activity(cycle);
        }
        self.note_authors(cycle, &batch.effects, batch.entries.iter().map(|entry| &entry.pending));
        let senders: Vec<ClientId> = batch.entries.iter().flat_map(AcceptedCommand::clients).collect();
        self.send_commit(cycle, batch.recorded, batch.bytes);
        self.fan_out(cycle, &senders);
        let mut entries = batch.entries.into_iter().peekable();
        while let Some(entry) = entries.next() {
            let client = entry.pending.reply_to.client();
            let is_last = entries.peek().is_none_or(|next| next.pending.reply_to.client() != client);
            self.answer_entry(cycle, entry, is_last);
        }
        let redacts = !batch.removal.is_empty();
        self.follow(cycle, batch.effects);
        if self.state.erased.is_some() {
            return self.leave_nothing(cycle);
        }
        if redacts {
            self.drop_content(cycle);
        } else {
            self.snapshot_when_due(cycle);
        }
    }

    /// Ends all subscriptions of an erased notebook, and forgets what is in memory.
    fn leave_nothing(&mut self, cycle: &mut Cycle) {
        self.show(cycle, |_| true);
        self.recheck_access(cycle);
        self.ring = Ring::default();
        self.changes = CellChanges::default();
        self.rendering.forget();
        self.names = NotebookNames::default();
        self.listing.at = None;
        self.sweep_at = None;
        cycle.out.push(Output::Erase { version: self.committed });
    }

    /// Answers a command. Of several acks for one client, only the last has the person's next undo steps.
    fn answer_entry(&mut self, cycle: &mut Cycle, entry: AcceptedCommand, is_last: bool) {
        let AcceptedCommand { pending, record } = entry;
        let answer = recorded_answer(&self.notebook_id, &pending.digest, &record);
        match (answer, pending.reply_to.client()) {
            (Ok(ack), Some(client)) if !is_last && pending.also.is_empty() => {
                let text = frame::text(&ServerMessage::Ack(ack));
                cycle.out.push(Output::Reply { client, text, refusal: None });
            }
            (answer, _) => self.answer(cycle, pending, answer),
        }
        self.answers.remember(record, self.config.max_recent_answers);
    }

    fn follow(&mut self, cycle: &mut Cycle, effects: BatchEffects) {
        self.list_after(cycle.now, &effects);
        for (agent, execution_id, value) in effects.values {
            for client in self.leases.deliver(&agent, &execution_id, &value) {
                self.send_value(cycle, client, execution_id.clone(), value.clone());
            }
        }
        cycle.out.extend(effects.work);
        self.activity.unposted.forget(&effects.answered);
        if effects.assistants {
            cycle.out.push(Output::WakeAssistants { version: self.committed });
        }
        if effects.schedules {
            cycle.out.push(Output::WakeSchedules { version: self.committed });
        }
        if effects.targets {
            self.sweep_at = sweep_due(&self.state);
        }
        if effects.kernels {
            self.leases.follow(&self.state, cycle.now, &self.config);
        }
        if self.listing.is_waited_for() {
            self.list_when_due(cycle);
        }
    }
}
