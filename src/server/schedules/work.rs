//! One scheduled run: makes its notebook, launches its kernel, requests its cells, follows them, and reports the end.
//!
//! Every step is found in the record if it was taken before: a node that goes on after another one repeats commands under the same ids.

use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    Actor, Command, CommandId, Document, EndScheduledRun, Event, LaunchKernel, Millis, NotebookId, Rejection,
    RejectionCode, Schedule, ScheduleId, ScheduledRun, ScheduledRunOutcome, Subject, Version,
};
use notarium_store::StoreError;
use notarium_wire::CommandMessage;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{check_rights, end_of, history, person, plan, record_end};
use crate::auth::Authenticated;
use crate::notebooks::{Notebooks, body_of};
use crate::rooms::DecodedCommand;
use crate::timetable::Timetable;

mod following;

/// Pause before a step is tried again that the store or another node could not do.
const RETRY: Duration = Duration::from_secs(1);
/// Beginning of the ids of a run's commands.
const PREFIX: &str = "scheduled-";
const CREATE: &str = "scheduled-create";
const SHARE: &str = "scheduled-share";
const LAUNCH: &str = "scheduled-launch";
const RUN: &str = "scheduled-run";

/// A claimed run, which this node carries out.
pub struct RunInProgress {
    pub notebooks: Arc<Notebooks>,
    /// The scheduled notebook.
    pub notebook: NotebookId,
    pub schedule_id: ScheduleId,
    pub schedule: Schedule,
    pub run: ScheduledRun,
    /// Cancelled when the record has ended the run.
    pub over: CancellationToken,
}

/// Reason why a run goes no further.
enum RunStop {
    End(Box<EndScheduledRun>),
    /// A step that may succeed later.
    Failure(Rejection),
}

type RunStep<T> = Result<T, RunStop>;

impl From<Rejection> for RunStop {
    fn from(rejection: Rejection) -> Self {
        RunStop::Failure(rejection)
    }
}

impl RunInProgress {
    /// Goes on until the end is recorded. A step that fails because of the store or the cluster is repeated.
    pub async fn carry_out(&self) {
        loop {
            let end = match self.go_on().await {
                Ok(end) | Err(RunStop::End(end)) => *end,
                Err(RunStop::Failure(rejection)) if rejection.code != RejectionCode::Unavailable => {
                    self.explained(ScheduledRunOutcome::NotStarted, rejection.message)
                }
                Err(RunStop::Failure(rejection)) => {
                    self.pause(&rejection).await;
                    continue;
                }
            };
            match self.finish(end).await {
                Ok(()) => return,
                Err(rejection) if rejection.code == RejectionCode::Unavailable => self.pause(&rejection).await,
                // The notebook was erased, or written by a newer server.
                Err(rejection) => {
                    return tracing::warn!(notebook = %self.notebook, %rejection, "no end of a scheduled run");
                }
            }
        }
    }

    async fn pause(&self, rejection: &Rejection) {
        tracing::warn!(notebook = %self.notebook, run = %self.run.notebook, %rejection, "a scheduled run waits");
        self.notebooks.clock.sleep(RETRY).await;
    }

    async fn go_on(&self) -> RunStep<Box<EndScheduledRun>> {
        if self.notebooks.store.head(&self.run.notebook).await.map_err(unread)?.is_none() {
            self.create().await?;
        } else if !self.is_own(&self.run.notebook, Some(&self.run.actor)).await.map_err(unread)? {
            let detail = "another notebook has the id of this run: choose a new one";
            return Err(self.stop(ScheduledRunOutcome::NotStarted, detail));
        }
        self.share().await?;
        let state = self.state().await?;
        let parts = plan::parts(&state);
        if parts.is_empty() {
            return Ok(Box::new(self.end(ScheduledRunOutcome::Succeeded)));
        }
        self.launch().await?;
        for (number, part) in parts.iter().enumerate() {
            self.command(&format!("{RUN}-{}", number + 1), plan::request(part)).await?;
            self.follow(part).await?;
        }
        Ok(Box::new(self.end(ScheduledRunOutcome::Succeeded)))
    }

    /// Shuts the kernel down, records the end, and archives what is too old to stay in the list.
    async fn finish(&self, end: EndScheduledRun) -> Result<(), Rejection> {
        if !self.is_here().await {
            // The owner of the scheduled notebook goes on, or has ended the run.
            return Ok(());
        }
        match self.is_own(&self.run.notebook, Some(&self.run.actor)).await {
            Ok(true) => self.shut_down().await,
            Err(error @ StoreError::Unavailable { .. }) => return Err(unread(error)),
            Ok(false) | Err(_) => {}
        }
        record_end(&self.notebooks, &self.notebook, end).await?;
        self.archive_old().await;
        Ok(())
    }

    /// True if this node owns the scheduled notebook, by what the store says now.
    async fn is_here(&self) -> bool {
        self.notebooks.cluster.forget(&self.notebook);
        self.notebooks.cluster.owns(&self.notebook).await.unwrap_or(true)
    }

    // --- the notebook ---

    /// Makes the run's notebook, a fork of the version, in the name of the person.
    async fn create(&self) -> RunStep<()> {
        let who = self.person().await?;
        let now = self.notebooks.read_by_server(&self.notebook).await?.notebook;
        let source = match self.run.version == now.version {
            true => now,
            false => {
                let past = self.notebooks.replays.state_at(&*self.notebooks.store, &self.notebook, self.run.version);
                Arc::new(past.await.map_err(|problem| unavailable(problem.detail.clone()))?)
            }
        };
        let at = self.run.due.unwrap_or(self.run.started_at);
        let title = plan::title(&source.title, Timetable::of(&self.schedule).as_ref(), at);
        let command = plan::create(&source, title, &self.run.settings.parameters)
            .map_err(|detail| self.stop(ScheduledRunOutcome::NotStarted, detail))?;
        self.command_as(&who, CREATE, command).await
    }

    /// True if a notebook was made by a run of the scheduled one, in the name of this person: people choose ids of runs, and may choose that
    /// of another notebook.
    async fn is_own(&self, run: &NotebookId, person: Option<&Actor>) -> Result<bool, StoreError> {
        let first = self.notebooks.store.read(run, 0, 1).await?;
        let Some(created) = first.first() else { return Ok(false) };
        let envelope = &created.envelope;
        let is_by_run = envelope.command_id.as_str() == CREATE && person.is_none_or(|person| envelope.actor == *person);
        let origin = match created.typed().map(|recorded| recorded.event) {
            Ok(Event::NotebookCreated(event)) => event.forked_from,
            _ => None,
        };
        Ok(is_by_run && origin.is_some_and(|origin| origin.notebook == self.notebook))
    }

    /// Gives those who have the scheduled notebook the same access to the run's, and puts it into the same workspace. What is refused is
    /// left out: an account may be closed.
    async fn share(&self) -> RunStep<()> {
        let who = self.person().await?;
        let (source, run) = (self.notebooks.read_by_server(&self.notebook).await?.notebook, self.state().await?);
        if run.kernels.is_empty() && run.executions.is_empty() {
            self.place(&who).await;
        }
        let now = self.notebooks.clock.now();
        for entry in &source.access {
            let is_known = run.access.iter().any(|other| other.subject == entry.subject);
            let is_over = entry.grant.expires_at.is_some_and(|at| at <= now);
            if is_known || is_over || matches!(entry.subject, Subject::ShareLink { .. }) {
                continue;
            }
            let (subject, role, expires_at) = (entry.subject.clone(), entry.grant.role, entry.grant.expires_at);
            let grant = Command::GrantAccess { subject, role, expires_at };
            // Once for each: whoever loses the access during the run does not get it back when another node goes on.
            let digest = hex::encode(Sha256::digest(entry.subject.key()));
            match self.command_as(&who, &format!("{SHARE}-{}", &digest[..32]), grant).await {
                Err(RunStop::Failure(rejection)) if rejection.code != RejectionCode::Unavailable => {
                    tracing::info!(%rejection, run = %self.run.notebook, "access to a run was not given");
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Puts the run's notebook into the workspace of the scheduled one.
    async fn place(&self, who: &Authenticated) {
        if let Some(workspace) = self.notebooks.accounts.workspace_of(&self.notebook)
            && self.notebooks.accounts.workspace_of(&self.run.notebook).is_none()
            && let Err(error) = self.notebooks.accounts.place_notebook(who, &self.run.notebook, Some(&workspace)).await
        {
            tracing::info!(%error, run = %self.run.notebook, "the notebook of a run is in no workspace");
        }
    }

    async fn launch(&self) -> RunStep<()> {
        let settings = &self.run.settings;
        let (agent, labels) = (settings.agent.clone(), settings.labels.clone());
        self.command(LAUNCH, Command::LaunchKernel(LaunchKernel { kernelspec: None, agent, labels })).await
    }

    // --- steps ---

    /// The person in whose name the run is. Ends the run if the person's rights have ended.
    async fn person(&self) -> RunStep<Authenticated> {
        let document = self.notebooks.read_by_server(&self.notebook).await?.notebook;
        let person = check_rights(&self.notebooks, &document, &self.run.actor).await?;
        person.map_err(|detail| self.stop(self.without_rights(&document), detail))
    }

    /// Executes a command in the run's notebook, in the name of the person. One that was executed before is no error.
    async fn command(&self, id: &str, command: Command) -> RunStep<()> {
        let who = self.person().await?;
        self.command_as(&who, id, command).await
    }

    async fn command_as(&self, who: &Authenticated, id: &str, command: Command) -> RunStep<()> {
        let id = CommandId::new(id).map_err(|error| Rejection::new(RejectionCode::InvalidValue, error.to_string()))?;
        let message = CommandMessage::new(id, self.run.notebook.clone(), body_of(&command)?);
        match self.notebooks.execute_decoded(who, DecodedCommand::of(message, command)).await {
            Ok(_) => Ok(()),
            // The cells were changed since: what was requested is under way.
            Err(rejection) if rejection.code == RejectionCode::CommandIdReused => Ok(()),
            Err(rejection) => Err(rejection.into()),
        }
    }

    async fn state(&self) -> RunStep<Arc<Document>> {
        match self.notebooks.read_by_server(&self.run.notebook).await {
            Ok(read) => Ok(read.notebook),
            Err(rejection) if rejection.code == RejectionCode::Erased => {
                Err(self.stop(ScheduledRunOutcome::Cancelled, "the notebook of the run was erased"))
            }
            Err(rejection) => Err(rejection.into()),
        }
    }

    async fn shut_down(&self) {
        let Ok(read) = self.notebooks.read_by_server(&self.run.notebook).await else { return };
        for (kernel_session, kernel) in &read.notebook.kernels {
            if !self.is_of_run(kernel.requested_version).await {
                continue;
            }
            let command = Command::ShutDownKernel { kernel_session: kernel_session.clone() };
            // One that ends meanwhile is what was asked for.
            let _ = self.notebooks.execute_by_server(&self.run.notebook, command).await;
        }
    }

    /// True if a command of the run led to the event of this version: kernels that people start in the run's notebook are theirs.
    async fn is_of_run(&self, version: Version) -> bool {
        let read = self.notebooks.store.read(&self.run.notebook, version.saturating_sub(1), 1).await;
        let command = read.ok().and_then(|events| Some(events.first()?.envelope.command_id.clone()));
        command.is_some_and(|command| command.as_str().starts_with(PREFIX))
    }

    /// Archives notebooks of older runs, from the newest on, up to the first that is archived or gone.
    async fn archive_old(&self) {
        let Ok(runs) = history::runs_of(&*self.notebooks.store, &self.notebook, &self.schedule_id).await else {
            return;
        };
        let notebooks = runs.iter().rev().filter_map(|run| run.notebook());
        for old in notebooks.skip(self.run.settings.kept_runs as usize) {
            match self.notebooks.read_by_server(old).await {
                Ok(read) if !read.notebook.archived => {}
                _ => return,
            }
            if !self.is_own(old, None).await.unwrap_or(false) {
                continue;
            }
            if let Err(rejection) = self.notebooks.execute_by_server(old, Command::ArchiveNotebook {}).await {
                tracing::info!(%rejection, run = %old, "the notebook of an old run was not archived");
            }
        }
    }

    // --- ends ---

    fn end(&self, outcome: ScheduledRunOutcome) -> EndScheduledRun {
        EndScheduledRun { due: self.run.due, ..end_of(&self.schedule_id, Some(self.run.notebook.clone()), outcome) }
    }

    fn explained(&self, outcome: ScheduledRunOutcome, detail: impl Into<String>) -> EndScheduledRun {
        EndScheduledRun { detail: Some(detail.into()), ..self.end(outcome) }
    }

    fn stop(&self, outcome: ScheduledRunOutcome, detail: impl Into<String>) -> RunStop {
        RunStop::End(Box::new(self.explained(outcome, detail)))
    }

    /// End of a run whose person has lost the rights. `Refused` stops the schedule, so it is for the schedule's maker alone.
    fn without_rights(&self, document: &Document) -> ScheduledRunOutcome {
        match document.schedules.get(&self.schedule_id) {
            Some(schedule) if schedule.maker != self.run.actor => ScheduledRunOutcome::Cancelled,
            _ => ScheduledRunOutcome::Refused,
        }
    }

    /// Time by which the run has to be over.
    fn deadline(&self) -> Millis {
        self.run.started_at + Millis::from(self.run.settings.max_run_minutes) * 60_000
    }

    /// Outcome if the person's rights have ended.
    async fn lost_rights(&self) -> Result<Option<ScheduledRunOutcome>, Rejection> {
        let document = self.notebooks.read_by_server(&self.notebook).await?.notebook;
        let has_rights = check_rights(&self.notebooks, &document, &self.run.actor).await?.is_ok();
        Ok((!has_rights).then(|| self.without_rights(&document)))
    }

    /// Answers a request for input as the end of the input: nobody is there.
    async fn answer_input(&self, document: &Document) -> RunStep<()> {
        let asking = document.executions.iter().filter(|(_, execution)| execution.pending_input.is_some());
        for (execution_id, _) in asking {
            let Actor::User { .. } = &self.run.actor else { continue };
            let Some(who) = person(&self.notebooks, &self.run.actor).await? else { continue };
            let (execution_id, value) = (execution_id.clone(), END_OF_INPUT.to_owned());
            let command = Command::AnswerInput { execution_id, value };
            // A person may have answered meanwhile.
            let _ = self.command_as(&who, ulid::Ulid::generate().to_string().as_str(), command).await;
        }
        Ok(())
    }
}

/// Answer to `input()` that Jupyter's Python kernel takes as the end of the input.
const END_OF_INPUT: &str = "\u{4}";

fn unread(error: StoreError) -> Rejection {
    unavailable(error.to_string())
}

fn unavailable(detail: String) -> Rejection {
    Rejection::new(RejectionCode::Unavailable, format!("the notebook could not be read: {detail}"))
}
