//! Sentences for people about events that end something.

use crate::cause::{BLOCKED, sentence};
use crate::event::{
    ExecutionBlocked, ExecutionCancelled, ExecutionLost, KernelLaunchFailed, KernelSessionEnded, LostKernel,
    ToolCallVoided, ToolCallWithdrawn, TurnFailed, TurnModelCallFinished,
};
use crate::state::KernelNotice;

macro_rules! ends {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// Sentence for people about the end.
            pub fn sentence(&self) -> String {
                sentence(&self.cause, self.detail.as_deref())
            }
        }
    )*};
}

ends! {
    ExecutionCancelled, ExecutionLost, KernelLaunchFailed, KernelSessionEnded, KernelNotice, LostKernel, TurnFailed, ToolCallWithdrawn, ToolCallVoided,
}

impl ExecutionBlocked {
    /// Sentence for people about the block.
    pub fn sentence(&self) -> String {
        BLOCKED.to_owned()
    }
}

impl TurnModelCallFinished {
    /// Sentence for people about a failed model call; `None`: it was answered.
    pub fn sentence(&self) -> Option<String> {
        self.failure.as_ref().map(|cause| sentence(cause, self.detail.as_deref()))
    }
}
