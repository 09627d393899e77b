//! Follows one notebook over the socket across reconnects, and runs in it to their ends.

use std::collections::{BTreeMap, BTreeSet};

use notarium_agent::connection::{CommandSender, Connection, ConnectionEvent};
use notarium_core::{
    Command, Document, Effect, Effects, Event, Execution, ExecutionEffectRefused, ExecutionId, ExecutionOutcome,
    ExecutionStatus, ExecutionTarget, KernelLaunchRequested, KernelSessionId, NotebookId, Outcome, Output, Recorded,
    RequestExecution, RequestedEffects, Version, session_of,
};
use notarium_wire::rest::Run;
use notarium_wire::{ErrorMessage, KernelStatus, ServerMessage};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::runs::kernels;
use crate::cli::terminal::print;
use crate::cli::words::narrate::EndRequests;
use crate::cli::words::outputs::{Bars, follow_kernel};
use crate::cli::{Ended, Failure};

/// A followed notebook.
pub struct NotebookFollower {
    connection: Connection,
    pub notebook: NotebookId,
}

impl NotebookFollower {
    /// Connects and subscribes.
    pub async fn enter(NotebookClient { client, id }: &NotebookClient) -> Result<Self, Failure> {
        let (mut connection, _) = Connection::open(client.connect_options()).await?;
        let notebook = id.clone();
        connection.subscribe(&notebook);
        Ok(Self { connection, notebook })
    }

    /// The notebook's state; `None` before it has come.
    pub fn state(&self) -> Option<&Document> {
        self.connection.replica(&self.notebook)
    }

    pub fn sender(&self) -> CommandSender {
        self.connection.sender()
    }

    /// Subscribes to messages of kernels that are not in the log; needed after each subscription.
    pub fn follow_progress(&self) {
        if let Some(state) = self.state() {
            state.kernels.keys().for_each(|kernel| follow_kernel(&self.sender(), &self.notebook, kernel));
        }
    }

    /// The next event. `Connected` is returned only after a cut. Cancel safe.
    pub async fn next(&mut self) -> Result<ConnectionEvent, Failure> {
        let event = self.connection.next().await;
        match event {
            ConnectionEvent::Failed(error) => return Err(error.into()),
            ConnectionEvent::Message(ref message) => self.check(message)?,
            _ => {}
        }
        Ok(event)
    }

    /// Turns messages that end this program's access into failures.
    fn check(&self, message: &ServerMessage) -> Ended {
        match message {
            ServerMessage::Access { notebook, role: None } if *notebook == self.notebook => {
                Err(Failure::connection("your access to the notebook was taken away: ask an owner"))
            }
            ServerMessage::Error(ErrorMessage { notebook: Some(notebook), message, .. })
                if *notebook == self.notebook =>
            {
                Err(Failure::failed(message.clone()))
            }
            _ => Ok(()),
        }
    }
}

/// Updates of followed runs.
#[derive(Debug)]
pub enum RunUpdate {
    Started(ExecutionId),
    Outputs(ExecutionId, Vec<Output>),
    Asks(RunQuestion),
    Answered(ExecutionId),
    Ended(ExecutionId, End),
    /// A note for people about the kernel or the connection.
    Note(String),
    /// Progress of a run: [`Runs::bars`].
    Progress,
}

/// An input request of a run.
#[derive(Debug, Clone)]
pub struct RunQuestion {
    pub id: ExecutionId,
    pub prompt: String,
    pub is_password: bool,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub status: ExecutionStatus,
    pub notice: Option<String>,
}

impl End {
    /// The result in an event; `None` for other events.
    fn of(event: &Event) -> Option<Self> {
        let (status, notice) = match event {
            Event::ExecutionCompleted(event) if event.outcome == ExecutionOutcome::Ok => {
                (ExecutionStatus::Ok, event.notice.clone())
            }
            Event::ExecutionCompleted(event) => (ExecutionStatus::Error, event.notice.clone()),
            Event::ExecutionCancelled(event) => (ExecutionStatus::Cancelled, Some(event.sentence())),
            Event::ExecutionBlocked(event) => (ExecutionStatus::Blocked, Some(event.sentence())),
            Event::ExecutionLost(event) => (ExecutionStatus::Lost, Some(event.sentence())),
            _ => return None,
        };
        Some(Self { status, notice })
    }
}

/// Sentence about a refused effect. A surprise is one to which a person's own code does not lead.
fn refusal(event: &ExecutionEffectRefused, is_surprise: bool) -> String {
    let (kind, target) = (print::clean(&event.kind.to_string()), print::clean(&event.target));
    if !is_surprise {
        return format!("an effect was refused ({kind}): {target}");
    }
    let verb = match event.kind.known() {
        Some(Effect::Remove) => "delete",
        Some(Effect::Create | Effect::Write) => "write",
        Some(Effect::Network) => "connect to",
        Some(Effect::Signal) => "signal",
        Some(Effect::Database | Effect::Open) => "change",
        None => &*kind,
    };
    format!(
        "the code wants to {verb} {target}, though nothing in it says so: refused\n\
         code that an assistant ran in this kernel may have caused it; if it is meant, run it again with --allow-effects"
    )
}

/// Requests runs under ids that are chosen here, so that events can be matched before the ack.
pub fn request(
    runs: impl Iterator<Item = (ExecutionId, ExecutionTarget)>,
    kernel: Option<&KernelSessionId>,
    timeout_seconds: Option<u64>,
    stop_on_error: bool,
    effects: Option<RequestedEffects>,
) -> Command {
    let request = |(id, target)| {
        Command::RequestExecution(RequestExecution {
            execution_id: Some(id),
            target,
            kernel_session: kernel.cloned(),
            timeout_ms: timeout_seconds.map(|seconds| seconds.saturating_mul(1_000)),
            stop_on_error,
            effects,
        })
    };
    Command::Batch { commands: runs.map(request).collect() }
}

/// Runs of one notebook, until all have ended.
pub struct Runs {
    pub follower: NotebookFollower,
    notebook: NotebookClient,
    /// Unfinished runs, each with the last `seq` of the agent that was passed on.
    open: BTreeMap<ExecutionId, u64>,
    /// The last version whose events were passed on.
    seen: Version,
    /// Kernels of followed runs whose agent is unreachable, as noted to the user.
    unreachable: BTreeSet<KernelSessionId>,
    asked: EndRequests,
    people: People,
    /// Progress bars of the runs.
    pub bars: Bars,
}

impl Runs {
    /// Connects, and waits for the notebook's state.
    pub async fn enter(notebook: NotebookClient) -> Result<Self, Failure> {
        let mut follower = NotebookFollower::enter(&notebook).await?;
        let seen = loop {
            follower.next().await?;
            if let Some(state) = follower.state().filter(|state| state.exists()) {
                break state.version;
            }
        };
        follower.follow_progress();
        let people = People::new(&notebook.client);
        let (open, unreachable, asked) = (BTreeMap::new(), BTreeSet::new(), EndRequests::default());
        Ok(Self { follower, notebook, open, seen, unreachable, asked, people, bars: Bars::default() })
    }

    pub async fn command(&self, command: &Command) -> Result<Outcome, Failure> {
        Ok(self.follower.sender().command(&self.follower.notebook, command).await?.outcome)
    }

    /// Follows runs; their ids are chosen before they are requested, so that events can be matched.
    pub fn follow(&mut self, ids: impl IntoIterator<Item = ExecutionId>) {
        self.open.extend(ids.into_iter().map(|id| (id, 0)));
    }

    /// True if all have ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Updates of the runs from an event of the follower.
    pub async fn updates(&mut self, event: ConnectionEvent) -> Vec<RunUpdate> {
        match event {
            ConnectionEvent::Events { recorded, .. } => {
                let mut updates = Vec::new();
                for recorded in &recorded {
                    updates.extend(self.event(recorded).await);
                }
                updates
            }
            ConnectionEvent::Subscribed(message) => {
                self.follower.follow_progress();
                let mut updates = self.reach(&message.kernels);
                updates.extend(self.catch_up().await);
                updates
            }
            ConnectionEvent::Message(ServerMessage::Kernels { kernels, .. }) => self.reach(&kernels),
            ConnectionEvent::Disconnected { cause, .. } => {
                vec![RunUpdate::Note(format!("{cause}\nthe runs go on; connecting again …"))]
            }
            ConnectionEvent::Connected(_) => vec![RunUpdate::Note("connected again".to_owned())],
            ConnectionEvent::Message(message) if self.bars.hear(&message) => vec![RunUpdate::Progress],
            ConnectionEvent::Message(_) | ConnectionEvent::Failed(_) => Vec::new(),
        }
    }

    /// Draws the progress bars of the followed runs.
    pub fn draw(&mut self) {
        let open = &self.open;
        self.bars.draw(|run| open.contains_key(run));
    }

    /// Notes once that the agent of an awaited kernel is unreachable, and once that it is back.
    pub fn reach(&mut self, kernels: &[KernelStatus]) -> Vec<RunUpdate> {
        let Some(state) = self.follower.state() else { return Vec::new() };
        let waits = |session: &KernelSessionId| {
            // A run that the replica does not have yet may wait for any kernel.
            let its = |id| state.executions.get(id).is_none_or(|run| session_of(state, run) == Some(session));
            self.open.keys().any(its)
        };
        let mut notes = Vec::new();
        for KernelStatus { kernel_session, reachable, unreachable_since, .. } in kernels {
            if !reachable && waits(kernel_session) && self.unreachable.insert(kernel_session.clone()) {
                notes.push(kernels::advice(*unreachable_since, self.notebook.id.as_str()));
            } else if *reachable && self.unreachable.remove(kernel_session) {
                notes.push("the kernel can be reached again, and the run goes on".to_owned());
            }
        }
        notes.into_iter().map(RunUpdate::Note).collect()
    }

    async fn event(&mut self, recorded: &Recorded) -> Option<RunUpdate> {
        self.seen = recorded.envelope.version;
        self.asked.note(recorded);
        if let Event::KernelLaunchRequested(KernelLaunchRequested { replaces: Some(lost), .. }) = &recorded.event {
            return Some(RunUpdate::Note(format!(
                "the kernel before this one has ended ({}): its variables are gone, a new kernel begins without them",
                print::clean(&lost.sentence())
            )));
        }
        if let Event::KernelSessionStarted(event) = &recorded.event {
            follow_kernel(&self.follower.sender(), &self.follower.notebook, &event.kernel_session);
        }
        if let Event::KernelLaunchFailed(event) = &recorded.event {
            return Some(RunUpdate::Note(format!("the kernel could not start: {}", print::clean(&event.sentence()))));
        }
        let id = recorded.event.execution_id().filter(|id| self.open.contains_key(*id))?.clone();
        match &recorded.event {
            Event::ExecutionStarted(event) => {
                self.is_new(&id, event.output_seq);
                Some(RunUpdate::Started(id))
            }
            Event::ExecutionOutputAppended(event) => {
                self.is_new(&id, event.output_seq).then(|| RunUpdate::Outputs(id, event.outputs.clone()))
            }
            Event::ExecutionOutputUpdated(event) => {
                self.is_new(&id, event.output_seq).then(|| RunUpdate::Outputs(id, vec![event.output.clone()]))
            }
            Event::ExecutionInputRequested(event) => {
                Some(RunUpdate::Asks(RunQuestion { id, prompt: event.prompt.clone(), is_password: event.password }))
            }
            Event::ExecutionInputAnswered(_) => Some(RunUpdate::Answered(id)),
            Event::ExecutionEffectRefused(event) if event.count == 1 => {
                let run = self.follower.state().and_then(|state| state.executions.get(&id));
                let is_surprise = run.is_some_and(|run| matches!(run.effects.judged(), Effects::Expected { .. }));
                Some(RunUpdate::Note(refusal(event, is_surprise)))
            }
            event => {
                let end = End::of(event)?;
                let notice = self.asked_for(recorded).await.or(end.notice);
                Some(self.ended(id, End { notice, ..end }))
            }
        }
    }

    /// A sentence such as `Ann restarted the kernel`, if that led to this end.
    async fn asked_for(&mut self, end: &Recorded) -> Option<String> {
        let (actor, did) = self.asked.led_to(end)?;
        Some(format!("{} {did}", self.people.name(actor).await))
    }

    /// True if this write of the agent was not passed on yet.
    fn is_new(&mut self, id: &ExecutionId, output_seq: u64) -> bool {
        self.open.get_mut(id).is_some_and(|last| std::mem::replace(last, output_seq.max(*last)) < output_seq)
    }

    fn ended(&mut self, id: ExecutionId, end: End) -> RunUpdate {
        self.open.remove(&id);
        RunUpdate::Ended(id, end)
    }

    /// Compares the runs with the state, after a cut so long that a snapshot replaced the events.
    async fn catch_up(&mut self) -> Vec<RunUpdate> {
        let Some(state) = self.follower.state().filter(|state| state.version > self.seen) else { return Vec::new() };
        self.seen = state.version;
        let open = self.open.keys().map(|id| (id.clone(), state.executions.get(id).cloned()));
        let mut updates = Vec::new();
        for (id, execution) in open.collect::<Vec<_>>() {
            let execution = match execution {
                Some(execution) => Some(execution),
                // The state no longer has the run. If the server has none either, its request was not received yet and is sent again.
                None => self.notebook.get::<Run>(&format!("/runs/{id}")).await.ok().map(|run| run.execution),
            };
            if let Some(execution) = execution {
                self.compare(id, &execution, &mut updates);
            }
        }
        updates
    }

    fn compare(&mut self, id: ExecutionId, execution: &Execution, updates: &mut Vec<RunUpdate>) {
        if self.is_new(&id, execution.output_seq) && !execution.outputs.is_empty() {
            updates.push(RunUpdate::Note("the run went on during the cut; all its outputs:".to_owned()));
            updates.push(RunUpdate::Outputs(id.clone(), execution.outputs.clone()));
        }
        if execution.status.is_finished() {
            let end = End { status: execution.status, notice: execution.end_sentence() };
            updates.push(self.ended(id, end));
        }
    }
}
