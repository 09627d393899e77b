//! One model call of a turn: chooses the provider, builds the request, reads the stream of the reply, and reports to the worker.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use hashlink::LruCache;
use notarium_core::attachments::{AttachmentKind, kind_of};
use notarium_core::tools::EXECUTE_PROMPT;
use notarium_core::{
    Attachment, CallResults, Document, ExplainedCause, MessageBlock, MessagePosted, MessageRole, NotebookId, Rejection,
    RejectionCode, ToolCallId, Turn, TurnFailure, TurnId, Usage, is_python, missing_results,
};
use notarium_wire::{ActivityKind, TurnActivity};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::Runtime;
use super::executor::CallOutcome;
use crate::context::messages::{LoadedAttachments, PngResult, attachments_of, load_attachments, may_show};
use crate::context::{CallPlan, RequestScene, messages, request};
use crate::host::{PlannedModelCall, with_blobs};
use crate::providers::{
    Capabilities, Event, ModelProvider, ModelReply, Request, TokenCounting, ToolDeclaration, Usage as Counted,
};
use crate::state::NamesCache;

/// Most pictures of the present turn that a model is shown; the latest are kept.
const MAX_IMAGES: usize = 4;
/// Most calls whose ends are read per request.
const CALLS_PAGE: usize = 500;

/// A model call, ready to be made.
pub(super) struct ModelCall {
    pub runtime: Arc<Runtime>,
    pub notebook_id: NotebookId,
    pub notebook: Arc<Document>,
    pub turn_id: TurnId,
    pub turn: Turn,
    pub provider: Arc<dyn ModelProvider>,
    pub model: String,
    pub reporter: mpsc::UnboundedSender<TaskReport>,
}

impl ModelCall {
    /// Makes the call and reports its end. Dropping the future cancels the call.
    pub async fn make(mut self) {
        let span = self.span();
        let asked = AssertUnwindSafe(async {
            let request = match self.request().await {
                Ok(request) => request,
                Err(cause) => return ModelCallUpdate::not_asked(cause),
            };
            match self.reserve(&request).await {
                Ok(()) => self.stream(request).await,
                Err(rejection) => ModelCallUpdate::unaffordable(rejection),
            }
        });
        let update = asked.catch_unwind().instrument(span.clone()).await;
        let fault = |_| ModelCallUpdate::not_asked("a fault in the server ended the model call: ask again".to_owned());
        let update = update.unwrap_or_else(fault);
        update.tell(&span);
        self.send(update);
    }

    fn span(&self) -> Span {
        tracing::info_span!(
            "model call",
            otel.name = %format_args!("chat {}", self.model),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = self.provider.name(),
            gen_ai.request.model = self.model,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            notebook = %self.notebook_id,
            turn = %self.turn_id,
            number = self.turn.model_calls,
        )
    }

    fn send(&self, update: ModelCallUpdate) {
        // If the worker has ended, the report is not needed.
        let _ = self.reporter.send(TaskReport::ModelCall(self.turn_id.clone(), update));
    }

    async fn request(&self) -> Result<Request, String> {
        let host = &*self.runtime.host;
        let conversation = &self.turn.conversation_id;
        let events =
            host.events_of_subject(&self.notebook_id, conversation.as_str()).await.map_err(|error| error.message)?;
        let mut posted = messages(&events, conversation);
        self.look_up_results(&mut posted).await?;
        let images = self.images(&posted).await;
        let names = self.names().await?;
        let can = self.provider.capabilities(&self.model);
        self.check_pictures(&posted, &can)?;
        let attached = load_attachments(host, &self.notebook_id, &posted, can.images).await;
        let max_tokens = self.runtime.config.max_context_tokens;
        let mut plan = CallPlan::new(self.model.clone(), can, offered(&self.notebook), max_tokens);
        let request = self.render(&posted, &images, &attached, &names, &plan).await;
        // Near the budget the provider's own count corrects the estimate, if it has an endpoint for that.
        let estimate = plan.estimate(&request);
        let is_counted = matches!(plan.can.token_counting, TokenCounting::Endpoint { .. });
        if !is_counted || estimate < plan.budget / 2 {
            return Ok(request);
        }
        match self.provider.count_tokens(request.clone()).await {
            Ok(Some(counted)) if counted > plan.budget => {
                plan.budget = plan.budget * estimate.max(1) / counted;
                Ok(self.render(&posted, &images, &attached, &names, &plan).await)
            }
            _ => Ok(request),
        }
    }

    /// Refuses a question with pictures if the model takes none: an answer without them would be a guess.
    fn check_pictures(&self, posted: &[MessagePosted], can: &Capabilities) -> Result<(), String> {
        let present = posted.iter().filter(|posted| posted.turn_id.as_ref() == Some(&self.turn_id));
        let is_picture = |attachment: &Attachment| kind_of(&attachment.media_type) == Some(AttachmentKind::Picture);
        if can.images || !present.flat_map(attachments_of).any(is_picture) {
            return Ok(());
        }
        Err(format!("the model {} takes no pictures: ask without them, or choose another model", self.model))
    }

    /// Fills in the texts of results, which are recorded in the ends of their calls.
    async fn look_up_results(&self, posted: &mut [MessagePosted]) -> Result<(), String> {
        let missing: Vec<String> = posted.iter().flat_map(|posted| missing_results(&posted.blocks)).collect();
        for page in missing.chunks(CALLS_PAGE) {
            let read = self.runtime.host.events_of_subjects(&self.notebook_id, page).await;
            let results = CallResults::of(&read.map_err(|error| error.message)?);
            posted.iter_mut().for_each(|posted| results.fill(&mut posted.blocks));
        }
        Ok(())
    }

    /// Parses names on a blocking thread: the first parse of a large notebook takes long.
    async fn names(&self) -> Result<Arc<NamesCache>, String> {
        let (runtime, notebook) = (self.runtime.clone(), self.notebook.clone());
        let names = tokio::task::spawn_blocking(move || runtime.names.of(&notebook));
        names.await.map_err(|_| "the cells could not be read: ask again".to_owned())
    }

    async fn render(
        &self,
        posted: &[MessagePosted],
        images: &BTreeMap<ToolCallId, String>,
        attachments: &LoadedAttachments,
        names: &NamesCache,
        plan: &CallPlan,
    ) -> Request {
        let conversation = self.notebook.conversations.get(&self.turn.conversation_id);
        let reasoning = self.runtime.reasoning.of(&self.notebook_id, &self.turn_id);
        let marks = conversation.map(|conversation| conversation.flagged.clone()).unwrap_or_default();
        with_blobs(&*self.runtime.host, &self.notebook_id, |blobs| {
            let scene = RequestScene {
                reasoning: &reasoning,
                notebook: &self.notebook,
                names,
                turn_id: &self.turn_id,
                turn: &self.turn,
                posted,
                marks: &marks,
                images,
                attachments,
                blobs,
            };
            request(&scene, plan)
        })
        .await
    }

    /// The pictures that the model requested in this turn.
    async fn images(&self, posted: &[MessagePosted]) -> BTreeMap<ToolCallId, String> {
        let present = || posted.iter().filter(|posted| posted.turn_id.as_ref() == Some(&self.turn_id));
        let blocks = |role: MessageRole| {
            present().filter(move |posted| posted.role == role).flat_map(MessagePosted::known_blocks)
        };
        // Results of a notebook's functions are never taken for pictures, whatever they contain.
        let asked: BTreeSet<&ToolCallId> = blocks(MessageRole::Assistant).filter_map(asks_for_picture).collect();
        let shown = blocks(MessageRole::Tool).filter_map(picture).filter(|(call_id, _)| asked.contains(call_id));
        let shown: Vec<(&ToolCallId, &str)> = shown.collect();
        let mut images = BTreeMap::new();
        for (call_id, text) in shown.into_iter().rev().take(MAX_IMAGES) {
            if let Some(png) = PngResult::load(&*self.runtime.host, &self.notebook_id, text).await {
                images.insert(call_id.clone(), png);
            }
        }
        images
    }

    /// Reserves the cost of the call, or waits until it can be.
    async fn reserve(&self, request: &Request) -> Result<(), Rejection> {
        let Some(actor) = self.turn.requested_by.assistant_in(&self.turn.conversation_id) else { return Ok(()) };
        let can = self.provider.capabilities(&self.model);
        let planned = PlannedModelCall {
            turn_id: self.turn_id.clone(),
            number: self.turn.model_calls,
            provider: self.provider.name().to_owned(),
            model: self.model.clone(),
            input_tokens: CallPlan::new(self.model.clone(), can, request.tools.clone(), u64::MAX).estimate(request),
            max_output_tokens: request.max_tokens.into(),
            context_tokens: can.context_tokens.into(),
        };
        self.runtime.host.reserve_model_call(&actor, &self.notebook_id, &planned).await
    }

    async fn stream(&mut self, request: Request) -> ModelCallUpdate {
        let can = self.provider.capabilities(&self.model);
        let input_tokens = CallPlan::new(self.model.clone(), can, Vec::new(), u64::MAX).estimate(&request);
        let mut written = String::new();
        let usage = |counted: Option<Counted>, written: &str| match counted {
            Some(Counted { input_tokens, output_tokens, cached_tokens }) => {
                Usage { input_tokens, output_tokens, cached_tokens, estimated: false }
            }
            None => {
                let output_tokens = can.token_counting.estimate(written);
                Usage { input_tokens, output_tokens, estimated: true, ..Usage::default() }
            }
        };
        let mut events = self.provider.stream(request);
        while let Some(event) = events.next().await {
            match event {
                Err(failure) => {
                    // No part of the reply was executed, so an interrupted reply may be requested once more.
                    let is_final = !(failure.handed_out && failure.error.is_transient());
                    let (why, usage) = (failure.error.because(), usage(failure.usage, &written));
                    return ModelCallUpdate::Failed { why, usage, is_final };
                }
                Ok(Event::Finished(reply)) => {
                    let usage = usage(reply.usage, &written);
                    return ModelCallUpdate::Answered { reply, usage };
                }
                Ok(Event::AttemptFailed { error, .. }) => {
                    self.publish(ActivityKind::AttemptFailed { cause: error.to_string() });
                    self.turn.attempts += 1;
                    self.send(ModelCallUpdate::AttemptFailed(error.because()));
                }
                Ok(event) => self.show(event, &mut written),
            }
        }
        ModelCallUpdate::not_asked("the provider ended without an answer: try again")
    }

    /// Publishes text while it is written.
    fn show(&self, event: Event, written: &mut String) {
        let what = match event {
            Event::TextDelta { block, text } => {
                written.push_str(&text);
                ActivityKind::TextDelta { block, text }
            }
            Event::ThinkingDelta { block, text } => {
                written.push_str(&text);
                ActivityKind::ThinkingDelta { block, text }
            }
            Event::ToolCallStarted { block, id, name } => {
                ActivityKind::ToolStart { block, provider_id: id, function: name }
            }
            Event::ArgumentsDelta { text, .. } => {
                written.push_str(&text);
                return;
            }
            Event::BlockStop { block } => ActivityKind::BlockStop { block },
            _ => return,
        };
        self.publish(what);
    }

    fn publish(&self, what: ActivityKind) {
        let activity = TurnActivity {
            conversation_id: self.turn.conversation_id.clone(),
            turn_id: self.turn_id.clone(),
            model_call: self.turn.model_calls,
            attempt: self.turn.attempts,
            what,
        };
        self.runtime.host.publish(&self.notebook_id, activity);
    }
}

fn asks_for_picture(block: &MessageBlock) -> Option<&ToolCallId> {
    match block {
        MessageBlock::ToolCall { call_id, function, .. } if function == "get_cell_image" => Some(call_id),
        _ => None,
    }
}

fn picture(block: &MessageBlock) -> Option<(&ToolCallId, &str)> {
    match block {
        MessageBlock::ToolResult { call_id, text: Some(text), is_error: false, .. } if may_show(text) => {
            Some((call_id, text))
        }
        _ => None,
    }
}

/// The tools and the notebook's functions, in the form for models.
fn offered(notebook: &Document) -> Vec<ToolDeclaration> {
    let tools = notarium_core::tools::offered(notebook).into_iter().filter(|tool| tool.name != EXECUTE_PROMPT);
    tools.map(|tool| ToolDeclaration { name: tool.name, description: tool.description, schema: tool.schema }).collect()
}

/// Message for people on a server without a provider.
pub const NO_PROVIDER: &str = "no model provider is set up here: set ANTHROPIC_API_KEY or OPENAI_API_KEY (GEMINI_API_KEY, \
    XAI_API_KEY) for the server, or name one with --provider";

/// Providers in order of preference: the first is the default.
#[derive(Clone, Default)]
pub struct ModelProviders(Vec<Arc<dyn ModelProvider>>);

impl ModelProviders {
    pub fn new(providers: Vec<Arc<dyn ModelProvider>>) -> Self {
        Self(providers)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each provider with its default model.
    pub fn defaults(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|provider| (provider.name(), provider.default_model()))
    }

    /// Each provider with its default model, in words.
    pub fn described(&self) -> Vec<String> {
        self.defaults().map(|(name, model)| format!("{name} ({model})")).collect()
    }

    /// Chooses a model by a turn's request: `provider/model`, the name of a provider, or a model of the first one. `None`: the first one's
    /// default.
    pub fn choose(&self, wanted: Option<&str>) -> Result<(Arc<dyn ModelProvider>, String), String> {
        let first = self.0.first().ok_or_else(|| NO_PROVIDER.to_owned())?;
        let named = |name: &str| self.0.iter().find(|provider| provider.name() == name);
        let Some(wanted) = wanted else { return Ok((first.clone(), first.default_model().to_owned())) };
        if let Some(provider) = named(wanted) {
            return Ok((provider.clone(), provider.default_model().to_owned()));
        }
        match wanted.split_once('/').and_then(|(name, model)| Some((named(name)?, model))) {
            Some((provider, model)) => Ok((provider.clone(), model.to_owned())),
            None => Ok((first.clone(), wanted.to_owned())),
        }
    }
}

/// A report of one task.
pub(super) enum TaskReport {
    ModelCall(TurnId, ModelCallUpdate),
    ToolCall(ToolCallId, CallOutcome),
}

/// A report of a model call to the worker.
pub(super) enum ModelCallUpdate {
    /// This attempt failed; the provider's client makes another one.
    AttemptFailed(ExplainedCause<TurnFailure>),
    Answered {
        reply: ModelReply,
        usage: Usage,
    },
    /// The call failed. `is_final`: a retry cannot succeed.
    Failed {
        why: ExplainedCause<TurnFailure>,
        usage: Usage,
        is_final: bool,
    },
}

impl ModelCallUpdate {
    /// Notes the end of the call in its span.
    fn tell(&self, span: &Span) {
        let usage = match self {
            Self::AttemptFailed(_) => return,
            Self::Answered { usage, .. } => usage,
            Self::Failed { usage, .. } => {
                span.record("otel.status_code", "ERROR");
                usage
            }
        };
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }

    /// Failure of a call that was never sent.
    pub fn not_asked(detail: impl Into<String>) -> Self {
        let why = ExplainedCause::new(TurnFailure::NotAsked, detail);
        Self::Failed { why, usage: Usage::default(), is_final: true }
    }

    /// Failure of a call that was not sent because its cost could not be reserved.
    fn unaffordable(rejection: Rejection) -> Self {
        match rejection.code {
            RejectionCode::LimitExceeded => {
                let why = ExplainedCause::new(TurnFailure::CapReached, rejection.message);
                Self::Failed { why, usage: Usage::default(), is_final: true }
            }
            _ => Self::not_asked(rejection.message),
        }
    }
}

/// Most notebooks in the cache; one of 10,000 cells takes some megabytes.
const MAX_NOTEBOOKS: usize = 8;

/// Names of the cells of the notebooks that were used last.
pub(super) struct RecentNames(Mutex<LruCache<NotebookId, Arc<NamesCache>>>);

impl Default for RecentNames {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_NOTEBOOKS)))
    }
}

impl RecentNames {
    /// The names of exactly this state. Only new or changed cells are parsed.
    pub(super) fn of(&self, notebook: &Document) -> Arc<NamesCache> {
        // Removed while it is refreshed: a concurrent caller parses from scratch.
        let mut names = self.0.lock().remove(&notebook.notebook_id).unwrap_or_default();
        Arc::make_mut(&mut names).refresh(notebook, is_python(notebook));
        self.0.lock().insert(notebook.notebook_id.clone(), names.clone());
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notebooks_that_were_used_last_are_kept() {
        let names = RecentNames::default();
        let notebook = |number: usize| Document::new(format!("n{number}").parse().unwrap());
        let first = names.of(&notebook(0));
        for number in 1..MAX_NOTEBOOKS {
            names.of(&notebook(number));
        }
        drop(first);
        names.of(&notebook(0));
        names.of(&notebook(MAX_NOTEBOOKS));
        let kept: Vec<String> = names.0.lock().iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(kept.len(), MAX_NOTEBOOKS);
        assert_eq!((kept.contains(&"n0".to_owned()), kept.contains(&"n1".to_owned())), (true, false), "{kept:?}");
    }
}
