//! Accounts in memory: for tests and for `--ephemeral` servers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, Role, ShareLinkId, TokenId, UserId, WorkspaceId};

use super::{
    AccountChange, AccountError, AccountStore, AuditEntry, AuditRecord, Identity, MAX_ACCOUNT_PAGE, Membership,
    ShareLink, Token, TokenFilter, TokenHolder, TokenKind, User, Workspace,
};

/// The accounts of one process.
#[derive(Debug, Default)]
pub struct MemoryAccountStore {
    accounts: Mutex<Accounts>,
}

#[derive(Debug, Default, Clone)]
struct Accounts {
    users: BTreeMap<UserId, User>,
    /// By issuer and subject.
    identities: BTreeMap<(String, String), Identity>,
    tokens: BTreeMap<TokenId, Token>,
    workspaces: BTreeMap<WorkspaceId, Workspace>,
    members: BTreeMap<(WorkspaceId, UserId), Role>,
    placements: BTreeMap<NotebookId, WorkspaceId>,
    share_links: BTreeMap<ShareLinkId, ShareLink>,
    audit: Vec<AuditRecord>,
}

impl MemoryAccountStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T>(&self, question: impl FnOnce(&Accounts) -> T) -> Result<T, AccountError> {
        Ok(question(&self.accounts.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Accounts {
    fn change(&mut self, change: &AccountChange) -> Result<(), AccountError> {
        match change {
            AccountChange::CreateUser(user) => self.create_user(user),
            AccountChange::SetProfile { user, name, login } => self.set_profile(user, name, login),
            AccountChange::SetPassword { user, hash } => {
                self.user_mut(user)?.password_hash = Some(hash.clone());
                Ok(())
            }
            AccountChange::SetAdmin { user, is_admin } => {
                self.user_mut(user)?.is_admin = *is_admin;
                self.keep_an_admin()
            }
            AccountChange::DeactivateUser { user, at } => self.deactivate(user, *at),
            AccountChange::ReactivateUser { user } => {
                self.user_mut(user)?.deactivated_at = None;
                Ok(())
            }
            AccountChange::LinkIdentity(identity) => {
                self.user_mut(&identity.user_id)?;
                let key = (identity.issuer.clone(), identity.subject.clone());
                create(&mut self.identities, &key, identity, "sign-in")
            }
            AccountChange::UnlinkIdentity { user, identity, at } => self.unlink_identity(user, identity, *at),
            AccountChange::CreateToken(token) => self.create_token(token),
            AccountChange::RevokeToken { token, at } => self.revoke_token(token, *at).map(drop),
            AccountChange::SpendToken { token, at } => self.spend_token(token, *at),
            AccountChange::RevokeTokensOf { user, kinds, except, at } => {
                self.revoke_tokens_of(user, kinds, except.as_ref(), *at);
                Ok(())
            }
            AccountChange::CreateWorkspace(workspace) => {
                create(&mut self.workspaces, &workspace.id, workspace, "workspace")
            }
            AccountChange::RenameWorkspace { workspace, name } => self.rename_workspace(workspace, name),
            AccountChange::SetMember { workspace, user, role } => self.set_member(workspace, user, *role),
            AccountChange::PlaceNotebook { notebook, workspace } => self.place(notebook, workspace.as_ref()),
            AccountChange::CreateShareLink(link) => {
                self.user_mut(&link.created_by)?;
                create(&mut self.share_links, &link.id, link, "share link")
            }
            AccountChange::RevokeShareLink { share_link, at } => self.revoke_share_link(share_link, *at),
        }
    }

    fn user_mut(&mut self, id: &UserId) -> Result<&mut User, AccountError> {
        self.users.get_mut(id).ok_or(AccountError::Unknown { what: "user" })
    }

    fn create_user(&mut self, user: &User) -> Result<(), AccountError> {
        if let Some(login) = &user.login {
            self.check_login_free(login, &user.id)?;
        }
        create(&mut self.users, &user.id, user, "user")
    }

    fn check_login_free(&self, login: &str, for_user: &UserId) -> Result<(), AccountError> {
        let is_taken = |user: &User| user.id != *for_user && user.login.as_deref() == Some(login);
        if self.users.values().any(is_taken) { Err(AccountError::Taken { what: "login" }) } else { Ok(()) }
    }

    fn set_profile(&mut self, id: &UserId, name: &str, login: &str) -> Result<(), AccountError> {
        self.check_login_free(login, id)?;
        let user = self.user_mut(id)?;
        user.name = name.to_owned();
        user.login = Some(login.to_owned());
        Ok(())
    }

    fn keep_an_admin(&self) -> Result<(), AccountError> {
        let is_active_admin = |user: &User| user.is_admin && user.deactivated_at.is_none();
        if self.users.values().any(is_active_admin) { Ok(()) } else { Err(AccountError::LastAdmin) }
    }

    fn deactivate(&mut self, id: &UserId, at: Millis) -> Result<(), AccountError> {
        let user = self.user_mut(id)?;
        user.deactivated_at.get_or_insert(at);
        self.keep_an_admin()?;
        for token in self.tokens.values_mut() {
            if token.created_by == *id || token.holder == TokenHolder::User(id.clone()) {
                token.revoked_at.get_or_insert(at);
            }
        }
        Ok(())
    }

    /// Whether it was alive before.
    fn revoke_token(&mut self, id: &TokenId, at: Millis) -> Result<bool, AccountError> {
        let token = self.tokens.get_mut(id).ok_or(AccountError::Unknown { what: "token" })?;
        let was_alive = token.revoked_at.is_none();
        token.revoked_at.get_or_insert(at);
        Ok(was_alive)
    }

    fn spend_token(&mut self, id: &TokenId, at: Millis) -> Result<(), AccountError> {
        if self.revoke_token(id, at)? { Ok(()) } else { Err(AccountError::AlreadySpent) }
    }

    fn revoke_tokens_of(&mut self, user: &UserId, kinds: &[TokenKind], except: Option<&TokenId>, at: Millis) {
        let holder = TokenHolder::User(user.clone());
        for token in self.tokens.values_mut() {
            if token.holder == holder && kinds.contains(&token.kind()) && Some(&token.id) != except {
                token.revoked_at.get_or_insert(at);
            }
        }
    }

    fn unlink_identity(&mut self, user: &UserId, id: &str, at: Millis) -> Result<(), AccountError> {
        let count = self.identities.len();
        self.identities.retain(|_, identity| identity.id != id || identity.user_id != *user);
        if self.identities.len() == count {
            return Err(AccountError::Unknown { what: "sign-in" });
        }
        for token in self.tokens.values_mut().filter(|token| token.identity.as_deref() == Some(id)) {
            token.revoked_at.get_or_insert(at);
        }
        Ok(())
    }

    fn create_token(&mut self, token: &Token) -> Result<(), AccountError> {
        self.user_mut(&token.created_by)?;
        if let TokenHolder::User(holder) = &token.holder {
            self.user_mut(holder)?;
        }
        create(&mut self.tokens, &token.id, token, "token")
    }

    fn check_workspace(&self, id: &WorkspaceId) -> Result<(), AccountError> {
        if self.workspaces.contains_key(id) { Ok(()) } else { Err(AccountError::Unknown { what: "workspace" }) }
    }

    fn rename_workspace(&mut self, id: &WorkspaceId, name: &str) -> Result<(), AccountError> {
        let workspace = self.workspaces.get_mut(id).ok_or(AccountError::Unknown { what: "workspace" })?;
        workspace.name = name.to_owned();
        Ok(())
    }

    fn set_member(&mut self, workspace: &WorkspaceId, user: &UserId, role: Option<Role>) -> Result<(), AccountError> {
        self.check_workspace(workspace)?;
        self.user_mut(user)?;
        let key = (workspace.clone(), user.clone());
        match role {
            Some(role) => drop(self.members.insert(key, role)),
            None => drop(self.members.remove(&key)),
        }
        let has_owner =
            self.members.iter().any(|((member_of, _), role)| member_of == workspace && *role == Role::Owner);
        if has_owner { Ok(()) } else { Err(AccountError::LastWorkspaceOwner) }
    }

    fn place(&mut self, notebook: &NotebookId, workspace: Option<&WorkspaceId>) -> Result<(), AccountError> {
        match workspace {
            Some(workspace) => {
                self.check_workspace(workspace)?;
                self.placements.insert(notebook.clone(), workspace.clone());
            }
            None => drop(self.placements.remove(notebook)),
        }
        Ok(())
    }

    fn revoke_share_link(&mut self, id: &ShareLinkId, at: Millis) -> Result<(), AccountError> {
        let link = self.share_links.get_mut(id).ok_or(AccountError::Unknown { what: "share link" })?;
        link.revoked_at.get_or_insert(at);
        Ok(())
    }

    fn record(&mut self, entry: &AuditEntry) {
        let number = self.audit.len() as u64 + 1;
        self.audit.push(AuditRecord { number, entry: entry.clone() });
    }

    fn memberships(&self, is_asked: impl Fn(&WorkspaceId, &UserId) -> bool) -> Vec<Membership> {
        let asked = self.members.iter().filter(|((workspace, user), _)| is_asked(workspace, user));
        asked
            .map(|((workspace, user), role)| Membership {
                workspace_id: workspace.clone(),
                user_id: user.clone(),
                role: *role,
            })
            .collect()
    }
}

fn create<K: Ord + Clone, V: Clone>(
    records: &mut BTreeMap<K, V>,
    id: &K,
    record: &V,
    what: &'static str,
) -> Result<(), AccountError> {
    if records.contains_key(id) {
        return Err(AccountError::Taken { what });
    }
    records.insert(id.clone(), record.clone());
    Ok(())
}

fn page_after<K: Ord, V, T>(
    records: &BTreeMap<K, V>,
    after: Option<&K>,
    limit: usize,
    pick: impl Fn(&K, &V) -> T,
) -> Vec<T> {
    let later = records.iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
    later.take(limit.min(MAX_ACCOUNT_PAGE)).map(|(id, record)| pick(id, record)).collect()
}

fn is_asked(filter: &TokenFilter, token: &Token) -> bool {
    let is_agent = token.kind() == TokenKind::Agent;
    match filter {
        TokenFilter::OfUser(user) => {
            matches!(token.kind(), TokenKind::Session | TokenKind::Api)
                && token.holder == TokenHolder::User(user.clone())
        }
        TokenFilter::AgentsBy(user) => is_agent && token.created_by == *user,
        TokenFilter::AllAgents => is_agent,
        TokenFilter::OfAgent(agent) => token.holder == TokenHolder::Agent(agent.clone()),
    }
}

fn newest<T>(mut found: Vec<T>, limit: usize, key: impl Fn(&T) -> (Millis, String)) -> Vec<T> {
    found.sort_by_key(|record| std::cmp::Reverse(key(record)));
    found.truncate(limit.min(MAX_ACCOUNT_PAGE));
    found
}

#[async_trait]
impl AccountStore for MemoryAccountStore {
    async fn apply(&self, changes: &[AccountChange], audit: &AuditEntry) -> Result<(), AccountError> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = accounts.clone();
        for change in changes {
            next.change(change)?;
        }
        next.record(audit);
        *accounts = next;
        Ok(())
    }

    async fn user(&self, id: &UserId) -> Result<Option<User>, AccountError> {
        self.read(|accounts| accounts.users.get(id).cloned())
    }

    async fn user_by_login(&self, login: &str) -> Result<Option<User>, AccountError> {
        let login = login.to_lowercase();
        self.read(|accounts| accounts.users.values().find(|user| user.login.as_deref() == Some(&*login)).cloned())
    }

    async fn users(&self, after: Option<&UserId>, limit: usize) -> Result<Vec<User>, AccountError> {
        self.read(|accounts| page_after(&accounts.users, after, limit, |_, user| user.clone()))
    }

    async fn identity(&self, issuer: &str, subject: &str) -> Result<Option<Identity>, AccountError> {
        let key = (issuer.to_owned(), subject.to_owned());
        self.read(|accounts| accounts.identities.get(&key).cloned())
    }

    async fn identities(&self, user: &UserId, limit: usize) -> Result<Vec<Identity>, AccountError> {
        let of_user = |identity: &&Identity| identity.user_id == *user;
        let mut found: Vec<Identity> =
            self.read(|accounts| accounts.identities.values().filter(of_user).cloned().collect())?;
        found.sort_by_key(|identity| (identity.created_at, identity.id.clone()));
        found.truncate(limit.min(MAX_ACCOUNT_PAGE));
        Ok(found)
    }

    async fn token(&self, id: &TokenId) -> Result<Option<Token>, AccountError> {
        self.read(|accounts| accounts.tokens.get(id).cloned())
    }

    async fn tokens(&self, filter: &TokenFilter, limit: usize) -> Result<Vec<Token>, AccountError> {
        let alive = |token: &&Token| token.revoked_at.is_none() && is_asked(filter, token);
        let found = self.read(|accounts| accounts.tokens.values().filter(alive).cloned().collect())?;
        Ok(newest(found, limit, |token: &Token| (token.created_at, token.id.to_string())))
    }

    async fn touch_token(&self, id: &TokenId, at: Millis) -> Result<(), AccountError> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = accounts.tokens.get_mut(id) {
            token.last_used_at = token.last_used_at.max(Some(at));
        }
        Ok(())
    }

    async fn forget_ended_tokens(&self, before: Millis) -> Result<u64, AccountError> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = |token: &Token| token.ended_at().is_none_or(|at| at >= before);
        let count = accounts.tokens.len();
        accounts.tokens.retain(|_, token| is_kept(token));
        Ok((count - accounts.tokens.len()) as u64)
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, AccountError> {
        self.read(|accounts| accounts.workspaces.get(id).cloned())
    }

    async fn workspaces(&self, after: Option<&WorkspaceId>, limit: usize) -> Result<Vec<Workspace>, AccountError> {
        self.read(|accounts| page_after(&accounts.workspaces, after, limit, |_, workspace| workspace.clone()))
    }

    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, AccountError> {
        self.read(|accounts| accounts.memberships(|_, member| member == user))
    }

    async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Membership>, AccountError> {
        self.read(|accounts| accounts.memberships(|of, _| of == workspace))
    }

    async fn placements(
        &self,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<(NotebookId, WorkspaceId)>, AccountError> {
        let pick = |notebook: &NotebookId, workspace: &WorkspaceId| (notebook.clone(), workspace.clone());
        self.read(|accounts| page_after(&accounts.placements, after, limit, pick))
    }

    async fn share_link(&self, id: &ShareLinkId) -> Result<Option<ShareLink>, AccountError> {
        self.read(|accounts| accounts.share_links.get(id).cloned())
    }

    async fn share_links(&self, notebook: &NotebookId, limit: usize) -> Result<Vec<ShareLink>, AccountError> {
        let alive = |link: &&ShareLink| link.revoked_at.is_none() && link.notebook_id == *notebook;
        let found = self.read(|accounts| accounts.share_links.values().filter(alive).cloned().collect())?;
        Ok(newest(found, limit, |link: &ShareLink| (link.created_at, link.id.to_string())))
    }

    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, AccountError> {
        let is_before = |record: &&AuditRecord| before.is_none_or(|before| record.number < before);
        let limit = limit.min(MAX_ACCOUNT_PAGE);
        self.read(|accounts| accounts.audit.iter().rev().filter(is_before).take(limit).cloned().collect())
    }
}
