//! Schedules in the document. Applies their events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Actor;
use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{Event, ScheduleSet, ScheduledRunEnded, ScheduledRunStarted};
use crate::ids::{CellId, Millis, NotebookId, Version};
use crate::json::Open;
use crate::schedule::{ScheduleSettings, ScheduledRunOutcome};

/// A schedule that was not removed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// Author of the last ScheduleSet, in whose name it runs.
    pub maker: Actor,
    /// Settings of the last ScheduleSet.
    pub settings: ScheduleSettings,
    /// Time up to which no run is due any more: that of the last ScheduleSet, or the minute of the last run if that is later.
    pub after: Millis,
    /// The run that is under way. Absent: none.
    pub run: Option<ScheduledRun>,
    /// The last end of a run. Absent: none has ended.
    pub last: Option<LastScheduledRun>,
    /// True: the maker's rights have ended, and nothing runs until the schedule is set again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// A run that is under way.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRun {
    /// The notebook of the run.
    pub notebook: NotebookId,
    /// The version of this notebook that runs.
    pub version: Version,
    /// The minute for which it was scheduled. Absent: a person asked for it.
    pub due: Option<Millis>,
    /// Time of ScheduledRunStarted, in milliseconds since 1970.
    pub started_at: Millis,
    /// Author of ScheduledRunStarted if that is a person, else the schedule's maker: the run is in this name.
    pub actor: Actor,
    /// Settings of the schedule when the run began.
    pub settings: ScheduleSettings,
}

/// The last end of a run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastScheduledRun {
    /// The notebook of the run. Absent: no run was claimed.
    pub notebook: Option<NotebookId>,
    /// The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
    pub due: Option<Millis>,
    /// The end.
    pub outcome: Open<ScheduledRunOutcome>,
    /// Time of ScheduledRunEnded, in milliseconds since 1970.
    pub ended_at: Millis,
    /// The cell that failed. Absent: none did, or it is not known.
    pub cell_id: Option<CellId>,
    /// Name of the error. Absent: there was none.
    pub error: Option<String>,
    /// More about the end, in a sentence for people.
    pub detail: Option<String>,
    /// Number of missed runs. Absent: this one run.
    pub missed: Option<u32>,
}

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ScheduleSet(event) => apply_set(document, recorded, event),
        Event::ScheduleRemoved(event) => _ = document.schedules.remove(&event.schedule_id),
        Event::ScheduledRunStarted(event) => apply_started(document, recorded, event),
        Event::ScheduledRunEnded(event) => apply_ended(document, recorded, event),
        _ => {}
    }
}

/// Keeps the run that is under way, and the last one.
fn apply_set(document: &mut Document, recorded: &Recorded, event: &ScheduleSet) {
    let before = document.schedules.remove(&event.schedule_id);
    let (run, last) = before.map_or((None, None), |before| (before.run, before.last));
    let (maker, settings) = (recorded.envelope.actor.clone(), event.settings.clone());
    let schedule = Schedule { maker, settings, after: recorded.envelope.recorded_at, run, last, stopped: false };
    document.schedules.insert(event.schedule_id.clone(), schedule);
}

fn apply_started(document: &mut Document, recorded: &Recorded, event: &ScheduledRunStarted) {
    let Some(schedule) = document.schedules.get_mut(&event.schedule_id) else { return };
    let author = &recorded.envelope.actor;
    let actor = if matches!(author, Actor::User { .. }) { author } else { &schedule.maker };
    schedule.after = schedule.after.max(event.due.unwrap_or(0));
    schedule.run = Some(ScheduledRun {
        notebook: event.run.clone(),
        version: event.version,
        due: event.due,
        started_at: recorded.envelope.recorded_at,
        actor: actor.clone(),
        settings: schedule.settings.clone(),
    });
}

/// An end without a run leaves the run that is under way.
fn apply_ended(document: &mut Document, recorded: &Recorded, event: &ScheduledRunEnded) {
    let Some(schedule) = document.schedules.get_mut(&event.schedule_id) else { return };
    let ScheduledRunEnded { run, due, outcome, cell_id, error, detail, missed, .. } = event.clone();
    schedule.after = schedule.after.max(due.unwrap_or(0));
    if run.is_some() {
        schedule.run = None;
    }
    if outcome.known() == Some(&ScheduledRunOutcome::Refused) {
        schedule.stopped = true;
    }
    let ended_at = recorded.envelope.recorded_at;
    schedule.last = Some(LastScheduledRun { notebook: run, due, outcome, ended_at, cell_id, error, detail, missed });
}
