//! Routes for schedules: list, set, remove, run now, past runs, and the times of a line of cron.

use axum::Json;
use axum::extract::State;
use notarium_core::{
    Actor, Command, Document, NotebookId, Operation, RemoveSchedule, RunSchedule, ScheduleId, SetSchedule,
};
use notarium_wire::rest::{
    ScheduleChange, ScheduleLine, ScheduleRunAnswer, ScheduleRunRequest, ScheduleTimes, ScheduleTimesQuery,
    ScheduledNotebook, ScheduledNotebooks, ScheduledRunLine, ScheduledRuns, ScheduledRunsQuery, Schedules,
};

use super::answers::{Accepted, NotebookCaller, NotebookReader, Submit, command};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Created, JsonBody, NoBody, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::listing::{self, ListingQuery};
use crate::schedules::{PastScheduledRun, runs_of};
use crate::timetable::Timetable;

type SchedulePath = (NotebookId, ScheduleId);

/// Times that a list shows of each schedule, and of a line.
const SHOWN_TIMES: usize = 5;
/// Notebooks in the list of all schedules.
const MAX_NOTEBOOKS: usize = 200;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, run) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Run));
    route_table!(router; "schedules" "/api/notebooks/{notebook}/schedules" {
        /// The notebook's schedules, with their next times and the last end of a run.
        GET "", read => list;
        /// Sets a schedule under an id of your choice, or changes it. It runs in your name, with the rights that you have at each run.
        PUT "/{schedule}", run => command(|(_, id): SchedulePath, JsonBody(change)| set(id, change));
        /// Removes a schedule. A run that is under way is stopped.
        DELETE "/{schedule}", run =>
            command(|(_, schedule_id): SchedulePath, _: NoBody| Command::RemoveSchedule(RemoveSchedule { schedule_id }));
        /// Runs a schedule now, in your name and in a notebook of its own.
        POST "/{schedule}/runs", run => run_now;
        /// Past runs of a schedule and times that were missed, the last first.
        GET "/{schedule}/runs", read => list_runs;
    } "schedules" "/api" {
        /// Schedules of all notebooks that you may see.
        GET "/schedules", Guard::Authenticated => list_all;
        /// The next times of a line of cron; refused like a schedule with this line.
        GET "/schedule-times", Guard::Authenticated => times;
    })
}

fn set(schedule_id: ScheduleId, change: ScheduleChange) -> Command {
    let ScheduleChange { cron, timezone, version, parameters, agent, labels, catch_up, max_run_minutes, kept_runs } =
        change;
    Command::SetSchedule(Box::new(SetSchedule {
        schedule_id,
        cron,
        timezone,
        version,
        parameters,
        agent,
        labels,
        catch_up,
        max_run_minutes,
        kept_runs,
    }))
}

async fn list(NotebookReader { app, now, .. }: NotebookReader) -> Result<Json<Schedules>, Problem> {
    Ok(Json(Schedules { schedules: lines(&app, &now.notebook).await? }))
}

async fn list_all(State(app): State<App>, who: Authenticated) -> Result<Json<ScheduledNotebooks>, Problem> {
    let wanted = ListingQuery { only_scheduled: true, limit: MAX_NOTEBOOKS, ..ListingQuery::default() };
    let page = listing::visible(&app, &who, wanted).await?;
    let mut notebooks = Vec::new();
    for (entry, _) in page.entries {
        // The right to it may have just ended.
        let Ok(read) = app.read(&who, &entry.notebook_id).await else { continue };
        let schedules = lines(&app, &read.notebook).await?;
        notebooks.push(ScheduledNotebook { notebook: entry.notebook_id, title: entry.title, schedules });
    }
    Ok(Json(ScheduledNotebooks { notebooks }))
}

async fn lines(app: &App, document: &Document) -> Result<Vec<ScheduleLine>, Problem> {
    let at = app.clock.now();
    let mut schedules = Vec::new();
    for (id, schedule) in &document.schedules {
        let table = Timetable::of(schedule).filter(|_| !document.archived && !schedule.stopped);
        let next = table.map(|table| table.next(at, SHOWN_TIMES)).unwrap_or_default();
        let maker_name = match &schedule.maker {
            Actor::User { id } => app.accounts.store().user(id).await?.map(|user| user.name),
            _ => None,
        };
        schedules.push(ScheduleLine { id: id.clone(), schedule: schedule.clone(), maker_name, next });
    }
    Ok(schedules)
}

async fn run_now(
    submit: Submit,
    Params((_, schedule_id)): Params<SchedulePath>,
    OptionalJson(request): OptionalJson<ScheduleRunRequest>,
) -> Result<Created<Json<ScheduleRunAnswer>>, Problem> {
    let run = request.run.unwrap_or_else(|| super::notebooks::new_notebook_id(&submit.who, &submit.conditions));
    let command = Command::RunSchedule(RunSchedule { schedule_id, run: run.clone() });
    let Accepted(answer) = submit.command(&command).await?;
    Ok(Created(Json(ScheduleRunAnswer { run, version: answer.version })))
}

async fn list_runs(
    NotebookCaller { app, notebook, .. }: NotebookCaller,
    Params((_, schedule)): Params<SchedulePath>,
    QueryOf(query): QueryOf<ScheduledRunsQuery>,
) -> Result<Json<ScheduledRuns>, Problem> {
    let runs = runs_of(&*app.store, &notebook, &schedule).await?;
    let limit = query.limit.unwrap_or(50).clamp(1, 200);
    Ok(Json(ScheduledRuns { runs: runs.into_iter().rev().take(limit).map(line).collect() }))
}

fn line(PastScheduledRun { version, requested_by, started, ended }: PastScheduledRun) -> ScheduledRunLine {
    let (ended_at, ended) = ended.unzip();
    let (started_at, started) = started.unzip();
    let due = started.as_ref().and_then(|it| it.due).or_else(|| ended.as_ref().and_then(|it| it.due));
    ScheduledRunLine {
        version,
        run: started.as_ref().map(|it| it.run.clone()),
        ran_version: started.as_ref().map(|it| it.version),
        due,
        requested_by,
        started_at,
        ended_at,
        outcome: ended.as_ref().map(|it| it.outcome.clone()),
        cell_id: ended.as_ref().and_then(|it| it.cell_id.clone()),
        error: ended.as_ref().and_then(|it| it.error.clone()),
        detail: ended.as_ref().and_then(|it| it.detail.clone()),
        missed: ended.and_then(|it| it.missed),
    }
}

async fn times(
    State(app): State<App>,
    _: Authenticated,
    QueryOf(query): QueryOf<ScheduleTimesQuery>,
) -> Result<Json<ScheduleTimes>, Problem> {
    let table = Timetable::checked(query.cron.trim(), query.timezone.as_deref().unwrap_or("UTC"));
    let table = table.map_err(|error| Problem::invalid(error.to_string()))?;
    Ok(Json(ScheduleTimes { next: table.next(app.clock.now(), SHOWN_TIMES) }))
}
