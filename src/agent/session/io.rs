//! Inputs and outputs of a session: the whole boundary between the pure session and its host.

use std::path::PathBuf;
use std::sync::Arc;

use notarium_core::{
    Actor, Because, CellId, Document, ExecutionId, KernelCause, KernelPhase, KernelSessionId, Millis, RejectionCode,
    Version,
};

use notarium_wire::{CommChange, OpenComm, SendCommMessage};

use super::reports::Report;
use crate::kernel::KernelEvent;
use crate::outputs::OutputLimits;

/// Limits and times of a session.
#[derive(Debug, Clone, Copy)]
pub struct KernelSessionLimits {
    pub outputs: OutputLimits,
    /// Time for which reports are collected into one command, in milliseconds. The end of a run never waits.
    pub linger_ms: u64,
    /// Most bytes of reports in one command.
    pub max_batch_bytes: usize,
    /// Most unanswered bytes while connected; above it the kernel's output waits.
    pub max_unanswered_bytes: usize,
    /// Most buffered bytes while not connected; above it output is dropped with a notice.
    pub max_buffered_bytes: usize,
    /// Time without work after which a kernel is shut down; absent: never.
    pub idle_timeout_ms: Option<u64>,
}

impl Default for KernelSessionLimits {
    fn default() -> Self {
        Self {
            outputs: OutputLimits::default(),
            linger_ms: 10,
            max_batch_bytes: 256 << 10,
            // Above what one run puts in the log: its text never waits for the server, and the rest goes to the disk.
            max_unanswered_bytes: 16 << 20,
            max_buffered_bytes: 64 << 20,
            idle_timeout_ms: None,
        }
    }
}

/// The log's current state of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Absent: the session is over, or never existed.
    pub phase: Option<KernelPhase>,
    /// The execution that the session has won and not ended.
    pub assigned: Option<AssignedRun>,
}

/// An execution that the session is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedRun {
    pub execution_id: ExecutionId,
    pub fence: Version,
    pub source: Arc<str>,
    /// Absent: code without a cell, which is not in the kernel's history.
    pub cell_id: Option<CellId>,
    pub timeout_ms: Option<Millis>,
    pub cancel_requested: bool,
    /// An assistant requested it: no person can answer input requests of its code, and keys are masked in its record.
    pub is_assistants: bool,
}

impl SessionView {
    /// Reads the session from a notebook's state. `hidden`: paths that tools refuse.
    pub fn of(notebook: &Document, session: &KernelSessionId, hidden: &[PathBuf]) -> Self {
        let assigned = notebook.executions.iter().find_map(|(id, execution)| {
            let fence = execution.fence.filter(|_| !execution.status.is_finished())?;
            (execution.kernel_session.as_ref() == Some(session)).then(|| AssignedRun {
                execution_id: id.clone(),
                fence,
                source: notarium_wire::kernel_tools::text_to_run(notebook, &execution.subject, hidden).into(),
                cell_id: execution.subject.cell_id().cloned(),
                timeout_ms: execution.timeout_ms,
                cancel_requested: execution.cancel_requested,
                is_assistants: matches!(execution.requested_by, Actor::Assistant { .. }),
            })
        });
        Self { phase: notebook.kernels.get(session).map(|kernel| kernel.phase), assigned }
    }
}

/// Input of a session.
#[derive(Debug)]
pub enum SessionInput {
    View(SessionView),
    /// Interrupt the running code; with an id only that execution.
    Interrupt {
        execution_id: Option<ExecutionId>,
    },
    /// The answer to an input request.
    Answer {
        execution_id: ExecutionId,
        value: String,
    },
    Kernel(KernelEvent),
    LaunchFailed(Because<KernelCause>),
    /// The report is in the log, or replaced by a notice in the run; a refusal ends the session or its registration.
    Answered {
        report: Report,
        refusal: Option<(RejectionCode, String)>,
    },
    /// The connection was made or lost.
    Online(bool),
    /// A client follows the kernel's widgets; absent: none follows any more.
    CommsWanted {
        asker: Option<String>,
    },
    /// A person who may run code sends a message on a comm.
    SendComm(SendCommMessage),
    /// The agent stops.
    Stop(Because<KernelCause>),
    /// The deadline ([`super::KernelSessionMachine::deadline`]) has passed.
    Tick,
}

/// Order of a session to its host.
#[derive(Debug)]
pub enum SessionOutput {
    Launch,
    Execute {
        execution_id: ExecutionId,
        source: Arc<str>,
        /// Absent: code without a cell.
        cell_id: Option<CellId>,
        may_ask: bool,
    },
    Interrupt,
    AnswerInput(String),
    /// Stop the kernel, politely first; its end is an input. `in_a_hurry`: the agent stops too.
    Stop {
        in_a_hurry: bool,
    },
    /// Kill the kernel; no event of it is expected any more.
    Kill,
    /// Send this report after earlier ones; the answer is an input.
    Report(Report),
    /// Bytes for the overflow file of a run.
    Spill {
        execution_id: ExecutionId,
        bytes: bytes::Bytes,
    },
    /// The open comms, for a new follower.
    Comms {
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// Changes of comms, for all followers.
    Comm(Vec<CommChange>),
    /// A message to the kernel.
    SendComm(SendCommMessage),
    /// Busy state for followers, outside the log.
    Busy(bool),
    /// All reports are sent and answered: forget the session.
    Over,
}
