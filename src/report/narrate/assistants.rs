//! Sentences about assistants' calls and their permissions.

use std::collections::BTreeMap;

use notarium_core::{ConversationId, Document, Event, GrantId, ToolCallId, wire_word as word};

use crate::words;

/// Names of calls, conversations and grants, as far as they are known.
#[derive(Debug, Default)]
pub struct Work {
    functions: BTreeMap<ToolCallId, String>,
    titles: BTreeMap<ConversationId, String>,
    /// The conversation of each grant.
    grants: BTreeMap<GrantId, ConversationId>,
}

impl Work {
    /// Remembers the names in a state.
    pub fn learn(&mut self, notebook: &Document) {
        let calls = notebook.tool_calls.iter().map(|(id, call)| (id.clone(), call.function.clone()));
        self.functions.extend(calls);
        self.titles.extend(notebook.conversations.iter().map(|(id, it)| (id.clone(), it.title.clone())));
        self.grants.extend(notebook.grants.iter().map(|(id, grant)| (id.clone(), grant.conversation_id.clone())));
    }

    /// Remembers names to which later events refer.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::ToolCallRequested(event) => {
                self.functions.insert(event.call_id.clone(), event.function.clone());
            }
            Event::ConversationStarted(event) => {
                self.titles.insert(event.conversation_id.clone(), event.title.clone());
            }
            Event::GrantIssued(event) => {
                self.grants.insert(event.grant_id.clone(), event.conversation_id.clone());
            }
            _ => {}
        }
    }

    /// A name such as `delete_cell (call 01J…)`.
    fn call(&self, id: &ToolCallId) -> String {
        match self.functions.get(id) {
            Some(function) => format!("{} (call {id})", words::clean(function)),
            None => format!("call {id}"),
        }
    }

    fn conversation(&self, id: &ConversationId) -> String {
        match self.titles.get(id).filter(|title| !title.is_empty()) {
            Some(title) => format!("the conversation \"{}\"", words::clean(title)),
            None => format!("conversation {id}"),
        }
    }

    fn grant(&self, id: &GrantId) -> String {
        match self.grants.get(id) {
            Some(conversation) => format!("grant for {}", self.conversation(conversation)),
            None => format!("grant {}", words::short(id.as_str())),
        }
    }

    pub fn sentence(&self, event: &Event) -> Option<String> {
        talk_sentence(event).or_else(|| self.permission_sentence(event)).or_else(|| self.call_sentence(event))
    }

    fn permission_sentence(&self, event: &Event) -> Option<String> {
        Some(match event {
            Event::ConversationClosed(event) => {
                format!("closed {}, which was idle", self.conversation(&event.conversation_id))
            }
            Event::NotebookPolicyChanged(event) => format!("set the policy for assistants to {}", word(&event.policy)),
            Event::GrantIssued(event) => {
                let what = if event.functions.is_empty() { "act".to_owned() } else { event.functions.join(", ") };
                let (conversation, until) = (self.conversation(&event.conversation_id), words::time(event.expires_at));
                format!("let {conversation} {} unasked until {until}", words::clean(&what))
            }
            Event::GrantRevoked(event) => format!("ended the {}", self.grant(&event.grant_id)),
            Event::GrantExpired(event) => format!("put the expired {} away", self.grant(&event.grant_id)),
            _ => return None,
        })
    }

    fn call_sentence(&self, event: &Event) -> Option<String> {
        let call = self.call(event.tool_call_id()?);
        Some(match event {
            Event::ToolCallRequested(event) => {
                let waits = if event.gate.waits() { ", which waits for a person" } else { "" };
                format!("called {call}: {}{waits}", word(&event.risk))
            }
            Event::ToolCallConfirmed(_) => format!("confirmed {call}"),
            Event::ToolCallDenied(event) => {
                let reason = event.detail.as_deref().map(|reason| format!(": {}", words::clean(reason)));
                format!("denied {call}{}", reason.unwrap_or_default())
            }
            Event::ToolCallWithdrawn(event) => format!("withdrew {call}: {}", words::clean(&event.sentence())),
            Event::ToolCallVoided(event) => format!("closed {call}: {}", words::clean(&event.sentence())),
            Event::ToolCallExpired(_) => format!("closed {call}: it waited too long"),
            Event::ToolCallStarted(_) => format!("started {call}"),
            Event::ToolCallExecuted(event) => {
                let end = word(&event.end).replace('_', " ");
                format!("ended {call}: {end}, after {}", words::duration(event.duration_ms))
            }
            _ => return None,
        })
    }
}

fn talk_sentence(event: &Event) -> Option<String> {
    Some(match event {
        Event::ConversationStarted(event) => format!("began the conversation \"{}\"", words::clean(&event.title)),
        Event::MessagePosted(event) => {
            let is_partial = if event.is_partial { ", stopped before its end" } else { "" };
            format!("posted a message ({}{is_partial})", word(&event.role))
        }
        Event::MessageFlagged(event) => {
            let words = match (event.flags.pinned, event.flags.skipped) {
                (true, _) => "always",
                (_, true) => "never",
                _ => "as there is room",
            };
            let message = words::short(event.message_id.as_str());
            format!("wants message {message} in the assistant's context: {words}")
        }
        Event::TurnStarted(event) => format!("asked the assistant (turn {})", event.turn_id),
        Event::TurnFinished(event) => {
            format!("ended turn {} ({})", event.turn_id, word(&event.stop_reason).replace('_', " "))
        }
        Event::TurnCancelled(event) => format!("stopped turn {}", event.turn_id),
        Event::TurnFailed(event) => format!("gave up turn {}: {}", event.turn_id, words::clean(&event.sentence())),
        Event::TurnModelCallStarted(event) => format!("asked the model {}", words::clean(&event.model)),
        Event::TurnModelCallFinished(event) => match event.sentence() {
            Some(cause) => format!("got no answer of the model: {}", words::clean(&cause)),
            None => {
                let (read, written) = (event.usage.input_tokens, event.usage.output_tokens);
                format!("got the model's answer ({read} tokens in, {written} out)")
            }
        },
        _ => return None,
    })
}
