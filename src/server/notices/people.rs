//! People whom a fact concerns, with their choices and their rights of this moment.

use std::collections::BTreeSet;

use notarium_core::{
    Actor, Document, Subject, ToolCall, ToolCallId, ToolCallPhase, UserId, WorkspaceId, may_decide, role_of,
};
use notarium_store::StoreError;
use notarium_store::accounts::{AccountError, NoticeChoice, NoticePerson};
use notarium_wire::rest::{NoticeChannel, NoticeTopic};

use super::Notices;

/// People who are told of one waiting call.
const MAX_TOLD: usize = 50;
/// People whose rights are looked up for one waiting call.
const MAX_LOOKED_UP: usize = 500;

/// A person's choices.
pub(super) struct Choices {
    choices: Vec<NoticeChoice>,
    pub(super) person: NoticePerson,
}

impl Choices {
    /// True if the person wants notices of the topic by this channel.
    pub(super) fn wants(&self, topic: NoticeTopic, channel: NoticeChannel) -> bool {
        let (topic_word, channel_word) = (notarium_core::wire_word(&topic), notarium_core::wire_word(&channel));
        let chosen = self.choices.iter().find(|choice| choice.topic == topic_word && choice.channel == channel_word);
        chosen.map_or_else(|| is_on_at_first(topic, channel), |choice| choice.is_on)
    }
}

/// Default: everything but mails about runs that succeeded. Mail needs an address, and webhooks have to be made.
fn is_on_at_first(topic: NoticeTopic, channel: NoticeChannel) -> bool {
    !(topic == NoticeTopic::RunEnded && channel == NoticeChannel::Mail)
}

/// Error of the accounts as one of the store.
pub(super) fn unread(error: AccountError) -> StoreError {
    match error {
        AccountError::Store(error) => error,
        error => StoreError::Invalid { reason: error.to_string() },
    }
}

impl Notices {
    pub(super) async fn choices_of(&self, user: &UserId) -> Result<Choices, StoreError> {
        let choices = self.store.notice_choices(user).await?;
        Ok(Choices { choices, person: self.store.notice_person(user).await? })
    }

    /// True if an interactive session of the person may read the notebook now.
    pub(super) async fn may_read(&self, user: &UserId, document: &Document) -> Result<bool, StoreError> {
        if document.erased.is_some() {
            return Ok(false);
        }
        let rights = self.notebooks.accounts.rights_of(user, &document.notebook_id).await.map_err(unread)?;
        let (actor, now) = (Actor::User { id: user.clone() }, self.notebooks.clock.now());
        Ok(rights.is_some_and(|rights| role_of(document, &actor, &rights, now).is_some()))
    }

    /// People who may decide on a call that waits; the one for whom the assistant acts first.
    pub(super) async fn deciders(&self, document: &Document, id: &ToolCallId) -> Result<Vec<UserId>, StoreError> {
        let waiting = document.tool_calls.get(id).filter(|call| matches!(call.phase, ToolCallPhase::Waiting));
        let Some(call) = waiting else { return Ok(Vec::new()) };
        let mut told = Vec::new();
        for user in self.candidates(document, call).await?.into_iter().take(MAX_LOOKED_UP) {
            let rights = self.notebooks.accounts.rights_of(&user, &document.notebook_id).await.map_err(unread)?;
            let (actor, now) = (Actor::User { id: user.clone() }, self.notebooks.clock.now());
            if rights.is_some_and(|rights| may_decide(document, &actor, &rights, now, call)) {
                told.push(user);
            }
            if told.len() == MAX_TOLD {
                break;
            }
        }
        Ok(told)
    }

    /// People with a role in the notebook, each once.
    async fn candidates(&self, document: &Document, call: &ToolCall) -> Result<Vec<UserId>, StoreError> {
        let mut found: Vec<UserId> = person_of(&call.requested_by).into_iter().collect();
        let mut workspaces: Vec<WorkspaceId> =
            self.notebooks.accounts.workspace_of(&document.notebook_id).into_iter().collect();
        for entry in &document.access {
            match &entry.subject {
                Subject::User { id } => found.push(id.clone()),
                Subject::Workspace { id } => workspaces.push(id.clone()),
                Subject::ShareLink { .. } | Subject::Agent { .. } => {}
            }
        }
        for workspace in workspaces {
            let members = self.notebooks.accounts.store().members(&workspace).await.map_err(unread)?;
            found.extend(members.into_iter().map(|member| member.user_id));
        }
        let mut seen = BTreeSet::new();
        found.retain(|user| seen.insert(user.clone()));
        Ok(found)
    }
}

/// The person behind an actor, if it has an account.
pub(super) fn person_of(actor: &Actor) -> Option<UserId> {
    match actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id.clone()),
        Actor::Guest { .. } | Actor::Agent { .. } | Actor::System => None,
    }
}
