//! Changes of accounts, as statements of one transaction. Nothing slow, such as a password hash, happens in it.

use notarium_record::{Millis, NotebookId, Role, TokenId, UserId, WorkspaceId};

use super::caps::key_values;
use super::rows::json;
use super::tables::{TableStatement, Tables};
use super::{
    AccountChange, AccountError, AuditEntry, AuditedChanges, Cap, Identity, ShareLink, Token, TokenHolder, TokenKind,
    User, Workspace,
};
use super::{group_changes, notice_changes};

/// Reason for a refused change. The texts of the database's own errors are made in [`super::AccountStore::apply`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum ChangeError {
    Account(#[from] AccountError),
    Database(#[from] sqlx::Error),
}

pub(crate) type Changed<T = ()> = Result<T, ChangeError>;

/// Returns the number of changed rows. Errors: `what` exists already, or a referenced record is unknown.
pub(super) async fn run(tables: &mut dyn Tables, what: &'static str, statement: TableStatement) -> Changed<u64> {
    match tables.execute(statement).await {
        Ok(changed) => Ok(changed),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Err(AccountError::Taken { what }.into()),
        Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => {
            Err(AccountError::Unknown { what: "user or workspace" }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Changes one row; the error is `Unknown` if there is none.
pub(super) async fn change_one(tables: &mut dyn Tables, what: &'static str, statement: TableStatement) -> Changed {
    match run(tables, what, statement).await? {
        0 => Err(AccountError::Unknown { what }.into()),
        _ => Ok(()),
    }
}

async fn is_so(tables: &mut dyn Tables, statement: TableStatement) -> Changed<bool> {
    Ok(tables.has(statement).await?)
}

async fn make(tables: &mut dyn Tables, change: &AccountChange) -> Changed {
    match change {
        AccountChange::CreateUser(user) => create_user(tables, user).await,
        AccountChange::SetProfile { user, name, login } => set_profile(tables, user, name, login).await,
        AccountChange::SetPassword { user, hash } => {
            let statement = TableStatement::new("UPDATE users SET password_hash = $1 WHERE id = $2").bind(hash);
            change_one(tables, "user", statement.bind(user.as_str())).await
        }
        AccountChange::SetAdmin { user, is_admin } => set_admin(tables, user, *is_admin).await,
        AccountChange::DeactivateUser { user, at } => deactivate(tables, user, *at).await,
        AccountChange::ReactivateUser { user } => {
            let statement = TableStatement::new("UPDATE users SET deactivated_at = NULL WHERE id = $1");
            change_one(tables, "user", statement.bind(user.as_str())).await
        }
        AccountChange::LinkIdentity(identity) => link_identity(tables, identity).await,
        AccountChange::UnlinkIdentity { user, identity, at } => unlink_identity(tables, user, identity, *at).await,
        AccountChange::CreateToken(token) => create_token(tables, token).await,
        AccountChange::RevokeToken { token, at } => revoke_token(tables, token, *at).await,
        AccountChange::SpendToken { token, at } => spend_token(tables, token, *at).await,
        AccountChange::RevokeTokensOf { user, kinds, except, at } => {
            revoke_tokens_of(tables, user, kinds, except.as_ref(), *at).await
        }
        AccountChange::CreateWorkspace(workspace) => create_workspace(tables, workspace).await,
        AccountChange::RenameWorkspace { workspace, name } => {
            let statement = TableStatement::new("UPDATE workspaces SET name = $1 WHERE id = $2").bind(name);
            change_one(tables, "workspace", statement.bind(workspace.as_str())).await
        }
        AccountChange::SetMember { workspace, user, role } => set_member(tables, workspace, user, *role).await,
        AccountChange::SetGroupMember { .. }
        | AccountChange::RemoveGroupMember { .. }
        | AccountChange::SetGroupAdmin { .. } => group_changes::make(tables, change).await,
        AccountChange::PlaceNotebook { notebook, workspace } => place(tables, notebook, workspace.as_ref()).await,
        AccountChange::CreateShareLink(link) => create_share_link(tables, link).await,
        AccountChange::SetNoticeChoices { .. }
        | AccountChange::SetLongRun { .. }
        | AccountChange::SetNewAddress { .. }
        | AccountChange::SetNoticeAddress { .. }
        | AccountChange::CreateWebhook(_)
        | AccountChange::ChangeWebhook(_)
        | AccountChange::DeleteWebhook { .. } => notice_changes::make(tables, change).await,
        AccountChange::AddSigningKey(key) => {
            let statement =
                TableStatement::new("INSERT INTO signing_keys (name, public_key, since) VALUES ($1, $2, $3)");
            let statement = statement.bind(&key.name).bind(&key.public_key[..]).bind(key.since);
            run(tables, "signing key", statement).await.map(drop)
        }
        AccountChange::RevokeShareLink { share_link, at } => {
            let sql = "UPDATE share_links SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2";
            change_one(tables, "share link", TableStatement::new(sql).bind(*at).bind(share_link.as_str())).await
        }
        AccountChange::SetCap(cap) => set_cap(tables, cap).await,
        AccountChange::RemoveCap(key) => {
            let sql = "DELETE FROM spending_caps WHERE spender = $1 AND period = $2 AND unit = $3 AND by_owner = $4";
            change_one(tables, "cap", TableStatement { sql: sql.into(), values: key_values(key) }).await
        }
    }
}

async fn set_cap(tables: &mut dyn Tables, cap: &Cap) -> Changed {
    let sql = "INSERT INTO spending_caps (spender, period, unit, by_owner, amount, set_by, set_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (spender, period, unit, by_owner) DO UPDATE SET \
               amount = EXCLUDED.amount, set_by = EXCLUDED.set_by, set_at = EXCLUDED.set_at";
    let statement = TableStatement { sql: sql.into(), values: key_values(&cap.key) };
    run(tables, "cap", statement.bind(cap.amount).bind(&cap.set_by).bind(cap.set_at)).await.map(drop)
}

async fn create_user(tables: &mut dyn Tables, user: &User) -> Changed {
    if let Some(login) = &user.login {
        check_login_free(tables, login, &user.id).await?;
    }
    let sql = "INSERT INTO users (id, name, login, password_hash, is_admin, created_at, deactivated_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let statement =
        TableStatement::new(sql).bind(user.id.as_str()).bind(&user.name).bind(&user.login).bind(&user.password_hash);
    let statement = statement.bind(user.is_admin).bind(user.created_at).bind(user.deactivated_at);
    run(tables, "user", statement).await.map(drop)
}

async fn check_login_free(tables: &mut dyn Tables, login: &str, for_user: &UserId) -> Changed {
    let statement =
        TableStatement::new("SELECT 1 FROM users WHERE login = $1 AND id <> $2").bind(login).bind(for_user.as_str());
    if is_so(tables, statement).await? { Err(AccountError::Taken { what: "login" }.into()) } else { Ok(()) }
}

async fn set_profile(tables: &mut dyn Tables, user: &UserId, name: &str, login: &str) -> Changed {
    check_login_free(tables, login, user).await?;
    let statement = TableStatement::new("UPDATE users SET name = $1, login = $2 WHERE id = $3").bind(name).bind(login);
    change_one(tables, "user", statement.bind(user.as_str())).await
}

async fn set_admin(tables: &mut dyn Tables, user: &UserId, is_admin: bool) -> Changed {
    let sql = "UPDATE users SET is_admin = $1, admin_from_group = NULL WHERE id = $2";
    change_one(tables, "user", TableStatement::new(sql).bind(is_admin).bind(user.as_str())).await?;
    keep_an_admin(tables).await
}

pub(super) async fn keep_an_admin(tables: &mut dyn Tables) -> Changed {
    let statement = TableStatement::new("SELECT 1 FROM users WHERE is_admin AND deactivated_at IS NULL LIMIT 1");
    if is_so(tables, statement).await? { Ok(()) } else { Err(AccountError::LastAdmin.into()) }
}

async fn deactivate(tables: &mut dyn Tables, user: &UserId, at: Millis) -> Changed {
    let sql = "UPDATE users SET deactivated_at = coalesce(deactivated_at, $1) WHERE id = $2";
    change_one(tables, "user", TableStatement::new(sql).bind(at).bind(user.as_str())).await?;
    keep_an_admin(tables).await?;
    let sql = "UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL AND (user_id = $2 OR created_by = $2)";
    run(tables, "token", TableStatement::new(sql).bind(at).bind(user.as_str())).await?;
    notice_changes::forget_person(tables, user).await
}

async fn link_identity(tables: &mut dyn Tables, identity: &Identity) -> Changed {
    let sql =
        "INSERT INTO user_identities (id, user_id, issuer, subject, email, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
    let statement = TableStatement::new(sql).bind(&identity.id).bind(identity.user_id.as_str()).bind(&identity.issuer);
    let statement = statement.bind(&identity.subject).bind(&identity.email).bind(identity.created_at);
    run(tables, "sign-in", statement).await.map(drop)
}

async fn unlink_identity(tables: &mut dyn Tables, user: &UserId, identity: &str, at: Millis) -> Changed {
    let statement = TableStatement::new("DELETE FROM user_identities WHERE id = $1 AND user_id = $2").bind(identity);
    change_one(tables, "sign-in", statement.bind(user.as_str())).await?;
    let sql = "UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL AND user_id = $2 AND identity = $3";
    run(tables, "token", TableStatement::new(sql).bind(at).bind(user.as_str()).bind(identity)).await.map(drop)
}

async fn create_token(tables: &mut dyn Tables, token: &Token) -> Changed {
    let (user, agent) = match &token.holder {
        TokenHolder::User(id) => (Some(id.as_str()), None),
        TokenHolder::Agent(id) => (None, Some(id.as_str())),
    };
    let sql = "INSERT INTO tokens (id, kind, user_id, agent_id, created_by, secret_hash, scopes, coverage, label, \
               created_at, expires_at, last_used_at, revoked_at, identity) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let statement = TableStatement::new(sql).bind(token.id.as_str()).bind(token.kind().as_str()).bind(user).bind(agent);
    let statement = statement.bind(token.created_by.as_str()).bind(&token.secret_hash[..]);
    let statement = statement.bind(json(token.scopes.scopes())?).bind(json(&token.coverage)?).bind(&token.label);
    let statement = statement.bind(token.created_at).bind(token.expires_at);
    let statement = statement.bind(token.last_used_at).bind(token.revoked_at).bind(&token.identity);
    run(tables, "token", statement).await.map(drop)
}

async fn revoke_token(tables: &mut dyn Tables, token: &TokenId, at: Millis) -> Changed {
    let sql = "UPDATE tokens SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2";
    change_one(tables, "token", TableStatement::new(sql).bind(at).bind(token.as_str())).await
}

async fn spend_token(tables: &mut dyn Tables, token: &TokenId, at: Millis) -> Changed {
    let statement =
        TableStatement::new("SELECT 1 FROM tokens WHERE id = $1 AND revoked_at IS NOT NULL").bind(token.as_str());
    if is_so(tables, statement).await? {
        return Err(AccountError::AlreadySpent.into());
    }
    revoke_token(tables, token, at).await
}

async fn revoke_tokens_of(
    tables: &mut dyn Tables,
    user: &UserId,
    kinds: &[TokenKind],
    except: Option<&TokenId>,
    at: Millis,
) -> Changed {
    for kind in kinds {
        let sql = "UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL AND user_id = $2 AND kind = $3 \
                   AND ($4 IS NULL OR id <> $4)";
        let statement = TableStatement::new(sql).bind(at).bind(user.as_str()).bind(kind.as_str());
        run(tables, "token", statement.bind(except.map(TokenId::as_str))).await?;
    }
    Ok(())
}

async fn create_workspace(tables: &mut dyn Tables, workspace: &Workspace) -> Changed {
    let statement = TableStatement::new("INSERT INTO workspaces (id, name, created_at) VALUES ($1, $2, $3)");
    let statement = statement.bind(workspace.id.as_str()).bind(&workspace.name).bind(workspace.created_at);
    run(tables, "workspace", statement).await.map(drop)
}

async fn set_member(tables: &mut dyn Tables, workspace: &WorkspaceId, user: &UserId, role: Option<Role>) -> Changed {
    let statement = match role {
        Some(role) => {
            let sql = "INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3) \
                       ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role, from_group = NULL";
            TableStatement::new(sql).bind(workspace.as_str()).bind(user.as_str()).bind(json(&role)?)
        }
        None => {
            let sql = "DELETE FROM workspace_members WHERE workspace_id = $1 AND user_id = $2";
            TableStatement::new(sql).bind(workspace.as_str()).bind(user.as_str())
        }
    };
    run(tables, "member", statement).await?;
    keep_an_owner(tables, workspace).await
}

pub(super) async fn keep_an_owner(tables: &mut dyn Tables, workspace: &WorkspaceId) -> Changed {
    let sql = "SELECT 1 FROM workspace_members WHERE workspace_id = $1 AND role = $2 LIMIT 1";
    let statement = TableStatement::new(sql).bind(workspace.as_str()).bind(json(&Role::Owner)?);
    if is_so(tables, statement).await? { Ok(()) } else { Err(AccountError::LastWorkspaceOwner.into()) }
}

async fn place(tables: &mut dyn Tables, notebook: &NotebookId, workspace: Option<&WorkspaceId>) -> Changed {
    let statement = match workspace {
        Some(workspace) => {
            let sql = "INSERT INTO workspace_notebooks (notebook_id, workspace_id) VALUES ($1, $2) \
                       ON CONFLICT (notebook_id) DO UPDATE SET workspace_id = EXCLUDED.workspace_id";
            TableStatement::new(sql).bind(notebook.as_str()).bind(workspace.as_str())
        }
        None => TableStatement::new("DELETE FROM workspace_notebooks WHERE notebook_id = $1").bind(notebook.as_str()),
    };
    run(tables, "notebook", statement).await.map(drop)
}

async fn create_share_link(tables: &mut dyn Tables, link: &ShareLink) -> Changed {
    let sql = "INSERT INTO share_links (id, notebook_id, role, secret_hash, label, created_by, created_at, expires_at, \
               revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let statement =
        TableStatement::new(sql).bind(link.id.as_str()).bind(link.notebook_id.as_str()).bind(json(&link.role)?);
    let statement = statement.bind(&link.secret_hash[..]).bind(&link.label).bind(link.created_by.as_str());
    let statement = statement.bind(link.created_at).bind(link.expires_at);
    run(tables, "share link", statement.bind(link.revoked_at)).await.map(drop)
}

async fn record(tables: &mut dyn Tables, audit: &AuditEntry) -> Changed {
    let statement = TableStatement::new(
        "INSERT INTO account_audit (number, at, actor, action, subject) \
               SELECT coalesce(max(number), 0) + 1, $1, $2, $3, $4 FROM account_audit",
    );
    let statement = statement.bind(audit.at).bind(&audit.actor).bind(&audit.action).bind(&audit.subject);
    run(tables, "audit entry", statement).await.map(drop)
}

pub(crate) async fn make_all(tables: &mut dyn Tables, all: &[AuditedChanges]) -> Changed {
    for AuditedChanges { changes, audit } in all {
        for change in changes {
            make(tables, change).await?;
        }
        record(tables, audit).await?;
    }
    Ok(())
}
