//! Past runs of a schedule, from its events.

use notarium_core::{Actor, Event, Millis, NotebookId, ScheduleId, ScheduledRunEnded, ScheduledRunStarted, Version};
use notarium_store::{EventStore, MAX_READ_EVENTS, StoreError};

/// A past run, or one that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastScheduledRun {
    /// Version of its first event.
    pub version: Version,
    /// The person who asked for it; absent: the server claimed it at its time.
    pub requested_by: Option<Actor>,
    /// Start of the run; absent: none was claimed.
    pub started: Option<(Millis, ScheduledRunStarted)>,
    /// End of the run; absent: it is under way.
    pub ended: Option<(Millis, ScheduledRunEnded)>,
}

impl PastScheduledRun {
    /// Notebook of the run.
    pub fn notebook(&self) -> Option<&NotebookId> {
        self.started.as_ref().map(|(_, started)| &started.run)
    }
}

/// All runs of a schedule, in the order of their beginnings.
pub async fn runs_of(
    store: &dyn EventStore,
    notebook: &NotebookId,
    schedule: &ScheduleId,
) -> Result<Vec<PastScheduledRun>, StoreError> {
    let (mut runs, mut after) = (Vec::new(), 0);
    loop {
        let page = store.read_subject(notebook, schedule.as_str(), after, MAX_READ_EVENTS).await?;
        for stored in &page {
            // Events that this build cannot read are skipped.
            let Ok(recorded) = stored.typed() else { continue };
            let (version, at) = (recorded.envelope.version, recorded.envelope.recorded_at);
            match recorded.event {
                Event::ScheduledRunStarted(started) => {
                    let requested_by = started.due.is_none().then_some(recorded.envelope.actor);
                    runs.push(PastScheduledRun { version, requested_by, started: Some((at, started)), ended: None });
                }
                Event::ScheduledRunEnded(ended) => note_end(&mut runs, version, at, ended),
                _ => {}
            }
        }
        match page.last() {
            Some(last) if page.len() == MAX_READ_EVENTS => after = last.envelope.version,
            _ => return Ok(runs),
        }
    }
}

fn note_end(runs: &mut Vec<PastScheduledRun>, version: Version, at: Millis, ended: ScheduledRunEnded) {
    let begun = runs.iter_mut().rev().find(|run| ended.run.is_some() && run.notebook() == ended.run.as_ref());
    match begun {
        Some(run) => run.ended = Some((at, ended)),
        None => runs.push(PastScheduledRun { version, requested_by: None, started: None, ended: Some((at, ended)) }),
    }
}
