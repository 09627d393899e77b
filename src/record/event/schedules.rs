//! Events of schedules: they are set and removed by people; the server runs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CellId, Millis, NotebookId, ScheduleId, Version};
use crate::json::Open;
use crate::schedule::{ScheduleSettings, ScheduledRunOutcome};

/// A schedule was set, or one of this id was changed. Its runs act in the name of the event's author, with the rights that the author
/// has at the time of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleSet {
    /// The schedule, new or known.
    pub schedule_id: ScheduleId,
    /// All settings, which replace those before.
    pub settings: ScheduleSettings,
}

/// A schedule was removed. A run of it that is under way is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleRemoved {
    /// The schedule.
    pub schedule_id: ScheduleId,
}

/// A run of a schedule was claimed: this event is its only beginning. The cells run in a notebook of their own.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRunStarted {
    /// The schedule.
    pub schedule_id: ScheduleId,
    /// The notebook of the run: a fork of `version`, which the server makes after this event. Its owner is the person in whose name the
    /// run is: the event's author, else the schedule's maker.
    pub run: NotebookId,
    /// The version of this notebook that runs.
    pub version: Version,
    /// The minute for which it was scheduled, in milliseconds since 1970. Absent: a person asked for it.
    pub due: Option<Millis>,
}

/// A run of a schedule ended, or did not take place.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRunEnded {
    /// The schedule.
    pub schedule_id: ScheduleId,
    /// The notebook of the run, as in ScheduledRunStarted. Absent: no run was claimed.
    pub run: Option<NotebookId>,
    /// The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
    pub due: Option<Millis>,
    /// The end.
    pub outcome: Open<ScheduledRunOutcome>,
    /// The cell that failed. Absent: none did, or it is not known.
    pub cell_id: Option<CellId>,
    /// Name of the error, such as `ValueError`. Absent: there was none.
    pub error: Option<String>,
    /// More about the end, in a sentence for people.
    pub detail: Option<String>,
    /// Number of missed runs, up to that of `due`. Absent: this one run.
    pub missed: Option<u32>,
}
