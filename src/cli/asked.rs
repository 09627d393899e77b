//! Who asked for the end of a kernel or a run: the event that led to it says so, or the end itself does.

use std::collections::BTreeMap;

use notarium_core::{Actor, EndCause, Event, EventId, KernelCause, Recorded};

/// Who asked for what may lead to an end, as the events told.
#[derive(Debug, Default)]
pub struct Asked {
    by: BTreeMap<EventId, Actor>,
}

impl Asked {
    /// Remembers what may lead to an end.
    pub fn note(&mut self, recorded: &Recorded) {
        if let Event::KernelRestartRequested(_)
        | Event::KernelShutdownRequested(_)
        | Event::KernelInterruptRequested(_)
        | Event::ExecutionCancelRequested(_) = &recorded.event
        {
            self.by.insert(recorded.envelope.id.clone(), recorded.envelope.actor.clone());
        }
    }

    /// Who did what, so that it ended. `None`: nobody asked for it, or that was before the first event that was noted.
    pub fn led_to<'a>(&'a self, end: &'a Recorded) -> Option<(&'a Actor, &'static str)> {
        let did = match &end.event {
            Event::ExecutionCancelled(event) => did(*event.cause.known()?)?,
            Event::KernelSessionEnded(event) => match event.cause.known()? {
                KernelCause::Restarted => did(EndCause::KernelRestarted)?,
                KernelCause::ShutDown => did(EndCause::KernelShutDown)?,
                _ => return None,
            },
            Event::ExecutionCompleted(_) => did(EndCause::Interrupted)?,
            _ => return None,
        };
        let leading = end.envelope.causation_id.as_ref().and_then(|id| self.by.get(id));
        // A run that waited ends by the command of who did not want it.
        let is_own = matches!(end.event, Event::ExecutionCancelled(_)) && is_person(&end.envelope.actor);
        let author = is_own.then_some(&end.envelope.actor);
        Some((leading.or(author)?, did))
    }
}

fn is_person(actor: &Actor) -> bool {
    matches!(actor, Actor::User { .. } | Actor::Guest { .. } | Actor::Assistant { .. })
}

/// What somebody did who wanted this end, as in `restarted the kernel`.
pub fn did(cause: EndCause) -> Option<&'static str> {
    Some(match cause {
        EndCause::Requested => "cancelled it",
        EndCause::Interrupted => "interrupted it",
        EndCause::KernelRestarted => "restarted the kernel",
        EndCause::KernelShutDown => "shut the kernel down",
        EndCause::CellDeleted => "moved its cell to the trash",
        EndCause::GivenUp => "gave it up",
        _ => return None,
    })
}
