//! `chat --again`: repeats the last question if its turn failed or was stopped.

use notarium_core::{Actor, Attachment, CellId, ConversationId, MessageBlock, MessageRole, Open};
use notarium_wire::rest::{Me, Message, MessagePage, TurnPage, TurnStatus, TurnSummary};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;

/// An earlier question.
pub struct Asked {
    pub conversation: ConversationId,
    pub text: Option<String>,
    pub cell_id: Option<CellId>,
    pub attachments: Vec<Attachment>,
}

/// The user's last question, in one conversation or in all of the notebook.
pub async fn last_question(notebook: &NotebookClient, conversation: Option<&ConversationId>) -> Result<Asked, Failure> {
    let me: Me = notebook.client.get("/api/me").await?;
    let turn = last_turn(notebook, conversation, &me.actor).await?;
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
        return Ok(Asked { conversation, text: None, cell_id: turn.cell_id, attachments: Vec::new() });
    }
    let question = question(notebook, &turn).await?;
    let known = || question.blocks.iter().filter_map(Open::known);
    let texts: Vec<&str> = known().filter_map(text).collect();
    let attachments = known().filter_map(attachment).cloned().collect();
    Ok(Asked { conversation, text: Some(texts.join("\n")), cell_id: None, attachments })
}

async fn last_turn(
    notebook: &NotebookClient,
    conversation: Option<&ConversationId>,
    me: &Actor,
) -> Result<TurnSummary, Failure> {
    let only = conversation.map(|id| format!("&conversation={id}")).unwrap_or_default();
    let page: TurnPage = notebook.get(&format!("/turns?limit=200{only}")).await?;
    let mine = page.turns.into_iter().find(|turn| turn.requested_by == *me);
    mine.ok_or_else(|| Failure::failed("you have asked nothing here yet: leave --again out"))
}

/// The message that began a turn.
async fn question(notebook: &NotebookClient, turn: &TurnSummary) -> Result<Message, Failure> {
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
