//! Questions: `chat --again` repeats the last one if its turn failed or was stopped; `--attach` adds pictures and text files.

use std::path::Path;

use notarium_core::attachments::kind_of;
use notarium_core::{Attachment, CellId, ConversationId, Hash, MessageBlock, MessageRole, Open};
use notarium_wire::rest::{Message, MessagePage, TurnPage, TurnStatus, TurnSummary, Uploaded};
use reqwest::{Method, header};
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::input;

/// An earlier question.
pub struct EarlierQuestion {
    pub conversation: ConversationId,
    pub text: Option<String>,
    pub cell_id: Option<CellId>,
    pub attachments: Vec<Attachment>,
}

/// The user's last question, in one conversation or in all of the notebook.
pub async fn last_question(
    notebook: &NotebookClient,
    conversation: Option<&ConversationId>,
) -> Result<EarlierQuestion, Failure> {
    let turn = last_turn(notebook, conversation).await?;
    let turn = turn.ok_or_else(|| Failure::failed("you have asked nothing here yet: leave --again out"))?;
    match turn.status {
        TurnStatus::Failed | TurnStatus::Cancelled => {}
        TurnStatus::Running => {
            return Err(Failure::failed("the assistant is still at work on your last question: stop it, or wait"));
        }
        TurnStatus::Finished => {
            return Err(Failure::failed("your last question was answered: ask it in words to ask it again"));
        }
    }
    let conversation = turn.conversation_id.clone();
    if turn.cell_id.is_some() {
        return Ok(EarlierQuestion { conversation, text: None, cell_id: turn.cell_id, attachments: Vec::new() });
    }
    let question = first_message(notebook, &turn).await?;
    let known = || question.blocks.iter().filter_map(Open::known);
    let texts: Vec<&str> = known().filter_map(text).collect();
    let attachments = known().filter_map(attachment).cloned().collect();
    Ok(EarlierQuestion { conversation, text: Some(texts.join("\n")), cell_id: None, attachments })
}

/// The user's last turn, in one conversation or in all of the notebook.
pub async fn last_turn(
    notebook: &NotebookClient,
    conversation: Option<&ConversationId>,
) -> Result<Option<TurnSummary>, Failure> {
    let me = notebook.client.me().await?;
    let only = conversation.map(|id| format!("&conversation={id}")).unwrap_or_default();
    let page: TurnPage = notebook.get(&format!("/turns?limit=200{only}")).await?;
    Ok(page.turns.into_iter().find(|turn| turn.requested_by == me.actor))
}

/// The message that began a turn.
async fn first_message(notebook: &NotebookClient, turn: &TurnSummary) -> Result<Message, Failure> {
    let mut before = String::new();
    loop {
        let path = format!("/conversations/{}/messages?limit=200{before}", turn.conversation_id);
        let page: MessagePage = notebook.get(&path).await?;
        let is_it = |message: &Message| message.role == MessageRole::User && message.turn_id.as_ref() == Some(&turn.id);
        if let Some(found) = page.messages.into_iter().find(is_it) {
            return Ok(found);
        }
        let gone = || Failure::failed("your last question is not in the record any more: ask it in words");
        before = format!("&before={}", page.next.ok_or_else(gone)?);
    }
}

fn text(block: &MessageBlock) -> Option<&str> {
    match block {
        MessageBlock::Text { text } => Some(text),
        _ => None,
    }
}

fn attachment(block: &MessageBlock) -> Option<&Attachment> {
    match block {
        MessageBlock::Attachment(attachment) => Some(attachment),
        _ => None,
    }
}

// --- --attach ---

/// Uploads a file for the notebook.
pub async fn upload(notebook: &NotebookClient, file: &Path) -> Result<Attachment, Failure> {
    let bytes = input::bytes(file).await?;
    let name = input::file_name(file)?.to_owned();
    let media_type = media_type(&name, &bytes);
    if kind_of(&media_type).is_none() {
        let message = format!(
            "{name} is neither a picture (PNG, JPEG, GIF, WebP) nor text, and models take nothing else: `notarium upload` brings it \
             beside the notebook, where the assistant reads it by code"
        );
        return Err(Failure::usage(message));
    }
    let sha256 = Hash(Sha256::digest(&bytes).into()).to_string();
    let request = notebook.request(Method::PUT, &format!("/blobs/{sha256}"));
    let request = request.header(header::CONTENT_TYPE, media_type.as_str()).body(bytes);
    let Uploaded { size_bytes, .. } = notebook.client.json(request).await?;
    Ok(Attachment { sha256, size_bytes, media_type, name })
}

/// The MIME type by content, because a file's name is unreliable.
fn media_type(name: &str, bytes: &[u8]) -> String {
    let pictures: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ];
    if let Some((_, media_type)) = pictures.iter().find(|(begins, _)| bytes.starts_with(begins)) {
        return (*media_type).to_owned();
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp".to_owned();
    }
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        _ if !is_text => "application/octet-stream",
        Some("json" | "ipynb") => "application/json",
        Some("csv") => "text/csv",
        Some("md") => "text/markdown",
        Some("py") => "text/x-python",
        _ => "text/plain",
    }
    .to_owned()
}
