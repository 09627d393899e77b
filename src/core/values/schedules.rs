//! Commands about schedules.

use notarium_record::{
    AgentId, CellId, Labels, Millis, NotebookId, RawObject, ScheduleId, ScheduledRunOutcome, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A schedule, new or changed. Its runs are in the name of the sender, with the rights that the sender has at the time of each run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSchedule {
    /// The id that the client chooses, or that of a schedule to change. All its settings are replaced.
    pub schedule_id: ScheduleId,
    /// The times, as a line of cron with five fields: minute, hour, day of the month, month, day of the week. Refused (`invalid_value`)
    /// if the line never comes, or comes more often than every five minutes.
    pub cron: String,
    /// The time zone of the line, by its IANA name. Absent: `UTC`.
    pub timezone: Option<String>,
    /// The version that runs. Absent: the newest at the time of the run.
    pub version: Option<Version>,
    /// Variables that the run sets, by name, as JSON; at most 64 KiB.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub parameters: RawObject,
    /// The only runtime agent that may start the kernel. Absent: any.
    pub agent: Option<AgentId>,
    /// Labels that the agent must have, at most 16. Absent: those of the notebook's settings, or none if `agent` is named.
    pub labels: Option<Labels>,
    /// True: of the runs that were missed, the last one runs late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub catch_up: bool,
    /// Minutes after which an unfinished run is stopped: 1 to 10,080. Absent: 1,440.
    pub max_run_minutes: Option<u32>,
    /// Number of notebooks of runs that stay in the list, 1 to 1,000; older ones are archived. Absent: 30.
    pub kept_runs: Option<u32>,
}

/// Removal of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveSchedule {
    /// The schedule. One that was removed changes nothing.
    pub schedule_id: ScheduleId,
}

/// A run of a schedule at a person's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSchedule {
    /// The schedule (`unknown_schedule` otherwise), of which no run is under way (`schedule_state` otherwise).
    pub schedule_id: ScheduleId,
    /// The notebook of the run: a new id, which the client chooses.
    pub run: NotebookId,
}

/// The server's claim of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartScheduledRun {
    /// The schedule, of which no run is under way (`schedule_state` otherwise).
    pub schedule_id: ScheduleId,
    /// The notebook of the run: a new id.
    pub run: NotebookId,
    /// The minute, which has come and was not dealt with (`schedule_state` otherwise).
    pub due: Millis,
}

/// An end of a scheduled run, from the server.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndScheduledRun {
    /// The schedule. One that was removed changes nothing.
    pub schedule_id: ScheduleId,
    /// The notebook of the run that is under way; another changes nothing. Absent: no run was claimed.
    pub run: Option<NotebookId>,
    /// The minute for which it was scheduled; of several missed ones the last. Without `run`, one that was dealt with changes nothing.
    pub due: Option<Millis>,
    /// The end.
    pub outcome: ScheduledRunOutcome,
    /// The cell that failed.
    pub cell_id: Option<CellId>,
    /// Name of the error.
    pub error: Option<String>,
    /// More about the end, in a sentence; at most 2,000 characters are kept.
    pub detail: Option<String>,
    /// Number of missed runs. Absent: this one run.
    pub missed: Option<u32>,
}
