//! Creates accounts from a list of people, all or none, each with an invitation.

use std::collections::BTreeMap;

use notarium_core::{Role, UserId, WorkspaceId};
use notarium_store::accounts::{AccountChange, AccountError, AuditedChanges, TokenKind, User};
use notarium_wire::rest::WrongLine;
use ulid::Ulid;

use super::invitation_list::{InvitationList, ListedPerson, MAX_PEOPLE};
use super::sessions::{ONE_TIME_MS, mint_for};
use super::workspace_names::WorkspaceNames;
use super::{Accounts, AuthError, Authenticated, OneTimeToken};

/// A person of the list, and the account of that person.
#[derive(Debug)]
pub struct Invited {
    pub person: ListedPerson,
    pub user: User,
    pub invitation: OneTimeToken,
}

/// Accounts that were created, and people who have one already.
#[derive(Debug, Default)]
pub struct InvitedList {
    pub invited: Vec<Invited>,
    pub existing: Vec<ListedPerson>,
}

/// Reason why nobody of a list was invited.
#[derive(Debug, thiserror::Error)]
pub enum InvitationError {
    #[error("lines of the list are wrong")]
    Wrong(Vec<WrongLine>),
    #[error(transparent)]
    Auth(#[from] AuthError),
}

impl From<AccountError> for InvitationError {
    fn from(error: AccountError) -> Self {
        Self::Auth(error.into())
    }
}

impl Accounts {
    /// Invites the people of a list in CSV. People who have an account are left as they are. An administrator may name any workspace.
    pub async fn invite_all(&self, who: &Authenticated, csv: &[u8]) -> Result<InvitedList, InvitationError> {
        let InvitationList { people, mut wrong } = InvitationList::read(csv);
        if people.len() + wrong.len() > MAX_PEOPLE {
            let reason = format!("a list has at most {MAX_PEOPLE} people: send it in parts");
            return Err(AuthError::Limit { reason }.into());
        }
        let names = WorkspaceNames::read(self.store()).await?;
        let (mut list, mut changes) = (InvitedList::default(), Vec::new());
        for person in people {
            if self.store().user_by_login(&person.login).await?.is_some() {
                list.existing.push(person);
                continue;
            }
            match memberships(&names, &person) {
                Ok(memberships) => list.invited.push(self.invite(who, person, memberships, &mut changes)?),
                Err(message) => wrong.push(WrongLine { line: person.line, message }),
            }
        }
        if !wrong.is_empty() {
            wrong.sort_by_key(|wrong| wrong.line);
            return Err(InvitationError::Wrong(wrong));
        }
        if !changes.is_empty() {
            self.change_all(&changes).await?;
        }
        Ok(list)
    }

    /// Adds the changes of one person, each with the audit entry of a single invitation.
    fn invite(
        &self,
        who: &Authenticated,
        person: ListedPerson,
        memberships: BTreeMap<WorkspaceId, Role>,
        changes: &mut Vec<AuditedChanges>,
    ) -> Result<Invited, AccountError> {
        let user = User {
            id: UserId::from(Ulid::generate()),
            name: person.name.clone(),
            login: Some(person.login.clone()),
            password_hash: None,
            is_admin: person.is_admin,
            created_at: self.now(),
            deactivated_at: None,
        };
        let mut add = |change, action: &str, subject: String| {
            changes.push(AuditedChanges { changes: vec![change], audit: self.audit(&who.actor, action, subject) });
        };
        add(AccountChange::CreateUser(user.clone()), "user.create", user.id.to_string());
        for (workspace, role) in memberships {
            let subject = format!("{workspace}/{}", user.id);
            let member = AccountChange::SetMember { workspace, user: user.id.clone(), role: Some(role) };
            add(member, "workspace.member", subject);
        }
        let minted = mint_for(&user, TokenKind::Reset, String::new(), self.now(), ONE_TIME_MS)?;
        let invitation = OneTimeToken { text: minted.text, expires_at: minted.token.expires_at };
        add(AccountChange::CreateToken(minted.token), "user.reset", user.id.to_string());
        Ok(Invited { person, user, invitation })
    }
}

/// Role in each workspace of a person; of several roles the one with the most rights.
fn memberships(names: &WorkspaceNames, person: &ListedPerson) -> Result<BTreeMap<WorkspaceId, Role>, String> {
    let mut memberships = BTreeMap::new();
    for named in &person.workspaces {
        let role = memberships.entry(names.find(&named.name)?).or_insert(named.role);
        *role = named.role.max(*role);
    }
    Ok(memberships)
}
