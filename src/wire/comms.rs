//! Messages for comms of kernels: widgets (target `jupyter.widget`) and progress. The server relays them to followers beside the log.
//! No comm message enters the log; `SaveWidgets` stores the last state that widgets show.

use notarium_core::{ExecutionId, KernelSessionId, NotebookId, RawObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum bytes of one message with its buffers, and of all remembered state of a kernel's open comms.
pub const MAX_COMM_BYTES: usize = 2 << 20;
/// Maximum bytes of the id of a comm.
pub const MAX_COMM_ID_BYTES: usize = 128;
/// Maximum number of buffers in one message.
pub const MAX_COMM_BUFFERS: usize = 64;

/// Target of comms that report progress of a run: state `{"label", "done", "total"}`, `total` null if unknown.
pub const PROGRESS_TARGET: &str = "notarium.progress";

/// An open comm with the state that the kernel has sent so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenComm {
    /// Id of the comm; for widgets the `model_id`.
    pub comm_id: String,
    /// Target of the comm; absent: a widget. `notarium.progress`: progress of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The run whose progress this is; only for `notarium.progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
    /// Current state by attribute, with `_model_name`, `_model_module` and `_model_module_version`.
    pub state: RawObject,
    /// Attributes that are bytes; `state` does not contain them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<CommBuffer>,
}

/// Bytes and their path in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommBuffer {
    /// Attribute names and list indexes (as text), from the outermost in.
    pub path: Vec<String>,
    /// Base64, standard alphabet, with padding.
    pub base64: String,
}

/// A change of a kernel's comms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommChange {
    /// A widget was made.
    Opened(OpenComm),
    /// The kernel sent a message on an open comm.
    Message(CommMessage),
    /// A widget was closed.
    Closed {
        /// Id of its comm.
        comm_id: String,
    },
}

/// A message on a comm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommMessage {
    /// Id of an open comm.
    pub comm_id: String,
    /// The `data` of Jupyter's `comm_msg`.
    pub data: RawObject,
    /// Binary buffers of the message, base64; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<String>,
    /// From a kernel: the client message that it answers, as `connection.id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

impl CommMessage {
    /// Returns the size that counts against [`MAX_COMM_BYTES`].
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
    /// Chosen by the client. Answers of the kernel carry it in `parent`, behind the connection.
    pub id: u32,
    /// Connection of the sender. The server sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The message; its `parent` is ignored.
    pub message: CommMessage,
}
