//! Grants: a person's leave for the calls of one conversation, for a while. What they open is the gate's business.

use crate::actor::Actor;
use crate::command::Command;
use crate::context::Context;
use crate::decide::Decision;
use crate::envelope::Recorded;
use crate::event::{Event, GrantIssued, GrantRevoked};
use crate::gate::{AssistantGrant, Risk};
use crate::ids::{ConversationId, GrantId, Millis, UserId};
use crate::notebook::Notebook;
use crate::rejection::{Rejection, RejectionCode};
use crate::tools::find;

/// A grant lasts no longer.
const MAX_GRANT_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    match command {
        Command::IssueGrant { grant_id, conversation_id, functions, expires_at } => {
            decide_grant(notebook, context, grant_id, conversation_id, functions, expires_at)
        }
        Command::RevokeGrant { grant_id } if notebook.grants.contains_key(&grant_id) => {
            Ok(Decision::one(GrantRevoked { grant_id }))
        }
        Command::RevokeGrant { .. } => Ok(Decision::nothing()),
        _ => unreachable!("the dispatcher sends commands of grants only"),
    }
}

fn decide_grant(
    notebook: &Notebook,
    context: &mut Context,
    grant_id: Option<GrantId>,
    conversation_id: ConversationId,
    functions: Vec<String>,
    expires_at: Millis,
) -> Result<Decision, Rejection> {
    let invalid = |message: String| Err(Rejection::new(RejectionCode::InvalidValue, message));
    if expires_at <= context.now || expires_at > context.now + MAX_GRANT_MS {
        return invalid("a grant ends in the future, within seven days: choose another time".to_owned());
    }
    for function in &functions {
        if find(notebook, function)?.risk() == Risk::Destructive {
            return invalid(format!("{function} always asks: no grant covers it"));
        }
    }
    let limit = context.limits.max_grants;
    if notebook.grants.len() >= limit {
        return Err(Rejection::new(
            RejectionCode::LimitExceeded,
            format!("a notebook has at most {limit} grants: revoke some"),
        ));
    }
    let grant_id = grant_id.unwrap_or_else(|| context.ids.ulid().into());
    if notebook.grants.contains_key(&grant_id) {
        return invalid(format!("grant {grant_id} exists: choose another id"));
    }
    let for_user = person_of(notebook, context, &conversation_id);
    Ok(Decision::one(GrantIssued { grant_id, conversation_id, functions, expires_at, for_user }))
}

/// For whom the assistant acts in the conversation: in its turn, else since it began. One that is to come is the issuer's.
fn person_of(notebook: &Notebook, context: &Context, id: &ConversationId) -> Option<UserId> {
    let conversation = notebook.conversations.get(id);
    let turn = conversation.and_then(|known| notebook.turns.get(known.turn.as_ref()?));
    let speaker = turn.map(|turn| &turn.requested_by).or(conversation.map(|known| &known.started_by));
    match speaker.unwrap_or(&context.actor) {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id.clone()),
        _ => None,
    }
}

pub(crate) fn apply(notebook: &mut Notebook, recorded: &Recorded) {
    match &recorded.event {
        Event::GrantIssued(event) => {
            let grant = AssistantGrant {
                conversation_id: event.conversation_id.clone(),
                for_user: event.for_user.clone(),
                functions: event.functions.clone(),
                expires_at: event.expires_at,
                issued_by: recorded.envelope.actor.clone(),
            };
            // Those that have ended are of no use to anybody.
            notebook.grants.retain(|_, grant| grant.expires_at > recorded.envelope.recorded_at);
            notebook.grants.insert(event.grant_id.clone(), grant);
        }
        Event::GrantRevoked(event) => _ = notebook.grants.remove(&event.grant_id),
        _ => {}
    }
}
