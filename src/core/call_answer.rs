//! What the end of a tool call comes to in words: for the model, and the same for everybody who looks on.

use notarium_record::{Event, ToolCallEnd};

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
}

impl CallAnswer {
    /// What the model is told of the end of a call; `None`: the event is not an end.
    pub fn of(event: &Event) -> Option<CallAnswer> {
        Some(match event {
            Event::ToolCallExecuted(event) => match event.end {
                ToolCallEnd::Ok => CallAnswer { text: event.result.clone(), is_error: false },
                ToolCallEnd::Error => CallAnswer::error(event.result.clone()),
                ToolCallEnd::OutcomeUnknown => CallAnswer::error(format!(
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

fn refused(what: &str, reason: Option<&str>) -> CallAnswer {
    CallAnswer::error(reason.map_or_else(|| format!("{what}."), |reason| format!("{what}: {reason}")))
}
