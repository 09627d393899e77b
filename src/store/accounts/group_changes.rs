//! Changes of rights that come from a provider's groups. They leave rows alone that a person has written.

use notarium_record::{Role, UserId, WorkspaceId};

use super::AccountChange;
use super::changes::{Changed, keep_an_admin, keep_an_owner, run};
use super::rows::json;
use super::tables::{TableStatement, Tables};

pub(super) async fn make(tables: &mut dyn Tables, change: &AccountChange) -> Changed {
    match change {
        AccountChange::SetGroupMember { workspace, user, role, group } => {
            set_member(tables, workspace, user, *role, group).await
        }
        AccountChange::RemoveGroupMember { workspace, user } => {
            let sql =
                "DELETE FROM workspace_members WHERE workspace_id = $1 AND user_id = $2 AND from_group IS NOT NULL";
            let statement = TableStatement::new(sql).bind(workspace.as_str()).bind(user.as_str());
            run(tables, "member", statement).await?;
            keep_an_owner(tables, workspace).await
        }
        AccountChange::SetGroupAdmin { user, group: Some(group) } => {
            let sql = "UPDATE users SET is_admin = $1, admin_from_group = $2 \
                       WHERE id = $3 AND (admin_from_group IS NOT NULL OR is_admin <> $1)";
            let statement = TableStatement::new(sql).bind(true).bind(group).bind(user.as_str());
            run(tables, "user", statement).await.map(drop)
        }
        AccountChange::SetGroupAdmin { user, group: None } => {
            let sql = "UPDATE users SET is_admin = $1, admin_from_group = NULL WHERE id = $2 AND admin_from_group IS NOT NULL";
            run(tables, "user", TableStatement::new(sql).bind(false).bind(user.as_str())).await?;
            keep_an_admin(tables).await
        }
        _ => Ok(()),
    }
}

async fn set_member(
    tables: &mut dyn Tables,
    workspace: &WorkspaceId,
    user: &UserId,
    role: Role,
    group: &str,
) -> Changed {
    let sql = "INSERT INTO workspace_members (workspace_id, user_id, role, from_group) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role, from_group = EXCLUDED.from_group \
               WHERE workspace_members.from_group IS NOT NULL";
    let statement = TableStatement::new(sql).bind(workspace.as_str()).bind(user.as_str());
    run(tables, "member", statement.bind(json(&role)?).bind(group)).await?;
    keep_an_owner(tables, workspace).await
}
