//! Live data beside the log: activity of assistants, and comms of kernels, which widgets use.

use notarium_core::{ConversationId, ExecutionId, KernelSessionId, NotebookId, RawObject, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One piece of a turn's activity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnActivity {
    /// Conversation of the turn.
    pub conversation_id: ConversationId,
    /// Turn id, as in its TurnStarted event.
    pub turn_id: TurnId,
    /// Number of the model call in the turn, from 1.
    pub model_call: u32,
    /// Number of the attempt of the model call, from 1. Another attempt writes its text anew.
    pub attempt: u32,
    /// The activity.
    pub what: ActivityKind,
}

/// Kind of activity. `block` is the index of the block in one model call's reply, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ActivityKind {
    /// A block of text begins.
    TextStart {
        /// Index of the block.
        block: usize,
    },
    /// More text of the reply.
    TextDelta {
        /// Index of the block.
        block: usize,
        /// Text to append to the block.
        text: String,
    },
    /// More of the model's thinking before its answer. No message contains it.
    ThinkingDelta {
        /// Index of the block.
        block: usize,
        /// Text to append to the block.
        text: String,
    },
    /// The model begins to write a call; `provider_id` is the model's name for it.
    ToolStart {
        /// Index of the block that the call is.
        block: usize,
        /// The model's id of the call, as in the message's `tool_call` block.
        provider_id: String,
        /// Tool that is called; its arguments are still being written.
        function: String,
    },
    /// A block is complete.
    BlockStop {
        /// Index of the block.
        block: usize,
    },
    /// An attempt failed and another follows: discard the text of the failed one.
    AttemptFailed {
        /// Cause, in a sentence for people.
        cause: String,
    },
    /// Sent once per call, after it has run for five seconds.
    ToolUpdate {
        /// The slow call.
        call_id: ToolCallId,
        /// Notice, a sentence for people.
        message: String,
    },
}

/// Queue of activity that is sent together; consecutive pieces of one text are joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingActivity(Vec<TurnActivity>);

impl PendingActivity {
    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a piece; text that continues the last piece of its turn is appended to that.
    pub fn push(&mut self, activity: TurnActivity) {
        // Only the last piece of a turn can be continued; otherwise pieces would be reordered.
        let last = self.0.iter_mut().rev().find(|last| last.turn_id == activity.turn_id);
        if !last.is_some_and(|last| last.continues_as(&activity)) {
            self.0.push(activity);
        }
    }

    /// Returns its pieces in order.
    pub fn pieces(&self) -> &[TurnActivity] {
        &self.0
    }

    /// Empties the queue and returns its pieces in order.
    pub fn take(&mut self) -> Vec<TurnActivity> {
        std::mem::take(&mut self.0)
    }
}

impl TurnActivity {
    /// Appends the text of `next` if it continues the same block; returns true if it did.
    fn continues_as(&mut self, next: &TurnActivity) -> bool {
        use ActivityKind as A;
        if (self.model_call, self.attempt) != (next.model_call, next.attempt) {
            return false;
        }
        match (&mut self.what, &next.what) {
            (A::TextDelta { block, text }, A::TextDelta { block: same, text: more })
            | (A::ThinkingDelta { block, text }, A::ThinkingDelta { block: same, text: more })
                if block == same =>
            {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

/// Maximum bytes of one message with its buffers, and of all remembered state of a kernel's open comms.
pub const MAX_COMM_BYTES: usize = 2 << 20;

/// Maximum bytes of the id of a comm.
pub const MAX_COMM_ID_BYTES: usize = 128;

/// Maximum number of buffers in one message.
pub const MAX_COMM_BUFFERS: usize = 64;

/// Target of comms that report progress of a run: state `{"label", "done", "total"}`, `total` null if unknown.
pub const PROGRESS_TARGET: &str = "notarium.progress";

/// An open comm with the state that the kernel has sent so far.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenComm {
    /// Id of the comm; for widgets the `model_id`.
    pub comm_id: String,
    /// Target of the comm; absent: a widget. `notarium.progress`: progress of a run.
    pub target: Option<String>,
    /// The run whose progress this is; only for `notarium.progress`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(turn: &str, block: usize, text: &str) -> TurnActivity {
        TurnActivity {
            conversation_id: "c".parse().unwrap(),
            turn_id: turn.parse().unwrap(),
            model_call: 1,
            attempt: 1,
            what: ActivityKind::TextDelta { block, text: text.to_owned() },
        }
    }

    #[test]
    fn what_continues_a_text_becomes_one_piece_and_keeps_the_order_of_its_turn() {
        let mut pending = PendingActivity::default();
        let stop = TurnActivity { what: ActivityKind::BlockStop { block: 0 }, ..delta("a", 0, "") };
        for activity in
            [delta("a", 0, "Hel"), delta("b", 0, "x"), delta("a", 0, "lo"), stop.clone(), delta("a", 1, "!")]
        {
            pending.push(activity);
        }
        let next_attempt = TurnActivity { attempt: 2, ..delta("a", 1, "?") };
        pending.push(next_attempt.clone());
        let expected = [delta("a", 0, "Hello"), delta("b", 0, "x"), stop, delta("a", 1, "!"), next_attempt];
        assert_eq!(pending.take(), expected);
        assert!(pending.is_empty());
    }
}
