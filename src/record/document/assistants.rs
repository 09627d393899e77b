//! Conversations with their unfinished turns in the document, tool calls that have not ended, and grants. Applies their
//! events, and updates the replies of prompt cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Actor, Scopes};
use crate::document::Document;
use crate::effects::Effect;
use crate::envelope::Recorded;
use crate::event::{ConversationStarted, Event, GrantIssued, MessageFlagged, ToolCallRequested, TurnStarted};
use crate::ids::{CellId, ConversationId, Hash, InstanceId, MessageId, Millis, ToolCallId, TurnId, UserId, Version};
use crate::json::{Open, RawObject};
use crate::message::{CellReply, MessageFlags};
use crate::tool_call::{Gate, Risk, Target};

/// A conversation. Its messages are a projection of the log, not part of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// The beginning of the first message, or the name of the outside assistant. 1 to 255 characters on one line.
    pub title: String,
    /// The person who wrote the first message, or the outside assistant.
    pub started_by: Actor,
    /// Time of the start, in milliseconds since 1970.
    pub started_at: Millis,
    /// The unfinished turn. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// True: the conversation began with a call of an outside assistant, and no person has written in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outside: bool,
    /// Flags of the messages that are pinned or skipped, by message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<MessageId, MessageFlags>,
}

/// A turn that has not ended.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The conversation of the turn.
    pub conversation_id: ConversationId,
    /// The message that the turn answers.
    pub message_id: MessageId,
    /// The person who asked, or the outside assistant that had a prompt cell answered. The turn's assistant acts for that
    /// person, or for the person of that assistant.
    pub requested_by: Actor,
    /// The version of the turn's TurnStarted.
    pub started_version: Version,
    /// Time of the start, in milliseconds since 1970.
    pub started_at: Millis,
    /// The prompt cell that the turn answers. Absent: the message came from a chat.
    pub cell_id: Option<CellId>,
    /// The model that the person chose. Absent: the server's default.
    pub model: Option<String>,
    /// Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
    pub scopes: Scopes,
    /// True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
    pub is_bound: bool,
    /// Number of model calls that have begun.
    pub model_calls: u32,
    /// Number of attempts of the last model call.
    pub attempts: u32,
    /// The server instance that makes the last model call. Absent: no model call is under way.
    pub model_call_claimant: Option<InstanceId>,
    /// True: the last attempt failed, and the next is another attempt of the same model call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_model_call_failed: bool,
}

/// Phase of a tool call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// The call waits for a person's decision.
    Waiting,
    /// A person has confirmed the call; it can start.
    Confirmed {
        /// The person who confirmed the call.
        by: Actor,
    },
    /// The call needs no confirmation; it can start.
    Passed,
    /// The call is being executed.
    Started {
        /// Time of the start, in milliseconds since 1970.
        at: Millis,
        /// The server instance that executes the call.
        claimant: InstanceId,
    },
}

/// A tool call that has not ended.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The name of a built-in tool or of a registered function.
    pub function: String,
    /// The complete arguments.
    pub arguments: RawObject,
    /// SHA-256 of the function's name and the arguments in canonical form. A confirmation names this hash.
    pub arguments_hash: Hash,
    /// The risk of the call, judged by tool, arguments, targets and code. Treat an unknown risk as `destructive`.
    pub risk: Open<Risk>,
    /// The reasons for the risk, as sentences for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The objects that the call touches, in the versions that they had at the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    /// The assistant, and the person for whom it acts.
    pub requested_by: Actor,
    /// Time of the request, in milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of the call's ToolCallRequested.
    pub requested_version: Version,
    /// The turn that requested the call. Absent for outside assistants.
    pub turn_id: Option<TurnId>,
    /// The decision at the request: the call passes, or waits for a person until a time. Treat an unknown gate as waiting.
    pub gate: Open<Gate>,
    /// The call that must end before this one starts. Absent: none.
    pub after: Option<ToolCallId>,
    /// The call's phase, as an object such as `{"phase": "waiting"}`.
    pub phase: ToolCallPhase,
}

/// A person's permission for calls of one conversation, for a limited time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantGrant {
    /// The only conversation that the grant covers.
    pub conversation_id: ConversationId,
    /// The person for whom the assistant acted when the grant was issued. Calls for other persons in the conversation
    /// are not covered.
    pub for_user: UserId,
    /// Names of the functions that the grant covers. Empty: every function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Kinds of effects that the covered calls may ask for. Empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Open<Effect>>,
    /// Time at which the grant ends, in milliseconds since 1970.
    pub expires_at: Millis,
    /// The person who issued the grant. The grant counts only while this person could confirm the call.
    pub issued_by: Actor,
}

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ConversationStarted(event) => begin_conversation(document, recorded, event),
        Event::ConversationClosed(event) => _ = document.conversations.remove(&event.conversation_id),
        Event::MessageFlagged(event) => apply_flagged(document, event),
        Event::TurnStarted(event) => begin_turn(document, recorded, event),
        Event::TurnModelCallStarted(event) => change(document, &event.turn_id, |turn| {
            turn.model_calls = event.number;
            turn.attempts = event.attempt;
            turn.model_call_claimant = Some(event.claimant.clone());
            turn.is_model_call_failed = false;
        }),
        Event::TurnModelCallFinished(event) => change(document, &event.turn_id, |turn| {
            turn.model_call_claimant = None;
            turn.is_model_call_failed = event.failure.is_some();
        }),
        Event::MessagePosted(event) => {
            if let Some(turn_id) = &event.turn_id {
                advance_reply(document, turn_id, &recorded.event);
            }
        }
        Event::TurnFinished(_) | Event::TurnCancelled(_) | Event::TurnFailed(_) => {
            if let Some(turn_id) = recorded.event.turn_id() {
                advance_reply(document, turn_id, &recorded.event);
                end_turn(document, turn_id);
            }
        }
        _ => {}
    }
}

fn begin_conversation(document: &mut Document, recorded: &Recorded, event: &ConversationStarted) {
    let envelope = &recorded.envelope;
    let conversation = Conversation {
        title: event.title.clone(),
        started_by: envelope.actor.clone(),
        started_at: envelope.recorded_at,
        turn: None,
        is_outside: matches!(envelope.actor, Actor::Assistant { .. }),
        flagged: BTreeMap::new(),
    };
    document.conversations.insert(event.conversation_id.clone(), conversation);
}

fn apply_flagged(document: &mut Document, event: &MessageFlagged) {
    let Some(conversation) = document.conversations.get_mut(&event.conversation_id) else { return };
    match event.flags == MessageFlags::default() {
        true => _ = conversation.flagged.remove(&event.message_id),
        false => _ = conversation.flagged.insert(event.message_id.clone(), event.flags),
    }
}

fn begin_turn(document: &mut Document, recorded: &Recorded, event: &TurnStarted) {
    if let Some(conversation) = document.conversations.get_mut(&event.conversation_id) {
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
        model_call_claimant: None,
        is_model_call_failed: false,
    };
    document.turns.insert(event.turn_id.clone(), turn);
    if let Some(cell) = event.cell_id.as_ref().and_then(|cell_id| document.cells.get_mut(cell_id)) {
        let cell = Arc::make_mut(cell);
        cell.reply = Some(Arc::new(CellReply::begin(&event.turn_id, &cell.content.source)));
    }
}

fn change(document: &mut Document, turn_id: &TurnId, with: impl FnOnce(&mut Turn)) {
    if let Some(turn) = document.turns.get_mut(turn_id) {
        with(turn);
    }
}

/// Updates the reply of the turn's cell. A cell that shows another turn's reply by now stays as it is.
fn advance_reply(document: &mut Document, turn_id: &TurnId, event: &Event) {
    let Some(cell_id) = document.turns.get(turn_id).and_then(|turn| turn.cell_id.as_ref()) else { return };
    let Some(cell) = document.cells.get_mut(cell_id) else { return };
    if cell.reply.as_ref().is_some_and(|reply| reply.turn_id.as_ref() == Some(turn_id))
        && let Some(reply) = &mut Arc::make_mut(cell).reply
    {
        Arc::make_mut(reply).advance(event);
    }
}

fn end_turn(document: &mut Document, turn_id: &TurnId) {
    let Some(turn) = document.turns.remove(turn_id) else { return };
    if let Some(conversation) = document.conversations.get_mut(&turn.conversation_id) {
        conversation.turn = None;
    }
}

pub(crate) fn apply_tool_calls(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ToolCallRequested(event) => begin_call(document, recorded, event),
        Event::ToolCallConfirmed(event) => {
            let by = recorded.envelope.actor.clone();
            change_call(document, &event.call_id, |call| call.phase = ToolCallPhase::Confirmed { by });
        }
        Event::ToolCallStarted(event) => {
            let (at, claimant) = (recorded.envelope.recorded_at, event.claimant.clone());
            change_call(document, &event.call_id, |call| call.phase = ToolCallPhase::Started { at, claimant });
        }
        Event::GrantIssued(event) => issue(document, recorded, event),
        Event::GrantRevoked(event) => _ = document.grants.remove(&event.grant_id),
        Event::GrantExpired(event) => _ = document.grants.remove(&event.grant_id),
        event => {
            if let Some(call_id) = event.tool_call_id() {
                document.tool_calls.remove(call_id);
            }
        }
    }
}

fn begin_call(document: &mut Document, recorded: &Recorded, event: &ToolCallRequested) {
    let call = ToolCall {
        function: event.function.clone(),
        arguments: event.arguments.clone(),
        arguments_hash: event.arguments_hash,
        risk: event.risk.clone(),
        reasons: event.reasons.clone(),
        targets: event.targets.clone(),
        requested_by: recorded.envelope.actor.clone(),
        requested_at: recorded.envelope.recorded_at,
        requested_version: recorded.envelope.version,
        turn_id: event.turn_id.clone(),
        gate: event.gate.clone(),
        after: event.after.clone(),
        phase: if event.gate.waits() { ToolCallPhase::Waiting } else { ToolCallPhase::Passed },
    };
    document.tool_calls.insert(event.call_id.clone(), Arc::new(call));
}

fn change_call(document: &mut Document, call_id: &ToolCallId, with: impl FnOnce(&mut ToolCall)) {
    if let Some(call) = document.tool_calls.get_mut(call_id) {
        with(Arc::make_mut(call));
    }
}

fn issue(document: &mut Document, recorded: &Recorded, event: &GrantIssued) {
    let grant = AssistantGrant {
        conversation_id: event.conversation_id.clone(),
        for_user: event.for_user.clone(),
        functions: event.functions.clone(),
        kinds: event.kinds.clone(),
        expires_at: event.expires_at,
        issued_by: recorded.envelope.actor.clone(),
    };
    document.grants.insert(event.grant_id.clone(), grant);
}
