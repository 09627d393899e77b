//! Follows the logs of this node's notebooks, and writes notices of their events.
//!
//! A notebook is read from its position in the store on, when one of its commits may concern people, when it is opened and when it is closed.
//! Events that a node has not read when it dies are read by the next owner. Several nodes may read the same events: the store takes the
//! notices of the first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    Actor, AgentId, Document, Event, ExecutionCause, ExecutionId, ExecutionSubject, KernelSessionId, Millis,
    NotebookId, Recorded, ScheduledRunEnded, ScheduledRunOutcome, Stored, UserId, Version,
};
use notarium_store::StoreError;
use notarium_store::accounts::{NewNotice, NoticeProgress, TokenFilter};
use notarium_wire::rest::NoticeKind;
use parking_lot::Mutex;

use super::facts::{self, Fact, NoticedEnd};
use super::people::{person_of, unread};
use super::{NoticeNewsFor, Notices, Told};
use crate::rooms::notices::NOTICED_TYPES;

/// Events per read.
const PAGE: usize = 1_000;
/// Events without a notice after which the position is written.
const MAX_UNWRITTEN: Version = 10_000;
/// Interval of looks for notebooks that nobody has read to the end.
const LOOK_EVERY: Duration = Duration::from_secs(5 * 60);
/// Notebooks per page of such a look.
const LAG_PAGE: usize = 500;
/// Running time from which a run is long, unless the person says otherwise.
pub(super) const LONG_RUN_SECONDS: u64 = 60;
/// First events of a run or kernel session that tell who asked for it.
const FIRST_EVENTS: usize = 8;
const HOUR_MS: Millis = 60 * 60 * 1000;

/// Versions up to which notebooks were read, where that is later than their position in the store.
pub(super) type ReadVersions = Mutex<BTreeMap<NotebookId, (Version, Version)>>;

/// Writes notices of notebooks that have changed, one after the other, until the server stops.
pub async fn follow(notices: Arc<Notices>) {
    let stopping = notices.notebooks.stopping.clone();
    stopping.run_until_cancelled(async { tokio::join!(take(&notices), look(&notices)) }).await;
}

async fn take(notices: &Notices) {
    loop {
        let due = notices.notebooks.rooms.notices_due.take().await;
        if let Err(error) = notices.read_on(&due.notebook).await {
            tracing::warn!(notebook = %due.notebook, %error, "notices were not written: it is tried again later");
        }
    }
}

/// Looks for notebooks whose node has died, now and then and when nodes come or go.
async fn look(notices: &Notices) {
    let mut changes = notices.notebooks.cluster.changes();
    loop {
        if let Err(error) = notices.find_lagging().await {
            tracing::warn!(%error, "notebooks without their last notices were not found: it is tried again later");
        }
        let pause = tokio::time::sleep(LOOK_EVERY);
        match &mut changes {
            // The sender is the cluster, which lives as long as the server.
            Some(changes) => tokio::select! {
                () = pause => {}
                _ = changes.changed() => {}
            },
            None => pause.await,
        }
    }
}

/// Notices of some events, and what they settle.
#[derive(Default)]
struct NewNotices {
    new: Vec<NewNotice>,
    settled: Vec<(String, Millis)>,
    /// People whose notices are settled.
    concerned: Vec<UserId>,
    document: Option<Arc<Document>>,
}

impl Notices {
    async fn find_lagging(&self) -> Result<(), StoreError> {
        let mut after = None::<NotebookId>;
        loop {
            let page = self.store.notice_lag(after.as_ref(), LAG_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.clone());
            for notebook in page {
                if self.notebooks.cluster.owns(&notebook).await? {
                    self.notebooks.rooms.notices_due.put(notebook, 0);
                }
            }
        }
    }

    /// Reads a notebook to its end.
    async fn read_on(&self, notebook: &NotebookId) -> Result<(), StoreError> {
        loop {
            let known = self.read_versions.lock().get(notebook).copied();
            let (position, after) = match known {
                Some(known) => known,
                None => {
                    let position = self.store.notice_position(notebook).await?;
                    (position, position)
                }
            };
            let events = self.notebooks.store.read(notebook, after, PAGE).await?;
            let to = events.last().map_or(after, |last| last.envelope.version);
            let page = self.notices_of(notebook, &events).await?;
            let is_open = self.notebooks.rooms.is_open(notebook);
            let is_told = !page.new.is_empty() || !page.settled.is_empty();
            if is_told || to - position > MAX_UNWRITTEN || (!is_open && to > position) {
                self.read_versions.lock().remove(notebook);
                let progress =
                    NoticeProgress { notebook: notebook.clone(), after: position, to, settled: page.settled };
                if !self.store.put_notices(&page.new, Some(&progress)).await? {
                    // Another node has read it: what that one has not is read now.
                    continue;
                }
                self.announce(&page.new);
                self.publish(page.concerned.into_iter().map(|user| NoticeNewsFor { user, notice: None }).collect());
            } else if is_open {
                self.read_versions.lock().insert(notebook.clone(), (position, to));
            }
            if events.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn notices_of(&self, notebook: &NotebookId, events: &[Stored]) -> Result<NewNotices, StoreError> {
        let mut page = NewNotices::default();
        for stored in events.iter().filter(|stored| NOTICED_TYPES.contains(&stored.envelope.event_type.as_str())) {
            // An event that is redacted, or newer than this build, says nothing.
            let Ok(recorded) = stored.typed() else { continue };
            let Some(fact) = facts::of(&recorded) else { continue };
            if let Fact::Settled { subject } = fact {
                let concerned = self.store.open_notices_of(notebook, &subject).await?;
                if !concerned.is_empty() {
                    page.settled.push((subject, recorded.envelope.recorded_at));
                    page.concerned.extend(concerned);
                }
                continue;
            }
            for told in self.told(&mut page, &recorded, fact).await? {
                page.new.extend(self.addressed(told).await?);
            }
        }
        Ok(page)
    }

    async fn told(&self, page: &mut NewNotices, recorded: &Recorded, fact: Fact) -> Result<Vec<Told>, StoreError> {
        match fact {
            Fact::CallWaits { call } => {
                let Some(document) = self.document(page, &recorded.envelope.notebook_id).await? else {
                    return Ok(Vec::new());
                };
                let Some(waiting) = document.tool_calls.get(&call) else { return Ok(Vec::new()) };
                let kind = NoticeKind::CallWaits {
                    call: call.clone(),
                    function: waiting.function.chars().take(100).collect(),
                    for_user: person_of(&waiting.requested_by),
                    expires_at: waiting.gate.until(),
                };
                let deciders = self.deciders(&document, &call).await?;
                let key = format!("{}:call:{call}", document.notebook_id);
                Ok(deciders.into_iter().map(|user| told(recorded, user, &key, call.as_str(), &kind)).collect())
            }
            Fact::Mention { subject, people, logins, by, kind } => {
                self.mentioned(page, recorded, &subject, (people, logins), &by, kind).await
            }
            Fact::NoticedEnd { execution, end } => self.run_ended(page, recorded, &execution, end).await,
            Fact::AgentGone { kernel_session } => self.agent_gone(page, recorded, &kernel_session).await,
            Fact::ScheduledRunEnd { end } => self.scheduled_run_ended(page, recorded, *end).await,
            Fact::Settled { .. } => Ok(Vec::new()),
        }
    }

    /// The notebook as it is now, read once per page. `None`: it is gone. One that cannot be read for a moment is an error, so that its
    /// events are read again.
    async fn document(
        &self,
        page: &mut NewNotices,
        notebook: &NotebookId,
    ) -> Result<Option<Arc<Document>>, StoreError> {
        if page.document.is_none() {
            page.document = self.document_of(notebook).await?;
        }
        Ok(page.document.clone())
    }

    async fn mentioned(
        &self,
        page: &mut NewNotices,
        recorded: &Recorded,
        subject: &str,
        (mut people, logins): (Vec<UserId>, Vec<String>),
        by: &Actor,
        mut kind: NoticeKind,
    ) -> Result<Vec<Told>, StoreError> {
        let notebook = &recorded.envelope.notebook_id;
        let Some(document) = self.document(page, notebook).await? else { return Ok(Vec::new()) };
        for login in logins {
            let user = self.notebooks.accounts.store().user_by_login(&login).await.map_err(unread)?;
            people.extend(user.map(|user| user.id));
        }
        if let NoticeKind::Mentioned { cell, thread: Some(thread), .. } = &mut kind {
            *cell = document.threads.get(thread).map(|thread| thread.cell_id.clone());
        }
        let mut all = Vec::new();
        let key = format!("{notebook}:mention:{subject}");
        people.sort_unstable();
        people.dedup();
        for user in people.into_iter().filter(|user| person_of(by).as_ref() != Some(user)) {
            if self.may_read(&user, &document).await? {
                all.push(told(recorded, user, &key, subject, &kind));
            }
        }
        Ok(all)
    }

    async fn run_ended(
        &self,
        page: &mut NewNotices,
        recorded: &Recorded,
        execution: &ExecutionId,
        end: NoticedEnd,
    ) -> Result<Vec<Told>, StoreError> {
        let (notebook, at) = (&recorded.envelope.notebook_id, recorded.envelope.recorded_at);
        let first = self.notebooks.store.read_subject(notebook, execution.as_str(), 0, FIRST_EVENTS).await?;
        let Some(run) = RequestedRun::of(&first) else { return Ok(Vec::new()) };
        let seconds = run.started_at.map_or(0, |started| at.saturating_sub(started) / 1000);
        let is_lost = matches!(end, NoticedEnd::Lost { .. });
        let long = self.store.notice_person(&run.user).await?.long_run_seconds.unwrap_or(LONG_RUN_SECONDS);
        if !is_lost && seconds < long {
            return Ok(Vec::new());
        }
        let Some(document) = self.document(page, notebook).await? else { return Ok(Vec::new()) };
        if !self.may_read(&run.user, &document).await? {
            return Ok(Vec::new());
        }
        // The runs of one request that are lost together are one notice.
        let key = match is_lost {
            true => format!("{notebook}:lost:{}", run.correlation),
            false => format!("{notebook}:run:{execution}"),
        };
        let (execution, cell) = (execution.clone(), run.cell);
        let subject = execution.to_string();
        let kind = match end {
            NoticedEnd::Succeeded => NoticeKind::RunEnded { execution, cell, seconds },
            NoticedEnd::Failed { cause } => NoticeKind::RunFailed { execution, cell, seconds, is_lost, cause },
            NoticedEnd::Lost { cause } => {
                NoticeKind::RunFailed { execution, cell, seconds, is_lost, cause: Some(cause) }
            }
        };
        Ok(vec![told(recorded, run.user, &key, &subject, &kind)])
    }

    async fn scheduled_run_ended(
        &self,
        page: &mut NewNotices,
        recorded: &Recorded,
        end: ScheduledRunEnded,
    ) -> Result<Vec<Told>, StoreError> {
        let Some(document) = self.document(page, &recorded.envelope.notebook_id).await? else { return Ok(Vec::new()) };
        let id = &end.schedule_id;
        // Nobody waits for a schedule that was removed meanwhile.
        let Some(schedule) = document.schedules.get(id) else { return Ok(Vec::new()) };
        let Some(user) = person_of(&schedule.maker) else { return Ok(Vec::new()) };
        if !self.may_read(&user, &document).await? {
            return Ok(Vec::new());
        }
        let times = schedule.settings.cron.clone();
        let kind = match (end.outcome.known(), end.due) {
            (Some(ScheduledRunOutcome::Missed), Some(due_at)) => {
                NoticeKind::ScheduleMissed { schedule: times, due_at, count: u64::from(end.missed.unwrap_or(1)) }
            }
            _ => NoticeKind::ScheduleFailed { schedule: times, reason: reason_of(&end) },
        };
        let key = format!("{}:schedule:{id}:{}", document.notebook_id, recorded.envelope.version);
        Ok(vec![told(recorded, user, &key, id.as_str(), &kind)])
    }

    async fn agent_gone(
        &self,
        page: &mut NewNotices,
        recorded: &Recorded,
        session: &KernelSessionId,
    ) -> Result<Vec<Told>, StoreError> {
        let notebook = &recorded.envelope.notebook_id;
        let first = self.notebooks.store.read_subject(notebook, session.as_str(), 0, FIRST_EVENTS).await?;
        let Some((agent, requester)) = launched(&first) else { return Ok(Vec::new()) };
        let tokens = TokenFilter::OfAgent(agent.clone());
        let tokens = self.notebooks.accounts.store().tokens(&tokens, 1).await.map_err(unread)?;
        let (name, maker) = tokens.into_iter().next().map(|token| (token.label, token.created_by)).unzip();
        let kind = NoticeKind::AgentGone { agent: agent.clone(), name: name.unwrap_or_else(|| agent.to_string()) };
        // One notice of an hour, in however many notebooks the agent had kernels.
        let key = format!("agent:{agent}:{}", recorded.envelope.recorded_at / HOUR_MS);
        let mut all = Vec::new();
        if let Some(user) = requester
            && let Some(document) = self.document(page, notebook).await?
            && self.may_read(&user, &document).await?
        {
            all.push(told(recorded, user, &key, agent.as_str(), &kind));
        }
        if let Some(user) = maker.filter(|maker| all.iter().all(|told| told.user != *maker)) {
            // The maker of an agent may have no right to the notebook.
            all.push(Told { place: None, ..told(recorded, user, &key, agent.as_str(), &kind) });
        }
        Ok(all)
    }
}

/// Reason for the end of a scheduled run, in one sentence.
fn reason_of(end: &ScheduledRunEnded) -> String {
    if let Some(detail) = &end.detail {
        return detail.clone();
    }
    if let Some(error) = &end.error {
        return format!("a cell ended with {error}");
    }
    let reason = match end.outcome.known() {
        Some(ScheduledRunOutcome::Lost) => "its kernel or agent was lost",
        Some(ScheduledRunOutcome::TimedOut) => "it took longer than the schedule allows",
        Some(ScheduledRunOutcome::NotStarted) => "it could not begin",
        Some(ScheduledRunOutcome::Refused) => "your rights here have ended, and the schedule is stopped",
        _ => "a cell failed",
    };
    reason.to_owned()
}

fn told(recorded: &Recorded, user: UserId, key: &str, subject: &str, kind: &NoticeKind) -> Told {
    let envelope = &recorded.envelope;
    Told {
        user,
        key: key.to_owned(),
        place: Some((envelope.notebook_id.clone(), envelope.version)),
        subject: subject.to_owned(),
        kind: kind.clone(),
        at: envelope.recorded_at,
    }
}

/// Request of a run, from its first events.
struct RequestedRun {
    user: UserId,
    cell: Option<notarium_core::CellId>,
    correlation: String,
    started_at: Option<Millis>,
}

impl RequestedRun {
    /// `None`: nobody with an account has requested it here.
    fn of(first: &[Stored]) -> Option<Self> {
        let mut run = None::<Self>;
        for recorded in first.iter().filter_map(|stored| stored.typed().ok()) {
            match &recorded.event {
                Event::ExecutionRequested(event) if event.cause != ExecutionCause::Imported => {
                    let cell = match &event.subject {
                        ExecutionSubject::Cell { cell_id, .. } => Some(cell_id.clone()),
                        ExecutionSubject::Scratch { .. } | ExecutionSubject::Tool { .. } => None,
                    };
                    let correlation = recorded.envelope.correlation_id.to_string();
                    let user = person_of(&recorded.envelope.actor)?;
                    run = Some(Self { user, cell, correlation, started_at: None });
                }
                Event::ExecutionStarted(_) => {
                    run.as_mut()?.started_at = Some(recorded.envelope.recorded_at);
                }
                _ => {}
            }
        }
        run
    }
}

/// Agent of a kernel session, and the person who requested the kernel.
fn launched(first: &[Stored]) -> Option<(AgentId, Option<UserId>)> {
    let (mut agent, mut requester) = (None, None);
    for recorded in first.iter().filter_map(|stored| stored.typed().ok()) {
        match &recorded.event {
            Event::KernelLaunchRequested(_) => requester = person_of(&recorded.envelope.actor),
            Event::KernelLaunchClaimed(event) => agent = Some(event.agent.clone()),
            Event::KernelSessionStarted(event) => agent = Some(event.agent.clone()),
            _ => {}
        }
    }
    Some((agent?, requester))
}
