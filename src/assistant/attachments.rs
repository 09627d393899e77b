//! Pictures and files attached to questions, in the form for models.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::attachments::{AttachmentKind, MAX_PICTURE_BYTES, kind_of};
use notarium_core::{Attachment, MessageBlock, MessagePosted, NotebookId};
use serde_json::json;

use crate::facts::as_data;
use crate::host::Host;
use crate::providers::Block;

/// Most bytes of attachments in one request; of older ones only the name is given.
const MAX_BYTES: u64 = 16 << 20;

/// The bytes of attachments, by their hashes.
pub type Loaded = BTreeMap<String, Content>;

/// Content of an attachment for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Picture as base64.
    Picture(String),
    Text(String),
}

/// The attachments of a message.
pub fn of(posted: &MessagePosted) -> impl DoubleEndedIterator<Item = &Attachment> {
    posted.known_blocks().filter_map(|block| match block {
        MessageBlock::Attachment(attachment) => Some(attachment),
        _ => None,
    })
}

/// Loads the latest attachments. Pictures only if the model takes them.
pub async fn load(host: &dyn Host, notebook: &NotebookId, posted: &[MessagePosted], pictures: bool) -> Loaded {
    let (mut loaded, mut left) = (Loaded::new(), MAX_BYTES);
    for attachment in posted.iter().rev().flat_map(|posted| of(posted).rev()) {
        let Some(kind) = kind_of(&attachment.media_type) else { continue };
        let is_wanted = (pictures || kind == AttachmentKind::Text) && !loaded.contains_key(&attachment.sha256);
        let Some(rest) = left.checked_sub(attachment.size_bytes).filter(|_| is_wanted) else { continue };
        let most = usize::try_from(MAX_PICTURE_BYTES).unwrap_or(usize::MAX);
        let Some(bytes) = host.blob(notebook, &attachment.sha256, most).await else { continue };
        let content = match kind {
            AttachmentKind::Picture => Content::Picture(STANDARD.encode(&bytes)),
            AttachmentKind::Text => Content::Text(String::from_utf8_lossy(&bytes).into_owned()),
        };
        left = rest;
        loaded.insert(attachment.sha256.clone(), content);
    }
    loaded
}

/// Blocks for the model: a picture as one, text as data. For an attachment that is not loaded, only its name.
pub fn blocks(attachment: &Attachment, loaded: &Loaded) -> Vec<Block> {
    let Attachment { name, media_type, size_bytes, sha256 } = attachment;
    let mut about = json!({"name": name, "media_type": media_type, "size_bytes": size_bytes});
    let mut picture = None;
    match loaded.get(sha256) {
        Some(Content::Picture(base64)) => {
            picture = Some(Block::Image { media_type: media_type.clone(), base64: base64.clone() });
        }
        Some(Content::Text(text)) => about["text"] = text.as_str().into(),
        None => {
            about["note"] =
                "not shown here: it is too old, too large, no longer there, or of a type that this model does not take"
                    .into();
        }
    }
    let text = Block::text(format!("<attachment>\n{}\n</attachment>", as_data(&about)));
    std::iter::once(text).chain(picture).collect()
}
