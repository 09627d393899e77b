//! Runner of schedules: claims runs that are due, in the notebooks that this node owns, and carries them out.
//!
//! Claim, act, report: a run begins with `ScheduledRunStarted` in the scheduled notebook, which names the run's own notebook. Each later
//! step is a command with a fixed id in that notebook, so that a repetition after a crash changes nothing. Whatever node owns the scheduled
//! notebook follows the run by the record, and reports its end once.

mod history;
mod plan;
mod work;

pub use history::{PastScheduledRun, runs_of};

use std::collections::BTreeSet;
use std::sync::Arc;

use dashmap::{DashMap, Entry};
use futures_util::StreamExt;
use notarium_core::{
    Actor, Command, Document, EndScheduledRun, Millis, NotebookId, Operation, Rejection, Schedule, ScheduleId,
    ScheduledRunOutcome, StartScheduledRun, may,
};
use notarium_store::{CatalogQuery, StoreError};
use tokio_util::sync::CancellationToken;

use crate::auth::Authenticated;
use crate::notebooks::Notebooks;
use crate::timetable::{DueRuns, NOTHING_DUE, Timetable, due_at};
use work::RunInProgress;

/// Time after its minute within which a run still begins; later it was missed.
const GRACE_MS: Millis = 5 * 60 * 1_000;
/// Notebooks that are looked at together.
const LOOKED_AT_TOGETHER: usize = 8;
const MINUTE_MS: Millis = 60_000;

/// Runner of one node.
struct ScheduleRunner {
    notebooks: Arc<Notebooks>,
    /// Runs that this node carries out, by their notebooks.
    runs: DashMap<NotebookId, RunUnderWay>,
    /// Times at which notebooks are due that this node has looked at: their rows in the list may lag.
    due: DashMap<NotebookId, Millis>,
}

struct RunUnderWay {
    scheduled: NotebookId,
    /// Cancelled when the record has ended the run: its schedule was removed.
    over: CancellationToken,
}

/// Looks for due runs at each minute, and at the schedules of a notebook when they change, until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    let (stopping, clock) = (notebooks.stopping.clone(), notebooks.clock.clone());
    let runner = Arc::new(ScheduleRunner { notebooks: notebooks.clone(), runs: DashMap::new(), due: DashMap::new() });
    let mut changes = notebooks.cluster.changes();
    let mut minute = 0;
    loop {
        if clock.now() >= minute {
            minute = (clock.now() / MINUTE_MS + 1) * MINUTE_MS;
            if stopping.run_until_cancelled(runner.look()).await.is_none() {
                return;
            }
        }
        let nodes_change = async {
            let is_told = match &mut changes {
                Some(changes) => changes.changed().await.is_ok(),
                None => false,
            };
            if !is_told {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = stopping.cancelled() => return,
            notice = notebooks.rooms.schedules_due.take() => runner.look_at(&notice.notebook).await,
            () = clock.sleep_until(minute) => {}
            // Runs of a node that is gone go on at the next owner.
            () = nodes_change => minute = 0,
        }
    }
}

impl ScheduleRunner {
    /// Looks at all notebooks where something is due.
    async fn look(self: &Arc<Self>) {
        match self.due_notebooks().await {
            Ok(due) => {
                let looks = due.into_iter().map(|id| {
                    let runner = self.clone();
                    async move { runner.look_at(&id).await }
                });
                let looks = futures_util::stream::iter(looks).buffer_unordered(LOOKED_AT_TOGETHER);
                looks.collect::<()>().await;
            }
            Err(error) => tracing::warn!(%error, "due schedules were not read: they are looked for again in a minute"),
        }
    }

    async fn due_notebooks(&self) -> Result<BTreeSet<NotebookId>, StoreError> {
        let now = self.notebooks.clock.now();
        let known = self.due.iter().filter(|due| *due.value() <= now).map(|due| due.key().clone());
        let mut due: BTreeSet<NotebookId> = known.collect();
        let query = CatalogQuery { due_by: Some(now), ..CatalogQuery::default() };
        self.notebooks.each_listed(query, |entry| _ = due.insert(entry.notebook_id)).await?;
        Ok(due)
    }

    async fn look_at(self: &Arc<Self>, notebook: &NotebookId) {
        // An unknown owner: the next look tells.
        self.due.remove(notebook);
        if !self.notebooks.cluster.owns(notebook).await.unwrap_or(false) {
            return;
        }
        let Ok(read) = self.notebooks.read_by_server(notebook).await else { return };
        if read.read_only {
            return;
        }
        if let Some(at) = due_at(&read.notebook).filter(|at| *at < NOTHING_DUE) {
            self.due.insert(notebook.clone(), at);
        }
        self.stop_what_is_over(&read.notebook);
        for (id, schedule) in &read.notebook.schedules {
            if let Err(rejection) = self.look_at_one(&read.notebook, id, schedule).await {
                tracing::warn!(%notebook, schedule = %id, %rejection, "a scheduled run did not begin: it is tried again");
            }
        }
    }

    /// Stops runs of this notebook that the record has ended.
    fn stop_what_is_over(&self, document: &Document) {
        for under_way in self.runs.iter().filter(|under_way| under_way.scheduled == document.notebook_id) {
            let mut known = document.schedules.values().filter_map(|schedule| schedule.run.as_ref());
            if !known.any(|run| run.notebook == *under_way.key()) {
                under_way.over.cancel();
            }
        }
    }

    async fn look_at_one(
        self: &Arc<Self>,
        document: &Document,
        id: &ScheduleId,
        schedule: &Schedule,
    ) -> Result<(), Rejection> {
        if schedule.run.is_some() {
            self.carry_out(document.notebook_id.clone(), id.clone(), schedule);
            return Ok(());
        }
        let now = self.notebooks.clock.now();
        let is_idle = document.archived || schedule.stopped;
        let Some(table) = Timetable::of(schedule).filter(|_| !is_idle) else { return Ok(()) };
        let Some(due) = table.due(schedule.after, now) else { return Ok(()) };
        let begins = now - due.last <= GRACE_MS || schedule.settings.catch_up;
        let missed = match begins {
            false => Some(due),
            true => table.due(schedule.after, due.last - 1),
        };
        if let Some(missed) = missed {
            self.record_missed(document, id, missed).await?;
        }
        match begins {
            true => self.begin(document, id, schedule, due.last).await,
            false => Ok(()),
        }
    }

    /// Claims the run of a minute, if its maker may still run the notebook. The claim's event wakes this runner.
    async fn begin(
        &self,
        document: &Document,
        id: &ScheduleId,
        schedule: &Schedule,
        due: Millis,
    ) -> Result<(), Rejection> {
        let notebook = &document.notebook_id;
        if let Err(detail) = check_rights(&self.notebooks, document, &schedule.maker).await? {
            let end = EndScheduledRun {
                due: Some(due),
                detail: Some(detail.to_owned()),
                ..end_of(id, None, ScheduledRunOutcome::Refused)
            };
            return record_end(&self.notebooks, notebook, end).await;
        }
        let start = StartScheduledRun { schedule_id: id.clone(), run: self.new_notebook().await, due };
        self.notebooks.execute_by_server(notebook, Command::StartScheduledRun(start)).await.map(drop)
    }

    async fn record_missed(
        &self,
        document: &Document,
        id: &ScheduleId,
        DueRuns { last, count }: DueRuns,
    ) -> Result<(), Rejection> {
        let missed = (count > 1).then_some(count);
        let end = EndScheduledRun { due: Some(last), missed, ..end_of(id, None, ScheduledRunOutcome::Missed) };
        record_end(&self.notebooks, &document.notebook_id, end).await
    }

    /// Chooses an id for the notebook of a run, which this node is to open if that is found quickly.
    async fn new_notebook(&self) -> NotebookId {
        const ATTEMPTS: usize = 16;
        for _ in 0..ATTEMPTS {
            let id: NotebookId = ulid::Ulid::generate().into();
            if self.notebooks.cluster.owns(&id).await.unwrap_or(true) {
                return id;
            }
        }
        ulid::Ulid::generate().into()
    }

    /// Carries a claimed run out, unless this node does it already.
    fn carry_out(self: &Arc<Self>, notebook: NotebookId, id: ScheduleId, schedule: &Schedule) {
        let Some(run) = schedule.run.clone() else { return };
        let Entry::Vacant(place) = self.runs.entry(run.notebook.clone()) else { return };
        let over = CancellationToken::new();
        place.insert(RunUnderWay { scheduled: notebook.clone(), over: over.clone() });
        let (runner, schedule) = (self.clone(), schedule.clone());
        tokio::spawn(async move {
            let run_notebook = run.notebook.clone();
            let notebooks = runner.notebooks.clone();
            let work = RunInProgress { notebooks, notebook, schedule_id: id, schedule, run, over };
            let stopping = runner.notebooks.stopping.clone();
            stopping.run_until_cancelled(work.carry_out()).await;
            runner.runs.remove(&run_notebook);
        });
    }
}

/// Reads the maker's rights; `Err`: they have ended, in a sentence.
async fn check_rights(
    notebooks: &Notebooks,
    document: &Document,
    maker: &Actor,
) -> Result<Result<Authenticated, &'static str>, Rejection> {
    let Some(person) = person(notebooks, maker).await? else {
        return Ok(Err(
            "the account of the person in whose name it runs is closed: set the schedule again in another name",
        ));
    };
    let authority = person.authority_for(&document.notebook_id);
    let now = notebooks.clock.now();
    let has_right = |operation| may(document, maker, &authority, now, operation);
    match has_right(Operation::Read) && has_right(Operation::Run) {
        true => Ok(Ok(person)),
        false => Ok(Err(
            "the person in whose name it runs may not run this notebook any more: set the schedule again in another name",
        )),
    }
}

/// The person as a session would have it now; `None`: the account is closed.
async fn person(notebooks: &Notebooks, actor: &Actor) -> Result<Option<Authenticated>, Rejection> {
    let Actor::User { id } = actor else { return Ok(None) };
    notebooks.accounts.as_session(id).await.map_err(|error| {
        Rejection::new(notarium_core::RejectionCode::Unavailable, format!("accounts could not be read: {error}"))
    })
}

/// An end without details.
fn end_of(schedule_id: &ScheduleId, run: Option<NotebookId>, outcome: ScheduledRunOutcome) -> EndScheduledRun {
    EndScheduledRun {
        schedule_id: schedule_id.clone(),
        run,
        due: None,
        outcome,
        cell_id: None,
        error: None,
        detail: None,
        missed: None,
    }
}

/// Records the end of a run. The record tells people of it (`server/notices`).
async fn record_end(notebooks: &Notebooks, notebook: &NotebookId, end: EndScheduledRun) -> Result<(), Rejection> {
    let (schedule, outcome, run) = (end.schedule_id.clone(), end.outcome, end.run.clone());
    notebooks.execute_by_server(notebook, Command::EndScheduledRun(end)).await?;
    tracing::info!(%notebook, %schedule, ?outcome, ?run, "a scheduled run ended");
    Ok(())
}
