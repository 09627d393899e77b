//! The queries of accounts, the same for every database.

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, ShareLinkId, TokenId, UserId, WorkspaceId};

use super::rows;
use super::tables::{AccountTables, Read, RowColumns, TableStatement};
use super::{
    AccountError, AccountStore, AuditRecord, AuditedChanges, Identity, MAX_ACCOUNT_PAGE, Membership, ShareLink,
    SigningKey, Token, TokenFilter, User, Workspace,
};

/// Tokens that are neither revoked nor used, newest first.
macro_rules! select_tokens {
    ($wanted:literal) => {
        concat!(
            "SELECT * FROM tokens WHERE ",
            $wanted,
            " AND revoked_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2"
        )
    };
}

async fn one<S: AccountTables, T>(
    store: &S,
    statement: TableStatement,
    read: fn(&dyn RowColumns) -> Read<T>,
) -> Result<Option<T>, AccountError> {
    Ok(many(store, statement, read).await?.into_iter().next())
}

async fn many<S: AccountTables, T>(
    store: &S,
    statement: TableStatement,
    read: fn(&dyn RowColumns) -> Read<T>,
) -> Result<Vec<T>, AccountError> {
    let rows = store.rows(statement).await?;
    rows.iter().map(|row| read(row)).collect::<Read<Vec<T>>>().map_err(|error| store.unreadable(error).into())
}

fn page(limit: usize) -> usize {
    limit.min(MAX_ACCOUNT_PAGE)
}

#[async_trait]
impl<S: AccountTables> AccountStore for S {
    async fn apply_all(&self, all: &[AuditedChanges]) -> Result<(), AccountError> {
        self.change(all).await
    }

    async fn user(&self, id: &UserId) -> Result<Option<User>, AccountError> {
        one(self, TableStatement::new("SELECT * FROM users WHERE id = $1").bind(id.as_str()), rows::user).await
    }

    async fn user_by_login(&self, login: &str) -> Result<Option<User>, AccountError> {
        one(self, TableStatement::new("SELECT * FROM users WHERE login = $1").bind(login.to_lowercase()), rows::user)
            .await
    }

    async fn admin_group(&self, user: &UserId) -> Result<Option<String>, AccountError> {
        let statement = TableStatement::new("SELECT admin_from_group FROM users WHERE id = $1").bind(user.as_str());
        Ok(one(self, statement, rows::admin_group).await?.flatten())
    }

    async fn users(&self, after: Option<&UserId>, limit: usize) -> Result<Vec<User>, AccountError> {
        let statement = TableStatement::new("SELECT * FROM users WHERE id > $1 ORDER BY id LIMIT $2");
        many(self, statement.bind(after.map_or("", UserId::as_str)).bind(page(limit)), rows::user).await
    }

    async fn identity(&self, issuer: &str, subject: &str) -> Result<Option<Identity>, AccountError> {
        let statement = TableStatement::new("SELECT * FROM user_identities WHERE issuer = $1 AND subject = $2");
        one(self, statement.bind(issuer).bind(subject), rows::identity).await
    }

    async fn identities(&self, user: &UserId, limit: usize) -> Result<Vec<Identity>, AccountError> {
        let statement =
            TableStatement::new("SELECT * FROM user_identities WHERE user_id = $1 ORDER BY created_at, id LIMIT $2");
        many(self, statement.bind(user.as_str()).bind(page(limit)), rows::identity).await
    }

    async fn token(&self, id: &TokenId) -> Result<Option<Token>, AccountError> {
        one(self, TableStatement::new("SELECT * FROM tokens WHERE id = $1").bind(id.as_str()), rows::token).await
    }

    async fn tokens(&self, filter: &TokenFilter, limit: usize) -> Result<Vec<Token>, AccountError> {
        let (sql, of) = match filter {
            TokenFilter::OfUser(user) => (select_tokens!("user_id = $1 AND kind IN ('session', 'api')"), user.as_str()),
            TokenFilter::AgentsBy(user) => (select_tokens!("created_by = $1 AND agent_id IS NOT NULL"), user.as_str()),
            TokenFilter::AllAgents => (select_tokens!("agent_id IS NOT NULL AND $1 = ''"), ""),
            TokenFilter::OfAgent(agent) => (select_tokens!("agent_id = $1"), agent.as_str()),
        };
        many(self, TableStatement::new(sql).bind(of).bind(page(limit)), rows::token).await
    }

    async fn touch_token(&self, id: &TokenId, at: Millis) -> Result<(), AccountError> {
        let sql = "UPDATE tokens SET last_used_at = $1 WHERE id = $2 AND coalesce(last_used_at, 0) < $1";
        self.run(TableStatement::new(sql).bind(at).bind(id.as_str())).await?;
        Ok(())
    }

    async fn forget_ended_tokens(&self, before: Millis) -> Result<u64, AccountError> {
        let sql = "DELETE FROM tokens WHERE coalesce(revoked_at, expires_at) < $1";
        Ok(self.run(TableStatement::new(sql).bind(before)).await?)
    }

    async fn keep_one_time(
        &self,
        key: &[u8; 32],
        value: &str,
        expires_at: Millis,
        now: Millis,
    ) -> Result<(), AccountError> {
        let expired = TableStatement::new("DELETE FROM one_time_values WHERE expires_at < $1").bind(now);
        let sql = "INSERT INTO one_time_values (key, value, expires_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at";
        let kept = TableStatement::new(sql).bind(&key[..]).bind(value).bind(expires_at);
        self.transact(vec![expired, kept], false).await?;
        Ok(())
    }

    async fn one_time(&self, key: &[u8; 32]) -> Result<Option<String>, AccountError> {
        let statement = TableStatement::new("SELECT value FROM one_time_values WHERE key = $1");
        one(self, statement.bind(&key[..]), rows::one_time_value).await
    }

    async fn change_one_time(&self, key: &[u8; 32], from: &str, to: Option<&str>) -> Result<bool, AccountError> {
        let statement = match to {
            Some(to) => TableStatement::new("UPDATE one_time_values SET value = $3 WHERE key = $1 AND value = $2")
                .bind(&key[..])
                .bind(from)
                .bind(to),
            None => TableStatement::new("DELETE FROM one_time_values WHERE key = $1 AND value = $2")
                .bind(&key[..])
                .bind(from),
        };
        Ok(self.run(statement).await? == 1)
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, AccountError> {
        one(self, TableStatement::new("SELECT * FROM workspaces WHERE id = $1").bind(id.as_str()), rows::workspace)
            .await
    }

    async fn workspaces(&self, after: Option<&WorkspaceId>, limit: usize) -> Result<Vec<Workspace>, AccountError> {
        let statement = TableStatement::new("SELECT * FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2");
        many(self, statement.bind(after.map_or("", WorkspaceId::as_str)).bind(page(limit)), rows::workspace).await
    }

    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, AccountError> {
        let statement = TableStatement::new("SELECT * FROM workspace_members WHERE user_id = $1 ORDER BY workspace_id");
        many(self, statement.bind(user.as_str()), rows::membership).await
    }

    async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Membership>, AccountError> {
        let statement = TableStatement::new("SELECT * FROM workspace_members WHERE workspace_id = $1 ORDER BY user_id");
        many(self, statement.bind(workspace.as_str()), rows::membership).await
    }

    async fn placements(
        &self,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<(NotebookId, WorkspaceId)>, AccountError> {
        let statement = TableStatement::new(
            "SELECT * FROM workspace_notebooks WHERE notebook_id > $1 ORDER BY notebook_id LIMIT $2",
        );
        many(self, statement.bind(after.map_or("", NotebookId::as_str)).bind(page(limit)), rows::placement).await
    }

    async fn share_link(&self, id: &ShareLinkId) -> Result<Option<ShareLink>, AccountError> {
        one(self, TableStatement::new("SELECT * FROM share_links WHERE id = $1").bind(id.as_str()), rows::share_link)
            .await
    }

    async fn share_links(&self, notebook: &NotebookId, limit: usize) -> Result<Vec<ShareLink>, AccountError> {
        let sql = "SELECT * FROM share_links WHERE notebook_id = $1 AND revoked_at IS NULL \
                   ORDER BY created_at DESC, id DESC LIMIT $2";
        many(self, TableStatement::new(sql).bind(notebook.as_str()).bind(page(limit)), rows::share_link).await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>, AccountError> {
        many(self, TableStatement::new("SELECT * FROM signing_keys ORDER BY since, name"), rows::signing_key).await
    }

    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, AccountError> {
        let sql = "SELECT * FROM account_audit WHERE $1 IS NULL OR number < $1 ORDER BY number DESC LIMIT $2";
        many(self, TableStatement::new(sql).bind(before).bind(page(limit)), rows::audit).await
    }
}
