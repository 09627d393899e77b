//! The runtime of assistants: listens to the log through the [`NotebookHost`] and does the next step of every unfinished turn and tool
//! call. The requester may be a chat, a prompt cell or an outside assistant.
//!
//! Each notebook with unfinished work has a worker: one task that reads the state, asks [`crate::turn`] for the next step,
//! and does it. Workers keep no state that must outlive them: each can be dropped at any moment and started again from the log.

mod executor;
mod model_call;
mod reasoning;
mod worker;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use dashmap::DashMap;
use futures_util::FutureExt;
use model_call::RecentNames;
use notarium_core::{
    Actor, CallAnswer, Command, Document, Event, Millis, NotebookId, RawObject, Recorded, Rejection, RejectionCode,
    RequestToolCall, Risk, TokenId, ToolCallId, ToolCallPhase, Version,
};
use reasoning::SealedReasoning;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use worker::Worker;

use crate::context::MAX_CONTEXT_TOKENS;
use crate::context::messages::{PngResult, without_data};
use crate::host::{CommittedEvents, NotebookHost};

pub use executor::MAX_RESULT_BYTES;
pub use model_call::{ModelProviders, NO_PROVIDER};

/// Configuration of a server's assistants.
#[derive(Clone)]
pub struct AssistantsConfig {
    pub models: ModelProviders,
    /// Most tokens that one model call may read, even if its model accepts more.
    pub max_context_tokens: u64,
    /// Timeout of a call's wait for its runs. The runs go on after it.
    pub run_wait: Duration,
    /// Time after which a running call is announced to the turn's followers, once.
    pub update_after: Duration,
    /// Time for which a worker stays when everything waits for people: most answers come sooner.
    pub stay: Duration,
}

impl AssistantsConfig {
    pub fn new(models: ModelProviders) -> Self {
        Self {
            models,
            max_context_tokens: MAX_CONTEXT_TOKENS,
            run_wait: Duration::from_secs(30),
            update_after: Duration::from_secs(5),
            stay: Duration::from_secs(20),
        }
    }
}

/// First pause before a worker that panicked is restarted.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The assistants of one server.
pub struct Assistants(Arc<Runtime>);

/// State that the workers share.
struct Runtime {
    host: Arc<dyn NotebookHost>,
    config: AssistantsConfig,
    workers: DashMap<NotebookId, WorkerHandle>,
    names: RecentNames,
    reasoning: SealedReasoning,
    stopping: CancellationToken,
    tasks: TaskTracker,
}

/// Handle of a worker for other tasks.
#[derive(Clone)]
struct WorkerHandle {
    state: watch::Sender<Arc<Document>>,
    wake: Arc<Notify>,
}

impl Assistants {
    /// Starts listening, and resumes unfinished work.
    pub fn start(host: Arc<dyn NotebookHost>, config: AssistantsConfig) -> Arc<Self> {
        let runtime = Arc::new(Runtime {
            host,
            config,
            workers: DashMap::new(),
            names: RecentNames::default(),
            reasoning: SealedReasoning::default(),
            stopping: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        runtime.tasks.spawn(runtime.clone().keep_listening());
        Arc::new(Self(runtime))
    }

    /// Count of notebooks that have a worker. Notebooks that only wait for people have none.
    pub fn workers(&self) -> usize {
        self.0.workers.len()
    }

    /// Ends every task. Model calls and waits are aborted: the next start resumes their turns.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    async fn follow(
        &self,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        since: Version,
        patience: Duration,
        is_waiting_enough: bool,
        mut committed: CommittedEvents,
    ) -> Result<Called, Rejection> {
        let mut state = self.0.watch(notebook);
        let until = Instant::now() + patience;
        loop {
            let seen = state.borrow_and_update().clone();
            let is_over = Instant::now() >= until || self.0.stopping.is_cancelled();
            if seen.version >= since {
                match seen.tool_calls.get(call_id) {
                    None => return self.ended(notebook, call_id, committed.take()).await,
                    Some(call) => match call.phase {
                        ToolCallPhase::Waiting if is_waiting_enough || is_over => {
                            return Ok(Called::Waiting {
                                call_id: call_id.clone(),
                                risk: call.risk.judged(),
                                reasons: call.reasons.clone(),
                                expires_at: call.gate.until(),
                            });
                        }
                        _ if is_over => return Ok(Called::Running { call_id: call_id.clone() }),
                        _ => {}
                    },
                }
            } else if is_over {
                return Err(unavailable());
            }
            tokio::select! {
                changed = timeout_at(until, state.changed()) => if matches!(changed, Ok(Err(_))) { return Err(unavailable()) },
                () = self.0.stopping.cancelled() => {}
            }
        }
    }

    /// The end of a call, from the commits since it was requested, or from the log.
    async fn ended(
        &self,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        committed: Vec<Arc<[Recorded]>>,
    ) -> Result<Called, Rejection> {
        let answer_in = |events: &[Recorded]| events.iter().rev().find_map(|recorded| CallAnswer::of(&recorded.event));
        let is_its = |recorded: &&Recorded| recorded.event.tool_call_id() == Some(call_id);
        let mut events: Vec<Recorded> =
            committed.iter().flat_map(|commit| commit.iter()).filter(is_its).cloned().collect();
        if function_of(&events).is_none() || answer_in(&events).is_none() {
            let stored = self.0.host.events_of_subject(notebook, call_id.as_str()).await?;
            events = stored.iter().filter_map(|stored| stored.typed().ok()).collect();
        }
        let Some(answer) = answer_in(&events) else {
            let message = format!("no tool call {call_id} in this notebook: check the id");
            return Err(Rejection::new(RejectionCode::UnknownToolCall, message));
        };
        let png = match function_of(&events) {
            Some("get_cell_image") if !answer.is_error => PngResult::load(&*self.0.host, notebook, &answer.text).await,
            _ => None,
        };
        let image = png.and_then(|png| STANDARD.decode(png).ok()).map(Bytes::from);
        let text = image.as_ref().and_then(|_| without_data(&answer.text)).unwrap_or(answer.text);
        Ok(Called::Ended { call_id: call_id.clone(), text, is_error: answer.is_error, image })
    }
}

#[async_trait]
impl ToolCaller for Assistants {
    async fn call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        wanted: WantedCall,
        patience: Duration,
    ) -> Result<Called, Rejection> {
        let call_id: ToolCallId = ulid::Ulid::generate().into();
        let command = Command::RequestToolCall(RequestToolCall {
            call_id: Some(call_id.clone()),
            turn_id: None,
            function: wanted.function,
            arguments: wanted.arguments,
            after: None,
            conversation_title: wanted.title,
            token: wanted.token,
        });
        let committed = self.0.host.follow(notebook);
        let ack = self.0.host.execute(actor, notebook, &command).await?;
        self.follow(notebook, &call_id, ack.version, patience, true, committed).await
    }

    async fn await_call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        patience: Duration,
    ) -> Result<Called, Rejection> {
        let state = self.0.host.read_as(actor, notebook).await?;
        let committed = self.0.host.follow(notebook);
        self.follow(notebook, call_id, state.version, patience, false, committed).await
    }
}

fn unavailable() -> Rejection {
    Rejection::new(RejectionCode::Unavailable, "the server is stopping or cannot read the notebook: try again later")
}

fn function_of(events: &[Recorded]) -> Option<&str> {
    events.iter().find_map(|recorded| match &recorded.event {
        Event::ToolCallRequested(event) => Some(event.function.as_str()),
        _ => None,
    })
}

impl Runtime {
    /// Runs the work until it ends or the runtime stops. After a panic it starts again, after a pause that doubles.
    async fn keep<F: Future<Output = ()>>(&self, work: impl Fn() -> F, tell: impl Fn(Duration)) {
        let mut pause = FIRST_PAUSE;
        while AssertUnwindSafe(work()).catch_unwind().await.is_err() {
            tell(pause);
            if self.stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Listens until the host or the runtime stops.
    async fn keep_listening(self: Arc<Self>) {
        let tell = |pause| {
            tracing::error!(?pause, "a fault ended the listening for what concerns assistants: it begins anew");
        };
        self.keep(|| self.listen(), tell).await;
        self.stopping.cancel();
    }

    async fn listen(self: &Arc<Self>) {
        loop {
            let notice = tokio::select! {
                notice = self.host.next_notice() => notice,
                () = self.stopping.cancelled() => None,
            };
            let Some(notice) = notice else { return };
            self.wake(&notice.notebook);
        }
    }

    /// Calls `see` with the notebook's worker. The worker is started if missing, and cannot end meanwhile.
    fn with_worker<T>(self: &Arc<Self>, notebook: &NotebookId, see: impl FnOnce(&WorkerHandle) -> T) -> T {
        let handle = self.workers.entry(notebook.clone()).or_insert_with(|| {
            let (state, _) = watch::channel(Arc::new(Document::new(notebook.clone())));
            let handle = WorkerHandle { state, wake: Arc::new(Notify::new()) };
            self.tasks.spawn(self.clone().keep_worker(notebook.clone(), handle.clone()));
            handle
        });
        see(&handle)
    }

    /// Runs the notebook's worker; restarts it after a panic.
    async fn keep_worker(self: Arc<Self>, notebook: NotebookId, handle: WorkerHandle) {
        let tell = |pause| {
            tracing::error!(%notebook, ?pause, "a fault ended the notebook's worker: another takes up its turns and calls");
        };
        self.keep(|| Worker::new(self.clone(), notebook.clone(), handle.clone()).run(), tell).await;
    }

    /// Spawns a task that the stop of the runtime aborts.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<Option<()>> {
        self.tasks.spawn(self.stopping.clone().run_until_cancelled_owned(task))
    }

    fn wake(self: &Arc<Self>, notebook: &NotebookId) {
        self.with_worker(notebook, |handle| handle.wake.notify_one());
    }

    /// The notebook's state, which its worker updates after changes. The first value may be older than an earlier read.
    fn watch(self: &Arc<Self>, notebook: &NotebookId) -> watch::Receiver<Arc<Document>> {
        self.with_worker(notebook, |handle| {
            handle.wake.notify_one();
            handle.state.subscribe()
        })
    }

    /// Removes the worker unless it is watched or was woken. False: it stays.
    fn leave(&self, notebook: &NotebookId) -> bool {
        let is_over = |_: &NotebookId, handle: &mut WorkerHandle| {
            handle.state.receiver_count() == 0 && handle.wake.notified().now_or_never().is_none()
        };
        self.workers.remove_if_mut(notebook, is_over).is_some()
    }
}

/// A call to request.
#[derive(Debug, Clone)]
pub struct WantedCall {
    pub function: String,
    pub arguments: RawObject,
    /// Title of the conversation, if this call is its first.
    pub title: Option<String>,
    /// The token of the assistant's client.
    pub token: Option<TokenId>,
}

/// Requests tool calls for assistants, and waits for them.
#[async_trait]
pub trait ToolCaller: Send + Sync + 'static {
    /// Requests a call for the assistant `actor`, and waits until it has ended, waits for a person, or `patience` is over.
    async fn call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        wanted: WantedCall,
        patience: Duration,
    ) -> Result<Called, Rejection>;

    /// Waits on a call that was requested before, until it has ended or `patience` is over.
    async fn await_call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        patience: Duration,
    ) -> Result<Called, Rejection>;
}

/// The state of a call when its caller gets the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// The call is over.
    Ended {
        call_id: ToolCallId,
        /// The result for the model.
        text: String,
        /// The call failed, was refused, denied, voided, withdrawn, expired, or its outcome is unknown.
        is_error: bool,
        /// PNG, set for `get_cell_image`.
        image: Option<Bytes>,
    },
    /// The call waits for a person.
    Waiting { call_id: ToolCallId, risk: Risk, reasons: Vec<String>, expires_at: Option<Millis> },
    /// The call has started and goes on.
    Running { call_id: ToolCallId },
}
