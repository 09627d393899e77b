//! One model call of a turn: builds its request, and reads the stream of its reply.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use notarium_core::attachments::{AttachmentKind, kind_of};
use notarium_core::{
    Attachment, CallResults, Document, MessageBlock, MessagePosted, MessageRole, NotebookId, ToolCallId, Turn, TurnId,
    Usage, missing_results,
};
use notarium_wire::{ActivityKind, TurnActivity};
use tokio::sync::mpsc;

use super::Runtime;
use super::blobs::with_blobs;
use super::report::{ModelCallUpdate, Report};
use crate::attachments::{self, Loaded};
use crate::context::{Plan, Scene, messages, request};
use crate::picture::{PngResult, may_show};
use crate::providers::{Capabilities, Event, Provider, Request, TokenCounting, Tool, Usage as Counted};
use crate::state::KnownNames;

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
    pub provider: Arc<dyn Provider>,
    pub model: String,
    pub reporter: mpsc::UnboundedSender<Report>,
}

impl ModelCall {
    /// Makes the call and reports its end. Dropping the future cancels the call.
    pub async fn make(mut self) {
        let asked = AssertUnwindSafe(async {
            match self.request().await {
                Ok(request) => self.stream(request).await,
                Err(cause) => ModelCallUpdate::not_asked(cause),
            }
        });
        let update = asked.catch_unwind().await;
        let fault = |_| ModelCallUpdate::not_asked("a fault in the server ended the model call: ask again".to_owned());
        self.send(update.unwrap_or_else(fault));
    }

    fn send(&self, update: ModelCallUpdate) {
        // If the worker has ended, the report is not needed.
        let _ = self.reporter.send(Report::ModelCall(self.turn_id.clone(), update));
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
        let attached = attachments::load(host, &self.notebook_id, &posted, can.images).await;
        let max_tokens = self.runtime.config.max_context_tokens;
        let mut plan = Plan::new(self.model.clone(), can, offered(&self.notebook), max_tokens);
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
        if can.images || !present.flat_map(attachments::of).any(is_picture) {
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
    async fn names(&self) -> Result<Arc<KnownNames>, String> {
        let (runtime, notebook) = (self.runtime.clone(), self.notebook.clone());
        let names = tokio::task::spawn_blocking(move || runtime.names.of(&notebook));
        names.await.map_err(|_| "the cells could not be read: ask again".to_owned())
    }

    async fn render(
        &self,
        posted: &[MessagePosted],
        images: &BTreeMap<ToolCallId, String>,
        attachments: &Loaded,
        names: &KnownNames,
        plan: &Plan,
    ) -> Request {
        let conversation = self.notebook.conversations.get(&self.turn.conversation_id);
        let marks = conversation.map(|conversation| conversation.flagged.clone()).unwrap_or_default();
        with_blobs(&*self.runtime.host, &self.notebook_id, |blobs| {
            let scene = Scene {
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

    async fn stream(&mut self, request: Request) -> ModelCallUpdate {
        let can = self.provider.capabilities(&self.model);
        let input_tokens = Plan::new(self.model.clone(), can, Vec::new(), u64::MAX).estimate(&request);
        let mut written = String::new();
        let usage = |counted: Option<Counted>, written: &str| match counted {
            Some(counted) => {
                Usage { input_tokens: counted.input_tokens, output_tokens: counted.output_tokens, estimated: false }
            }
            None => Usage { input_tokens, output_tokens: can.token_counting.estimate(written), estimated: true },
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
fn offered(notebook: &Document) -> Vec<Tool> {
    let tools = notarium_core::tools::offered(notebook).into_iter();
    tools.map(|tool| Tool { name: tool.name, description: tool.description, schema: tool.schema }).collect()
}
