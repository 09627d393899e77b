//! The task of one notebook: reads the state, does the step that [`next`] returns for every turn, starts and reports tool calls.
//!
//! The worker sends its commands one after the other. Model calls and waits for runs are separate tasks, which report to
//! the worker. The worker never decides what an assistant may do: the core does, and refuses commands that should not have been sent.
//!
//! If the notebook has another owner, its worker does the steps, and takes the claims of this process for those of a dead one. Then this worker
//! forgets its work, and only reads the state for those who watch it. What it sends until it knows is refused, because every command
//! names the epoch of the state that it follows from.

mod steps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    Actor, Command, Document, Epoch, Event, ExplainedCause, MessageBlock, MessageRole, NotebookId, Recorded, Rejection,
    RejectionCode, StopReason, ToolCall, ToolCallEnd, ToolCallId, ToolCallPhase, Turn, TurnEnd, TurnFailure, TurnId,
    Usage, Version,
};
use notarium_wire::{AckMessage, ActivityKind, TurnActivity};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use super::executor::{CallEffects, CallOutcome, ToolTask, execute};
use super::model_call::{ModelCall, ModelCallUpdate, TaskReport};
use super::{Runtime, WorkerHandle};
use crate::context::messages;
use crate::host::{CommittedEvents, DocumentInEpoch};
use crate::providers::{self, ModelProvider};
use crate::turn::{Live, Record, Step, ToolRequest, failed, is_taken_up, next};

pub(super) struct Worker {
    runtime: Arc<Runtime>,
    id: NotebookId,
    handle: WorkerHandle,
    notebook: Arc<Document>,
    /// The room's commits.
    committed: CommittedEvents,
    /// Commits after the state that was read last.
    unseen: VecDeque<Arc<[Recorded]>>,
    turns: BTreeMap<TurnId, TurnState>,
    /// False: another process owns the notebook, and does its work.
    is_owner: bool,
    /// Epoch of the lease in which `notebook` was read.
    epoch: Epoch,
    /// Calls that this process executes.
    executing: BTreeSet<ToolCallId>,
    /// Delays of the turns and calls whose last step failed.
    backoff: Backoff,
    /// Start of the last round of work: the timer waits for delays that were running then.
    looked_at: Instant,
    /// Time at which the worker ends, if everything still waits for people then.
    leaves_at: Option<Instant>,
    /// Sender for the tasks.
    reporter: mpsc::UnboundedSender<TaskReport>,
    reports: mpsc::UnboundedReceiver<TaskReport>,
}

/// One turn. Dropping it stops its model call.
struct TurnState {
    /// Version of its start: distinguishes turns if an id is used again.
    started: Version,
    /// Its events in the log, up to the version `seen`.
    record: Record,
    seen: Version,
    live: Live,
    model_call: Option<AbortOnDropHandle<Option<()>>>,
}

/// Result of one step of a turn or a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepProgress {
    Made,
    None,
}

impl Worker {
    pub(super) fn new(runtime: Arc<Runtime>, id: NotebookId, handle: WorkerHandle) -> Self {
        let (reporter, reports) = mpsc::unbounded_channel();
        Self {
            committed: runtime.host.follow(&id),
            unseen: VecDeque::new(),
            runtime,
            notebook: Arc::new(Document::new(id.clone())),
            id,
            handle,
            turns: BTreeMap::new(),
            is_owner: true,
            epoch: 0,
            executing: BTreeSet::new(),
            backoff: Backoff::default(),
            looked_at: Instant::now(),
            leaves_at: None,
            reporter,
            reports,
        }
    }

    /// Runs until only people can continue, or the runtime stops. A person's answer wakes the notebook, which starts a new
    /// worker: no large notebook stays in memory for a call that waits a day.
    pub(super) async fn run(mut self) {
        let stopping = self.runtime.stopping.clone();
        let work = async {
            loop {
                self.work().await;
                if !self.may_leave() {
                    self.wait().await;
                } else if self.runtime.leave(&self.id) {
                    break;
                }
            }
        };
        tokio::select! {
            () = stopping.cancelled() => {}
            () = work => {}
        }
    }

    fn is_idle(&self) -> bool {
        self.notebook.turns.is_empty() && self.notebook.tool_calls.is_empty() && self.executing.is_empty()
    }

    /// True for an idle notebook, and after `stay` for one that waits for people; never while it is watched.
    fn may_leave(&mut self) -> bool {
        if !self.is_owner {
            return self.is_unwatched();
        }
        // If the notebook could not be read, idleness is unknown.
        let is_idle = self.is_idle() && !self.backoff.has("", self.looked_at);
        if is_idle && self.is_unwatched() {
            return true;
        }
        if !is_idle && !self.waits_for_people() {
            self.leaves_at = None;
            return false;
        }
        let (now, stay) = (Instant::now(), self.runtime.config.stay);
        if *self.leaves_at.get_or_insert(now + stay) > now {
            return false;
        }
        self.leaves_at = Some(now + stay);
        self.is_unwatched()
    }

    /// True if every call waits for a person, and every turn for such a call. This worker must hold no state that a new one lacks.
    fn waits_for_people(&self) -> bool {
        let calls = || self.notebook.tool_calls.values();
        let waiting: BTreeSet<&TurnId> = calls().filter_map(|call| call.turn_id.as_ref()).collect();
        self.executing.is_empty()
            && self.backoff.next(self.looked_at).is_none()
            && calls().all(|call| call.phase == ToolCallPhase::Waiting)
            && self
                .turns
                .iter()
                .all(|(turn_id, turn_state)| waiting.contains(turn_id) && turn_state.live.is_forgettable())
    }

    fn is_unwatched(&self) -> bool {
        self.handle.state.receiver_count() == 0
    }

    /// Waits for a change of the notebook, the report of a task, or the end of a delay.
    async fn wait(&mut self) {
        // Nobody tells of changes that another process makes.
        let look_at = (!self.is_owner).then(|| self.looked_at + LOOK_AGAIN);
        let wake_at = self.backoff.next(self.looked_at).into_iter().chain(self.leaves_at).chain(look_at).min();
        tokio::select! {
            () = self.handle.wake.notified() => self.leaves_at = None,
            Some(report) = self.reports.recv() => self.on_report(report).await,
            () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => {}
        }
    }

    async fn on_report(&mut self, report: TaskReport) {
        // The next look at the notebook gives the work up.
        if matches!(self.runtime.host.owns(&self.id).await, Ok(false)) {
            return;
        }
        match report {
            TaskReport::ModelCall(turn_id, update) => self.on_model_call_update(&turn_id, update).await,
            TaskReport::ToolCall(call_id, done) => self.report(call_id, done).await,
        }
    }

    /// Does all steps that are possible now.
    async fn work(&mut self) {
        self.looked_at = Instant::now();
        self.backoff.tidy(self.looked_at);
        if self.refresh().await.is_err() {
            self.backoff.add("", Instant::now());
            return;
        }
        self.backoff.end("");
        while self.is_owner {
            let mut progress = self.carry_on_calls().await;
            for turn_id in self.turns_to_step() {
                if !self.backoff.has(turn_id.as_str(), self.looked_at)
                    && self.step(&turn_id).await == StepProgress::Made
                {
                    self.backoff.end(turn_id.as_str());
                    progress = StepProgress::Made;
                }
            }
            if progress == StepProgress::None {
                return;
            }
        }
    }

    /// Turns with a newly confirmed call come first: a person waits for them.
    fn turns_to_step(&self) -> Vec<TurnId> {
        let calls = self.notebook.tool_calls.values();
        let confirmed = calls.filter(|call| matches!(call.phase, ToolCallPhase::Confirmed { .. }));
        let urgent: BTreeSet<&TurnId> = confirmed.filter_map(|call| call.turn_id.as_ref()).collect();
        let mut turns: Vec<TurnId> = self.turns.keys().cloned().collect();
        turns.sort_by_key(|turn_id| !urgent.contains(turn_id));
        turns
    }

    // --- state ---

    /// Reads the notebook as it is on disk. Its owner updates every turn's record to it.
    async fn refresh(&mut self) -> Result<(), Rejection> {
        self.is_owner = self.runtime.host.owns(&self.id).await?;
        let DocumentInEpoch { document: notebook, epoch } = self.runtime.host.read(&self.id).await?;
        if !self.is_owner || epoch != self.epoch {
            self.give_up();
        }
        self.epoch = epoch;
        if self.is_owner {
            self.update_turns(&notebook).await?;
        }
        self.notebook = notebook.clone();
        self.handle.state.send_replace(notebook);
        Ok(())
    }

    /// Forgets the work, with the reports that come of it. Model calls are aborted.
    fn give_up(&mut self) {
        (self.reporter, self.reports) = mpsc::unbounded_channel();
        self.turns.clear();
        self.executing.clear();
        self.backoff = Backoff::default();
        self.leaves_at = None;
    }

    async fn update_turns(&mut self, notebook: &Arc<Document>) -> Result<(), Rejection> {
        let is_open = |id: &TurnId, turn_state: &TurnState| {
            notebook.turns.get(id).is_some_and(|turn| turn.started_version == turn_state.started)
        };
        self.turns.retain(|turn_id, turn_state| is_open(turn_id, turn_state));
        self.runtime.reasoning.retain(&self.id, |turn_id| notebook.turns.contains_key(turn_id));
        self.follow(notebook.version);
        for (turn_id, turn) in &notebook.turns {
            if self.turns.get(turn_id).is_some_and(|turn_state| turn_state.seen == notebook.version) {
                continue;
            }
            let record = self.recorded(turn_id, turn, notebook.version).await?;
            let turn_state = self.turns.entry(turn_id.clone()).or_insert_with(|| TurnState {
                started: turn.started_version,
                record: Record::default(),
                seen: 0,
                live: Live::new(self.runtime.host.instance().clone()),
                model_call: None,
            });
            (turn_state.record, turn_state.seen) = (record, notebook.version);
        }
        Ok(())
    }

    /// Passes the room's commits, up to `until`, to all turns. A turn that misses one must be read from the log.
    fn follow(&mut self, until: Version) {
        self.unseen.extend(self.committed.take());
        while let Some(commit) = self.unseen.pop_front_if(|commit| last_version(commit) <= until) {
            for (turn_id, turn_state) in &mut self.turns {
                if commit.first().is_some_and(|first| first.envelope.version == turn_state.seen + 1) {
                    commit.iter().for_each(|recorded| turn_state.record.see(turn_id, recorded));
                    turn_state.seen = last_version(&commit);
                }
            }
        }
    }

    /// A turn's record from the log up to `until`. Found by subject, so other events in between are not read.
    async fn recorded(&self, turn_id: &TurnId, turn: &Turn, until: Version) -> Result<Record, Rejection> {
        let mut events = self.events_of(&[turn.conversation_id.to_string()], turn.started_version, until).await?;
        let of_turn = events.iter().filter_map(|recorded| match &recorded.event {
            Event::MessagePosted(event) if event.turn_id.as_ref() == Some(turn_id) => Some(event.known_blocks()),
            _ => None,
        });
        let calls = of_turn.flatten().filter_map(|block| match block {
            MessageBlock::ToolCall { call_id, .. } => Some(call_id.to_string()),
            _ => None,
        });
        let calls: Vec<String> = calls.collect();
        events.extend(self.events_of(&calls, turn.started_version, until).await?);
        events.sort_by_key(|recorded| recorded.envelope.version);
        let mut record = Record::default();
        events.iter().for_each(|recorded| record.see(turn_id, recorded));
        Ok(record)
    }

    /// Events of these subjects in a range of versions, both ends included.
    async fn events_of(&self, subjects: &[String], since: Version, until: Version) -> Result<Vec<Recorded>, Rejection> {
        let events = self.runtime.host.events_of_subjects(&self.id, subjects).await?;
        let wanted = events.iter().filter(|stored| (since..=until).contains(&stored.envelope.version));
        Ok(wanted.filter_map(|stored| stored.typed().ok()).collect())
    }

    // --- commands ---

    async fn send(&mut self, actor: &Actor, command: &Command) -> Result<(), Rejection> {
        self.execute(actor, command).await?;
        self.refresh().await
    }

    async fn execute(&self, actor: &Actor, command: &Command) -> Result<AckMessage, Rejection> {
        self.runtime.host.execute_in_epoch(self.epoch, actor, &self.id, command).await
    }

    /// Handles a refused command of a turn. A transient refusal is retried; any other ends the turn, in the server's name if
    /// its person has lost all rights here.
    async fn refused(&mut self, turn_id: &TurnId, rejection: &Rejection) {
        let may_pass = matches!(
            rejection.code,
            RejectionCode::Unavailable
                | RejectionCode::AlreadyClaimed
                | RejectionCode::TurnState
                | RejectionCode::ToolCallState
                | RejectionCode::UnknownToolCall
        );
        if !may_pass {
            tracing::warn!(notebook = %self.id, turn = %turn_id, %rejection, "the turn cannot go on: it is stopped");
            let detail = format!("the assistant cannot go on: {}", rejection.message);
            let end = failed(ExplainedCause::new(TurnFailure::Refused, detail));
            if let Some(acting) = self.acting(turn_id)
                && self.end(&acting, end).await.is_ok()
            {
                return;
            }
            let cancel = Command::CancelTurn { turn_id: turn_id.clone() };
            if self.send(&Actor::System, &cancel).await.is_ok() {
                return;
            }
        }
        self.backoff.add(turn_id.as_str(), Instant::now());
        // The state may have changed since the command.
        let _ = self.refresh().await;
    }
}

fn last_version(commit: &[Recorded]) -> Version {
    commit.last().map_or(0, |recorded| recorded.envelope.version)
}

/// True if the assistant's person has no rights here any more: without any role the notebook is unknown to them.
fn is_shut_out(rejection: &Rejection) -> bool {
    matches!(rejection.code, RejectionCode::Forbidden | RejectionCode::UnknownNotebook | RejectionCode::Erased)
}

/// Runs `work` to its end, with `update` beside it.
async fn updated(work: impl Future<Output = CallOutcome>, update: Option<impl Future<Output = ()>>) -> CallOutcome {
    let Some(update) = update else { return work.await };
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = update => {}
    }
    work.await
}

/// The refusal as a sentence for the model. A conflict names versions, so that the model can read again.
fn refusal_text(rejection: &Rejection) -> String {
    match rejection.code {
        RejectionCode::Conflict => format!("409 Conflict: {}. Read it again and decide anew.", rejection.message),
        _ => rejection.message.clone(),
    }
}

fn stop_reason(stop: &providers::StopReason) -> Option<StopReason> {
    match stop {
        providers::StopReason::MaxTokens => Some(StopReason::MaxTokens),
        providers::StopReason::Refusal => Some(StopReason::Refusal),
        _ => None,
    }
}

/// Time after which the state of a notebook of another process is read again, while it is watched here.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// First delay after a failure.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// Longest delay.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Delays by the id of a turn or a call; the key "" is the notebook itself.
#[derive(Default)]
struct Backoff(BTreeMap<String, Delay>);

struct Delay {
    until: Instant,
    length: Duration,
}

impl Backoff {
    pub fn add(&mut self, what: &str, now: Instant) {
        let length = self.0.get(what).map_or(FIRST_DELAY, |delay| (delay.length * 2).min(MAX_DELAY));
        self.0.insert(what.to_owned(), Delay { until: now + length, length });
    }

    /// Removes a delay after a success.
    pub fn end(&mut self, what: &str) {
        self.0.remove(what);
    }

    pub fn has(&self, what: &str, now: Instant) -> bool {
        self.0.get(what).is_some_and(|delay| delay.until > now)
    }

    /// Time of the next delay's end; `None`: nothing is delayed.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        self.0.values().map(|delay| delay.until).filter(|until| *until > now).min()
    }

    /// Forgets entries whose delay ended one delay ago.
    pub fn tidy(&mut self, now: Instant) {
        self.0.retain(|_, delay| delay.until + delay.length > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_doubles_each_time_and_is_forgotten() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        let mut lengths = Vec::new();
        for _ in 0..8 {
            backoff.add("turn", now);
            let until = backoff.next(now).unwrap();
            assert!(backoff.has("turn", now) && !backoff.has("other", now));
            lengths.push((until - now).as_secs());
            now = until;
            assert!(!backoff.has("turn", now) && backoff.next(now).is_none());
            backoff.tidy(now);
        }
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 60, 60]);
        now += MAX_DELAY;
        backoff.tidy(now);
        backoff.add("turn", now);
        assert_eq!(backoff.next(now), Some(now + FIRST_DELAY));
        backoff.end("turn");
        assert_eq!(backoff.next(now), None);
    }
}
