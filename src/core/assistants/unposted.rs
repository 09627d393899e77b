//! Keeps a model's partial answer when its turn ends early.

use crate::cells::replies;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::decision::Decided;
use notarium_record::{Actor, MessageBlock, MessagePosted, MessageRole, Open, RawJson, TurnId};

/// Returns the partial answer as a message of the assistant. `None`: no text was written.
pub(crate) fn kept(notebook: &Notebook, context: &mut Context, turn_id: &TurnId) -> Option<Decided> {
    // Without a model call, the texts are those of an earlier turn with the same id.
    let turn = notebook.turns.get(turn_id).filter(|turn| turn.model_calls > 0)?;
    let Actor::User { id: for_user } = turn.requested_by.clone() else { return None };
    let conversation = turn.conversation_id.clone();
    let blocks = fitting(context.unposted.get(turn_id)?, context.limits.max_message_bytes);
    if blocks.is_empty() {
        return None;
    }
    let posted = MessagePosted {
        conversation_id: conversation.clone(),
        message_id: context.ids.ulid().into(),
        turn_id: Some(turn_id.clone()),
        role: MessageRole::Assistant.into(),
        reply_units: replies::units_shown(notebook, turn_id, MessageRole::Assistant, &blocks),
        blocks: blocks.into_iter().map(Open::Known).collect(),
        is_partial: true,
    };
    Some(Decided { actor: Some(Actor::Assistant { for_user, conversation }), ..Decided::from(posted) })
}

/// The first texts that are not blank, as many as a message has room for; the last one may be cut.
fn fitting(texts: &[String], max_bytes: usize) -> Vec<MessageBlock> {
    let mut room = max_bytes.saturating_sub(2);
    let mut blocks = Vec::new();
    for text in texts.iter().filter(|text| !text.trim().is_empty()) {
        let block = cut(text.clone(), room);
        let Some(left) = room.checked_sub(size(&block) + 1) else { break };
        room = left;
        let is_whole = matches!(&block, MessageBlock::Text { text: kept } if kept == text);
        blocks.push(block);
        if !is_whole {
            break;
        }
    }
    blocks
}

/// Cuts a text so that its block fits into `room` bytes of JSON.
fn cut(mut text: String, room: usize) -> MessageBlock {
    loop {
        let block = MessageBlock::Text { text: text.clone() };
        let size = size(&block) + 1;
        if size <= room || text.is_empty() {
            return block;
        }
        let fewer = (text.len() * room / size).min(text.len() - 1);
        text.truncate(text.floor_char_boundary(fewer));
    }
}

fn size(block: &MessageBlock) -> usize {
    RawJson::of(block).map_or(usize::MAX - 1, |json| json.get().len())
}
