//! Grants: a person's permission for the calls of one conversation, for a limited time. `gate` decides which calls a
//! grant covers.

use crate::context::Context;
use crate::functions::offered::find;
use crate::values::decision::{Decided, Decision};
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{
    Actor, ConversationId, Document, GrantExpired, GrantId, GrantIssued, GrantRevoked, Millis, Risk, UserId,
};

/// Longest duration of a grant.
const MAX_GRANT_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

pub(crate) fn decide_revoke(notebook: &Document, grant_id: GrantId) -> Decision {
    Decision::unless(!notebook.grants.contains_key(&grant_id), GrantRevoked { grant_id })
}

pub(crate) fn decide_issue(
    notebook: &Document,
    context: &mut Context,
    grant_id: Option<GrantId>,
    conversation_id: ConversationId,
    functions: Vec<String>,
    expires_at: Millis,
) -> Result<Decision> {
    let invalid = RejectionCode::InvalidValue;
    invalid.when(
        expires_at <= context.now || expires_at > context.now + MAX_GRANT_MS,
        || "a grant ends in the future, within seven days: choose another time",
    )?;
    for function in &functions {
        let is_destructive = find(notebook, function)?.risk() == Risk::Destructive;
        invalid.when(is_destructive, || format!("{function} always asks: no grant covers it"))?;
    }
    let limit = context.limits.max_grants;
    RejectionCode::LimitExceeded.when(notebook.grants.len() - expired(notebook, context).count() >= limit, || {
        format!("a notebook has at most {limit} grants: revoke some")
    })?;
    let grant_id = grant_id.unwrap_or_else(|| context.ids.ulid().into());
    let exists = notebook.grants.contains_key(&grant_id);
    invalid.when(exists, || format!("grant {grant_id} exists: choose another id"))?;
    let for_user = person_of(notebook, &conversation_id)?.ok_or_else(|| {
        invalid.because(format!("conversation {conversation_id} is nobody's with an account: no assistant acts in it"))
    })?;
    let issued = GrantIssued { grant_id, conversation_id, functions, expires_at, for_user };
    Ok(Decision::of(expired(notebook, context).chain([issued.into()])))
}

/// Removes expired grants from the document when the next one is issued.
fn expired(notebook: &Document, context: &Context) -> impl Iterator<Item = Decided> {
    let ended = notebook.grants.iter().filter(|(_, grant)| grant.expires_at <= context.now);
    ended.map(|(grant_id, _)| GrantExpired { grant_id: grant_id.clone() }.into())
}

/// Person for whom the assistant acts in the conversation: the requester of the open turn, else the person who began
/// the conversation.
fn person_of(notebook: &Document, id: &ConversationId) -> Result<Option<UserId>> {
    let Some(conversation) = notebook.conversations.get(id) else {
        let message = format!(
            "no conversation {id} has begun in this notebook: take the id of one from GET …/conversations or `notarium conversations`, \
             or begin it"
        );
        return Err(RejectionCode::UnknownConversation.because(message));
    };
    let turn = conversation.turn.as_ref().and_then(|turn| notebook.turns.get(turn));
    Ok(match turn.map_or(&conversation.started_by, |turn| &turn.requested_by) {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id.clone()),
        _ => None,
    })
}
