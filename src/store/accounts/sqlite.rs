//! Accounts in the data folder's database, beside the log.
//!
//! A change takes the only writing connection for one short transaction. Nothing slow (such as a password hash) happens in it, so the log's
//! group commits continue before and after.

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, Role, ShareLinkId, TokenId, UserId, WorkspaceId};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Sqlite as Database, SqliteConnection};

use super::rows::{self, Read, integer, json};
use super::{
    AccountChange, AccountError, AccountStore, AuditEntry, AuditRecord, Identity, MAX_ACCOUNT_PAGE, Membership,
    ShareLink, SigningKey, Token, TokenFilter, TokenHolder, TokenKind, User, Workspace,
};
use crate::Sqlite;

type Query<'q> = sqlx::query::Query<'q, Database, SqliteArguments>;

/// Reason for a refused change. The texts of the database's own errors are made in [`AccountStore::apply`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum ChangeError {
    Account(#[from] AccountError),
    Database(#[from] sqlx::Error),
}

type Changed<T = ()> = Result<T, ChangeError>;

impl Sqlite {
    async fn one<T>(&self, query: Query<'_>, read: fn(&SqliteRow) -> Read<T>) -> Result<Option<T>, AccountError> {
        let row = query.fetch_optional(self.readers()).await.map_err(|error| self.failed(error))?;
        row.as_ref().map(read).transpose().map_err(|error| self.failed(error).into())
    }

    async fn many<T>(&self, query: Query<'_>, read: fn(&SqliteRow) -> Read<T>) -> Result<Vec<T>, AccountError> {
        let rows = query.fetch_all(self.readers()).await.map_err(|error| self.failed(error))?;
        rows.iter().map(read).collect::<Read<Vec<T>>>().map_err(|error| self.failed(error).into())
    }
}

/// Returns the number of changed rows. Errors: `what` exists already, or a referenced record is unknown.
async fn run(connection: &mut SqliteConnection, what: &'static str, query: Query<'_>) -> Changed<u64> {
    match query.execute(connection).await {
        Ok(done) => Ok(done.rows_affected()),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Err(AccountError::Taken { what }.into()),
        Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => {
            Err(AccountError::Unknown { what: "user or workspace" }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Changes one row; the error is `Unknown` if there is none.
async fn change_one(connection: &mut SqliteConnection, what: &'static str, query: Query<'_>) -> Changed {
    match run(connection, what, query).await? {
        0 => Err(AccountError::Unknown { what }.into()),
        _ => Ok(()),
    }
}

async fn is_so(connection: &mut SqliteConnection, query: Query<'_>) -> Changed<bool> {
    Ok(query.fetch_optional(connection).await?.is_some())
}

async fn make(connection: &mut SqliteConnection, change: &AccountChange) -> Changed {
    match change {
        AccountChange::CreateUser(user) => create_user(connection, user).await,
        AccountChange::SetProfile { user, name, login } => set_profile(connection, user, name, login).await,
        AccountChange::SetPassword { user, hash } => {
            let query = sqlx::query("UPDATE users SET password_hash = ? WHERE id = ?").bind(hash);
            change_one(connection, "user", query.bind(user.as_str())).await
        }
        AccountChange::SetAdmin { user, is_admin } => {
            let query = sqlx::query("UPDATE users SET is_admin = ? WHERE id = ?").bind(*is_admin);
            change_one(connection, "user", query.bind(user.as_str())).await?;
            keep_an_admin(connection).await
        }
        AccountChange::DeactivateUser { user, at } => deactivate(connection, user, *at).await,
        AccountChange::ReactivateUser { user } => {
            let query = sqlx::query("UPDATE users SET deactivated_at = NULL WHERE id = ?");
            change_one(connection, "user", query.bind(user.as_str())).await
        }
        AccountChange::LinkIdentity(identity) => link_identity(connection, identity).await,
        AccountChange::UnlinkIdentity { user, identity, at } => unlink_identity(connection, user, identity, *at).await,
        AccountChange::CreateToken(token) => create_token(connection, token).await,
        AccountChange::RevokeToken { token, at } => revoke_token(connection, token, *at).await,
        AccountChange::SpendToken { token, at } => spend_token(connection, token, *at).await,
        AccountChange::RevokeTokensOf { user, kinds, except, at } => {
            revoke_tokens_of(connection, user, kinds, except.as_ref(), *at).await
        }
        AccountChange::CreateWorkspace(workspace) => create_workspace(connection, workspace).await,
        AccountChange::RenameWorkspace { workspace, name } => {
            let query = sqlx::query("UPDATE workspaces SET name = ? WHERE id = ?").bind(name);
            change_one(connection, "workspace", query.bind(workspace.as_str())).await
        }
        AccountChange::SetMember { workspace, user, role } => set_member(connection, workspace, user, *role).await,
        AccountChange::PlaceNotebook { notebook, workspace } => place(connection, notebook, workspace.as_ref()).await,
        AccountChange::CreateShareLink(link) => create_share_link(connection, link).await,
        AccountChange::AddSigningKey(key) => {
            let query = sqlx::query("INSERT INTO signing_keys (name, public_key, since) VALUES (?, ?, ?)");
            let query = query.bind(&key.name).bind(&key.public_key[..]).bind(integer(key.since));
            run(connection, "signing key", query).await.map(drop)
        }
        AccountChange::RevokeShareLink { share_link, at } => {
            let sql = "UPDATE share_links SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?";
            change_one(connection, "share link", sqlx::query(sql).bind(integer(*at)).bind(share_link.as_str())).await
        }
    }
}

async fn create_user(connection: &mut SqliteConnection, user: &User) -> Changed {
    if let Some(login) = &user.login {
        check_login_free(connection, login, &user.id).await?;
    }
    let sql = "INSERT INTO users (id, name, login, password_hash, is_admin, created_at, deactivated_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(user.id.as_str()).bind(&user.name).bind(&user.login).bind(&user.password_hash);
    let query = query.bind(user.is_admin).bind(integer(user.created_at)).bind(user.deactivated_at.map(integer));
    run(connection, "user", query).await.map(drop)
}

async fn check_login_free(connection: &mut SqliteConnection, login: &str, for_user: &UserId) -> Changed {
    let query = sqlx::query("SELECT 1 FROM users WHERE login = ? AND id <> ?").bind(login).bind(for_user.as_str());
    if is_so(connection, query).await? { Err(AccountError::Taken { what: "login" }.into()) } else { Ok(()) }
}

async fn set_profile(connection: &mut SqliteConnection, user: &UserId, name: &str, login: &str) -> Changed {
    check_login_free(connection, login, user).await?;
    let query = sqlx::query("UPDATE users SET name = ?, login = ? WHERE id = ?").bind(name).bind(login);
    change_one(connection, "user", query.bind(user.as_str())).await
}

async fn keep_an_admin(connection: &mut SqliteConnection) -> Changed {
    let query = sqlx::query("SELECT 1 FROM users WHERE is_admin AND deactivated_at IS NULL LIMIT 1");
    if is_so(connection, query).await? { Ok(()) } else { Err(AccountError::LastAdmin.into()) }
}

async fn deactivate(connection: &mut SqliteConnection, user: &UserId, at: Millis) -> Changed {
    let sql = "UPDATE users SET deactivated_at = coalesce(deactivated_at, ?) WHERE id = ?";
    change_one(connection, "user", sqlx::query(sql).bind(integer(at)).bind(user.as_str())).await?;
    keep_an_admin(connection).await?;
    let sql = "UPDATE tokens SET revoked_at = ?1 WHERE revoked_at IS NULL AND (user_id = ?2 OR created_by = ?2)";
    run(connection, "token", sqlx::query(sql).bind(integer(at)).bind(user.as_str())).await.map(drop)
}

async fn link_identity(connection: &mut SqliteConnection, identity: &Identity) -> Changed {
    let sql = "INSERT INTO user_identities (id, user_id, issuer, subject, email, created_at) VALUES (?, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(&identity.id).bind(identity.user_id.as_str()).bind(&identity.issuer);
    let query = query.bind(&identity.subject).bind(&identity.email).bind(integer(identity.created_at));
    run(connection, "sign-in", query).await.map(drop)
}

async fn unlink_identity(connection: &mut SqliteConnection, user: &UserId, identity: &str, at: Millis) -> Changed {
    let query = sqlx::query("DELETE FROM user_identities WHERE id = ? AND user_id = ?").bind(identity);
    change_one(connection, "sign-in", query.bind(user.as_str())).await?;
    let sql = "UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND user_id = ? AND identity = ?";
    run(connection, "token", sqlx::query(sql).bind(integer(at)).bind(user.as_str()).bind(identity)).await.map(drop)
}

async fn create_token(connection: &mut SqliteConnection, token: &Token) -> Changed {
    let (user, agent) = match &token.holder {
        TokenHolder::User(id) => (Some(id.as_str()), None),
        TokenHolder::Agent(id) => (None, Some(id.as_str())),
    };
    let sql = "INSERT INTO tokens (id, kind, user_id, agent_id, created_by, secret_hash, scopes, coverage, label, \
               created_at, expires_at, last_used_at, revoked_at, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(token.id.as_str()).bind(token.kind().as_str()).bind(user).bind(agent);
    let query = query.bind(token.created_by.as_str()).bind(&token.secret_hash[..]);
    let query = query.bind(json(token.scopes.scopes())?).bind(json(&token.coverage)?).bind(&token.label);
    let query = query.bind(integer(token.created_at)).bind(token.expires_at.map(integer));
    let query = query.bind(token.last_used_at.map(integer)).bind(token.revoked_at.map(integer)).bind(&token.identity);
    run(connection, "token", query).await.map(drop)
}

async fn revoke_token(connection: &mut SqliteConnection, token: &TokenId, at: Millis) -> Changed {
    let sql = "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?";
    change_one(connection, "token", sqlx::query(sql).bind(integer(at)).bind(token.as_str())).await
}

async fn spend_token(connection: &mut SqliteConnection, token: &TokenId, at: Millis) -> Changed {
    let query = sqlx::query("SELECT 1 FROM tokens WHERE id = ? AND revoked_at IS NOT NULL").bind(token.as_str());
    if is_so(connection, query).await? {
        return Err(AccountError::AlreadySpent.into());
    }
    revoke_token(connection, token, at).await
}

async fn revoke_tokens_of(
    connection: &mut SqliteConnection,
    user: &UserId,
    kinds: &[TokenKind],
    except: Option<&TokenId>,
    at: Millis,
) -> Changed {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let sql = "UPDATE tokens SET revoked_at = ?1 WHERE revoked_at IS NULL AND user_id = ?2 \
               AND kind IN (SELECT value FROM json_each(?3)) AND id IS NOT ?4";
    let query = sqlx::query(sql).bind(integer(at)).bind(user.as_str()).bind(json(&kinds)?);
    run(connection, "token", query.bind(except.map(TokenId::as_str))).await.map(drop)
}

async fn create_workspace(connection: &mut SqliteConnection, workspace: &Workspace) -> Changed {
    let query = sqlx::query("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)");
    let query = query.bind(workspace.id.as_str()).bind(&workspace.name).bind(integer(workspace.created_at));
    run(connection, "workspace", query).await.map(drop)
}

async fn set_member(
    connection: &mut SqliteConnection,
    workspace: &WorkspaceId,
    user: &UserId,
    role: Option<Role>,
) -> Changed {
    let query = match role {
        Some(role) => {
            let sql = "INSERT OR REPLACE INTO workspace_members (workspace_id, user_id, role) VALUES (?, ?, ?)";
            sqlx::query(sql).bind(workspace.as_str()).bind(user.as_str()).bind(json(&role)?)
        }
        None => {
            let sql = "DELETE FROM workspace_members WHERE workspace_id = ? AND user_id = ?";
            sqlx::query(sql).bind(workspace.as_str()).bind(user.as_str())
        }
    };
    run(connection, "member", query).await?;
    keep_an_owner(connection, workspace).await
}

async fn keep_an_owner(connection: &mut SqliteConnection, workspace: &WorkspaceId) -> Changed {
    let sql = "SELECT 1 FROM workspace_members WHERE workspace_id = ? AND role = ? LIMIT 1";
    let query = sqlx::query(sql).bind(workspace.as_str()).bind(json(&Role::Owner)?);
    if is_so(connection, query).await? { Ok(()) } else { Err(AccountError::LastWorkspaceOwner.into()) }
}

async fn place(connection: &mut SqliteConnection, notebook: &NotebookId, workspace: Option<&WorkspaceId>) -> Changed {
    let query = match workspace {
        Some(workspace) => {
            let sql = "INSERT OR REPLACE INTO workspace_notebooks (notebook_id, workspace_id) VALUES (?, ?)";
            sqlx::query(sql).bind(notebook.as_str()).bind(workspace.as_str())
        }
        None => sqlx::query("DELETE FROM workspace_notebooks WHERE notebook_id = ?").bind(notebook.as_str()),
    };
    run(connection, "notebook", query).await.map(drop)
}

async fn create_share_link(connection: &mut SqliteConnection, link: &ShareLink) -> Changed {
    let sql = "INSERT INTO share_links (id, notebook_id, role, secret_hash, label, created_by, created_at, expires_at, \
               revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(link.id.as_str()).bind(link.notebook_id.as_str()).bind(json(&link.role)?);
    let query = query.bind(&link.secret_hash[..]).bind(&link.label).bind(link.created_by.as_str());
    let query = query.bind(integer(link.created_at)).bind(link.expires_at.map(integer));
    run(connection, "share link", query.bind(link.revoked_at.map(integer))).await.map(drop)
}

async fn record(connection: &mut SqliteConnection, audit: &AuditEntry) -> Changed {
    let query = sqlx::query("INSERT INTO account_audit (at, actor, action, subject) VALUES (?, ?, ?, ?)");
    let query = query.bind(integer(audit.at)).bind(&audit.actor).bind(&audit.action).bind(&audit.subject);
    run(connection, "audit entry", query).await.map(drop)
}

async fn make_all(connection: &mut SqliteConnection, changes: &[AccountChange], audit: &AuditEntry) -> Changed {
    for change in changes {
        make(connection, change).await?;
    }
    record(connection, audit).await
}

fn page(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_ACCOUNT_PAGE)).unwrap_or(i64::MAX)
}

#[async_trait]
impl AccountStore for Sqlite {
    async fn apply(&self, changes: &[AccountChange], audit: &AuditEntry) -> Result<(), AccountError> {
        let mut transaction = self.begin().await?;
        match make_all(&mut transaction, changes, audit).await {
            Ok(()) => Ok(self.commit(transaction).await?),
            Err(error) => {
                transaction.roll_back().await;
                Err(match error {
                    ChangeError::Account(error) => error,
                    ChangeError::Database(error) => self.failed(error).into(),
                })
            }
        }
    }

    async fn user(&self, id: &UserId) -> Result<Option<User>, AccountError> {
        self.one(sqlx::query("SELECT * FROM users WHERE id = ?").bind(id.as_str()), rows::user).await
    }

    async fn user_by_login(&self, login: &str) -> Result<Option<User>, AccountError> {
        self.one(sqlx::query("SELECT * FROM users WHERE login = ?").bind(login.to_lowercase()), rows::user).await
    }

    async fn users(&self, after: Option<&UserId>, limit: usize) -> Result<Vec<User>, AccountError> {
        let query = sqlx::query("SELECT * FROM users WHERE id > ? ORDER BY id LIMIT ?");
        self.many(query.bind(after.map_or("", UserId::as_str)).bind(page(limit)), rows::user).await
    }

    async fn identity(&self, issuer: &str, subject: &str) -> Result<Option<Identity>, AccountError> {
        let query = sqlx::query("SELECT * FROM user_identities WHERE issuer = ? AND subject = ?");
        self.one(query.bind(issuer).bind(subject), rows::identity).await
    }

    async fn identities(&self, user: &UserId, limit: usize) -> Result<Vec<Identity>, AccountError> {
        let query = sqlx::query("SELECT * FROM user_identities WHERE user_id = ? ORDER BY created_at, id LIMIT ?");
        self.many(query.bind(user.as_str()).bind(page(limit)), rows::identity).await
    }

    async fn token(&self, id: &TokenId) -> Result<Option<Token>, AccountError> {
        self.one(sqlx::query("SELECT * FROM tokens WHERE id = ?").bind(id.as_str()), rows::token).await
    }

    async fn tokens(&self, filter: &TokenFilter, limit: usize) -> Result<Vec<Token>, AccountError> {
        let (asked, of) = match filter {
            TokenFilter::OfUser(user) => ("user_id = ?1 AND kind IN ('session', 'api')", user.as_str()),
            TokenFilter::AgentsBy(user) => ("created_by = ?1 AND agent_id IS NOT NULL", user.as_str()),
            TokenFilter::AllAgents => ("agent_id IS NOT NULL", ""),
            TokenFilter::OfAgent(agent) => ("agent_id = ?1", agent.as_str()),
        };
        let order = "ORDER BY created_at DESC, id DESC LIMIT ?2";
        let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM tokens WHERE {asked} AND revoked_at IS NULL {order}"));
        self.many(sqlx::query(sql).bind(of).bind(page(limit)), rows::token).await
    }

    async fn touch_token(&self, id: &TokenId, at: Millis) -> Result<(), AccountError> {
        let sql = "UPDATE tokens SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?";
        self.write(sqlx::query(sql).bind(integer(at)).bind(id.as_str())).await?;
        Ok(())
    }

    async fn forget_ended_tokens(&self, before: Millis) -> Result<u64, AccountError> {
        let sql = "DELETE FROM tokens WHERE coalesce(revoked_at, expires_at) < ?";
        Ok(self.write(sqlx::query(sql).bind(integer(before))).await?)
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, AccountError> {
        self.one(sqlx::query("SELECT * FROM workspaces WHERE id = ?").bind(id.as_str()), rows::workspace).await
    }

    async fn workspaces(&self, after: Option<&WorkspaceId>, limit: usize) -> Result<Vec<Workspace>, AccountError> {
        let query = sqlx::query("SELECT * FROM workspaces WHERE id > ? ORDER BY id LIMIT ?");
        self.many(query.bind(after.map_or("", WorkspaceId::as_str)).bind(page(limit)), rows::workspace).await
    }

    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, AccountError> {
        let query = sqlx::query("SELECT * FROM workspace_members WHERE user_id = ? ORDER BY workspace_id");
        self.many(query.bind(user.as_str()), rows::membership).await
    }

    async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Membership>, AccountError> {
        let query = sqlx::query("SELECT * FROM workspace_members WHERE workspace_id = ? ORDER BY user_id");
        self.many(query.bind(workspace.as_str()), rows::membership).await
    }

    async fn placements(
        &self,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<(NotebookId, WorkspaceId)>, AccountError> {
        let query = sqlx::query("SELECT * FROM workspace_notebooks WHERE notebook_id > ? ORDER BY notebook_id LIMIT ?");
        self.many(query.bind(after.map_or("", NotebookId::as_str)).bind(page(limit)), rows::placement).await
    }

    async fn share_link(&self, id: &ShareLinkId) -> Result<Option<ShareLink>, AccountError> {
        self.one(sqlx::query("SELECT * FROM share_links WHERE id = ?").bind(id.as_str()), rows::share_link).await
    }

    async fn share_links(&self, notebook: &NotebookId, limit: usize) -> Result<Vec<ShareLink>, AccountError> {
        let sql = "SELECT * FROM share_links WHERE notebook_id = ? AND revoked_at IS NULL \
                   ORDER BY created_at DESC, id DESC LIMIT ?";
        self.many(sqlx::query(sql).bind(notebook.as_str()).bind(page(limit)), rows::share_link).await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>, AccountError> {
        self.many(sqlx::query("SELECT * FROM signing_keys ORDER BY since, name"), rows::signing_key).await
    }

    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, AccountError> {
        let sql = "SELECT * FROM account_audit WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2";
        self.many(sqlx::query(sql).bind(before.map(integer)).bind(page(limit)), rows::audit).await
    }
}
