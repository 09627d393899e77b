//! Schedules of a notebook: their settings, next times and past runs.

use notarium_core::{
    Actor, AgentId, CellId, Labels, Millis, NotebookId, Open, RawObject, Schedule, ScheduleId, ScheduledRunOutcome,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a schedule, new or changed. They replace all settings before.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleChange {
    /// The times: minute, hour, day of the month, month, day of the week, as in `0 6 * * 1-5`.
    pub cron: String,
    /// IANA name of the time zone of these times. Absent: `UTC`.
    pub timezone: Option<String>,
    /// The version that runs. Absent: the newest at the time of the run.
    pub version: Option<Version>,
    /// Variables that the run sets, by name, in a cell after the one tagged `parameters`.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub parameters: RawObject,
    /// The only runtime agent that may start the kernel. Absent: any.
    pub agent: Option<AgentId>,
    /// Labels that the agent must have. Absent: those of the notebook's settings.
    pub labels: Option<Labels>,
    /// True: of the runs that were missed, the last one runs late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub catch_up: bool,
    /// Minutes after which an unfinished run is stopped: 1 to 10,080. Absent: 1,440.
    pub max_run_minutes: Option<u32>,
    /// Number of notebooks of runs that stay in the list, 1 to 1,000; older ones are archived. Absent: 30.
    pub kept_runs: Option<u32>,
}

/// The schedules of a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    /// Schedules by id.
    pub schedules: Vec<ScheduleLine>,
}

/// Notebooks with schedules that you may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledNotebooks {
    /// Notebooks, at most 200, the last changed first.
    pub notebooks: Vec<ScheduledNotebook>,
}

/// A notebook with its schedules.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledNotebook {
    /// Id of the notebook.
    pub notebook: NotebookId,
    /// Title of the notebook.
    pub title: String,
    /// Schedules by id.
    pub schedules: Vec<ScheduleLine>,
}

/// A schedule, with its next times.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleLine {
    /// Id of the schedule.
    pub id: ScheduleId,
    /// The schedule: `schedules` of `protocol/schema/notebook.json`.
    pub schedule: Schedule,
    /// Name of the person in whose name it runs. Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker_name: Option<String>,
    /// The next times, in milliseconds since 1970. Empty: the schedule is stopped, or the notebook is archived.
    pub next: Vec<Millis>,
}

/// Question for the times of a line of cron.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleTimesQuery {
    /// Line of cron with five fields.
    pub cron: String,
    /// IANA name of a time zone. Absent: `UTC`.
    pub timezone: Option<String>,
}

/// The next times of a line of cron.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleTimes {
    /// The next five times, in milliseconds since 1970.
    pub next: Vec<Millis>,
}

/// Request for a run of a schedule now.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRunRequest {
    /// Id of the run's notebook. Absent: the server chooses one.
    pub run: Option<NotebookId>,
}

/// A claimed run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleRunAnswer {
    /// The run's notebook, which the server makes next.
    pub run: NotebookId,
    /// The scheduled notebook's version after the claim.
    pub version: Version,
}

/// Filter of the past runs of a schedule.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledRunsQuery {
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Past runs of a schedule, the last first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRuns {
    /// Runs, at most `limit`.
    pub runs: Vec<ScheduledRunLine>,
}

/// A run of a schedule, or a time at which none took place.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRunLine {
    /// Version of its first event in the scheduled notebook.
    pub version: Version,
    /// The run's notebook. Absent: no run was claimed.
    pub run: Option<NotebookId>,
    /// The version that ran.
    pub ran_version: Option<Version>,
    /// The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
    pub due: Option<Millis>,
    /// Author of the request. Absent: the server claimed the run at its time.
    pub requested_by: Option<Actor>,
    /// Time of the claim.
    pub started_at: Option<Millis>,
    /// Time of the end. Absent: it is under way.
    pub ended_at: Option<Millis>,
    /// The end. Absent: it is under way.
    pub outcome: Option<Open<ScheduledRunOutcome>>,
    /// The cell that failed.
    pub cell_id: Option<CellId>,
    /// Name of the error.
    pub error: Option<String>,
    /// More about the end, in a sentence for people.
    pub detail: Option<String>,
    /// Number of missed runs.
    pub missed: Option<u32>,
}
