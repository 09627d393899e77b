//! Schedules: set, removed and run now by people; claimed and ended by the server.
//!
//! The server checks a line of cron before its command comes here: the core has no calendar.

use crate::access::require_scope;
use crate::checks::check_not_archived;
use crate::context::Context;
use crate::runs::launches::checked_labels;
use crate::values::decision::{Decided, Decision, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::schedules::{EndScheduledRun, RunSchedule, SetSchedule, StartScheduledRun};
use notarium_record::{
    Actor, Document, Event, Millis, NotebookId, RawObject, Schedule, ScheduleId, ScheduleRemoved, ScheduleSet,
    ScheduleSettings, ScheduledRunEnded, ScheduledRunOutcome, ScheduledRunStarted, Scope, Version,
};

const DEFAULT_TIMEZONE: &str = "UTC";
const DEFAULT_RUN_MINUTES: u32 = 24 * 60;
const MAX_RUN_MINUTES: u32 = 7 * 24 * 60;
const DEFAULT_KEPT_RUNS: u32 = 30;
const MAX_KEPT_RUNS: u32 = 1_000;
/// Most characters of a line of cron, and of the name of a time zone.
const MAX_LINE_CHARACTERS: usize = 200;
/// Most characters of the name of an error.
const MAX_ERROR_CHARACTERS: usize = 200;

// --- people ---

pub(crate) fn decide_set(notebook: &Document, context: &Context, command: SetSchedule) -> Result<Decision> {
    check_person(context)?;
    check_not_archived(notebook)?;
    let schedule_id = command.schedule_id.clone();
    let settings = settings(notebook, context, command)?;
    let before = notebook.schedules.get(&schedule_id);
    let limit = context.limits.max_schedules;
    LimitName::Schedules.when(before.is_none() && notebook.schedules.len() >= limit, limit, || {
        format!("a notebook has at most {limit} schedules: remove one first")
    })?;
    let is_so =
        |schedule: &Schedule| schedule.settings == settings && schedule.maker == context.actor && !schedule.stopped;
    Ok(Decision::unless(before.is_some_and(is_so), ScheduleSet { schedule_id, settings }))
}

fn settings(notebook: &Document, context: &Context, command: SetSchedule) -> Result<ScheduleSettings> {
    let SetSchedule { version, parameters, agent, max_run_minutes, kept_runs, catch_up, .. } = command;
    check_version(notebook, version)?;
    check_parameters(context, &parameters)?;
    Ok(ScheduleSettings {
        cron: checked_line("a line of cron", &command.cron)?,
        timezone: checked_line("a time zone", command.timezone.as_deref().unwrap_or(DEFAULT_TIMEZONE))?,
        version,
        parameters,
        agent,
        labels: command.labels.map(checked_labels).transpose()?,
        catch_up,
        max_run_minutes: within("max_run_minutes", max_run_minutes.unwrap_or(DEFAULT_RUN_MINUTES), MAX_RUN_MINUTES)?,
        kept_runs: within("kept_runs", kept_runs.unwrap_or(DEFAULT_KEPT_RUNS), MAX_KEPT_RUNS)?,
    })
}

/// Only a person with an account has rights that the server can look up when the run begins. A run makes a notebook: a token that is
/// bound to some notebooks makes none.
fn check_person(context: &Context) -> Result<()> {
    let is_person = matches!(context.actor, Actor::User { .. });
    RejectionCode::Forbidden
        .when(!is_person, || "a schedule runs in the name of a person with an account: sign in to set it")?;
    require_scope(context, Scope::Edit)?;
    RejectionCode::Forbidden.when(
        context.authority.is_bound,
        || "this token is for some notebooks alone, and a scheduled run makes a new one: use a session, or a token for all",
    )
}

fn check_version(notebook: &Document, version: Option<Version>) -> Result<()> {
    let is_known = version.is_none_or(|version| (1..=notebook.version).contains(&version));
    RejectionCode::VersionInFuture
        .when(!is_known, || format!("the notebook has the versions 1 to {}: name one of them", notebook.version))
}

fn check_parameters(context: &Context, parameters: &RawObject) -> Result<()> {
    let limit = context.limits.max_schedule_parameters_bytes;
    LimitName::ScheduleParameters
        .when(parameters.get().len() > limit, limit, || format!("parameters have at most {limit} bytes as JSON"))
}

fn checked_line(what: &str, text: &str) -> Result<String> {
    let text = text.trim();
    let is_fitting = (1..=MAX_LINE_CHARACTERS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    RejectionCode::InvalidValue
        .when(!is_fitting, || format!("{what} has 1 to {MAX_LINE_CHARACTERS} characters on one line"))?;
    Ok(text.to_owned())
}

fn within(field: &str, value: u32, most: u32) -> Result<u32> {
    RejectionCode::InvalidValue
        .when(!(1..=most).contains(&value), || format!("{field} is {value}: choose 1 to {most}"))?;
    Ok(value)
}

/// Removes a schedule, and cancels its run that is under way.
pub(crate) fn decide_remove(notebook: &Document, schedule_id: ScheduleId) -> Decision {
    let Some(schedule) = notebook.schedules.get(&schedule_id) else { return Decision::nothing() };
    let cancelled = schedule.run.as_ref().map(|run| {
        Event::from(ScheduledRunEnded {
            schedule_id: schedule_id.clone(),
            run: Some(run.notebook.clone()),
            due: run.due,
            outcome: ScheduledRunOutcome::Cancelled.into(),
            cell_id: None,
            error: None,
            detail: Some("the schedule was removed during the run".to_owned()),
            missed: None,
        })
    });
    let removed = Event::from(ScheduleRemoved { schedule_id });
    Decision::of(cancelled.into_iter().chain([removed]).map(Decided::from))
}

/// Claims a run that a person asks for, in the name of that person.
pub(crate) fn decide_run(notebook: &Document, context: &Context, command: RunSchedule) -> Result<Decision> {
    let RunSchedule { schedule_id, run } = command;
    check_person(context)?;
    check_not_archived(notebook)?;
    let is_itself = run == notebook.notebook_id;
    RejectionCode::InvalidValue.when(is_itself, || "a run has a notebook of its own: choose a new id for it")?;
    start(notebook, schedule_id, run, None)
}

// --- the server ---

/// Claims the run of a minute. Each minute is claimed once.
pub(crate) fn decide_start(notebook: &Document, context: &Context, command: StartScheduledRun) -> Result<Decision> {
    let StartScheduledRun { schedule_id, run, due } = command;
    check_is_server(context)?;
    check_not_archived(notebook)?;
    let schedule = known(notebook, &schedule_id)?;
    RejectionCode::ScheduleState
        .when(schedule.stopped, || "the schedule is stopped: its maker's rights have ended; set it again")?;
    let is_due = schedule.after < due && due <= context.now;
    RejectionCode::ScheduleState
        .when(!is_due, || "no run is due for this minute: it was dealt with, or is yet to come")?;
    start(notebook, schedule_id, run, Some(due))
}

fn start(notebook: &Document, schedule_id: ScheduleId, run: NotebookId, due: Option<Millis>) -> Result<Decision> {
    let schedule = known(notebook, &schedule_id)?;
    RejectionCode::ScheduleState
        .when(schedule.run.is_some(), || "a run of this schedule is under way: wait for its end")?;
    let version = schedule.settings.version.unwrap_or(notebook.version);
    Ok(Decision::one(ScheduledRunStarted { schedule_id, run, version, due }))
}

/// Records an end once: a run that has ended, and a minute that was dealt with, change nothing.
pub(crate) fn decide_end(notebook: &Document, context: &Context, command: EndScheduledRun) -> Result<Decision> {
    check_is_server(context)?;
    let EndScheduledRun { schedule_id, run, due, outcome, cell_id, error, detail, missed } = command;
    let Some(schedule) = notebook.schedules.get(&schedule_id) else { return Ok(Decision::nothing()) };
    let is_new = match &run {
        Some(run) => schedule.run.as_ref().is_some_and(|under_way| under_way.notebook == *run),
        None => due.is_some_and(|due| schedule.after < due),
    };
    let error = error.map(|error| error.chars().take(MAX_ERROR_CHARACTERS).collect());
    let detail = context.limits.detail(detail);
    let outcome = outcome.into();
    let event = ScheduledRunEnded { schedule_id, run, due, outcome, cell_id, error, detail, missed };
    Ok(Decision::unless(!is_new, event))
}

fn check_is_server(context: &Context) -> Result<()> {
    RejectionCode::Forbidden
        .when(context.actor != Actor::System, || "only the server itself starts and ends scheduled runs")
}

fn known<'a>(notebook: &'a Document, id: &ScheduleId) -> Result<&'a Schedule> {
    let unknown = || format!("no schedule {id} in this notebook: it was removed, or never was");
    notebook.schedules.get(id).ok_or_else(|| RejectionCode::UnknownSchedule.because(unknown()))
}
