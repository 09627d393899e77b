//! Effects of a batch's events after their sync.

use std::collections::BTreeSet;

use notarium_core::{AgentId, Event, ExecutionId, KernelSessionId, MessageRole, TurnId, sweep_due};

use super::{Cycle, Room};
use crate::io::Output;

/// Effects of a batch's events after their sync.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) access: bool,
    pub(super) kernels: bool,
    /// Events that the assistants' host acts on.
    pub(super) assistants: bool,
    /// Turns whose model's answer is in the log, complete or partial.
    pub(super) answered: BTreeSet<TurnId>,
    /// Changes of cells that waiting tool calls may have as a target, or of a call itself.
    pub(super) targets: bool,
    /// Updates of the catalog: now, or after a delay.
    pub(super) catalog_now: bool,
    pub(super) catalog_later: bool,
    pub(super) work: Vec<Output>,
    /// RecentAnswers to input requests, with their agents.
    pub(super) values: Vec<(AgentId, ExecutionId, String)>,
}

impl Effects {
    pub(super) fn note(&mut self, event: &Event) {
        self.note_assistants(event);
        match event {
            Event::NotebookCreated(_)
            | Event::NotebookRenamed(_)
            | Event::NotebookArchived(_)
            | Event::NotebookUnarchived(_) => self.catalog_now = true,
            Event::AccessGranted(_) | Event::AccessRevoked(_) => {
                self.access = true;
                self.catalog_now = true;
            }
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
                self.work.push(Output::WorkWanted { kernel_session, kernelspec });
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
    pub(super) fn follow(&mut self, cycle: &mut Cycle, effects: Effects) {
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
