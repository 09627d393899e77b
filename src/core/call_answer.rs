//! What the end of a tool call comes to in words: for the model, and the same for everybody who looks on.

use std::collections::BTreeMap;

use notarium_record::{Event, MessageBlock, Open, Stored, ToolCallEnd, ToolCallId};

/// What a call came to, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// A tool's answer, or why there is none.
    pub text: String,
    /// The call failed, was refused, or nobody knows what came of it.
    pub is_error: bool,
}

impl CallAnswer {
    /// An answer to a call that no event has answered.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// What the model is told of the end of a call; `None`: the event is not an end.
    pub fn of(event: &Event) -> Option<CallAnswer> {
        Some(match event {
            Event::ToolCallExecuted(event) => match event.end.known() {
                Some(ToolCallEnd::Ok) => CallAnswer { text: event.result.clone(), is_error: false },
                Some(ToolCallEnd::Error) => CallAnswer::error(event.result.clone()),
                Some(ToolCallEnd::OutcomeUnknown) | None => CallAnswer::error(format!(
                    "Nobody knows how this ended: it may have done all of its work, some of it or nothing. Look at what is \
                     there before you do it again. {}",
                    event.result
                )),
            },
            Event::ToolCallDenied(event) => refused("A person said no", event.detail.as_deref()),
            Event::ToolCallWithdrawn(event) => refused("Taken back", Some(&event.sentence())),
            Event::ToolCallVoided(event) => {
                let reason = event.sentence();
                CallAnswer::error(format!("Not done, because {reason}. Read it again before you ask again."))
            }
            Event::ToolCallExpired(_) => CallAnswer::error("Nobody answered in time. Ask again if it is still wanted."),
            _ => return None,
        })
    }
}

/// Calls whose results a message refers to: subjects to look up.
pub fn missing_results(blocks: &[Open<MessageBlock>]) -> impl Iterator<Item = String> {
    blocks.iter().filter_map(|block| match block.known()? {
        MessageBlock::ToolResult { call_id, text: None, .. } => Some(call_id.to_string()),
        _ => None,
    })
}

/// The results of calls, each word for word as the event of its end has it.
pub struct CallResults(BTreeMap<ToolCallId, String>);

impl CallResults {
    /// From the events of calls.
    pub fn of(events: &[Stored]) -> Self {
        let ends = events.iter().filter(|stored| stored.envelope.event_type == "ToolCallExecuted");
        let results = ends.filter_map(|stored| match stored.typed().ok()?.event {
            Event::ToolCallExecuted(event) => Some((event.call_id, event.result)),
            _ => None,
        });
        Self(results.collect())
    }

    /// Puts them where a message refers to them.
    pub fn fill(&self, blocks: &mut [Open<MessageBlock>]) {
        for block in blocks {
            if let Open::Known(MessageBlock::ToolResult { call_id, text, .. }) = block
                && text.is_none()
            {
                *text = self.0.get(call_id).cloned();
            }
        }
    }
}

fn refused(what: &str, reason: Option<&str>) -> CallAnswer {
    CallAnswer::error(reason.map_or_else(|| format!("{what}."), |reason| format!("{what}: {reason}")))
}
