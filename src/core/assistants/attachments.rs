//! Attachments of a question to an assistant: types, count and sizes that models accept.

use crate::values::decision::{RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::Attachment;

/// Attachments of one question, at most.
pub const MAX_ATTACHMENTS: usize = 8;
/// Bytes of one picture, at most: the limit of the strictest provider, which counts base64.
pub const MAX_PICTURE_BYTES: u64 = 3_750_000;
/// Bytes of one text file, at most.
pub const MAX_ATTACHED_TEXT_BYTES: u64 = 256 << 10;
const MAX_NAME_CHARACTERS: usize = 255;
/// Picture types that all providers accept.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Text types, beside `text/*` and types that end in `+json` or `+xml`.
const TEXTS: [&str; 7] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/toml",
    "application/sql",
    "application/javascript",
    "application/x-ndjson",
];

/// Form in which a model gets an attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentKind {
    /// An image.
    Picture,
    /// Text.
    Text,
}

/// Returns the kind of a media type. `None`: models do not accept the type.
pub fn kind_of(media_type: &str) -> Option<AttachmentKind> {
    if PICTURES.contains(&media_type) {
        return Some(AttachmentKind::Picture);
    }
    let is_text = media_type.strip_prefix("text/").is_some_and(|rest| !rest.is_empty());
    let is_text =
        is_text || TEXTS.contains(&media_type) || media_type.ends_with("+json") || media_type.ends_with("+xml");
    is_text.then_some(AttachmentKind::Text)
}

/// Refuses attachments that no model would accept: too many, too large, empty, badly named, or of another type.
pub(crate) fn check(attachments: &[Attachment]) -> Result<()> {
    LimitName::QuestionAttachments.when(attachments.len() > MAX_ATTACHMENTS, MAX_ATTACHMENTS, || {
        format!("at most {MAX_ATTACHMENTS} pictures and files go with a question: ask in several")
    })?;
    attachments.iter().try_for_each(check_one)
}

fn check_one(Attachment { name, media_type, size_bytes, .. }: &Attachment) -> Result<()> {
    let invalid = |message: String| Err(RejectionCode::InvalidValue.because(message));
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARACTERS || name.chars().any(char::is_control) {
        return invalid(format!(
            "an attachment has a name of 1 to {MAX_NAME_CHARACTERS} characters, none of them a control"
        ));
    }
    let (limit, most, what) = match kind_of(media_type) {
        Some(AttachmentKind::Picture) => (LimitName::Picture, MAX_PICTURE_BYTES, "a picture"),
        Some(AttachmentKind::Text) => (LimitName::AttachedText, MAX_ATTACHED_TEXT_BYTES, "a file of text"),
        None => {
            let shown: String = media_type.chars().take(80).collect();
            return invalid(format!(
                "'{name}' is of the type '{shown}', which models do not take: attach a picture (PNG, JPEG, GIF, WebP) or text, or \
                 upload it beside the notebook and let the assistant read it by code"
            ));
        }
    };
    RejectionCode::InvalidValue.when(*size_bytes == 0, || format!("'{name}' is empty: attach something"))?;
    if *size_bytes <= most {
        return Ok(());
    }
    let message = format!(
        "'{name}' has {size_bytes} bytes, and {what} at most {most}: make it smaller, or upload it beside the notebook and \
         let the assistant read it by code"
    );
    Err(limit.refusal(most, message))
}
