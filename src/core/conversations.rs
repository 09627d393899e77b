//! Conversations with assistants and their turns: what was said, which model calls it took, how it ended.
//!
//! A turn's progress is a reactor's business (`assistant/turn`); here stands what the log must hold for it to go on after a
//! restart, and what nobody may do twice: one unfinished turn per conversation, one open model call per turn.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::actor::Actor;
use crate::command::Command;
use crate::context::Context;
use crate::decide::{Decided, Decision, Outcome};
use crate::envelope::Recorded;
use crate::event::{
    ConversationStarted, Event, MessageFlagged, MessagePosted, ModelCallFinished, ModelCallStarted, PolicyChanged,
    TurnCancelled, TurnFailed, TurnFinished, TurnStarted,
};
use crate::history::HistoryQuery;
use crate::ids::{CellId, ConversationId, MessageId, Millis, ToolCallId, TurnId, Version};
use crate::json::RawJson;
use crate::lifecycle::{check_not_archived, checked_title};
use crate::notebook::{CellType, Notebook};
use crate::rejection::{Rejection, RejectionCode};
use crate::replies::{Reply, ReplyStatus};
use crate::{access, call_decisions, cells, replies, tool_calls};

/// Model calls of one turn, at most.
pub const MAX_MODEL_CALLS: u32 = 10;
/// Attempts of one model call, at most.
const MAX_ATTEMPTS: u32 = 10;
/// Conversations of outside assistants that the state remembers; the longest idle one makes room for another.
pub const MAX_OUTSIDE_CONVERSATIONS: usize = 100;
/// An outside assistant that has called nothing for so long is idle: its calls of the last minute no longer count.
const IDLE_MS: Millis = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    User,
    Assistant,
    /// What tools answered.
    Tool,
}

/// A part of a message. Externally tagged: serde cannot read raw JSON out of an internally tagged enum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageBlock {
    Text {
        text: String,
    },
    /// What a provider wants back word for word in the next model call: a signed thought, for instance.
    Opaque {
        provider: String,
        #[serde(deserialize_with = "crate::json::compact")]
        data: RawJson,
    },
    /// The model's call of a tool. `provider_id` is the model's own name for it.
    ToolCall {
        provider_id: String,
        call_id: ToolCallId,
        function: String,
        /// As the model wrote them; not always JSON.
        arguments: String,
        /// What else the provider attached and wants back word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<String>,
    },
    ToolResult {
        provider_id: String,
        call_id: ToolCallId,
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// What a model call took, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The provider did not say: this is our estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// Why a turn came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has said what it had to say.
    EndTurn,
    /// It called tools in the last model call that a turn has.
    MaxTurns,
    MaxTokens,
    Refusal,
}

/// How the reactor ends a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TurnEnd {
    Finished(StopReason),
    Failed(String),
}

/// Marks on a message that say whether it is in the assistant's context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageFlags {
    /// Always.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// A conversation. Its messages are a projection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    pub title: String,
    pub started_by: Actor,
    pub started_at: Millis,
    /// The unfinished turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// When its latest tool calls were requested, oldest first: for the rate limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent_calls: Vec<Millis>,
    /// It began with a call of an outside assistant, and nobody has spoken in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outside: bool,
    /// Messages that are pinned or skipped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<MessageId, MessageFlags>,
}

/// A turn that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    pub started_version: Version,
    pub started_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its calls do nothing beyond these. Absent: read, edit and run.
    #[serde(default = "access::assistant_scopes", skip_serializing_if = "access::are_assistant_scopes")]
    pub scopes: Scopes,
    /// Its calls reach no other notebook.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
    /// Model calls that have begun.
    pub model_calls: u32,
    /// Attempts of the last one.
    pub attempts: u32,
    /// The last one has not been answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_calling_model: bool,
    /// The last one failed: the next is another attempt of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_model_call_failed: bool,
}

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    match command {
        Command::SetPolicy { policy } if policy == notebook.policy => Ok(Decision::nothing()),
        Command::SetPolicy { policy } => Ok(Decision::one(PolicyChanged { policy, previous: notebook.policy })),
        Command::StartTurn { .. } => decide_start(notebook, context, command),
        Command::CancelTurn { turn_id } => decide_cancel(notebook, &turn_id),
        Command::FlagMessage { conversation_id, message_id, pinned, skipped } => {
            decide_flags(notebook, context, conversation_id, message_id, pinned, skipped)
        }
        Command::StartModelCall { turn_id, provider, model } => {
            decide_model_call(notebook, context, turn_id, provider, model)
        }
        Command::ReportModelCall { turn_id, failure, usage } => {
            decide_model_report(notebook, context, turn_id, failure, usage)
        }
        Command::PostReply { turn_id, role, blocks } => decide_reply(notebook, context, turn_id, role, blocks),
        Command::EndTurn { turn_id, end } => decide_end(notebook, context, turn_id, end),
        _ => unreachable!("the dispatcher sends commands of conversations only"),
    }
}

// --- what people do ---

fn decide_start(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    let Command::StartTurn { conversation_id, turn_id, text, cell_id, model } = command else {
        unreachable!("called for StartTurn only")
    };
    check_not_archived(notebook)?;
    let Actor::User { .. } = context.actor else {
        let message = "an assistant acts for a person with an account: sign in first";
        return Err(Rejection::new(RejectionCode::Forbidden, message));
    };
    let conversation = notebook.conversations.get(&conversation_id);
    check_is_free(notebook, context, &conversation_id, conversation)?;
    let prompt = prompt(notebook, context, text, cell_id.as_ref())?;
    let mut events: Vec<Decided> = Vec::new();
    if conversation.is_none() {
        let first_line: String = prompt.lines().next().unwrap_or_default().chars().take(80).collect();
        let title = checked_title(&context.limits, &first_line).unwrap_or_else(|_| "Conversation".to_owned());
        events.push(ConversationStarted { conversation_id: conversation_id.clone(), title }.into());
    }
    let turn_id = turn_id.unwrap_or_else(|| context.ids.ulid().into());
    if notebook.turns.contains_key(&turn_id) {
        return Err(Rejection::new(RejectionCode::InvalidValue, format!("turn {turn_id} exists: choose another id")));
    }
    let message_id: MessageId = context.ids.ulid().into();
    events.push(
        MessagePosted {
            conversation_id: conversation_id.clone(),
            message_id: message_id.clone(),
            turn_id: Some(turn_id.clone()),
            role: MessageRole::User,
            blocks: vec![MessageBlock::Text { text: prompt }],
        }
        .into(),
    );
    let scopes = &access::assistant_scopes() & &context.authority.scopes;
    let is_bound = context.authority.is_bound;
    let turn = turn_id.clone();
    events.push(TurnStarted { turn_id, conversation_id, message_id, cell_id, model, scopes, is_bound }.into());
    Ok(Decision { events, outcome: Outcome { turn: Some(turn), ..Outcome::default() } })
}

fn check_is_free(
    notebook: &Notebook,
    context: &Context,
    id: &ConversationId,
    conversation: Option<&Conversation>,
) -> Result<(), Rejection> {
    if let Some(turn) = conversation.and_then(|conversation| conversation.turn.as_ref()) {
        let message = format!("the assistant is still at work on turn {turn} of conversation {id}: stop it, or wait");
        return Err(Rejection::new(RejectionCode::TurnState, message));
    }
    let limit = context.limits.max_conversations;
    let spoken = || notebook.conversations.values().filter(|other| !other.is_outside).count();
    if conversation.is_none_or(|conversation| conversation.is_outside) && spoken() >= limit {
        let message = format!("a notebook has at most {limit} conversations: go on in one of them");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(())
}

/// What begins the conversation of an outside assistant with its first call here, so that its calls are counted.
pub(crate) fn begun_by_call(
    notebook: &Notebook,
    context: &Context,
    id: &ConversationId,
    title: Option<String>,
) -> Result<Option<Decided>, Rejection> {
    if notebook.conversations.contains_key(id) {
        return Ok(None);
    }
    if outside(notebook).count() >= MAX_OUTSIDE_CONVERSATIONS && longest_idle(notebook, context.now).is_none() {
        let message = format!(
            "{MAX_OUTSIDE_CONVERSATIONS} outside assistants are at work here, or wait for a person: \
             try again in a minute, or confirm or deny what waits"
        );
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    let title = title.and_then(|title| checked_title(&context.limits, &title).ok());
    let title = title.unwrap_or_else(|| "An outside assistant".to_owned());
    Ok(Some(ConversationStarted { conversation_id: id.clone(), title }.into()))
}

fn outside(notebook: &Notebook) -> impl Iterator<Item = (&ConversationId, &Conversation)> {
    notebook.conversations.iter().filter(|(_, conversation)| conversation.is_outside)
}

/// The conversation of an outside assistant that can be forgotten: nothing of it is open. It begins anew with its next call.
fn longest_idle(notebook: &Notebook, now: Millis) -> Option<&ConversationId> {
    let last_heard = |one: &Conversation| one.recent_calls.last().copied().unwrap_or(one.started_at);
    let calls = notebook.tool_calls.values();
    let open: BTreeSet<&ConversationId> = calls.filter_map(|call| call.requested_by.conversation()).collect();
    let idle = outside(notebook).filter(|(id, one)| last_heard(one) + IDLE_MS <= now && !open.contains(id));
    idle.min_by_key(|(_, one)| last_heard(one)).map(|(id, _)| id)
}

fn prompt(
    notebook: &Notebook,
    context: &Context,
    text: Option<String>,
    cell_id: Option<&CellId>,
) -> Result<String, Rejection> {
    let prompt = match (text, cell_id) {
        (Some(text), None) => text,
        (None, Some(cell_id)) => {
            let cell = cells::live_cell(notebook, context, cell_id)?;
            if cell.content.cell_type != CellType::Prompt {
                let message = format!("cell {cell_id} is no prompt: change its type, or send the text");
                return Err(Rejection::new(RejectionCode::NotRunnable, message));
            }
            cell.content.source.clone()
        }
        _ => {
            let message = "give either text or the cell_id of a prompt cell";
            return Err(Rejection::new(RejectionCode::InvalidValue, message));
        }
    };
    if prompt.trim().is_empty() {
        return Err(Rejection::new(RejectionCode::InvalidValue, "there is nothing to answer: write a prompt"));
    }
    check_size(context, prompt.len())?;
    Ok(prompt)
}

fn check_size(context: &Context, bytes: usize) -> Result<(), Rejection> {
    let limit = context.limits.max_message_bytes;
    if bytes > limit {
        return Err(Rejection::new(
            RejectionCode::LimitExceeded,
            format!("a message has at most {limit} bytes: shorten it"),
        ));
    }
    Ok(())
}

fn decide_cancel(notebook: &Notebook, turn_id: &TurnId) -> Result<Decision, Rejection> {
    known(notebook, turn_id)?;
    let mut events = call_decisions::withdrawals(notebook, turn_id, "the turn was stopped");
    events.push(TurnCancelled { turn_id: turn_id.clone() }.into());
    Ok(Decision { events, outcome: Outcome::default() })
}

/// A message that is not among the flagged ones is looked up in the record.
pub(crate) fn required_for_message(
    notebook: &Notebook,
    id: &ConversationId,
    message: &MessageId,
) -> Option<HistoryQuery> {
    let conversation = notebook.conversations.get(id)?;
    (!conversation.flagged.contains_key(message)).then(|| HistoryQuery::Conversation { conversation_id: id.clone() })
}

fn decide_flags(
    notebook: &Notebook,
    context: &Context,
    conversation_id: ConversationId,
    message_id: MessageId,
    pinned: Option<bool>,
    skipped: Option<bool>,
) -> Result<Decision, Rejection> {
    check_not_archived(notebook)?;
    let flagged = notebook.conversations.get(&conversation_id).map(|conversation| &conversation.flagged);
    let before = flagged.and_then(|flagged| flagged.get(&message_id).copied());
    if before.is_none() && !was_posted(context, &conversation_id, &message_id) {
        let message = format!("no message {message_id} in a conversation {conversation_id}: list its messages");
        return Err(Rejection::new(RejectionCode::UnknownMessage, message));
    }
    let previous = before.unwrap_or_default();
    let flags =
        MessageFlags { pinned: pinned.unwrap_or(previous.pinned), skipped: skipped.unwrap_or(previous.skipped) };
    if flags.pinned && flags.skipped {
        let message = "a message is always in the context or never: take the other flag away in the same command";
        return Err(Rejection::new(RejectionCode::InvalidValue, message));
    }
    if flags == previous {
        return Ok(Decision::nothing());
    }
    let limit = context.limits.max_flagged_messages;
    if before.is_none() && flagged.map_or(0, BTreeMap::len) >= limit {
        let message = format!("a conversation has at most {limit} pinned or skipped messages: take some flags away");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(Decision::one(MessageFlagged { conversation_id, message_id, flags, previous }))
}

fn was_posted(context: &Context, conversation_id: &ConversationId, message_id: &MessageId) -> bool {
    context.history.events.iter().any(|recorded| match &recorded.event {
        Event::MessagePosted(event) => event.conversation_id == *conversation_id && event.message_id == *message_id,
        _ => false,
    })
}

fn known<'a>(notebook: &'a Notebook, turn_id: &TurnId) -> Result<&'a Turn, Rejection> {
    notebook.turns.get(turn_id).ok_or_else(|| {
        Rejection::new(
            RejectionCode::TurnState,
            format!("turn {turn_id} has ended, or never was: look at the conversation"),
        )
    })
}

// --- what the reactor does ---

/// The turn, for the reactor in the name of the assistant whose turn it is.
fn own<'a>(notebook: &'a Notebook, context: &Context, turn_id: &TurnId) -> Result<&'a Turn, Rejection> {
    tool_calls::check_is_reactor(context)?;
    let turn = known(notebook, turn_id)?;
    if tool_calls::is_of(turn, &context.actor) {
        return Ok(turn);
    }
    Err(Rejection::new(RejectionCode::Forbidden, format!("turn {turn_id} is another assistant's: carry on your own")))
}

fn decide_model_call(
    notebook: &Notebook,
    context: &Context,
    turn_id: TurnId,
    provider: String,
    model: String,
) -> Result<Decision, Rejection> {
    let turn = own(notebook, context, &turn_id)?;
    if turn.is_calling_model {
        return Err(Rejection::new(
            RejectionCode::AlreadyClaimed,
            "this turn's model call is under way: wait for its end",
        ));
    }
    let (number, attempt) = match turn.is_model_call_failed {
        true => (turn.model_calls, turn.attempts + 1),
        false => (turn.model_calls + 1, 1),
    };
    if number > MAX_MODEL_CALLS || attempt > MAX_ATTEMPTS {
        let message = format!("a turn has at most {MAX_MODEL_CALLS} model calls of {MAX_ATTEMPTS} attempts: end it");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(Decision::one(ModelCallStarted { turn_id, number, attempt, provider, model }))
}

fn decide_model_report(
    notebook: &Notebook,
    context: &Context,
    turn_id: TurnId,
    failure: Option<String>,
    usage: Usage,
) -> Result<Decision, Rejection> {
    let turn = own(notebook, context, &turn_id)?;
    if !turn.is_calling_model {
        return Err(Rejection::new(RejectionCode::TurnState, "no model call of this turn is under way"));
    }
    let failure = failure.map(|cause| context.limits.cause(&cause));
    Ok(Decision::one(ModelCallFinished { turn_id, number: turn.model_calls, attempt: turn.attempts, failure, usage }))
}

fn decide_reply(
    notebook: &Notebook,
    context: &mut Context,
    turn_id: TurnId,
    role: MessageRole,
    blocks: Vec<MessageBlock>,
) -> Result<Decision, Rejection> {
    let conversation_id = own(notebook, context, &turn_id)?.conversation_id.clone();
    if role == MessageRole::User {
        return Err(Rejection::new(RejectionCode::Forbidden, "people speak for themselves: use StartTurn"));
    }
    check_size(context, RawJson::of(&blocks).map_or(0, |json| json.get().len()))?;
    let message_id = context.ids.ulid().into();
    Ok(Decision::one(MessagePosted { conversation_id, message_id, turn_id: Some(turn_id), role, blocks }))
}

/// A turn ends when nothing of it is open: what waits is withdrawn, what runs must have been reported.
fn decide_end(notebook: &Notebook, context: &Context, turn_id: TurnId, end: TurnEnd) -> Result<Decision, Rejection> {
    own(notebook, context, &turn_id)?;
    let mut events = call_decisions::withdrawals(notebook, &turn_id, "the turn has ended");
    events.push(match end {
        TurnEnd::Finished(stop_reason) => TurnFinished { turn_id, stop_reason }.into(),
        TurnEnd::Failed(cause) => TurnFailed { turn_id, cause: context.limits.cause(&cause) }.into(),
    });
    Ok(Decision { events, outcome: Outcome::default() })
}

// --- apply ---

pub(crate) fn apply(notebook: &mut Notebook, recorded: &Recorded) {
    match &recorded.event {
        Event::PolicyChanged(event) => notebook.policy = event.policy,
        Event::ConversationStarted(event) => begin_conversation(notebook, recorded, event),
        Event::MessagePosted(event) => replies::extend(notebook, event),
        Event::MessageFlagged(event) => apply_flagged(notebook, event),
        Event::TurnStarted(event) => begin_turn(notebook, recorded, event),
        Event::ModelCallStarted(event) => change(notebook, &event.turn_id, |turn| {
            turn.model_calls = event.number;
            turn.attempts = event.attempt;
            turn.is_calling_model = true;
            turn.is_model_call_failed = false;
        }),
        Event::ModelCallFinished(event) => change(notebook, &event.turn_id, |turn| {
            turn.is_calling_model = false;
            turn.is_model_call_failed = event.failure.is_some();
        }),
        Event::TurnFinished(event) => end_turn(notebook, &event.turn_id, |reply| {
            reply.status = ReplyStatus::Finished;
            reply.stop_reason = Some(event.stop_reason);
        }),
        Event::TurnCancelled(event) => {
            end_turn(notebook, &event.turn_id, |reply| reply.status = ReplyStatus::Stopped);
        }
        Event::TurnFailed(event) => end_turn(notebook, &event.turn_id, |reply| {
            reply.status = ReplyStatus::Failed;
            reply.cause = Some(event.cause.clone());
        }),
        _ => {}
    }
}

fn begin_conversation(notebook: &mut Notebook, recorded: &Recorded, event: &ConversationStarted) {
    let envelope = &recorded.envelope;
    let is_outside = matches!(envelope.actor, Actor::Assistant { .. });
    if is_outside
        && outside(notebook).count() >= MAX_OUTSIDE_CONVERSATIONS
        && let Some(idle) = longest_idle(notebook, envelope.recorded_at).cloned()
    {
        notebook.conversations.remove(&idle);
    }
    let conversation = Conversation {
        title: event.title.clone(),
        started_by: envelope.actor.clone(),
        started_at: envelope.recorded_at,
        turn: None,
        recent_calls: Vec::new(),
        is_outside,
        flagged: BTreeMap::new(),
    };
    notebook.conversations.insert(event.conversation_id.clone(), conversation);
}

fn apply_flagged(notebook: &mut Notebook, event: &MessageFlagged) {
    let Some(conversation) = notebook.conversations.get_mut(&event.conversation_id) else { return };
    match event.flags == MessageFlags::default() {
        true => _ = conversation.flagged.remove(&event.message_id),
        false => _ = conversation.flagged.insert(event.message_id.clone(), event.flags),
    }
}

fn begin_turn(notebook: &mut Notebook, recorded: &Recorded, event: &TurnStarted) {
    if let Some(conversation) = notebook.conversations.get_mut(&event.conversation_id) {
        conversation.turn = Some(event.turn_id.clone());
        conversation.is_outside = false;
    }
    let turn = Turn {
        conversation_id: event.conversation_id.clone(),
        message_id: event.message_id.clone(),
        requested_by: recorded.envelope.actor.clone(),
        started_version: recorded.envelope.version,
        started_at: recorded.envelope.recorded_at,
        cell_id: event.cell_id.clone(),
        model: event.model.clone(),
        scopes: event.scopes.clone(),
        is_bound: event.is_bound,
        model_calls: 0,
        attempts: 0,
        is_calling_model: false,
        is_model_call_failed: false,
    };
    notebook.turns.insert(event.turn_id.clone(), turn);
    replies::begin(notebook, event);
}

fn change(notebook: &mut Notebook, turn_id: &TurnId, with: impl FnOnce(&mut Turn)) {
    if let Some(turn) = notebook.turns.get_mut(turn_id) {
        with(turn);
    }
}

fn end_turn(notebook: &mut Notebook, turn_id: &TurnId, with: impl FnOnce(&mut Reply)) {
    let Some(turn) = notebook.turns.remove(turn_id) else { return };
    if let Some(conversation) = notebook.conversations.get_mut(&turn.conversation_id) {
        conversation.turn = None;
    }
    replies::end(notebook, turn_id, &turn, with);
}

impl Event {
    /// The turn whose progress the event is. Messages and tool calls are not: they name their turn themselves.
    pub fn turn_id(&self) -> Option<&TurnId> {
        match self {
            Event::TurnStarted(TurnStarted { turn_id, .. })
            | Event::ModelCallStarted(ModelCallStarted { turn_id, .. })
            | Event::ModelCallFinished(ModelCallFinished { turn_id, .. })
            | Event::TurnFinished(TurnFinished { turn_id, .. })
            | Event::TurnCancelled(TurnCancelled { turn_id })
            | Event::TurnFailed(TurnFailed { turn_id, .. }) => Some(turn_id),
            _ => None,
        }
    }

    /// The conversation that the event is about. Events of a turn carry the turn's id as their correlation.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        match self {
            Event::ConversationStarted(ConversationStarted { conversation_id, .. })
            | Event::MessagePosted(MessagePosted { conversation_id, .. })
            | Event::MessageFlagged(MessageFlagged { conversation_id, .. })
            | Event::TurnStarted(TurnStarted { conversation_id, .. }) => Some(conversation_id),
            _ => None,
        }
    }
}
