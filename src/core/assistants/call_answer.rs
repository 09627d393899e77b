//! Renders a finished tool call for the model and for people.

use std::collections::BTreeMap;

use notarium_record::{Event, MessageBlock, Open, Stored, ToolCallEnd, ToolCallId};

/// Result of a tool call, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// The tool's answer, or the reason why there is none.
    pub text: String,
    /// True unless the call succeeded: it failed, was refused, or its outcome is unknown.
    pub is_error: bool,
}

impl CallAnswer {
    /// Makes an error answer, also for a call without an event of its end.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// Renders the event that ended a call for the model. `None`: the event does not end a call.
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

/// Ids of calls whose results the blocks name without their text. They are subjects of events to look up.
pub fn missing_results(blocks: &[Open<MessageBlock>]) -> impl Iterator<Item = String> {
    blocks.iter().filter_map(|block| match block.known()? {
        MessageBlock::ToolResult { call_id, text: None, .. } => Some(call_id.to_string()),
        _ => None,
    })
}

/// Results of calls by id, verbatim from the events that ended the calls.
pub struct CallResults(BTreeMap<ToolCallId, String>);

impl CallResults {
    /// Collects the results from events of calls.
    pub fn of(events: &[Stored]) -> Self {
        let ends = events.iter().filter(|stored| stored.envelope.event_type == "ToolCallExecuted");
        let results = ends.filter_map(|stored| match stored.typed().ok()?.event {
            Event::ToolCallExecuted(event) => Some((event.call_id, event.result)),
            _ => None,
        });
        Self(results.collect())
    }

    /// Inserts the results where a message refers to them.
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
