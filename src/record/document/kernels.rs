//! Applies events of kernel sessions and of the functions that they have registered.

use crate::cause::KernelCause;
use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{
    Event, KernelFunctionsRegistered, KernelRestartRequested, KernelSessionEnded, KernelSessionStarted,
};
use crate::ids::{AgentId, KernelSessionId, Version};
use crate::json::RawObject;
use crate::open::Open;
use crate::state::{KernelNotice, KernelPhase, KernelSession, RegisteredFunction};

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    let version = recorded.envelope.version;
    match &recorded.event {
        Event::KernelLaunchRequested(event) => {
            insert(document, &event.kernel_session, &event.kernelspec, KernelPhase::Requested, None, version);
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

fn insert(
    document: &mut Document,
    id: &KernelSessionId,
    kernelspec: &str,
    phase: KernelPhase,
    agent: Option<AgentId>,
    requested_version: Version,
) {
    let kernelspec = kernelspec.to_owned();
    let (language_info, sandbox) = (RawObject::default(), RawObject::default());
    let session = KernelSession { kernelspec, phase, requested_version, agent, fence: None, language_info, sandbox };
    document.kernels.insert(id.clone(), session);
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
    let (kernelspec, agent, version) = (session.kernelspec.clone(), session.agent.clone(), session.requested_version);
    insert(document, &event.next, &kernelspec, KernelPhase::Claimed, agent, version);
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
