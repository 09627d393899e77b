//! Which kernels have run something, and which of them was lost with all that its code had made.

use std::collections::BTreeMap;

use notarium_record::{
    Event, EventId, ExecutionId, KernelSessionEnded, KernelSessionId, LostKernel, Recorded, Version,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Use {
    /// Then ending it loses what the code has made.
    pub has_run: bool,
    /// People wanted its end, and know that what it held is gone.
    is_asked_to_end: bool,
    /// … so that another follows it.
    pub is_restarted: bool,
    /// The event with which they asked for its end.
    pub end_asked_by: Option<EventId>,
    /// The event with which somebody last asked to interrupt what it was given last.
    interrupt_asked_by: Option<EventId>,
    /// The run that it was given last, and at which version. Absent: none, or not noted by the release that wrote this.
    pub assigned: Option<ExecutionId>,
    /// 0: never.
    pub assigned_at: Version,
}

impl Use {
    /// Whether its end, if it came now, would lose what nobody expects to lose.
    pub(crate) fn loses(&self) -> bool {
        self.has_run && !self.is_asked_to_end
    }
}

/// By session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KernelUses {
    kernels: BTreeMap<KernelSessionId, Use>,
    /// The kernel that was lost since the last launch.
    pub lost: Option<LostKernel>,
}

impl KernelUses {
    /// What is known of a kernel that has not ended.
    pub(crate) fn of(&self, id: &KernelSessionId) -> Option<&Use> {
        self.kernels.get(id)
    }

    /// The event with which somebody asked to interrupt the run, while it was the last that its kernel was given.
    pub(crate) fn interrupt_asked_by(&self, id: &ExecutionId) -> Option<&EventId> {
        let given = self.kernels.values().find(|kernel| kernel.assigned.as_ref() == Some(id));
        given?.interrupt_asked_by.as_ref()
    }

    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::ExecutionAssigned(event) => {
                let kernel = self.kernels.entry(event.kernel_session.clone()).or_default();
                kernel.has_run = true;
                kernel.assigned = Some(event.execution_id.clone());
                kernel.assigned_at = recorded.envelope.version;
                kernel.interrupt_asked_by = None;
            }
            Event::KernelRestartRequested(event) => self.ask_to_end(&event.kernel_session, true, recorded),
            Event::KernelShutdownRequested(event) => self.ask_to_end(&event.kernel_session, false, recorded),
            Event::KernelInterruptRequested(event) => {
                note_interrupt(self.kernels.get_mut(&event.kernel_session), recorded);
            }
            Event::ExecutionCancelRequested(event) => {
                let is_given = |kernel: &&mut Use| kernel.assigned.as_ref() == Some(&event.execution_id);
                note_interrupt(self.kernels.values_mut().find(is_given), recorded);
            }
            Event::KernelLaunchRequested(_) => self.lost = None,
            Event::KernelSessionEnded(event) => self.end(event),
            Event::KernelLaunchFailed(event) => _ = self.kernels.remove(&event.kernel_session),
            _ => {}
        }
    }

    fn ask_to_end(&mut self, id: &KernelSessionId, is_restarted: bool, recorded: &Recorded) {
        let kernel = self.kernels.entry(id.clone()).or_default();
        kernel.is_asked_to_end = true;
        kernel.is_restarted = is_restarted;
        kernel.end_asked_by = Some(recorded.envelope.id.clone());
    }

    fn end(&mut self, KernelSessionEnded { kernel_session, cause, detail }: &KernelSessionEnded) {
        let ended = self.kernels.remove(kernel_session).unwrap_or_default();
        if ended.loses() {
            let (kernel_session, cause, detail) = (kernel_session.clone(), cause.clone(), detail.clone());
            self.lost = Some(LostKernel { kernel_session, cause, detail });
        }
    }
}

fn note_interrupt(kernel: Option<&mut Use>, recorded: &Recorded) {
    if let Some(kernel) = kernel {
        kernel.interrupt_asked_by = Some(recorded.envelope.id.clone());
    }
}
