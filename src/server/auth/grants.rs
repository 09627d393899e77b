//! Creates and revokes API tokens, agents' tokens, share links, accounts and memberships of workspaces.
//!
//! The routes check the right to share a *notebook*: rights in notebooks are not known here.

use std::collections::BTreeSet;

use notarium_core::{
    AgentId, Millis, NotebookId, Role, Scope, Scopes, ShareLinkId, TokenId, UserId, WorkspaceId, word,
};
use notarium_store::accounts::{
    AccountChange, AccountError, AuditEntry, Coverage, ShareLink, Token, TokenFilter, TokenHolder, TokenKind,
    TokenScopes, User, Workspace,
};
use ulid::Ulid;

use super::sessions::{TokenRequest, mint};
use super::{Accounts, AuthError, Authenticated, OneTimeToken, TokenText};
use crate::auth;

/// Limit of live tokens per person, agents per person, links per notebook and workspaces per person.
const MAX_EACH: usize = 500;
/// Notebooks that one token may name; a workspace covers more.
const MAX_NAMED_NOTEBOOKS: usize = 500;

/// Request for an API token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiToken {
    pub label: String,
    /// Every scope is requested by name, `confirm` too.
    pub scopes: Scopes,
    pub coverage: Coverage,
    pub expires_at: Option<Millis>,
}

/// Request for an agent's token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    pub name: String,
    pub coverage: Coverage,
    pub expires_at: Option<Millis>,
}

/// Request for a share link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewShareLink {
    pub notebook: NotebookId,
    pub role: Role,
    pub label: String,
    pub expires_at: Option<Millis>,
}

/// A new token. Its text is shown once.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub text: TokenText,
    pub token: Token,
}

impl Accounts {
    /// Creates an API token. Needs an interactive session: a stolen token makes no tokens that outlive it.
    pub async fn create_api_token(&self, who: &Authenticated, new: NewApiToken) -> Result<NewToken, AuthError> {
        if who.kind != TokenKind::Session {
            return Err(AuthError::forbidden("API tokens are made in a session: sign in with POST /api/session"));
        }
        let user = person(who)?;
        self.check_expiry(new.expires_at)?;
        check_covers(who, &new.coverage)?;
        let scopes = api_scopes(who, new.scopes)?;
        check_room(self.store().tokens(&TokenFilter::OfUser(user.clone()), MAX_EACH).await?.len(), "tokens")?;
        let minted = mint(TokenRequest {
            holder: TokenHolder::User(user.clone()),
            created_by: user.clone(),
            scopes,
            coverage: new.coverage,
            label: auth::label(&new.label)?,
            now: self.now(),
            expires_at: new.expires_at,
        })?;
        self.keep(who, minted, "token.create").await
    }

    /// Creates an agent's token. The caller has checked that the person may let an agent into the covered notebooks.
    pub async fn create_agent(&self, who: &Authenticated, new: NewAgent) -> Result<NewToken, AuthError> {
        let user = person(who)?;
        check_unrestricted(who)?;
        self.check_expiry(new.expires_at)?;
        check_size(&new.coverage)?;
        check_room(self.store().tokens(&TokenFilter::AgentsBy(user.clone()), MAX_EACH).await?.len(), "agents")?;
        let minted = mint(TokenRequest {
            holder: TokenHolder::Agent(AgentId::from(Ulid::generate())),
            created_by: user.clone(),
            scopes: TokenScopes::all_of(TokenKind::Agent),
            coverage: new.coverage,
            label: auth::name(&new.name)?,
            now: self.now(),
            expires_at: new.expires_at,
        })?;
        self.keep(who, minted, "agent.create").await
    }

    async fn keep(&self, who: &Authenticated, minted: NewToken, action: &str) -> Result<NewToken, AuthError> {
        let audit = self.audit(&who.actor, action, &minted.token.id);
        self.change(&[AccountChange::CreateToken(minted.token.clone())], audit).await?;
        Ok(minted)
    }

    /// Revokes a token that the person holds or made; an administrator's session revokes any.
    pub async fn revoke_token(&self, who: &Authenticated, id: &TokenId) -> Result<(), AuthError> {
        let user = person(who)?;
        let token = self.store().token(id).await?;
        let is_own = |token: &Token| token.created_by == *user || token.holder == TokenHolder::User(user.clone());
        if !token.is_some_and(|token| is_own(&token) || who.has(Scope::Admin)) {
            return Err(AccountError::Unknown { what: "token" }.into());
        }
        let revoke = AccountChange::RevokeToken { token: id.clone(), at: self.now() };
        Ok(self.change(&[revoke], self.audit(&who.actor, "token.revoke", id)).await?)
    }

    /// Creates a link. The caller grants its role in the notebook, and revokes the link if that fails.
    pub async fn create_share_link(
        &self,
        who: &Authenticated,
        new: NewShareLink,
    ) -> Result<(TokenText, ShareLink), AuthError> {
        let user = person(who)?;
        self.check_expiry(new.expires_at)?;
        check_room(self.store().share_links(&new.notebook, MAX_EACH).await?.len(), "share links")?;
        let id = ShareLinkId::from(Ulid::generate());
        let token_id = TokenId::new(id.as_str()).map_err(|_| AuthError::Invalid)?;
        let text = TokenText::generate(TokenKind::Share, token_id)?;
        let link = ShareLink {
            id,
            notebook_id: new.notebook,
            role: new.role,
            secret_hash: text.secret_hash(),
            label: auth::label(&new.label)?,
            created_by: user.clone(),
            created_at: self.now(),
            expires_at: new.expires_at,
            revoked_at: None,
        };
        let audit = self.audit(&who.actor, "share_link.create", &link.id);
        self.change(&[AccountChange::CreateShareLink(link.clone())], audit).await?;
        Ok((text, link))
    }

    /// Revokes a link of this notebook. A link of another notebook is unknown.
    pub async fn revoke_share_link(
        &self,
        who: &Authenticated,
        notebook: &NotebookId,
        id: &ShareLinkId,
    ) -> Result<(), AuthError> {
        let link = self.store().share_link(id).await?;
        if link.is_none_or(|link| link.notebook_id != *notebook) {
            return Err(AccountError::Unknown { what: "share link" }.into());
        }
        let revoke = AccountChange::RevokeShareLink { share_link: id.clone(), at: self.now() };
        Ok(self.change(&[revoke], self.audit(&who.actor, "share_link.revoke", id)).await?)
    }

    /// Creates a person, and the one-time token with which that person chooses a password.
    pub async fn create_user(
        &self,
        who: &Authenticated,
        name: &str,
        login: &str,
        is_admin: bool,
    ) -> Result<(User, OneTimeToken), AuthError> {
        let user = User {
            id: UserId::from(Ulid::generate()),
            name: auth::name(name)?,
            login: Some(auth::login(login)?),
            password_hash: None,
            is_admin,
            created_at: self.now(),
            deactivated_at: None,
        };
        let audit = self.audit(&who.actor, "user.create", &user.id);
        self.change(&[AccountChange::CreateUser(user.clone())], audit).await?;
        let invitation = self.reset_password(who, &user).await?;
        Ok((user, invitation))
    }

    /// Creates a workspace that its maker owns.
    pub async fn create_workspace(&self, who: &Authenticated, name: &str) -> Result<Workspace, AuthError> {
        let user = person(who)?;
        check_unrestricted(who)?;
        check_room(who.workspaces.len(), "workspaces")?;
        let id = WorkspaceId::from(Ulid::generate());
        let workspace = Workspace { id: id.clone(), name: auth::name(name)?, created_at: self.now() };
        let changes = [
            AccountChange::CreateWorkspace(workspace.clone()),
            AccountChange::SetMember { workspace: id, user: user.clone(), role: Some(Role::Owner) },
        ];
        self.change(&changes, self.audit(&who.actor, "workspace.create", &workspace.id)).await?;
        Ok(workspace)
    }

    pub async fn rename_workspace(
        &self,
        who: &Authenticated,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<(), AuthError> {
        self.check_manages(who, workspace)?;
        let rename = AccountChange::RenameWorkspace { workspace: workspace.clone(), name: auth::name(name)? };
        Ok(self.change(&[rename], self.audit(&who.actor, "workspace.rename", workspace)).await?)
    }

    /// Sets a member's role; `None` removes the member. Needs an owner; every member may leave.
    pub async fn set_member(
        &self,
        who: &Authenticated,
        workspace: &WorkspaceId,
        user: &UserId,
        role: Option<Role>,
    ) -> Result<(), AuthError> {
        let is_leaving = role.is_none() && who.user_id() == Some(user) && who.coverage == Coverage::All;
        if !is_leaving {
            self.check_manages(who, workspace)?;
        }
        if role == Some(Role::Agent) {
            return Err(AuthError::invalid(
                "the role agent is for runtime agents: make an agent's token for the workspace",
            ));
        }
        if role.is_some() {
            self.check_active(user).await?;
        }
        let change = AccountChange::SetMember { workspace: workspace.clone(), user: user.clone(), role };
        let action = if role.is_some() { "workspace.member" } else { "workspace.member_removed" };
        Ok(self.change(&[change], self.audit(&who.actor, action, format!("{workspace}/{user}"))).await?)
    }

    async fn check_active(&self, user: &UserId) -> Result<(), AuthError> {
        let user = self.store().user(user).await?.ok_or(AccountError::Unknown { what: "user" })?;
        match user.deactivated_at {
            Some(_) => Err(AuthError::invalid(format!(
                "the account of {} is deactivated: choose somebody else, or ask an administrator to reactivate it",
                user.name
            ))),
            None => Ok(()),
        }
    }

    /// Moves a notebook into a workspace, or out of any. The caller has checked that the person may share the notebook.
    /// Needs the role editor or owner in the workspace.
    pub async fn place_notebook(
        &self,
        who: &Authenticated,
        notebook: &NotebookId,
        workspace: Option<&WorkspaceId>,
    ) -> Result<(), AuthError> {
        check_unrestricted(who)?;
        if let Some(workspace) = workspace {
            let role = self.role_in(who, workspace)?;
            if !matches!(role, Role::Editor | Role::Owner) {
                return Err(AuthError::forbidden(
                    "only its editors and owners put notebooks into a workspace: ask one",
                ));
            }
            if let Some(usage) = self.usage() {
                usage
                    .check_place(notebook, workspace)
                    .map_err(|rejection| AuthError::Limit { reason: rejection.message })?;
            }
        }
        let place = AccountChange::PlaceNotebook { notebook: notebook.clone(), workspace: workspace.cloned() };
        let place_name = workspace.map_or("nowhere", WorkspaceId::as_str);
        let audit = self.audit(&who.actor, "notebook.place", format!("{notebook}/{place_name}"));
        Ok(self.change(&[place], audit).await?)
    }

    /// The caller's role. A workspace without the caller as a member is unknown.
    pub fn role_in(&self, who: &Authenticated, workspace: &WorkspaceId) -> Result<Role, AuthError> {
        let role = who.workspaces.get(workspace).copied();
        role.ok_or_else(|| AccountError::Unknown { what: "workspace" }.into())
    }

    /// Refuses callers that are not owners of the workspace.
    pub fn check_manages(&self, who: &Authenticated, workspace: &WorkspaceId) -> Result<(), AuthError> {
        check_unrestricted(who)?;
        match self.role_in(who, workspace)? {
            Role::Owner => Ok(()),
            _ => Err(AuthError::forbidden("only its owners manage a workspace: ask one")),
        }
    }

    /// Applies an administrator's change to a person.
    pub async fn administer(&self, who: &Authenticated, change: AccountChange, action: &str) -> Result<(), AuthError> {
        let user = match &change {
            AccountChange::DeactivateUser { user, .. }
            | AccountChange::ReactivateUser { user }
            | AccountChange::SetAdmin { user, .. } => user.clone(),
            _ => return Err(AuthError::forbidden("not a change that an administrator makes")),
        };
        let audit: AuditEntry = self.audit(&who.actor, action, user);
        Ok(self.change(&[change], audit).await?)
    }

    fn check_expiry(&self, expires_at: Option<Millis>) -> Result<(), AuthError> {
        if expires_at.is_some_and(|at| at <= self.now()) {
            return Err(AuthError::invalid("expires_at is in the past: it counts milliseconds since 1970"));
        }
        Ok(())
    }
}

fn person(who: &Authenticated) -> Result<&UserId, AuthError> {
    who.user_id().ok_or_else(|| AuthError::forbidden("this is for people with an account: sign in"))
}

/// Refuses tokens that are bound to some notebooks.
fn check_unrestricted(who: &Authenticated) -> Result<(), AuthError> {
    match who.coverage {
        Coverage::All => Ok(()),
        _ => Err(AuthError::forbidden("this token is bound to some notebooks: use one that is not")),
    }
}

fn api_scopes(who: &Authenticated, asked: Scopes) -> Result<TokenScopes, AuthError> {
    if !asked.contains(&Scope::Read) {
        return Err(AuthError::invalid("every token needs the scope read: add it"));
    }
    let scopes = TokenScopes::new(TokenKind::Api, asked).map_err(|error| AuthError::invalid(error.to_string()))?;
    let lacking: BTreeSet<Scope> = scopes.scopes().difference(&who.scopes).copied().collect();
    match lacking.first() {
        Some(scope) => {
            Err(AuthError::forbidden(format!("you do not hold the scope {} yourself: leave it out", word(scope))))
        }
        None => Ok(scopes),
    }
}

fn check_covers(who: &Authenticated, coverage: &Coverage) -> Result<(), AuthError> {
    check_size(coverage)?;
    match coverage {
        Coverage::Workspace(id) if !who.workspaces.contains_key(id) => {
            Err(AccountError::Unknown { what: "workspace" }.into())
        }
        _ => Ok(()),
    }
}

fn check_size(coverage: &Coverage) -> Result<(), AuthError> {
    match coverage {
        Coverage::Notebooks(named) if named.is_empty() || named.len() > MAX_NAMED_NOTEBOOKS => Err(AuthError::invalid(
            format!("a token names 1 to {MAX_NAMED_NOTEBOOKS} notebooks: use a workspace for more"),
        )),
        _ => Ok(()),
    }
}

fn check_room(count: usize, what: &str) -> Result<(), AuthError> {
    if count < MAX_EACH {
        return Ok(());
    }
    Err(AuthError::invalid(format!("there are {MAX_EACH} {what} already: revoke some first")))
}
