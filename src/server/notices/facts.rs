//! Facts of a notebook's log that concern people. Pure: an event in, facts out; the people are found elsewhere.

use notarium_core::{
    Actor, EndCause, Event, ExecutionId, ExecutionOutcome, KernelCause, KernelSessionId, MessageBlock, MessagePosted,
    Open, Recorded, ScheduledRunEnded, ScheduledRunOutcome, ToolCallId, UserId, wire_word,
};
use notarium_wire::rest::NoticeKind;
use serde::Serialize;

/// Logins that one message mentions at most.
const MAX_LOGINS: usize = 20;

/// A fact, with what is known of the people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A call waits; those who may decide on it are concerned.
    CallWaits { call: ToolCallId },
    /// Nothing is left to do about a subject.
    Settled { subject: String },
    /// Somebody is mentioned. `subject` is the comment or message.
    Mention { subject: String, people: Vec<UserId>, logins: Vec<String>, by: Actor, kind: NoticeKind },
    /// A run ended; its requester is concerned if it was long or lost.
    NoticedEnd { execution: ExecutionId, end: NoticedEnd },
    /// A kernel ended because its agent is gone.
    AgentGone { kernel_session: KernelSessionId },
    /// A scheduled run failed or did not take place; the schedule's maker is concerned.
    ScheduledRunEnd { end: Box<ScheduledRunEnded> },
}

/// End of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticedEnd {
    Succeeded,
    Failed {
        cause: Option<String>,
    },
    /// Its end is not known, or it could not run. `cause` is a word of the events.
    Lost {
        cause: String,
    },
}

/// Facts of an event.
pub fn of(recorded: &Recorded) -> Option<Fact> {
    let by = &recorded.envelope.actor;
    match &recorded.event {
        Event::ToolCallRequested(event) => {
            let waits = event.gate.waits();
            waits.then(|| Fact::CallWaits { call: event.call_id.clone() })
        }
        Event::ToolCallConfirmed(_)
        | Event::ToolCallDenied(_)
        | Event::ToolCallWithdrawn(_)
        | Event::ToolCallVoided(_)
        | Event::ToolCallExpired(_)
        | Event::ToolCallStarted(_) => {
            let call = recorded.event.tool_call_id()?;
            Some(Fact::Settled { subject: call.to_string() })
        }
        Event::CommentPosted(event) => {
            mention(event.mentions.clone(), Vec::new(), by, event.comment_id.as_str(), || NoticeKind::Mentioned {
                by: by.clone(),
                cell: None,
                thread: Some(event.thread_id.clone()),
                comment: Some(event.comment_id.clone()),
                conversation: None,
            })
        }
        Event::CommentEdited(event) => {
            mention(event.mentions.clone(), Vec::new(), by, event.comment_id.as_str(), || NoticeKind::Mentioned {
                by: by.clone(),
                cell: None,
                thread: Some(event.thread_id.clone()),
                comment: Some(event.comment_id.clone()),
                conversation: None,
            })
        }
        Event::MessagePosted(event) => {
            // Assistants repeat what they read: only people mention.
            let is_person = matches!(by, Actor::User { .. } | Actor::Guest { .. });
            let logins = if is_person { logins_in(&text_of(event)) } else { Vec::new() };
            mention(Vec::new(), logins, by, event.message_id.as_str(), || NoticeKind::Mentioned {
                by: by.clone(),
                cell: None,
                thread: None,
                comment: None,
                conversation: Some(event.conversation_id.clone()),
            })
        }
        Event::ExecutionCompleted(event) => {
            let end = match event.outcome.known() {
                Some(ExecutionOutcome::Ok) => NoticedEnd::Succeeded,
                // The person has interrupted it.
                Some(ExecutionOutcome::Interrupted) => return None,
                Some(ExecutionOutcome::Error) | None => NoticedEnd::Failed { cause: None },
                Some(ExecutionOutcome::TimedOut) => NoticedEnd::Failed { cause: Some(wire_word(&EndCause::TimedOut)) },
            };
            Some(Fact::NoticedEnd { execution: event.execution_id.clone(), end })
        }
        Event::ExecutionLost(event) if !is_wanted(&event.cause) => {
            let end = NoticedEnd::Lost { cause: word_of(&event.cause) };
            Some(Fact::NoticedEnd { execution: event.execution_id.clone(), end })
        }
        Event::ScheduledRunEnded(event) => {
            use ScheduledRunOutcome::{Cancelled, Succeeded};
            let is_trouble = !matches!(event.outcome.known(), Some(Succeeded | Cancelled) | None);
            is_trouble.then(|| Fact::ScheduledRunEnd { end: Box::new(event.clone()) })
        }
        Event::KernelSessionEnded(event) if event.cause == KernelCause::AgentLost => {
            Some(Fact::AgentGone { kernel_session: event.kernel_session.clone() })
        }
        _ => None,
    }
}

/// True for ends that somebody wanted, who knows of them.
fn is_wanted(cause: &Open<EndCause>) -> bool {
    let wanted = [
        EndCause::Requested,
        EndCause::Interrupted,
        EndCause::CellDeleted,
        EndCause::KernelRestarted,
        EndCause::KernelShutDown,
        EndCause::GivenUp,
    ];
    cause.known().is_some_and(|cause| wanted.contains(cause))
}

fn word_of(cause: &impl Serialize) -> String {
    wire_word(cause)
}

fn mention(
    people: Vec<UserId>,
    logins: Vec<String>,
    by: &Actor,
    subject: &str,
    kind: impl FnOnce() -> NoticeKind,
) -> Option<Fact> {
    if people.is_empty() && logins.is_empty() {
        return None;
    }
    Some(Fact::Mention { subject: subject.to_owned(), people, logins, by: by.clone(), kind: kind() })
}

fn text_of(message: &MessagePosted) -> String {
    let texts = message.known_blocks().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Logins after an `@` that begins a word, in lower case, each once.
fn logins_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        if letter == '@' && !is_of_login(before) && found.len() < MAX_LOGINS {
            let rest = &text[at + 1..];
            let end = rest.find(|next| !is_of_login(next)).unwrap_or(rest.len());
            // A full stop or dash ends the sentence, not the login.
            let login = rest[..end].trim_end_matches(['.', '-', '_']).to_lowercase();
            if !login.is_empty() && login.chars().count() <= 100 && !found.contains(&login) {
                found.push(login);
            }
        }
        before = letter;
    }
    found
}

fn is_of_login(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_' | '@')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rooms::notices::NOTICED_TYPES;

    fn recorded(actor: Actor, event_type: &str, payload: Value) -> Recorded {
        let envelope = json!({
            "id": "01JZZZZZZZZZZZZZZZZZZZZZZZ", "notebook_id": "n", "version": 7, "type": event_type, "schema": 1,
            "actor": actor, "command_id": "c", "correlation_id": "c", "recorded_at": 1_000,
        });
        let envelope = serde_json::from_value(envelope).expect("an envelope");
        // The newest schema: earlier ones had other shapes.
        let decode = |schema| Event::decode(event_type, schema, &payload.to_string()).ok();
        let event = (1..10).rev().find_map(decode).expect("an event");
        Recorded { envelope, event }
    }

    fn ann() -> Actor {
        Actor::User { id: "ann".parse().unwrap() }
    }

    fn fact(event_type: &str, payload: Value) -> Option<Fact> {
        of(&recorded(ann(), event_type, payload))
    }

    #[test]
    fn a_call_that_waits_concerns_people_and_one_that_passes_does_not() {
        let call = |gate: Value| {
            json!({"call_id": "call", "function": "delete_cell", "arguments": {}, "risk": "destructive", "gate": gate,
                   "arguments_hash": "0".repeat(64)})
        };
        let waiting = fact("ToolCallRequested", call(json!({"kind": "waits_for_person", "until": 9})));
        assert_eq!(waiting, Some(Fact::CallWaits { call: "call".parse().unwrap() }));
        assert_eq!(fact("ToolCallRequested", call(json!({"kind": "passes"}))), None);
        let denied = fact("ToolCallDenied", json!({"call_id": "call"}));
        assert_eq!(denied, Some(Fact::Settled { subject: "call".to_owned() }));
    }

    #[test]
    fn a_comment_concerns_those_whom_it_mentions() {
        let comment = json!({"thread_id": "t", "comment_id": "c", "text": "Look", "mentions": ["bo"]});
        for event_type in ["CommentPosted", "CommentEdited"] {
            let Some(Fact::Mention { subject, people, .. }) = fact(event_type, comment.clone()) else { panic!() };
            assert_eq!((subject.as_str(), people), ("c", vec!["bo".parse().unwrap()]));
        }
        assert_eq!(fact("CommentPosted", json!({"thread_id": "t", "comment_id": "c", "text": "@bo"})), None);
    }

    #[test]
    fn a_message_of_a_person_mentions_logins() {
        let message = |text: &str| json!({"conversation_id": "talk", "message_id": "m", "role": "user", "blocks": [{"text": {"text": text}}]});
        let Some(Fact::Mention { logins, .. }) = fact("MessagePosted", message("Ask @bo. Or @Cy-2, not a@b")) else {
            panic!()
        };
        assert_eq!(logins, ["bo", "cy-2"]);
        assert_eq!(fact("MessagePosted", message("nobody")), None);
        let assistant = Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: "talk".parse().unwrap() };
        assert_eq!(of(&recorded(assistant, "MessagePosted", message("@bo"))), None);
    }

    #[test]
    fn ends_of_runs_concern_people_unless_they_wanted_them() {
        let completed = |outcome: &str| {
            let ended = fact("ExecutionCompleted", json!({"execution_id": "e", "output_seq": 1, "outcome": outcome}));
            ended.map(|fact| match fact {
                Fact::NoticedEnd { end, .. } => end,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(completed("ok"), Some(NoticedEnd::Succeeded));
        assert_eq!(completed("error"), Some(NoticedEnd::Failed { cause: None }));
        assert_eq!(completed("timed_out"), Some(NoticedEnd::Failed { cause: Some("timed_out".to_owned()) }));
        assert_eq!(completed("interrupted"), None);
        let lost = |cause: &str| fact("ExecutionLost", json!({"execution_id": "e", "cause": cause})).is_some();
        assert!(lost("kernel_died") && lost("agent_lost") && lost("a_later_word"));
        assert!(!lost("kernel_restarted") && !lost("requested"));
    }

    #[test]
    fn a_kernel_concerns_people_if_its_agent_is_gone() {
        let ended = |cause: &str| fact("KernelSessionEnded", json!({"kernel_session": "k", "cause": cause}));
        assert_eq!(ended("agent_lost"), Some(Fact::AgentGone { kernel_session: "k".parse().unwrap() }));
        assert_eq!(ended("idle"), None);
    }

    #[test]
    fn a_scheduled_run_concerns_people_if_it_did_not_go_well() {
        let ended = |outcome: &str| {
            let payload = json!({"schedule_id": "s", "run": "r", "due": 60_000, "outcome": outcome});
            fact("ScheduledRunEnded", payload).is_some()
        };
        assert!(["failed", "lost", "timed_out", "not_started", "refused", "missed"].into_iter().all(ended));
        assert!(!["succeeded", "cancelled", "a_later_word"].into_iter().any(ended));
    }

    #[test]
    fn types_with_facts_are_events() {
        for name in NOTICED_TYPES {
            assert!(Event::TYPES.contains(&name), "{name}");
        }
    }
}
