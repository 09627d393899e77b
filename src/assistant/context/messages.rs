//! Converts messages between the log's form and the providers' form.

use notarium_core::mask::mask_keys;
use notarium_core::{MessageBlock, MessagePosted, MessageRole, RawJson, ToolCallId};

use crate::attachments::{self, Loaded};
use crate::picture::without_data;
use crate::providers::{Arguments, Block, Message, Reply, Thinking, ToolCall, ToolResult};

/// Text for the model at the end of an incomplete answer.
pub const STOPPED: &str = "[This answer was stopped before its end.]";

/// A model's answer for the record. Each call gets a new id, because a provider's ids are not unique.
pub fn recorded(reply: &Reply, mut new_id: impl FnMut() -> ToolCallId) -> Vec<MessageBlock> {
    let blocks = reply.blocks.iter().filter_map(|block| match block {
        Block::Text { text } if text.is_empty() => None,
        Block::Text { text } => Some(MessageBlock::Text { text: text.clone() }),
        Block::Thinking(thinking) => {
            Some(MessageBlock::Opaque { provider: thinking.origin.clone(), data: RawJson::of(thinking).ok()? })
        }
        Block::ToolCall(call) => Some(MessageBlock::ToolCall {
            provider_id: call.id.clone(),
            call_id: new_id(),
            function: call.name.clone(),
            arguments: call.arguments.text().to_owned(),
            extra: call.extra.clone(),
        }),
        // Never part of a model's reply.
        Block::Image { .. } | Block::ToolResult(_) => None,
    });
    blocks.collect()
}

/// A recorded message in the form for a provider. `image` returns the picture of a call's result, as base64 of a PNG.
/// The texts of its results must be filled in.
pub fn sent(message: &MessagePosted, image: impl Fn(&ToolCallId) -> Option<String>, loaded: &Loaded) -> Message {
    // Attachments come before the question's text.
    let attached = attachments::of(message).flat_map(|attachment| attachments::blocks(attachment, loaded));
    let mut sent: Vec<Block> = attached.chain(message.known_blocks().filter_map(block)).collect();
    let shown = message.known_blocks().filter_map(|block| match block {
        MessageBlock::ToolResult { call_id, .. } => image(call_id),
        _ => None,
    });
    // Pictures come after all results, which must be first in such a message.
    sent.extend(shown.map(|png_base64| Block::Image { media_type: "image/png".to_owned(), base64: png_base64 }));
    if message.is_partial {
        sent.push(Block::text(STOPPED));
    }
    match message.role.known() {
        Some(MessageRole::Assistant) => Message::assistant(sent),
        _ => Message { role: crate::providers::Role::User, blocks: sent },
    }
}

fn block(block: &MessageBlock) -> Option<Block> {
    Some(match block {
        MessageBlock::Text { text } => Block::text(text.as_str()),
        // Added in front of all others.
        MessageBlock::Attachment(_) => return None,
        MessageBlock::Opaque { data, .. } => Block::Thinking(serde_json::from_str::<Thinking>(data.get()).ok()?),
        MessageBlock::ToolCall { provider_id, function, arguments, extra, .. } => Block::ToolCall(ToolCall {
            id: provider_id.clone(),
            name: function.clone(),
            arguments: Arguments::new(arguments.as_str()),
            extra: extra.clone(),
        }),
        MessageBlock::ToolResult { provider_id, text, is_error, .. } => {
            let text = text.as_deref().unwrap_or_default();
            let text = without_data(text).unwrap_or_else(|| text.to_owned());
            // Results may have been recorded before keys were masked.
            let text = mask_keys(&text).into_owned();
            Block::ToolResult(ToolResult { call_id: provider_id.clone(), text, is_error: *is_error })
        }
    })
}
