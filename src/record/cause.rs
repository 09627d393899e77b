//! Causes of ends: a word for programs, and the phrase that people read. No other file has these phrases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Open;

/// A cause with a phrase for people.
pub trait Cause: Serialize {
    /// Phrase that follows "because", without a full stop.
    fn phrase(&self) -> &'static str;
}

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $phrase:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $(
                $(#[$variant_doc])*
                #[doc = concat!("In words: ", $phrase, ".")]
                $variant
            ),*
        }

        impl $name {
            /// All causes.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }

        impl Cause for $name {
            fn phrase(&self) -> &'static str {
                match self { $($name::$variant => $phrase),* }
            }
        }
    )*};
}

causes! {
    /// Cause of an execution's end other than its own result.
    EndCause {
        /// The run was cancelled before it began.
        Requested = "somebody cancelled it",
        /// The run was cancelled while it ran, or its kernel was interrupted.
        Interrupted = "it was interrupted",
        TimedOut = "its time was up",
        CellDeleted = "its cell is in the trash",
        KernelNotStarted = "the kernel did not start",
        KernelRestarted = "the kernel was restarted",
        KernelShutDown = "the kernel was shut down",
        KernelDied = "the kernel died",
        AgentStopped = "its runtime agent was stopped",
        AgentLost = "its runtime agent is gone",
        /// The run was given up, for example because its agent was unreachable.
        GivenUp = "somebody gave it up",
        /// The run was not begun, because it is held and its kernel holds no effects.
        EffectsNotHeld = "its kernel cannot hold the effects of an assistant's code",
        /// The agent did not begin a held run, because its code could change what the kernel holds open.
        HoldsOpen = "its kernel holds files or connections open, which the code could change",
    }

    /// Cause of the end of a kernel session, or of a failed launch.
    KernelCause {
        /// A shutdown was requested.
        ShutDown = "it was shut down",
        Restarted = "it was restarted",
        /// The kernel had no runs for too long.
        Idle = "it had no work",
        Died = "the kernel died",
        AgentStopped = "its runtime agent was stopped",
        /// The agent was killed, was away for too long, or came back without this kernel.
        AgentLost = "its runtime agent is gone",
        /// The kernel was given up, because its agent was unreachable.
        GivenUp = "somebody gave it up",
        /// The program that the kernelspec names is not on the agent's machine.
        NotInstalled = "the kernel is not installed",
        /// The kernel could not be started on the agent's machine.
        CannotStart = "the kernel cannot be started",
        /// The kernel started and did not answer in time.
        NoAnswer = "the kernel did not answer",
    }

    /// Cause for which an agent holds no effects of its kernels' runs.
    UnheldCause {
        SwitchedOff = "the agent was started with --kernel-effects off",
        /// The agent's system is not Linux, or its Linux is too old.
        NotSupported = "the agent's system cannot do it",
        /// The profile of a container, or another filter, forbids it.
        NotPermitted = "the agent's container or system does not permit it",
        /// The kind of kernel starts code in a way that cannot be followed.
        OtherKernel = "it is not possible with this kind of kernel",
    }

    /// Cause of a model call without an answer, of a failed turn, or of a reply that was cut off.
    TurnFailure {
        WrongKey = "the model's provider does not accept the key",
        QuotaExhausted = "the model's provider says that no credit is left",
        UnknownModel = "the model's provider does not know the model",
        RateLimited = "the model's provider limits the rate of calls",
        Unavailable = "the model's provider is overloaded or broken",
        ContextTooLong = "the conversation is too long for the model",
        BadRequest = "the model's provider refused the request",
        Unreachable = "the model's provider cannot be reached",
        TimedOut = "the model's provider sent nothing for too long",
        TookTooLong = "the model's answer took too long",
        CutStream = "the model's answer was cut off",
        MalformedStream = "the model's answer cannot be read",
        /// The answer exceeds the limit for a provider's answer or for a message.
        ReplyTooLong = "the model's answer is too long",
        EmptyReply = "the model answered nothing",
        /// No model is configured, or the chosen one is not.
        NoModel = "there is no such model here",
        /// The request to the model could not be made.
        NotAsked = "the model could not be asked",
        ServerStopped = "the server stopped while the model answered",
        /// The person, the workspace or the server has used up what it may spend on models in a day or month.
        CapReached = "a spending cap is reached",
        /// The notebook refused a step of the turn.
        Refused = "the assistant may not go on",
        /// The cell was copied while its reply was being written.
        Copied = "the assistant was still answering when this was copied",
        /// The cell was in the trash while the rest of its reply was written.
        CellDeleted = "the cell was moved to the trash meanwhile: the conversation holds the whole reply",
    }

    /// Cause of the withdrawal of a tool call that had not started.
    WithdrawalCause {
        Requested = "it was taken back",
        TurnCancelled = "the turn was stopped",
        TurnEnded = "the turn has ended",
        /// The token was revoked, the session ended, or the account was closed.
        AccessRevoked = "the session, token or account with which it was asked for has ended",
    }

    /// Cause that makes a tool call void, confirmed or not.
    VoidCause {
        /// A target of the call has changed.
        TargetChanged = "what it would touch has changed",
        /// The tool or function no longer exists, or takes other arguments.
        ToolChanged = "the tool has changed",
        /// The code of the call now has a higher risk than when it was requested or confirmed.
        RiskGrew = "it can do more now than when it was asked for",
        /// The person for whom the call is no longer has the right.
        RightLost = "the person it is for may not do this any more",
        /// The person who confirmed the call no longer has the right to confirm it.
        ConfirmationLost = "who confirmed it may not do so any more",
        /// Neither the policy nor a grant lets the call pass any more.
        GateClosed = "it needs a person's confirmation, and has none",
        Archived = "the notebook is archived",
    }
}

impl From<KernelCause> for EndCause {
    fn from(cause: KernelCause) -> Self {
        match cause {
            KernelCause::ShutDown | KernelCause::Idle => EndCause::KernelShutDown,
            KernelCause::Restarted => EndCause::KernelRestarted,
            KernelCause::Died => EndCause::KernelDied,
            KernelCause::AgentStopped => EndCause::AgentStopped,
            KernelCause::AgentLost => EndCause::AgentLost,
            KernelCause::GivenUp => EndCause::GivenUp,
            KernelCause::NotInstalled | KernelCause::CannotStart | KernelCause::NoAnswer => EndCause::KernelNotStarted,
        }
    }
}

/// Sentence for people: the detail if there is one, else the phrase of the cause. A cause that this version does not
/// know is shown as its word.
pub fn sentence<C: Cause>(cause: &Open<C>, detail: Option<&str>) -> String {
    match (detail, cause.known()) {
        (Some(detail), _) => detail.to_owned(),
        (None, Some(cause)) => cause.phrase().to_owned(),
        (None, None) => cause.to_string().replace('_', " "),
    }
}

/// Sentence for people about a blocked run.
pub(crate) const BLOCKED: &str = "an earlier cell failed";

/// A cause, and a sentence with details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedCause<C> {
    /// For programs.
    pub cause: C,
    /// Sentence for people; absent: the cause says all that is known.
    pub detail: Option<String>,
}

impl<C> ExplainedCause<C> {
    /// Makes a cause with a detail.
    pub fn new(cause: C, detail: impl Into<String>) -> Self {
        Self { cause, detail: Some(detail.into()) }
    }
}

impl<C> From<C> for ExplainedCause<C> {
    fn from(cause: C) -> Self {
        Self { cause, detail: None }
    }
}
