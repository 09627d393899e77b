//! Checks that attachments have their declared type and size before the turn is recorded.

use futures_util::TryStreamExt;
use notarium_core::attachments::{AttachmentKind, kind_of};
use notarium_core::{Attachment, Command, RawJson, Rejection, RejectionCode};
use notarium_store::Blobs;
use notarium_store::blobs::BlobContent;
use notarium_wire::CommandMessage;

use crate::blobs::check::parse_hash;

/// Refuses a turn with an attachment whose size or type differs from its declaration. The core checks neither.
pub async fn check(blobs: &Blobs, CommandMessage { notebook, body, .. }: &CommandMessage) -> Result<(), Rejection> {
    for attachment in &attached(body) {
        // The core refuses other types: their bytes are not read.
        let Some(kind) = kind_of(&attachment.media_type) else { continue };
        let unread = |error: notarium_store::BlobError| {
            Rejection::new(RejectionCode::Unavailable, format!("'{}' cannot be read: {error}", attachment.name))
        };
        let BlobContent { size_bytes, bytes } =
            blobs.get(notebook, &parse_hash(&attachment.sha256)?).await.map_err(unread)?;
        if size_bytes != attachment.size_bytes {
            return Err(wrong(attachment, &format!("has {size_bytes} bytes, not {}", attachment.size_bytes)));
        }
        if !is_bounded(kind, size_bytes) {
            continue;
        }
        let pieces: Vec<bytes::Bytes> = bytes.try_collect().await.map_err(unread)?;
        let bytes = pieces.concat();
        let is_right = match kind {
            AttachmentKind::Picture => is_picture(&attachment.media_type, &bytes),
            AttachmentKind::Text => std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0')),
        };
        if !is_right {
            return Err(wrong(attachment, &format!("is no {}", attachment.media_type)));
        }
    }
    Ok(())
}

/// Attachments of a `StartTurn`. The text search avoids parsing all other commands.
fn attached(body: &RawJson) -> Vec<Attachment> {
    if !body.get().contains("\"attachments\"") {
        return Vec::new();
    }
    match serde_json::from_str(body.get()) {
        Ok(Command::StartTurn(turn)) => turn.attachments,
        _ => Vec::new(),
    }
}

fn is_bounded(kind: AttachmentKind, size_bytes: u64) -> bool {
    let most = match kind {
        AttachmentKind::Picture => notarium_core::attachments::MAX_PICTURE_BYTES,
        AttachmentKind::Text => notarium_core::attachments::MAX_ATTACHED_TEXT_BYTES,
    };
    size_bytes <= most
}

fn wrong(attachment: &Attachment, what: &str) -> Rejection {
    let message = format!("'{}' {what}: attach the file itself, under its own type", attachment.name);
    Rejection::new(RejectionCode::InvalidValue, message)
}

/// Compares the first bytes with the signature of the format.
fn is_picture(media_type: &str, bytes: &[u8]) -> bool {
    match media_type {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}
