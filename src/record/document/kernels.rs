//! Kernel sessions in the document, and the functions that they have registered. Applies their events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{KernelCause, sentence};
use crate::cell::is_default;
use crate::document::Document;
use crate::effects::{KernelEffects, KernelSurprises};
use crate::envelope::Recorded;
use crate::event::{
    Event, KernelFunctionsRegistered, KernelRestartRequested, KernelSessionEnded, KernelSessionStarted,
};
use crate::ids::{AgentId, KernelSessionId, Version};
use crate::json::{Open, RawObject};
use crate::placement::KernelPlacement;
use crate::tool_call::UserFunction;

/// Phase of a kernel session that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelPhase {
    /// The session waits for an agent to claim it.
    Requested,
    /// An agent is starting the kernel.
    Claimed,
    /// The kernel has started.
    Started,
    /// A shutdown or restart was requested.
    Ending,
}

/// One life of a kernel.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSession {
    /// The kernelspec's name, such as `python3`.
    pub kernelspec: String,
    /// The session's phase. Code runs only in phase `started`.
    pub phase: KernelPhase,
    /// The version of the launch request; a restart keeps it. The session with the lowest version is the default kernel.
    pub requested_version: Version,
    /// The runtime agent that has claimed the session. Absent: none has.
    pub agent: Option<AgentId>,
    /// The version of KernelSessionStarted, which reports on the session must carry. Absent: the kernel has not started.
    pub fence: Option<Version>,
    /// The `language_info` of the kernel's `kernel_info_reply`. Absent: the kernel has not started.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub language_info: RawObject,
    /// The isolation of the kernel's code, from KernelSessionStarted. Absent: no isolation is known.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub sandbox: RawObject,
    /// The agents that may start the kernel, from KernelLaunchRequested; a restart keeps it. Absent: any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: KernelPlacement,
}

/// The last unrequested end or failed launch of a kernel, for people. The next start of a kernel removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelNotice {
    /// The session that ended or failed to start.
    pub kernel_session: KernelSessionId,
    /// The cause of the end or of the failed launch.
    pub cause: Open<KernelCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The version of the event of the end or failure.
    pub version: Version,
}

impl KernelSession {
    /// A session that waits for an agent.
    fn new(kernelspec: String, requested_version: Version, placement: KernelPlacement) -> Self {
        Self {
            kernelspec,
            phase: KernelPhase::Requested,
            requested_version,
            agent: None,
            fence: None,
            language_info: RawObject::default(),
            sandbox: RawObject::default(),
            placement,
        }
    }

    /// Returns true if the kernel's agent holds the effects of held runs.
    pub fn holds_effects(&self) -> bool {
        KernelEffects::of_sandbox(&self.sandbox) == Some(KernelEffects::Held)
    }

    /// Returns true if the kernel's agent refuses effects of people's runs that their texts do not lead to.
    pub fn asks_about_surprises(&self) -> bool {
        self.holds_effects() && KernelSurprises::of_sandbox(&self.sandbox) == Some(KernelSurprises::Ask)
    }

    /// Returns true if the session accepts new executions.
    pub fn is_usable(&self) -> bool {
        self.phase != KernelPhase::Ending
    }
}

/// A function that a kernel has registered as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredFunction {
    /// The function, as its kernel describes it.
    pub function: UserFunction,
    /// The version of the event that registered the function in its present form.
    pub registered_version: Version,
    /// The kernel that runs the function. Absent: that kernel has ended, and the function cannot be called until a
    /// kernel registers it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
}

impl KernelNotice {
    /// Sentence for people about the end.
    pub fn sentence(&self) -> String {
        sentence(&self.cause, self.detail.as_deref())
    }
}

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    let version = recorded.envelope.version;
    match &recorded.event {
        Event::KernelLaunchRequested(event) => {
            let session = KernelSession::new(event.kernelspec.clone(), version, event.placement());
            document.kernels.insert(event.kernel_session.clone(), session);
        }
        Event::KernelLaunchClaimed(event) => change(document, &event.kernel_session, |session| {
            session.phase = KernelPhase::Claimed;
            session.agent = Some(event.agent.clone());
        }),
        Event::KernelSessionStarted(event) => apply_started(document, event, version),
        Event::KernelLaunchFailed(event) => end(document, &event.kernel_session, &event.cause, &event.detail, version),
        Event::KernelSessionEnded(event) => apply_ended(document, event, version),
        Event::KernelFunctionsRegistered(event) => register(document, event, version),
        Event::KernelFunctionsForgotten(event) => document.functions.retain(|name, _| !event.names.contains(name)),
        Event::KernelRestartRequested(event) => apply_restart(document, event),
        Event::KernelShutdownRequested(event) => {
            change(document, &event.kernel_session, |session| session.phase = KernelPhase::Ending);
        }
        _ => {}
    }
}

fn change(document: &mut Document, id: &KernelSessionId, with: impl FnOnce(&mut KernelSession)) {
    if let Some(session) = document.kernels.get_mut(id) {
        with(session);
    }
}

fn apply_started(document: &mut Document, event: &KernelSessionStarted, version: Version) {
    document.kernel_notice = None;
    change(document, &event.kernel_session, |session| {
        session.phase = KernelPhase::Started;
        session.agent = Some(event.agent.clone());
        session.fence = Some(version);
        session.language_info = event.language_info.clone();
        session.sandbox = event.sandbox.clone();
    });
}

/// Puts the next session in the place of the old one, with the same `requested_version`: the default kernel stays the
/// default.
fn apply_restart(document: &mut Document, event: &KernelRestartRequested) {
    let Some(session) = document.kernels.get_mut(&event.kernel_session) else { return };
    session.phase = KernelPhase::Ending;
    let (kernelspec, placement) = (session.kernelspec.clone(), session.placement.clone());
    let next = KernelSession {
        phase: KernelPhase::Claimed,
        agent: session.agent.clone(),
        ..KernelSession::new(kernelspec, session.requested_version, placement)
    };
    document.kernels.insert(event.next.clone(), next);
}

/// Removes a session. A requested end leaves no notice.
fn apply_ended(document: &mut Document, event: &KernelSessionEnded, version: Version) {
    let id = &event.kernel_session;
    for known in document.functions.values_mut().filter(|known| known.kernel_session.as_ref() == Some(id)) {
        known.kernel_session = None;
    }
    let was_asked_for = document.kernels.get(id).is_some_and(|session| session.phase == KernelPhase::Ending);
    if was_asked_for {
        document.kernels.remove(id);
    } else {
        end(document, id, &event.cause, &event.detail, version);
    }
}

fn end(
    document: &mut Document,
    id: &KernelSessionId,
    cause: &Open<KernelCause>,
    detail: &Option<String>,
    version: Version,
) {
    document.kernels.remove(id);
    let (kernel_session, cause, detail) = (id.clone(), cause.clone(), detail.clone());
    document.kernel_notice = Some(KernelNotice { kernel_session, cause, detail, version });
}

/// Replaces the session's functions. One that is registered again unchanged keeps its version.
fn register(document: &mut Document, event: &KernelFunctionsRegistered, version: Version) {
    let id = &event.kernel_session;
    let is_new = |name: &String| event.functions.iter().any(|function| function.name == *name);
    document.functions.retain(|name, known| is_new(name) || known.kernel_session.as_ref() != Some(id));
    for function in &event.functions {
        let known = document.functions.get(&function.name).filter(|known| known.function == *function);
        let registered_version = known.map_or(version, |known| known.registered_version);
        let registered =
            RegisteredFunction { function: function.clone(), registered_version, kernel_session: Some(id.clone()) };
        document.functions.insert(function.name.clone(), registered);
    }
}
