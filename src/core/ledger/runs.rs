//! Ledger of kernels and runs: whether a kernel ran code, whether its state was lost, and the bytes that each run has
//! written into the record. The server enforces the limit of written bytes, whatever the agent reports.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use notarium_record::{
    EndCause, Event, EventId, ExecutionId, KernelSessionEnded, KernelSessionId, LostKernel, Recorded, Version, Written,
};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KernelUse {
    /// A run was assigned to the kernel: ending it loses variables.
    pub has_run: bool,
    /// People requested its end, so the loss is expected.
    is_asked_to_end: bool,
    /// The requested end is a restart: another kernel follows.
    pub is_restarted: bool,
    /// The event by which people requested its end.
    pub end_asked_by: Option<EventId>,
    /// The event by which people last requested an interrupt of the run that was assigned last.
    interrupt_asked_by: Option<EventId>,
    /// The run that was assigned last. Absent: none, or the ledger is of a release that did not note it.
    pub assigned: Option<ExecutionId>,
    /// Files and connections that were open when the last held run could not begin, in words for people. A person's run
    /// may close them, so the next request of one forgets them.
    pub holds_open: Option<String>,
    /// Version of the last assignment; 0: never.
    pub assigned_at: Version,
    /// A held run was assigned to the kernel: code of an assistant may be in its memory.
    is_mixed: bool,
}

impl KernelUse {
    /// Checks that an end of the kernel now would be an unexpected loss.
    pub(crate) fn loses(&self) -> bool {
        self.has_run && !self.is_asked_to_end
    }
}

/// Use of kernels, by session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KernelUses {
    kernels: BTreeMap<KernelSessionId, KernelUse>,
    /// The kernel that was lost since the last launch.
    pub lost: Option<LostKernel>,
    /// Held runs that no kernel has yet, with the kernels for which they wait; `None`: any.
    held: BTreeMap<ExecutionId, Option<KernelSessionId>>,
}

impl KernelUses {
    /// Use of a kernel that has not ended.
    pub(crate) fn of(&self, id: &KernelSessionId) -> Option<&KernelUse> {
        self.kernels.get(id)
    }

    /// Checks that the kernel had a held run, or has one in its queue.
    pub(crate) fn is_mixed(&self, id: &KernelSessionId) -> bool {
        let waits = |session: &Option<KernelSessionId>| session.as_ref().is_none_or(|session| session == id);
        self.of(id).is_some_and(|kernel| kernel.is_mixed) || self.held.values().any(waits)
    }

    /// The event by which people requested an interrupt of the run, if the run is its kernel's last.
    pub(crate) fn interrupt_asked_by(&self, id: &ExecutionId) -> Option<&EventId> {
        let given = self.kernels.values().find(|kernel| kernel.assigned.as_ref() == Some(id));
        given?.interrupt_asked_by.as_ref()
    }

    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::ExecutionRequested(event) if event.effects.judged().are_held() => {
                self.held.insert(event.execution_id.clone(), event.kernel_session.clone());
            }
            Event::ExecutionRequested(event) => {
                let session = event.kernel_session.as_ref();
                if let Some(kernel) = session.and_then(|id| self.kernels.get_mut(id)) {
                    kernel.holds_open = None;
                }
            }
            Event::ExecutionAssigned(event) => {
                let is_held = self.held.remove(&event.execution_id).is_some();
                let kernel = self.kernels.entry(event.kernel_session.clone()).or_default();
                kernel.has_run = true;
                kernel.assigned = Some(event.execution_id.clone());
                kernel.assigned_at = recorded.envelope.version;
                kernel.interrupt_asked_by = None;
                kernel.is_mixed |= is_held;
            }
            Event::ExecutionBlocked(event) => _ = self.held.remove(&event.execution_id),
            Event::ExecutionLost(event) => _ = self.held.remove(&event.execution_id),
            Event::KernelRestartRequested(event) => self.ask_to_end(&event.kernel_session, true, recorded),
            Event::KernelShutdownRequested(event) => self.ask_to_end(&event.kernel_session, false, recorded),
            Event::KernelInterruptRequested(event) => {
                note_interrupt(self.kernels.get_mut(&event.kernel_session), recorded);
            }
            Event::ExecutionCancelRequested(event) => {
                let is_given = |kernel: &&mut KernelUse| kernel.assigned.as_ref() == Some(&event.execution_id);
                note_interrupt(self.kernels.values_mut().find(is_given), recorded);
            }
            Event::ExecutionCancelled(event) => {
                self.held.remove(&event.execution_id);
                let mut kernels = self.kernels.values_mut();
                if event.cause == EndCause::HoldsOpen
                    && let Some(kernel) = kernels.find(|kernel| kernel.assigned.as_ref() == Some(&event.execution_id))
                {
                    kernel.holds_open.clone_from(&event.detail);
                }
            }
            Event::KernelLaunchRequested(_) => self.lost = None,
            Event::KernelSessionEnded(event) => self.end(event),
            Event::KernelLaunchFailed(event) => {
                self.kernels.remove(&event.kernel_session);
                self.unbind(&event.kernel_session);
            }
            _ => {}
        }
    }

    /// Notes that held runs which waited for this kernel wait for any: a run may move to another one.
    fn unbind(&mut self, ended: &KernelSessionId) {
        let waiting = self.held.values_mut().filter(|session| session.as_ref() == Some(ended));
        waiting.for_each(|session| *session = None);
    }

    fn ask_to_end(&mut self, id: &KernelSessionId, is_restarted: bool, recorded: &Recorded) {
        let kernel = self.kernels.entry(id.clone()).or_default();
        kernel.is_asked_to_end = true;
        kernel.is_restarted = is_restarted;
        kernel.end_asked_by = Some(recorded.envelope.id.clone());
    }

    fn end(&mut self, KernelSessionEnded { kernel_session, cause, detail }: &KernelSessionEnded) {
        let ended = self.kernels.remove(kernel_session).unwrap_or_default();
        self.unbind(kernel_session);
        if ended.loses() {
            let (kernel_session, cause, detail) = (kernel_session.clone(), cause.clone(), detail.clone());
            self.lost = Some(LostKernel { kernel_session, cause, detail });
        }
    }
}

fn note_interrupt(kernel: Option<&mut KernelUse>, recorded: &Recorded) {
    if let Some(kernel) = kernel {
        kernel.interrupt_asked_by = Some(recorded.envelope.id.clone());
    }
}

// --- bytes of runs ---

/// Ended runs that are kept, at most: late output of their threads still counts.
const MAX_ENDED_RUNS: usize = 64;

/// Written bytes by run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WrittenByRun {
    runs: BTreeMap<ExecutionId, Written>,
    /// Ended runs, oldest first.
    ended: VecDeque<ExecutionId>,
}

impl WrittenByRun {
    pub(crate) fn of(&self, id: &ExecutionId) -> Option<Written> {
        self.runs.get(id).copied()
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ExecutionOutputAppended(_)
            | Event::ExecutionOutputRecovered(_)
            | Event::ExecutionOutputUpdated(_)
            | Event::ExecutionOutputsCleared(_) => self.write(event),
            Event::ExecutionCompleted(_) | Event::ExecutionLost(_) | Event::ExecutionCancelled(_) => self.end(event),
            _ => {}
        }
    }

    fn write(&mut self, event: &Event) {
        if let Some(id) = event.execution_id() {
            let written = self.runs.entry(id.clone()).or_default();
            *written = written.with(event);
        }
    }

    fn end(&mut self, event: &Event) {
        let Some(id) = event.execution_id().filter(|id| self.runs.contains_key(*id)) else { return };
        self.ended.push_back(id.clone());
        if self.ended.len() > MAX_ENDED_RUNS
            && let Some(oldest) = self.ended.pop_front()
        {
            self.runs.remove(&oldest);
        }
    }
}
