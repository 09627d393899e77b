//! Simulated runtime agent: claims launches, hosts kernels, reports with fence and number, and recovers from disconnects and deaths.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AgentId, Authority, Command, CorrelationId, Document, Event, ExecutionId, ExecutionOutcome, ExecutionReport,
    KernelCause, KernelPhase, KernelSessionId, RawObject, Recorded, Version,
};
use notarium_wire::{CommandMessage, ServerMessage};

use super::chance::Chance;
use super::replica::{Received, Replica};
use super::wishes::output;
use crate::io::Identity;

/// Output of a process that should be dead: it must never be in the log.
pub(crate) const GHOST: &str = "ghost";

/// A kernel that this process hosts.
#[derive(Default)]
struct Kernel {
    fence: Option<Version>,
    running: Option<Run>,
    /// True after a request to end.
    is_ending: bool,
}

struct Run {
    execution_id: ExecutionId,
    /// All reports of the kernel; the first is number 1.
    reports: Vec<ExecutionReport>,
    /// Number of reports sent.
    sent: usize,
    outputs_left: u64,
    printed: u64,
    is_interrupted: bool,
    is_over: bool,
}

pub(crate) struct Agent {
    pub replica: Replica,
    id: AgentId,
    kernels: BTreeMap<KernelSessionId, Kernel>,
    is_reconciled: bool,
}

impl Agent {
    pub(crate) fn new(life: u64) -> Self {
        let id = AgentId::new("gpu").expect("an id");
        let identity = Identity {
            actor: Actor::Agent { id: id.clone() },
            authority: Authority::agent(),
            name: "gpu".to_owned(),
            connection: format!("gpu{life}"),
        };
        Self { replica: Replica::new(identity), id, kernels: BTreeMap::new(), is_reconciled: false }
    }

    /// Starts over after a connect: the first report is which kernels live.
    pub(crate) fn reconnected(&mut self) {
        self.is_reconciled = false;
    }

    pub(crate) fn take(&mut self, message: ServerMessage) -> Result<Vec<CommandMessage>, String> {
        for received in self.replica.take(message)? {
            match received {
                Received::Applied(recorded) => self.follow(&recorded),
                Received::Replaced { .. } => self.adopt(),
                Received::Rejected(reject) => self.go_back(reject.expected_seq),
                Received::Acked(_) => {}
            }
        }
        Ok(self.reconcile())
    }

    /// Handles a refused report: all later ones are sent again.
    fn go_back(&mut self, expected_seq: Option<u64>) {
        let Some(accepted) = expected_seq.and_then(|seq| usize::try_from(seq - 1).ok()) else { return };
        for run in self.kernels.values_mut().filter_map(|kernel| kernel.running.as_mut()) {
            run.sent = run.sent.min(accepted);
        }
    }

    /// Reports the kernels that live; those of an earlier process are dead.
    fn reconcile(&mut self) -> Vec<CommandMessage> {
        if self.is_reconciled || !self.replica.is_subscribed {
            return Vec::new();
        }
        self.is_reconciled = true;
        let alive = self.kernels.keys().cloned().collect();
        vec![self.replica.command(&Command::ReconcileKernels { alive }, None)]
    }

    fn follow(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::KernelSessionStarted(event) => {
                if let Some(kernel) = self.kernels.get_mut(&event.kernel_session) {
                    kernel.fence = Some(recorded.envelope.version);
                }
            }
            Event::KernelRestartRequested(event) => {
                self.ask_to_end(&event.kernel_session);
                if self.hosts(&event.next) {
                    self.kernels.entry(event.next.clone()).or_default();
                }
            }
            Event::KernelShutdownRequested(event) => self.ask_to_end(&event.kernel_session),
            Event::KernelSessionEnded(event) => {
                self.kernels.remove(&event.kernel_session);
            }
            Event::KernelInterruptRequested(event) => {
                let kernel = self.kernels.get_mut(&event.kernel_session);
                if let Some(run) = kernel.and_then(|kernel| kernel.running.as_mut()) {
                    run.is_interrupted = true;
                }
            }
            Event::ExecutionCancelRequested(event) => {
                let running = self.kernels.values_mut().filter_map(|kernel| kernel.running.as_mut());
                for run in running.filter(|run| run.execution_id == event.execution_id) {
                    run.is_interrupted = true;
                }
            }
            _ => {}
        }
    }

    fn ask_to_end(&mut self, session: &KernelSessionId) {
        if let Some(kernel) = self.kernels.get_mut(session) {
            kernel.is_ending = true;
        }
    }

    fn hosts(&self, session: &KernelSessionId) -> bool {
        let session = self.replica.notebook.kernels.get(session);
        session.is_some_and(|session| session.agent.as_ref() == Some(&self.id))
    }

    /// Handles a snapshot: checks all kernels against the state.
    fn adopt(&mut self) {
        let sessions = &self.replica.notebook.kernels;
        self.kernels.retain(|id, _| sessions.contains_key(id));
        for (id, kernel) in &mut self.kernels {
            let session = &sessions[id];
            kernel.fence = session.fence;
            kernel.is_ending |= session.phase == KernelPhase::Ending;
        }
    }

    // --- own initiative ---

    /// Takes one step of pending work.
    pub(crate) fn act(&mut self, chance: &mut Chance, is_calm: bool) -> Vec<CommandMessage> {
        if !self.replica.is_subscribed || !self.is_reconciled || !self.replica.pending.is_empty() {
            return Vec::new();
        }
        let notebook = self.replica.notebook.clone();
        let mut commands = self.launch(&notebook);
        let sessions: Vec<KernelSessionId> = self.kernels.keys().cloned().collect();
        for session in sessions {
            commands.extend(self.step(&notebook, &session, chance, is_calm));
        }
        commands
    }

    /// Claims requested launches; starts claimed ones.
    fn launch(&mut self, notebook: &Document) -> Vec<CommandMessage> {
        let mut commands = Vec::new();
        for (id, session) in &notebook.kernels {
            let is_mine = session.agent.as_ref() == Some(&self.id);
            match session.phase {
                KernelPhase::Requested => commands.push(Command::ClaimKernelLaunch { kernel_session: id.clone() }),
                KernelPhase::Claimed if is_mine => {
                    self.kernels.entry(id.clone()).or_default();
                    let holds = RawObject::parse(r#"{"effects":"held"}"#).expect("an object");
                    let (kernel_session, language_info, environment) = (id.clone(), RawObject::default(), None);
                    let sandbox = holds;
                    commands.push(Command::ReportKernelStarted { kernel_session, language_info, sandbox, environment });
                }
                _ => {}
            }
        }
        commands.iter().map(|command| self.replica.command(command, None)).collect()
    }

    fn step(
        &mut self,
        notebook: &Document,
        session: &KernelSessionId,
        chance: &mut Chance,
        is_calm: bool,
    ) -> Vec<CommandMessage> {
        let Some(kernel) = self.kernels.get_mut(session) else { return Vec::new() };
        if kernel.is_ending || (!is_calm && chance.percent(2)) {
            self.kernels.remove(session);
            let ended =
                Command::ReportKernelEnded { kernel_session: session.clone(), cause: KernelCause::Died, detail: None };
            return vec![self.replica.command(&ended, None)];
        }
        let Some(fence) = kernel.fence else { return Vec::new() };
        let Some(run) = kernel.go_on(notebook, session, chance) else { return Vec::new() };
        let command = |seq: u64, fence: Version, report: ExecutionReport| Command::ReportExecution {
            execution_id: run.execution_id.clone(),
            fence,
            seq,
            report,
        };
        let numbered = (1..).zip(&run.reports).skip(run.sent);
        let mut commands: Vec<Command> = numbered.map(|(seq, report)| command(seq, fence, report.clone())).collect();
        if chance.percent(15) {
            let ghost = ExecutionReport::Output { outputs: vec![output(GHOST)] };
            // Correct number, old fence: only the fence refuses it.
            commands.insert(0, command(run.sent as u64 + 1, fence - 1, ghost));
        }
        run.sent = run.reports.len();
        let correlation = || CorrelationId::new("run").ok();
        commands.iter().map(|command| self.replica.command(command, correlation())).collect()
    }
}

/// Text of the kernel's line `number`.
pub(crate) fn line(number: u64) -> String {
    format!("line {number}")
}

impl Kernel {
    /// Advances the kernel's run by some reports, and returns it.
    fn go_on(&mut self, notebook: &Document, session: &KernelSessionId, chance: &mut Chance) -> Option<&mut Run> {
        let is_current = |id: &ExecutionId| {
            let run = notebook.executions.get(id);
            run.is_some_and(|run| {
                !run.status.is_finished() && run.fence.is_some() && run.kernel_session.as_ref() == Some(session)
            })
        };
        if !self.running.as_ref().is_some_and(|run| is_current(&run.execution_id)) {
            let execution_id = notebook.executions.keys().find(|id| is_current(id))?.clone();
            self.running = Some(Run {
                execution_id,
                reports: vec![ExecutionReport::Started {}],
                sent: 0,
                outputs_left: chance.below(6),
                printed: 0,
                is_interrupted: false,
                is_over: false,
            });
        }
        let run = self.running.as_mut()?;
        for _ in 0..chance.below(4) {
            run.say_more();
        }
        Some(run)
    }
}

impl Run {
    fn say_more(&mut self) {
        if self.is_over {
            return;
        }
        if self.outputs_left > 0 && !self.is_interrupted {
            self.outputs_left -= 1;
            self.printed += 1;
            return self.reports.push(ExecutionReport::Output { outputs: vec![output(&line(self.printed))] });
        }
        let outcome = if self.is_interrupted { ExecutionOutcome::Interrupted } else { ExecutionOutcome::Ok };
        // The audit takes the number of printed lines from this count.
        let execution_count = Some(self.printed);
        self.is_over = true;
        self.reports.push(ExecutionReport::Completed { outcome, execution_count, notice: None });
    }
}
