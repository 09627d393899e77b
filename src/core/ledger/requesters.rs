//! Ledger: the token behind each open turn and call; rate limit per token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{
    Actor, ConversationId, Event, Millis, Recorded, TokenId, ToolCallId, ToolCallRequested, TurnId, UserId,
};

/// Window of the rate limit of tool calls.
const MINUTE_MS: Millis = 60_000;

/// Tokens by turn and call; times of tool calls by person and by conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Requesters {
    /// Tokens of turns and calls that have not ended.
    pub tokens_of_turns: BTreeMap<TurnId, TokenId>,
    pub tokens_of_calls: BTreeMap<ToolCallId, TokenId>,
    /// Times at which tool calls of the last minute were requested, oldest first, by person and token.
    recent: BTreeMap<String, Vec<Millis>>,
    /// Time of the last tool call, by conversation.
    pub last: BTreeMap<ConversationId, Millis>,
}

fn key(user: &UserId, token: Option<&TokenId>) -> String {
    format!("{user} {}", token.map_or("", TokenId::as_str))
}

impl Requesters {
    /// Checks the rate limit of a person's token. It holds across conversations and sessions of the protocol.
    pub(crate) fn check_rate(&self, context: &Context, user: &UserId, token: Option<&TokenId>) -> Result<()> {
        let recent = self.recent.get(&key(user, token)).map_or(&[][..], Vec::as_slice);
        let in_window = recent.iter().filter(|at| **at + MINUTE_MS > context.now).count();
        let limit = context.limits.max_tool_calls_per_minute;
        if in_window < limit {
            return Ok(());
        }
        let oldest = recent[recent.len() - limit];
        let seconds = (oldest + MINUTE_MS).saturating_sub(context.now).div_ceil(1_000);
        let message = format!(
            "{limit} tool calls in a minute is the limit of a person's session or token in a notebook: wait {seconds} s"
        );
        Err(RejectionCode::RateLimited.because(message))
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
        self.recent.retain(|_, calls| calls.last().is_some_and(|last| last + MINUTE_MS > at));
        let recent = self.recent.entry(key(for_user, event.token.as_ref())).or_default();
        recent.retain(|call| call + MINUTE_MS > at);
        recent.push(at);
    }
}
