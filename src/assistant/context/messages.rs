//! Converts messages between the log's form and the providers' form, with the pictures and files that go with them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::attachments::{AttachmentKind, MAX_PICTURE_BYTES, kind_of};
use notarium_core::mask::mask_keys;
use notarium_core::{
    Attachment, CellId, MessageBlock, MessagePosted, MessageRole, NotebookId, Output, RawJson, ToolCallId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::as_data;
use crate::host::NotebookHost;
use crate::providers::{Block, CallArguments, Message, ModelReply, Thinking, ToolCall, ToolResult};

/// Text for the model at the end of an incomplete answer.
pub const STOPPED: &str = "[This answer was stopped before its end.]";

/// A model's answer for the record. Each call gets a new id, because a provider's ids are not unique.
pub fn recorded(reply: &ModelReply, mut new_id: impl FnMut() -> ToolCallId) -> Vec<MessageBlock> {
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
pub fn sent(
    message: &MessagePosted,
    image: impl Fn(&ToolCallId) -> Option<String>,
    loaded: &LoadedAttachments,
) -> Message {
    // Attachments come before the question's text.
    let attached = attachments_of(message).flat_map(|attachment| attachment_blocks(attachment, loaded));
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
        _ => Message { role: crate::providers::SpeakerRole::User, blocks: sent },
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
            arguments: CallArguments::new(arguments.as_str()),
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

/// Most bytes of attachments in one request; of older ones only the name is given.
const MAX_BYTES: u64 = 16 << 20;

/// The bytes of attachments, by their hashes.
pub type LoadedAttachments = BTreeMap<String, AttachmentContent>;

/// Content of an attachment for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentContent {
    /// Picture as base64.
    Picture(String),
    Text(String),
}

/// The attachments of a message.
pub fn attachments_of(posted: &MessagePosted) -> impl DoubleEndedIterator<Item = &Attachment> {
    posted.known_blocks().filter_map(|block| match block {
        MessageBlock::Attachment(attachment) => Some(attachment),
        _ => None,
    })
}

/// Loads the latest attachments. Pictures only if the model takes them.
pub async fn load_attachments(
    host: &dyn NotebookHost,
    notebook: &NotebookId,
    posted: &[MessagePosted],
    pictures: bool,
) -> LoadedAttachments {
    let (mut loaded, mut left) = (LoadedAttachments::new(), MAX_BYTES);
    for attachment in posted.iter().rev().flat_map(|posted| attachments_of(posted).rev()) {
        let Some(kind) = kind_of(&attachment.media_type) else { continue };
        let is_wanted = (pictures || kind == AttachmentKind::Text) && !loaded.contains_key(&attachment.sha256);
        let Some(rest) = left.checked_sub(attachment.size_bytes).filter(|_| is_wanted) else { continue };
        let most = usize::try_from(MAX_PICTURE_BYTES).unwrap_or(usize::MAX);
        let Some(bytes) = host.blob(notebook, &attachment.sha256, most).await else { continue };
        let content = match kind {
            AttachmentKind::Picture => AttachmentContent::Picture(STANDARD.encode(&bytes)),
            AttachmentKind::Text => AttachmentContent::Text(String::from_utf8_lossy(&bytes).into_owned()),
        };
        left = rest;
        loaded.insert(attachment.sha256.clone(), content);
    }
    loaded
}

/// Blocks for the model: a picture as one, text as data. For an attachment that is not loaded, only its name.
fn attachment_blocks(attachment: &Attachment, loaded: &LoadedAttachments) -> Vec<Block> {
    let Attachment { name, media_type, size_bytes, sha256 } = attachment;
    let mut about = json!({"name": name, "media_type": media_type, "size_bytes": size_bytes});
    let mut picture = None;
    match loaded.get(sha256) {
        Some(AttachmentContent::Picture(base64)) => {
            picture = Some(Block::Image { media_type: media_type.clone(), base64: base64.clone() });
        }
        Some(AttachmentContent::Text(text)) => about["text"] = text.as_str().into(),
        None => {
            about["note"] =
                "not shown here: it is too old, too large, no longer there, or of a type that this model does not take"
                    .into();
        }
    }
    let text = Block::text(format!("<attachment>\n{}\n</attachment>", as_data(&about)));
    std::iter::once(text).chain(picture).collect()
}

/// Most bytes of a PNG: no model takes more.
pub const MAX_IMAGE_BYTES: usize = 5 << 20;

/// The recorded result of `get_cell_image`.
#[derive(Serialize, Deserialize)]
struct PictureResult {
    cell_id: CellId,
    image: PngResult,
}

/// Reference to the picture, or a small picture itself.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
pub struct PngResult {
    media_type: Cow<'static, str>,
    size_bytes: usize,
    /// SHA-256 of the blob.
    blob: Option<String>,
    base64: Option<String>,
}

impl PngResult {
    /// The call's result for this output of the cell.
    pub fn text(cell_id: &CellId, output: &Output, png: &[u8]) -> String {
        let part = output.blobs.iter().find(|part| part.pointer == "/data/image~1png");
        let blob = part.map(|part| part.sha256.clone());
        let base64 = blob.is_none().then(|| STANDARD.encode(png));
        let image = Self { media_type: "image/png".into(), size_bytes: png.len(), blob, base64 };
        serde_json::to_string(&PictureResult { cell_id: cell_id.clone(), image }).unwrap_or_default()
    }

    /// The PNG that a recorded result of `get_cell_image` names, as base64. `None`: it is missing, too large or damaged.
    pub async fn load(host: &dyn NotebookHost, notebook: &NotebookId, result: &str) -> Option<String> {
        let found = serde_json::from_str::<PictureResult>(result).ok()?.image;
        let text = match found.base64 {
            Some(base64) => base64,
            None => {
                // The blob is the output's own text: base64, with line breaks.
                let blob = host.blob(notebook, &found.blob?, 2 * MAX_IMAGE_BYTES).await?;
                let text: String = String::from_utf8_lossy(&blob).chars().filter(|one| !one.is_whitespace()).collect();
                text.trim_matches('"').to_owned()
            }
        };
        let png = STANDARD.decode(&text).ok()?;
        (png.len() <= MAX_IMAGE_BYTES).then_some(text)
    }
}

/// True if a result may be one of `get_cell_image`.
pub fn may_show(result: &str) -> bool {
    result.contains("\"image/png\"")
}

/// The result without the picture's data: a model gets the data as a picture, or not at all.
pub fn without_data(result: &str) -> Option<String> {
    let mut value: Value = may_show(result).then(|| serde_json::from_str(result).ok()).flatten()?;
    value.get_mut("image")?.as_object_mut()?.remove("base64")?;
    Some(value.to_string())
}
