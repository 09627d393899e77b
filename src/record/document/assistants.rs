//! Applies events of conversations and turns, and updates the replies of prompt cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::actor::Actor;
use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{ConversationStarted, Event, MessageFlagged, TurnStarted};
use crate::ids::TurnId;
use crate::message::MessageFlags;
use crate::state::{Conversation, Reply, Turn};

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
        cell.reply = Some(Arc::new(Reply::begin(&event.turn_id, &cell.content.source)));
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
