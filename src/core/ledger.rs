//! Ledger: state beside the document that only the server's `decide` needs. It is never sent and may change with every
//! release. Losing it costs a replay.
//! Here are also the token behind each open turn and call, and the rate limit per token.

pub(crate) mod bound_names;
pub(crate) mod kernel_log;
pub(crate) mod registrations;
pub(crate) mod runs;
pub(crate) mod undo_stacks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::ledger::bound_names::BoundNames;
pub use crate::ledger::kernel_log::KernelVariables;
use crate::ledger::registrations::Registrations;
use crate::ledger::runs::{KernelUses, WrittenByRun};
use crate::ledger::undo_stacks::{NextSteps, UndoStacks, Undoable};
use crate::values::decision::{RejectionCode, Result};
use crate::values::details::RejectionDetails;
use notarium_record::{
    Actor, CellId, CellReply, CommandId, ConversationId, Document, Event, EventId, MessagePosted, Millis, Recorded,
    ReplyStatus, TokenId, ToolCallId, ToolCallRequested, TurnId, UserId,
};

/// Replies of deleted cells that are kept while the assistant answers, at most.
const MAX_REPLIES_IN_TRASH: usize = 100;

/// The ledger of one notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Undo and redo stacks of each actor.
    pub(crate) undo: Undoable,
    /// The command that created the notebook.
    made_by: Option<CommandId>,
    /// Latest event of each turn and each tool call that has not ended: the cause of what the server's reactor does
    /// next.
    pub(crate) latest_of_turns: BTreeMap<TurnId, EventId>,
    pub(crate) latest_of_calls: BTreeMap<ToolCallId, EventId>,
    /// Turns of the tool calls that have not ended.
    turns_of_calls: BTreeMap<ToolCallId, TurnId>,
    /// Tokens behind open turns and calls, and the recent calls of each person and token.
    pub(crate) requesters: RequesterTokens,
    /// Replies of deleted cells that an assistant was answering, with what has been answered since.
    replies_in_trash: BTreeMap<CellId, Arc<CellReply>>,
    /// Bytes that each run has written.
    pub(crate) written: WrittenByRun,
    /// Use of each kernel.
    pub(crate) kernels: KernelUses,
    /// Text that registered each function.
    pub(crate) registrations: Registrations,
    /// Reactive notebooks: names bound by runs, and dependencies of pending runs.
    pub(crate) reactive: BoundNames,
}

impl Ledger {
    /// Undo and redo stacks of the actor.
    pub fn undo_of(&self, actor: &Actor) -> Option<&UndoStacks> {
        self.undo.of(&actor.key()).map(|(_, stacks)| stacks)
    }

    /// Next undo and redo steps of a person; `None` for other actors.
    pub fn next_steps(&self, actor: &Actor) -> Option<NextSteps> {
        let is_person = matches!(actor, Actor::User { .. } | Actor::Guest { .. });
        is_person.then(|| self.undo_of(actor).map(UndoStacks::next).unwrap_or_default())
    }

    /// Folds in one event, after `document` has. Total, like the document's.
    pub fn apply(&mut self, document: &Document, recorded: &Recorded) {
        if matches!(recorded.event, Event::NotebookErased(_)) {
            return *self = Self::default();
        }
        if matches!(recorded.event, Event::NotebookCreated(_)) {
            self.made_by = Some(recorded.envelope.command_id.clone());
        }
        let is_beginning = self.made_by.as_ref() == Some(&recorded.envelope.command_id);
        self.undo.note(recorded, self.turn_of_effect(recorded), is_beginning);
        self.note_latest(recorded);
        self.written.apply(&recorded.event);
        self.kernels.apply(recorded);
        self.registrations.apply(document, &recorded.event);
        self.reactive.apply(document, recorded);
        self.requesters.apply(recorded);
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                self.turns_of_calls.extend(event.turn_id.clone().map(|turn_id| (event.call_id.clone(), turn_id)));
            }
            Event::ToolCallConfirmed(_) | Event::ToolCallStarted(_) => {}
            Event::CellInserted(event) => _ = self.replies_in_trash.remove(&event.cell_id),
            Event::CellRestored(event) => _ = self.replies_in_trash.remove(&event.cell_id),
            Event::CellDeleted(event) => {
                if let Some(reply) = event.reply.as_ref().filter(|reply| reply.status == ReplyStatus::Running) {
                    self.keep_reply(&event.cell_id, reply.clone());
                }
            }
            Event::MessagePosted(event) => self.advance_replies(event.turn_id.as_ref(), &recorded.event),
            event => {
                self.advance_replies(event.turn_id(), event);
                if let Some(call_id) = event.tool_call_id() {
                    self.turns_of_calls.remove(call_id);
                }
            }
        }
    }

    fn note_latest(&mut self, recorded: &Recorded) {
        use Event as E;
        let id = || recorded.envelope.id.clone();
        match &recorded.event {
            E::TurnFinished(_) | E::TurnCancelled(_) | E::TurnFailed(_) => {
                recorded.event.turn_id().map(|turn_id| self.latest_of_turns.remove(turn_id));
            }
            E::MessagePosted(MessagePosted { turn_id: Some(turn_id), .. }) => {
                self.latest_of_turns.insert(turn_id.clone(), id());
            }
            E::ToolCallRequested(_) | E::ToolCallConfirmed(_) | E::ToolCallStarted(_) => {
                recorded.event.tool_call_id().map(|call_id| self.latest_of_calls.insert(call_id.clone(), id()));
            }
            event => {
                event.turn_id().map(|turn_id| self.latest_of_turns.insert(turn_id.clone(), id()));
                event.tool_call_id().map(|call_id| self.latest_of_calls.remove(call_id));
            }
        }
    }

    /// Facts about the kernel's variables, for [`crate::reactive::notebook_graph`].
    pub fn kernel_variables(&self) -> KernelVariables {
        KernelVariables {
            kernel_session: self.reactive.kernel_session.clone(),
            gone: self.reactive.gone.clone(),
            log: self.reactive.log.clone(),
        }
    }

    /// Tokens with which unfinished turns and tool calls were requested.
    pub fn open_tokens(&self) -> BTreeSet<&TokenId> {
        let RequesterTokens { tokens_of_turns, tokens_of_calls, .. } = &self.requesters;
        tokens_of_turns.values().chain(tokens_of_calls.values()).collect()
    }

    /// Turn of the tool call that had this effect: effects carry the call's id as their correlation id.
    fn turn_of_effect(&self, recorded: &Recorded) -> Option<TurnId> {
        let call_id = ToolCallId::new(recorded.envelope.correlation_id.as_str()).ok()?;
        self.turns_of_calls.get(&call_id).cloned()
    }

    fn keep_reply(&mut self, cell_id: &CellId, reply: CellReply) {
        self.replies_in_trash.insert(cell_id.clone(), Arc::new(reply));
        if self.replies_in_trash.len() > MAX_REPLIES_IN_TRASH {
            self.replies_in_trash.pop_first();
        }
    }

    fn advance_replies(&mut self, turn_id: Option<&TurnId>, event: &Event) {
        let Some(turn_id) = turn_id else { return };
        let its = |reply: &&mut Arc<CellReply>| reply.turn_id.as_ref() == Some(turn_id);
        for reply in self.replies_in_trash.values_mut().filter(its) {
            Arc::make_mut(reply).advance(event);
        }
    }

    /// Reply of a deleted cell that the assistant was answering at the deletion, with its progress since.
    pub(crate) fn reply_in_trash(&self, cell_id: &CellId) -> Option<&CellReply> {
        self.replies_in_trash.get(cell_id).map(|reply| &**reply)
    }
}

// --- tokens behind turns and calls ---

/// Window of the rate limit of tool calls.
const MINUTE_MS: Millis = 60_000;

/// Tokens by turn and call; times of tool calls by person and by conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RequesterTokens {
    /// Tokens of turns and calls that have not ended.
    pub tokens_of_turns: BTreeMap<TurnId, TokenId>,
    pub tokens_of_calls: BTreeMap<ToolCallId, TokenId>,
    /// Times at which tool calls of the last minute were requested, oldest first, by person and token.
    recent: BTreeMap<String, Vec<Millis>>,
    /// The same, by conversation.
    recent_of_conversations: BTreeMap<ConversationId, Vec<Millis>>,
    /// Time of the last tool call, by conversation.
    pub last: BTreeMap<ConversationId, Millis>,
}

fn key(user: &UserId, token: Option<&TokenId>) -> String {
    format!("{user} {}", token.map_or("", TokenId::as_str))
}

impl RequesterTokens {
    /// Checks the rate limits: of the conversation, and of the person's session or token over all conversations.
    pub(crate) fn check_rate(
        &self,
        context: &Context,
        user: &UserId,
        conversation: &ConversationId,
        token: Option<&TokenId>,
    ) -> Result<()> {
        let limits = &context.limits;
        let of_conversation = self.recent_of_conversations.get(conversation);
        check_pace(of_conversation, limits.max_tool_calls_per_minute, context.now, "a conversation")?;
        let of_token = self.recent.get(&key(user, token));
        let whose = "a person's session or token in a notebook";
        check_pace(of_token, limits.max_token_calls_per_minute, context.now, whose)
    }

    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::TurnStarted(event) => {
                let token = event.token.clone();
                self.tokens_of_turns.extend(token.map(|token| (event.turn_id.clone(), token)));
            }
            Event::TurnFinished(_) | Event::TurnCancelled(_) | Event::TurnFailed(_) => {
                recorded.event.turn_id().map(|id| self.tokens_of_turns.remove(id));
            }
            Event::ToolCallRequested(event) => self.note_call(recorded, event),
            Event::ToolCallConfirmed(_) => {}
            Event::ConversationClosed(event) => _ = self.last.remove(&event.conversation_id),
            event => _ = event.tool_call_id().map(|id| self.tokens_of_calls.remove(id)),
        }
    }

    fn note_call(&mut self, recorded: &Recorded, event: &ToolCallRequested) {
        self.tokens_of_calls.extend(event.token.clone().map(|token| (event.call_id.clone(), token)));
        let Actor::Assistant { for_user, conversation } = &recorded.envelope.actor else { return };
        let at = recorded.envelope.recorded_at;
        self.last.insert(conversation.clone(), at);
        note_time(&mut self.recent, key(for_user, event.token.as_ref()), at);
        note_time(&mut self.recent_of_conversations, conversation.clone(), at);
    }
}

fn check_pace(recent: Option<&Vec<Millis>>, limit: usize, now: Millis, whose: &str) -> Result<()> {
    let recent = recent.map_or(&[][..], Vec::as_slice);
    let in_window = recent.iter().filter(|at| **at + MINUTE_MS > now).count();
    if in_window < limit {
        return Ok(());
    }
    let oldest = recent[recent.len() - limit];
    let seconds = (oldest + MINUTE_MS).saturating_sub(now).div_ceil(1_000);
    let message = format!("{limit} tool calls in a minute is the limit of {whose}: wait {seconds} s");
    Err(RejectionCode::RateLimited.because(message).with(RejectionDetails::RetryAfter { seconds }))
}

/// Adds a call, and forgets those of more than a minute ago.
fn note_time<K: Ord>(recent: &mut BTreeMap<K, Vec<Millis>>, key: K, at: Millis) {
    recent.retain(|_, calls| calls.last().is_some_and(|last| last + MINUTE_MS > at));
    let calls = recent.entry(key).or_default();
    calls.retain(|call| call + MINUTE_MS > at);
    calls.push(at);
}
