//! Causes of ends: a word for programs, and the phrase that people read. No other file has these phrases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::open::Open;

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

        impl Cause for $name {
            fn phrase(&self) -> &'static str {
                match self { $($name::$variant => $phrase),* }
            }
        }
    )*};
}

causes! {
    /// Why an execution ended without a result, or before its own end.
    EndCause {
        /// Somebody cancelled it before it began.
        Requested = "somebody cancelled it",
        /// Somebody cancelled it while it ran, or interrupted its kernel.
        Interrupted = "it was interrupted",
        TimedOut = "its time was up",
        CellDeleted = "its cell is in the trash",
        KernelNotStarted = "the kernel did not start",
        KernelRestarted = "the kernel was restarted",
        KernelShutDown = "the kernel was shut down",
        KernelDied = "the kernel died",
        AgentStopped = "its runtime agent was stopped",
        AgentLost = "its runtime agent is gone",
        /// A person gave it up while its agent could not be reached.
        GivenUp = "somebody gave it up",
    }

    /// Why a kernel session is over, or never began.
    KernelCause {
        /// As people asked.
        ShutDown = "it was shut down",
        Restarted = "it was restarted",
        /// It had no work for too long.
        Idle = "it had no work",
        Died = "the kernel died",
        AgentStopped = "its runtime agent was stopped",
        /// Killed, away for too long, or back without this kernel.
        AgentLost = "its runtime agent is gone",
        /// A person did not wait for its agent, which could not be reached.
        GivenUp = "somebody gave it up",
        /// What the kernelspec names is not on the agent's machine.
        NotInstalled = "the kernel is not installed",
        /// The agent's machine does not let it start.
        CannotStart = "the kernel cannot be started",
        /// It started, and did not answer in time.
        NoAnswer = "the kernel did not answer",
    }

    /// Why a model call gave no answer, why a turn failed, or why a reply has no more text.
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
        /// More than is taken from a provider, or more than a message holds.
        ReplyTooLong = "the model's answer is too long",
        EmptyReply = "the model answered nothing",
        /// No model is set up, or not the one that was chosen.
        NoModel = "there is no such model here",
        /// The request could not be put together.
        NotAsked = "the model could not be asked",
        ServerStopped = "the server stopped while the model answered",
        /// The notebook refused a step of the turn.
        Refused = "the assistant may not go on",
        /// Of a reply: it was copied while it was being written.
        Copied = "the assistant was still answering when this was copied",
        /// Of a reply: its cell was in the trash when the rest was written.
        CellDeleted = "the cell was moved to the trash meanwhile: the conversation holds the whole reply",
    }

    /// Why a tool call was taken back before it started.
    WithdrawalCause {
        Requested = "it was taken back",
        TurnCancelled = "the turn was stopped",
        TurnEnded = "the turn has ended",
        /// A token was revoked, a session ended, or an account closed.
        AccessRevoked = "the session, token or account with which it was asked for has ended",
    }

    /// Why a tool call counts no more, confirmed or not.
    VoidCause {
        /// What it would touch is not what it was.
        TargetChanged = "what it would touch has changed",
        /// The tool, or a function of the kernel, is gone or takes other arguments.
        ToolChanged = "the tool has changed",
        /// Code that it would run can do more than it was asked for or confirmed as.
        RiskGrew = "it can do more now than when it was asked for",
        /// The person it is for may not do this any more.
        RightLost = "the person it is for may not do this any more",
        /// Who confirmed it may not confirm it any more.
        ConfirmationLost = "who confirmed it may not do so any more",
        /// Neither policy nor grant lets it pass any more.
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
pub struct Because<C> {
    /// For programs.
    pub cause: C,
    /// Sentence for people; absent: the cause says all that is known.
    pub detail: Option<String>,
}

impl<C> Because<C> {
    /// Makes a cause with a detail.
    pub fn new(cause: C, detail: impl Into<String>) -> Self {
        Self { cause, detail: Some(detail.into()) }
    }
}

impl<C> From<C> for Because<C> {
    fn from(cause: C) -> Self {
        Self { cause, detail: None }
    }
}
