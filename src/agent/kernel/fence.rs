//! Fence in time between messages of different modes: the mode of a run is set before its request is sent, and ends with the run.
//!
//! A kernel works on its messages one after the other, and its main thread has one mode. In a clean kernel free runs are sent
//! as they come. Otherwise a run waits until the kernel has finished everything else: runs, questions, messages of widgets. Those
//! are held in everybody's name, because code can hide in what they call.

use std::collections::BTreeSet;
use std::sync::Arc;

use jupyter_protocol::JupyterMessage;
use notarium_core::{Effect, Effects};
use tokio::task::JoinHandle;

use super::messages::{IopubContent, KernelMessage};
use super::{ExecutionId, KernelEvent};
use crate::connections::WriteRight;
use crate::supervisor::Supervisor;

/// A run that waits for its turn.
#[derive(Debug)]
struct WaitingRun {
    execution_id: ExecutionId,
    effects: Effects,
    request: JupyterMessage,
}

/// A run whose mode is being set.
#[derive(Debug)]
struct BeginningRun {
    execution_id: ExecutionId,
    effects: Effects,
    request: JupyterMessage,
    begun: JoinHandle<Result<(), Vec<String>>>,
}

/// Result of beginning a run.
#[derive(Debug)]
pub(super) enum Begun {
    /// Send it now.
    Send(Box<JupyterMessage>),
    /// The kernel holds these things open, and the run must not begin.
    Refused(ExecutionId, Vec<String>),
}

/// The fence of one kernel. Without a supervisor everything is sent as it comes.
#[derive(Debug, Default)]
pub(super) struct Fence {
    supervisor: Option<Arc<Supervisor>>,
    databases: WriteRight,
    waiting: Option<WaitingRun>,
    beginning: Option<BeginningRun>,
    /// Runs that were sent and are not finished.
    sent_runs: usize,
    /// Other messages that the kernel has and has not finished, by their `msg_id`.
    other_messages: BTreeSet<String>,
}

impl Fence {
    pub fn new(supervisor: Option<Arc<Supervisor>>, databases: WriteRight) -> Self {
        // A clean kernel is free, also between runs.
        databases.set(true);
        Self { supervisor, databases, ..Self::default() }
    }

    /// True while a run waits: no other run or message of a widget is taken.
    pub fn is_closed(&self) -> bool {
        self.waiting.is_some() || self.beginning.is_some()
    }

    /// Takes a run; [`next`](Self::next) sends it. The fence is open.
    pub fn run(&mut self, execution_id: ExecutionId, effects: Effects, request: JupyterMessage) {
        let refuses_surprises = self.supervisor.as_ref().is_some_and(|supervisor| supervisor.refuses_surprises());
        let effects = match effects {
            Effects::Expected { .. } if !refuses_surprises => Effects::Free,
            effects => effects,
        };
        self.waiting = Some(WaitingRun { execution_id, effects, request });
    }

    /// Notes a message that is no run and was sent to the kernel.
    pub fn sent(&mut self, message: &JupyterMessage) {
        if self.supervisor.is_some() {
            self.other_messages.insert(message.header.msg_id.clone());
        }
    }

    /// Notes what the kernel says on iopub about messages that are no runs.
    pub fn heard(&mut self, message: &KernelMessage) {
        if let Some(parent) = &message.parent_id
            && self.other_messages.contains(parent)
            && matches!(message.iopub(), Ok(IopubContent::Idle))
        {
            self.other_messages.remove(parent);
        }
    }

    /// Starts to begin the waiting run, if it can. Returns a request that can be sent right now.
    pub fn next(&mut self) -> Option<JupyterMessage> {
        let Some(supervisor) = &self.supervisor else {
            let WaitingRun { effects, request, .. } = self.waiting.take()?;
            self.note_sent(&effects);
            return Some(request);
        };
        let waiting = self.waiting.as_ref()?;
        let is_alone = self.sent_runs == 0 && self.other_messages.is_empty() && self.beginning.is_none();
        let is_immediate = waiting.effects == Effects::Free && !supervisor.is_mixed();
        if !is_alone && !is_immediate {
            return None;
        }
        let WaitingRun { execution_id, effects, request } = self.waiting.take()?;
        if is_immediate {
            let _ = supervisor.begin(&effects);
            self.note_sent(&effects);
            return Some(request);
        }
        let supervisor = supervisor.clone();
        let run_effects = effects.clone();
        let begun = tokio::task::spawn_blocking(move || supervisor.begin(&run_effects));
        self.beginning = Some(BeginningRun { execution_id, effects, request, begun });
        None
    }

    /// Waits until the mode of a run is set. Cancel safe; pending while no run begins.
    pub async fn begun(&mut self) -> Begun {
        let Some(beginning) = &mut self.beginning else { return std::future::pending().await };
        let begun = (&mut beginning.begun).await;
        // A panic of the supervisor ends the kernel.
        let begun = begun.unwrap_or_else(|error| Err(vec![error.to_string()]));
        let Some(BeginningRun { execution_id, effects, request, .. }) = self.beginning.take() else {
            return std::future::pending().await;
        };
        match begun {
            Ok(()) => {
                self.note_sent(&effects);
                Begun::Send(Box::new(request))
            }
            Err(open) => Begun::Refused(execution_id, open),
        }
    }

    /// Notes a run that is sent now. Runs of different effects are never in the kernel together.
    fn note_sent(&mut self, effects: &Effects) {
        self.sent_runs += 1;
        self.databases.set(effects.allow(Effect::Database));
    }

    /// Puts the refused effects of a run before its end.
    pub fn pass(&mut self, events: Vec<KernelEvent>) -> Vec<KernelEvent> {
        let mut passed = Vec::with_capacity(events.len());
        for event in events {
            if let KernelEvent::Finished { execution_id, .. } = &event {
                self.sent_runs = self.sent_runs.saturating_sub(1);
                if self.sent_runs == 0 {
                    self.databases.set(self.supervisor.as_ref().is_none_or(|supervisor| !supervisor.is_mixed()));
                }
                passed.extend(
                    self.supervisor
                        .iter()
                        .flat_map(|supervisor| supervisor.end())
                        .map(|refusal| KernelEvent::EffectRefused { execution_id: execution_id.clone(), refusal }),
                );
            }
            passed.push(event);
        }
        passed
    }
}
