//! Schedules of a notebook: when it runs by itself, what of it runs, and the end of such a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, Version};
use crate::json::RawObject;
use crate::placement::Labels;

/// Times of a schedule, and what runs at each of them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleSettings {
    /// The times, as a line of cron: minute, hour, day of the month, month, day of the week.
    pub cron: String,
    /// The time zone of the line, by its IANA name, such as `Europe/Berlin`.
    pub timezone: String,
    /// The version that runs. Absent: the newest at the time of the run.
    pub version: Option<Version>,
    /// Variables that the run sets, by name, in a cell after the one tagged `parameters`.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub parameters: RawObject,
    /// The only runtime agent that may start the kernel. Absent: any.
    pub agent: Option<AgentId>,
    /// Labels that the agent must have. Absent with `agent` absent: those of the notebook's settings.
    pub labels: Option<Labels>,
    /// True: of the runs that were missed, the last one runs late. Absent: none does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub catch_up: bool,
    /// Minutes after which an unfinished run is stopped.
    pub max_run_minutes: u32,
    /// Number of notebooks of runs that stay in the list. Older ones are archived.
    pub kept_runs: u32,
}

/// End of a scheduled run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScheduledRunOutcome {
    /// Every cell ran without an error.
    Succeeded,
    /// A cell failed; the cells after it did not run.
    Failed,
    /// The kernel or its runtime agent was lost during the run. It is not known how far it came.
    Lost,
    /// A person cancelled it, in the notebook of the run.
    Cancelled,
    /// It took longer than the schedule allows.
    TimedOut,
    /// It could not begin, for example because no runtime agent took its kernel. Nothing ran.
    NotStarted,
    /// The rights of its maker have ended. Nothing ran, and the schedule is stopped until a person sets it again.
    Refused,
    /// Its time passed while no server could run it, or while the run before it was under way. Nothing ran.
    Missed,
}
