//! What goes into a session and what comes out of it: the whole boundary between the pure session and its host.

use std::path::PathBuf;
use std::sync::Arc;

use notarium_core::{
    Actor, Because, CellId, Document, ExecutionId, KernelCause, KernelPhase, KernelSessionId, Millis, RejectionCode,
    Version,
};

use notarium_wire::{CommChange, OpenComm, SendCommMessage};

use super::report::Report;
use crate::kernel::KernelEvent;
use crate::outputs::OutputLimits;

/// Limits and times of a session.
#[derive(Debug, Clone, Copy)]
pub struct KernelSessionLimits {
    pub outputs: OutputLimits,
    /// How long reports wait for others to go in one command, in milliseconds. The end of a run never waits.
    pub linger_ms: u64,
    /// Reports that go in one command, in bytes.
    pub max_batch_bytes: usize,
    /// While connected, the kernel's output waits when this much is not answered, in bytes.
    pub max_unanswered_bytes: usize,
    /// While not connected, output above this is dropped with a notice, in bytes.
    pub max_buffered_bytes: usize,
    /// A kernel without work for so long is shut down; absent: never.
    pub idle_timeout_ms: Option<u64>,
}

impl Default for KernelSessionLimits {
    fn default() -> Self {
        Self {
            outputs: OutputLimits::default(),
            linger_ms: 10,
            max_batch_bytes: 256 << 10,
            // Above what one run puts in the log: text never waits for the server, the rest of it goes on the disk.
            max_unanswered_bytes: 16 << 20,
            max_buffered_bytes: 64 << 20,
            idle_timeout_ms: None,
        }
    }
}

/// What the log says of the session now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Absent: the session is over, or never was.
    pub phase: Option<KernelPhase>,
    /// The execution that the session has won and not ended.
    pub assigned: Option<Assigned>,
}

/// An execution that the session is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    pub execution_id: ExecutionId,
    pub fence: Version,
    pub source: Arc<str>,
    /// Absent: code of no cell, which leaves no trace in the kernel's history.
    pub cell_id: Option<CellId>,
    pub timeout_ms: Option<Millis>,
    pub cancel_requested: bool,
    /// An assistant asked for it: nobody sits there who could answer what its code asks, and keys stay out of what is
    /// recorded of it.
    pub is_assistants: bool,
}

impl View {
    /// Reads the session off a notebook's state. `hidden`: places that tools refuse.
    pub fn of(notebook: &Document, session: &KernelSessionId, hidden: &[PathBuf]) -> Self {
        let assigned = notebook.executions.iter().find_map(|(id, execution)| {
            let fence = execution.fence.filter(|_| !execution.status.is_finished())?;
            (execution.kernel_session.as_ref() == Some(session)).then(|| Assigned {
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

/// What happens to a session.
#[derive(Debug)]
pub enum Input {
    View(View),
    /// Interrupt what runs; with an id only that execution.
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
    /// All of a report is in the log, or stands in the run as missing; else why not.
    Answered {
        report: Report,
        refusal: Option<(RejectionCode, String)>,
    },
    /// The connection came or went.
    Online(bool),
    /// Somebody follows the kernel's widgets; absent: nobody any more.
    CommsWanted {
        asker: Option<String>,
    },
    /// Somebody who may run code says something on a comm.
    SendComm(SendCommMessage),
    /// The agent stops.
    Stop(Because<KernelCause>),
    /// [`super::KernelSessionMachine::deadline`] has come.
    Tick,
}

/// What a session wants.
#[derive(Debug)]
pub enum Output {
    Launch,
    Execute {
        execution_id: ExecutionId,
        source: Arc<str>,
        /// Absent: code of no cell.
        cell_id: Option<CellId>,
        may_ask: bool,
    },
    Interrupt,
    AnswerInput(String),
    /// Stop the kernel, politely first; its end is an input. In a hurry: the agent stops too.
    Stop {
        in_a_hurry: bool,
    },
    /// End the kernel at once; nothing more is expected of it.
    Kill,
    /// To be sent after those before it; the answer is an input.
    Report(Report),
    /// Bytes for the overflow file of a run.
    Spill {
        execution_id: ExecutionId,
        bytes: bytes::Bytes,
    },
    /// The open comms, for one who follows.
    Comms {
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// What happened on them, for all who follow.
    Comm(Vec<CommChange>),
    /// For the kernel.
    SendComm(SendCommMessage),
    /// For those who look beside the log.
    Busy(bool),
    /// Everything is said and answered: forget the session.
    Over,
}
