//! Comms of kernels as widgets use them (target `jupyter.widget`), and progress: relayed beside the log to those who follow them.
//! No message of a comm enters the log; what widgets show last is kept by `SaveWidgets`.

use notarium_core::{ExecutionId, KernelSessionId, NotebookId, RawObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of one message, its buffers included; and of all that is remembered of a kernel's open comms.
pub const MAX_COMM_BYTES: usize = 2 << 20;
/// Of the id of a comm.
pub const MAX_COMM_ID_BYTES: usize = 128;
/// In one message.
pub const MAX_COMM_BUFFERS: usize = 64;

/// The target of comms that say how far a run has come: state `{"label", "done", "total"}`, `total` null where it is not known.
pub const PROGRESS_TARGET: &str = "notarium.progress";

/// A comm that is open, with what the kernel has said on it so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenComm {
    /// For widgets the `model_id`.
    pub comm_id: String,
    /// What is talked about; absent: a widget. `notarium.progress`: how far a run has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Of progress: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
    /// The state now, by attribute; `_model_name`, `_model_module` and `_model_module_version` are among them.
    pub state: RawObject,
    /// Attributes that are bytes: they are not in `state`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<CommBuffer>,
}

/// Bytes, and where in a state they belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommBuffer {
    /// Names of attributes and places in lists (as text), from the outermost in.
    pub path: Vec<String>,
    /// Base64, standard alphabet, with padding.
    pub base64: String,
}

/// What happened on a kernel's comms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommChange {
    /// A widget was made.
    Opened(OpenComm),
    /// The kernel says something on an open comm.
    Message(CommMessage),
    /// A widget is gone.
    Closed {
        /// Its id.
        comm_id: String,
    },
}

/// What is said on a comm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommMessage {
    /// An open one.
    pub comm_id: String,
    /// As Jupyter's `comm_msg` has it.
    pub data: RawObject,
    /// Bytes that belong to it, base64; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<String>,
    /// From a kernel: which message of a client it answers, as `connection.id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

impl CommMessage {
    /// What it counts against [`MAX_COMM_BYTES`].
    pub fn size_bytes(&self) -> usize {
        self.data.get().len() + self.buffers.iter().map(String::len).sum::<usize>()
    }
}

/// A client's message on a comm, on its way to the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendCommMessage {
    /// A notebook that the connection follows.
    pub notebook: NotebookId,
    /// The kernel, whose comms the connection follows.
    pub kernel_session: KernelSessionId,
    /// Chosen by the client: the kernel's answers name it, with the connection, as `parent`.
    pub id: u32,
    /// Who sends it, by connection. The server sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// What is said; `parent` is of no use here.
    pub message: CommMessage,
}
