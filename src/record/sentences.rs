//! The sentences that people read of events that end something.

use crate::cause::{BLOCKED, sentence};
use crate::event::{
    ExecutionBlocked, ExecutionCancelled, ExecutionLost, KernelLaunchFailed, KernelSessionEnded, LostKernel,
    ToolCallVoided, ToolCallWithdrawn, TurnFailed, TurnModelCallFinished,
};
use crate::state::KernelNotice;

macro_rules! ends {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// What people read of it.
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
    /// What people read of it.
    pub fn sentence(&self) -> String {
        BLOCKED.to_owned()
    }
}

impl TurnModelCallFinished {
    /// What people read of a call that was not answered.
    pub fn sentence(&self) -> Option<String> {
        self.failure.as_ref().map(|cause| sentence(cause, self.detail.as_deref()))
    }
}
