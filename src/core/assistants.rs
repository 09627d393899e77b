//! Conversations with assistants and their turns: messages, model calls, ends.
//!
//! A reactor advances a turn (`assistant/turn`). Here is what the log must hold to go on after a restart. Two limits
//! are enforced: one unfinished turn per conversation, one open model call per turn.
//! When a turn ends early, the model's partial answer is kept.

pub mod attachments;
pub(crate) mod call_effects;
pub(crate) mod call_risk;
pub(crate) mod calls;
pub(crate) mod gate;
pub mod kernel_tools;

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{self, check_is_reactor};
use crate::cells;
use crate::checks::{check_not_archived, checked_title, live_cell};
use crate::context::Context;
use crate::functions::tools::{Arguments, ExecutePrompt};
use crate::notebook::Notebook;
use crate::values::decision::{Decided, Decision, Outcome, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::{FlagMessage, StartTurn, TurnEnd};
use notarium_record::{
    CellId, CellType, Conversation, ConversationClosed, ConversationId, ConversationStarted, Event, HistoryQuery,
    MessageBlock, MessageFlagged, MessageFlags, MessageId, MessagePosted, MessageRole, Millis, Open, RawJson, TokenId,
    ToolCallId, Turn, TurnCancelled, TurnFailed, TurnFailure, TurnFinished, TurnId, TurnModelCallFinished,
    TurnModelCallStarted, TurnStarted, Usage, WithdrawalCause, assistant_scopes,
};

/// Model calls of one turn, at most.
pub const MAX_MODEL_CALLS: u32 = 10;
/// Attempts of one model call, at most.
const MAX_ATTEMPTS: u32 = 10;
/// Time without calls after which an outside assistant is idle: its calls of the last minute no longer count.
const IDLE_MS: Millis = 60_000;

// --- commands of people ---

pub(crate) fn decide_start(notebook: &Notebook, context: &mut Context, command: StartTurn) -> Result<Decision> {
    let token = context.authority.token.clone();
    begin_turn(notebook, context, command, token)
}

/// Begins the turn that answers a prompt cell for an outside assistant. The turn has the call's id. All turns that one
/// outside assistant begins are of one conversation.
pub(crate) fn start_by_call(
    notebook: &Notebook,
    context: &mut Context,
    call_id: &ToolCallId,
    call: &ExecutePrompt,
) -> Result<Decision> {
    let outside = context.actor.conversation().map(ToString::to_string).unwrap_or_default();
    let conversation_id = format!("{outside}-prompts").parse().unwrap_or_else(|_| context.ids.ulid().into());
    let token = notebook.ledger.requesters.tokens_of_calls.get(call_id).cloned();
    let command = StartTurn {
        conversation_id,
        turn_id: call_id.as_str().parse().ok(),
        text: None,
        cell_id: Some(call.cell_id.clone()),
        model: None,
        attachments: Vec::new(),
    };
    begin_turn(notebook, context, command, token)
}

/// Refuses to begin a turn from within a turn: assistants could ask each other without end.
pub(crate) fn check_is_outside(turn_id: Option<&TurnId>, arguments: &Arguments) -> Result<()> {
    let is_inside = matches!(arguments, Arguments::ExecutePrompt(_)) && turn_id.is_some();
    RejectionCode::Forbidden.when(
        is_inside,
        || "only an assistant outside of the notebook has prompts answered: answer the prompt yourself, in this turn",
    )
}

fn begin_turn(
    notebook: &Notebook,
    context: &mut Context,
    command: StartTurn,
    token: Option<TokenId>,
) -> Result<Decision> {
    let StartTurn { conversation_id, turn_id, text, cell_id, model, attachments } = command;
    check_not_archived(notebook)?;
    RejectionCode::Forbidden
        .when(context.actor.account().is_none(), || "an assistant acts for a person with an account: sign in first")?;
    let conversation = notebook.conversations.get(&conversation_id);
    check_is_free(notebook, context, &conversation_id, conversation)?;
    let prompt = prompt(notebook, context, text, cell_id.as_ref())?;
    attachments::check(&attachments)?;
    let mut events: Vec<Decided> = Vec::new();
    if conversation.is_none() {
        let first_line: String = prompt.lines().next().unwrap_or_default().chars().take(80).collect();
        let title = checked_title(&context.limits, &first_line).unwrap_or_else(|_| "Conversation".to_owned());
        events.push(ConversationStarted { conversation_id: conversation_id.clone(), title }.into());
    }
    let turn_id = turn_id.unwrap_or_else(|| context.ids.ulid().into());
    let exists = notebook.turns.contains_key(&turn_id);
    RejectionCode::InvalidValue.when(exists, || format!("turn {turn_id} exists: choose another id"))?;
    let message_id: MessageId = context.ids.ulid().into();
    let asked = [MessageBlock::Text { text: prompt }].into_iter();
    let asked = asked.chain(attachments.into_iter().map(MessageBlock::Attachment));
    events.push(
        MessagePosted {
            conversation_id: conversation_id.clone(),
            message_id: message_id.clone(),
            turn_id: Some(turn_id.clone()),
            role: MessageRole::User.into(),
            blocks: asked.map(Into::into).collect(),
            reply_units: None,
            is_partial: false,
        }
        .into(),
    );
    let scopes = &assistant_scopes() & &context.authority.scopes;
    let is_bound = context.authority.is_bound;
    let turn = turn_id.clone();
    events.push(TurnStarted { turn_id, conversation_id, message_id, cell_id, model, scopes, is_bound, token }.into());
    Ok(Decision::with(events, Outcome { turn: Some(turn), ..Outcome::default() }))
}

fn check_is_free(
    notebook: &Notebook,
    context: &Context,
    id: &ConversationId,
    conversation: Option<&Conversation>,
) -> Result<()> {
    if let Some(turn) = conversation.and_then(|conversation| conversation.turn.as_ref()) {
        let message = format!("the assistant is still at work on turn {turn} of conversation {id}: stop it, or wait");
        return Err(RejectionCode::TurnState.because(message));
    }
    let limit = context.limits.max_conversations;
    let spoken = || notebook.conversations.values().filter(|other| !other.is_outside).count();
    if conversation.is_none_or(|conversation| conversation.is_outside) && spoken() >= limit {
        let message = format!("a notebook has at most {limit} conversations: go on in one of them");
        return Err(LimitName::Conversations.refusal(limit as u64, message));
    }
    Ok(())
}

/// Begins the conversation of an outside assistant with its first call here, so that its calls are counted. At the
/// limit, the conversation that is idle longest is closed.
pub(crate) fn begun_by_call(
    notebook: &Notebook,
    context: &Context,
    id: &ConversationId,
    title: Option<String>,
) -> Result<Vec<Decided>> {
    if notebook.conversations.contains_key(id) {
        return Ok(Vec::new());
    }
    let limit = context.limits.max_outside_conversations;
    let is_full = outside(notebook).count() >= limit;
    let idle = longest_idle(notebook, context.now).filter(|_| is_full).cloned();
    LimitName::OutsideConversations.when(is_full && idle.is_none(), limit, || {
        format!(
            "{limit} outside assistants are at work here, or wait for a person: \
             try again in a minute, or confirm or deny what waits"
        )
    })?;
    let title = title.and_then(|title| checked_title(&context.limits, &title).ok());
    let title = title.unwrap_or_else(|| "An outside assistant".to_owned());
    let closed = idle.map(|conversation_id| ConversationClosed { conversation_id }.into());
    Ok(closed.into_iter().chain([ConversationStarted { conversation_id: id.clone(), title }.into()]).collect())
}

fn outside(notebook: &Notebook) -> impl Iterator<Item = (&ConversationId, &Conversation)> {
    notebook.conversations.iter().filter(|(_, conversation)| conversation.is_outside)
}

/// The conversation of an outside assistant that is idle longest and has no open call. It can be closed; its next call
/// begins it anew.
fn longest_idle(notebook: &Notebook, now: Millis) -> Option<&ConversationId> {
    let last_heard = |id: &ConversationId, one: &Conversation| {
        notebook.ledger.requesters.last.get(id).copied().unwrap_or(one.started_at)
    };
    let calls = notebook.tool_calls.values();
    let open: BTreeSet<&ConversationId> = calls.filter_map(|call| call.requested_by.conversation()).collect();
    let idle = outside(notebook).filter(|(id, one)| last_heard(id, one) + IDLE_MS <= now && !open.contains(id));
    idle.min_by_key(|(id, one)| last_heard(id, one)).map(|(id, _)| id)
}

fn prompt(notebook: &Notebook, context: &Context, text: Option<String>, cell_id: Option<&CellId>) -> Result<String> {
    let prompt = match (text, cell_id) {
        (Some(text), None) => text,
        (None, Some(cell_id)) => {
            let cell = live_cell(notebook, context, cell_id)?;
            RejectionCode::NotRunnable.when(cell.content.cell_type != CellType::Prompt, || {
                format!("cell {cell_id} is no prompt: change its type, or send the text")
            })?;
            cell.content.source.clone()
        }
        _ => {
            return Err(RejectionCode::InvalidValue.because("give either text or the cell_id of a prompt cell"));
        }
    };
    RejectionCode::InvalidValue.when(prompt.trim().is_empty(), || "there is nothing to answer: write a prompt")?;
    check_size(context, prompt.len())?;
    Ok(prompt)
}

fn check_size(context: &Context, bytes: usize) -> Result<()> {
    let limit = context.limits.max_message_bytes;
    LimitName::Message.when(bytes > limit, limit, || format!("a message has at most {limit} bytes: shorten it"))
}

pub(crate) fn decide_cancel(notebook: &Notebook, context: &mut Context, turn_id: &TurnId) -> Result<Decision> {
    known(notebook, turn_id)?;
    let mut events = calls::withdrawals(notebook, turn_id, WithdrawalCause::TurnCancelled);
    events.extend(partial_answer(notebook, context, turn_id));
    events.push(TurnCancelled { turn_id: turn_id.clone() }.into());
    Ok(Decision::of(events))
}

/// Queries the conversation if the message has no flags: only the record has unflagged messages.
pub(crate) fn required_for_message(
    notebook: &Notebook,
    id: &ConversationId,
    message: &MessageId,
) -> Option<HistoryQuery> {
    let conversation = notebook.conversations.get(id)?;
    (!conversation.flagged.contains_key(message)).then(|| HistoryQuery::Conversation { conversation_id: id.clone() })
}

pub(crate) fn decide_flags(notebook: &Notebook, context: &Context, command: FlagMessage) -> Result<Decision> {
    let FlagMessage { conversation_id, message_id, pinned, skipped } = command;
    let flagged = notebook.conversations.get(&conversation_id).map(|conversation| &conversation.flagged);
    let before = flagged.and_then(|flagged| flagged.get(&message_id).copied());
    if before.is_none() && !was_posted(context, &conversation_id, &message_id) {
        let message = format!("no message {message_id} in a conversation {conversation_id}: list its messages");
        return Err(RejectionCode::UnknownMessage.because(message));
    }
    let previous = before.unwrap_or_default();
    let flags =
        MessageFlags { pinned: pinned.unwrap_or(previous.pinned), skipped: skipped.unwrap_or(previous.skipped) };
    RejectionCode::InvalidValue.when(
        flags.pinned && flags.skipped,
        || "a message is always in the context or never: take the other flag away in the same command",
    )?;
    if flags == previous {
        return Ok(Decision::nothing());
    }
    let limit = context.limits.max_flagged_messages;
    LimitName::FlaggedMessages.when(before.is_none() && flagged.map_or(0, BTreeMap::len) >= limit, limit, || {
        format!("a conversation has at most {limit} pinned or skipped messages: take some flags away")
    })?;
    Ok(Decision::one(MessageFlagged { conversation_id, message_id, flags, previous }))
}

fn was_posted(context: &Context, conversation_id: &ConversationId, message_id: &MessageId) -> bool {
    context.history.events.iter().any(|recorded| match &recorded.event {
        Event::MessagePosted(event) => event.conversation_id == *conversation_id && event.message_id == *message_id,
        _ => false,
    })
}

fn known<'a>(notebook: &'a Notebook, turn_id: &TurnId) -> Result<&'a Turn> {
    notebook.turns.get(turn_id).ok_or_else(|| {
        RejectionCode::TurnState.because(format!("turn {turn_id} has ended, or never was: look at the conversation"))
    })
}

// --- commands of the reactor ---

/// Returns the turn if the sender is the reactor in the name of the turn's assistant.
fn own<'a>(notebook: &'a Notebook, context: &Context, turn_id: &TurnId) -> Result<&'a Turn> {
    check_is_reactor(context)?;
    let turn = known(notebook, turn_id)?;
    if access::is_of(turn, &context.actor) {
        return Ok(turn);
    }
    Err(RejectionCode::Forbidden.because(format!("turn {turn_id} is another assistant's: carry on your own")))
}

pub(crate) fn decide_model_call(
    notebook: &Notebook,
    context: &Context,
    turn_id: TurnId,
    provider: String,
    model: String,
) -> Result<Decision> {
    let turn = own(notebook, context, &turn_id)?;
    let is_claimed = turn.model_call_claimant.is_some();
    RejectionCode::AlreadyClaimed.when(is_claimed, || "this turn's model call is under way: wait for its end")?;
    let (number, attempt) = match turn.is_model_call_failed {
        true => (turn.model_calls, turn.attempts + 1),
        false => (turn.model_calls + 1, 1),
    };
    RejectionCode::LimitExceeded.when(number > MAX_MODEL_CALLS || attempt > MAX_ATTEMPTS, || {
        format!("a turn has at most {MAX_MODEL_CALLS} model calls of {MAX_ATTEMPTS} attempts: end it")
    })?;
    let claimant = context.instance.clone();
    Ok(Decision::one(TurnModelCallStarted { turn_id, claimant, number, attempt, provider, model }))
}

pub(crate) fn decide_model_report(
    notebook: &Notebook,
    context: &Context,
    turn_id: TurnId,
    failure: Option<TurnFailure>,
    detail: Option<String>,
    usage: Usage,
) -> Result<Decision> {
    let turn = own(notebook, context, &turn_id)?;
    RejectionCode::TurnState.when(turn.model_call_claimant.is_none(), || "no model call of this turn is under way")?;
    Ok(Decision::one(TurnModelCallFinished {
        turn_id,
        number: turn.model_calls,
        attempt: turn.attempts,
        failure: failure.map(Open::Known),
        detail: context.limits.detail(detail),
        usage,
    }))
}

pub(crate) fn decide_reply(
    notebook: &Notebook,
    context: &mut Context,
    turn_id: TurnId,
    role: MessageRole,
    blocks: Vec<MessageBlock>,
) -> Result<Decision> {
    let conversation_id = own(notebook, context, &turn_id)?.conversation_id.clone();
    RejectionCode::Forbidden.when(role == MessageRole::User, || "people speak for themselves: use StartTurn")?;
    check_size(context, RawJson::of(&blocks).map_or(0, |json| json.get().len()))?;
    let message_id = context.ids.ulid().into();
    let reply_units = cells::units_shown(notebook, &turn_id, role, &blocks);
    let (turn_id, role) = (Some(turn_id), role.into());
    let blocks = blocks.into_iter().map(Open::Known).collect();
    let is_partial = false;
    Ok(Decision::one(MessagePosted { conversation_id, message_id, turn_id, role, blocks, reply_units, is_partial }))
}

/// Ends a turn and withdraws its calls that have not started. The reactor reports started calls before.
pub(crate) fn decide_end(
    notebook: &Notebook,
    context: &mut Context,
    turn_id: TurnId,
    end: TurnEnd,
) -> Result<Decision> {
    own(notebook, context, &turn_id)?;
    let mut events = calls::withdrawals(notebook, &turn_id, WithdrawalCause::TurnEnded);
    if matches!(end, TurnEnd::Failed { .. }) {
        events.extend(partial_answer(notebook, context, &turn_id));
    }
    events.push(match end {
        TurnEnd::Finished(stop_reason) => TurnFinished { turn_id, stop_reason: stop_reason.into() }.into(),
        TurnEnd::Failed { cause, detail } => {
            TurnFailed { turn_id, cause: cause.into(), detail: context.limits.detail(detail) }.into()
        }
    });
    Ok(Decision::of(events))
}

// --- partial answers of stopped turns ---

/// Returns the partial answer as a message of the assistant. `None`: no text was written.
pub(crate) fn partial_answer(notebook: &Notebook, context: &mut Context, turn_id: &TurnId) -> Option<Decided> {
    // Without a model call, the texts are those of an earlier turn with the same id.
    let turn = notebook.turns.get(turn_id).filter(|turn| turn.model_calls > 0)?;
    let conversation = turn.conversation_id.clone();
    let actor = turn.requested_by.assistant_in(&conversation)?;
    let blocks = fitting(context.unposted.get(turn_id)?, context.limits.max_message_bytes);
    if blocks.is_empty() {
        return None;
    }
    let posted = MessagePosted {
        conversation_id: conversation,
        message_id: context.ids.ulid().into(),
        turn_id: Some(turn_id.clone()),
        role: MessageRole::Assistant.into(),
        reply_units: cells::units_shown(notebook, turn_id, MessageRole::Assistant, &blocks),
        blocks: blocks.into_iter().map(Open::Known).collect(),
        is_partial: true,
    };
    Some(Decided { actor: Some(actor), ..Decided::from(posted) })
}

/// The first texts that are not blank, as many as a message has room for; the last one may be cut.
fn fitting(texts: &[String], max_bytes: usize) -> Vec<MessageBlock> {
    let mut room = max_bytes.saturating_sub(2);
    let mut blocks = Vec::new();
    for text in texts.iter().filter(|text| !text.trim().is_empty()) {
        let block = cut(text.clone(), room);
        let Some(left) = room.checked_sub(size(&block) + 1) else { break };
        room = left;
        let is_whole = matches!(&block, MessageBlock::Text { text: partial_answer } if partial_answer == text);
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
