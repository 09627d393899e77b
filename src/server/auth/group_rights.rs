//! Brings the rights that come from a provider's groups up to date at each sign-in. Rights that a person gave stay as they are.

use notarium_core::{Actor, UserId};
use notarium_store::accounts::{AccountChange, AccountError};

use super::oidc::{GroupGrants, GroupMembership, GroupRules};
use super::workspace_names::WorkspaceNames;
use super::{Accounts, AuthError, ProvedIdentity};

impl Accounts {
    /// Gives and takes what the person's groups say. Without the claim nothing changes.
    pub(super) async fn follow_groups(
        &self,
        user: &UserId,
        proved: &ProvedIdentity,
        rules: &GroupRules,
    ) -> Result<(), AuthError> {
        let Some(groups) = &proved.groups else {
            let claim = rules.claim();
            tracing::warn!(%user, claim, "the provider sent no groups of a person: memberships stay as they were");
            return Ok(());
        };
        let grants = rules.grants(groups, &WorkspaceNames::read(self.store()).await?);
        for problem in &grants.problems {
            tracing::warn!(%user, problem, "a rule for groups has no workspace");
        }
        self.follow_workspaces(user, &grants).await?;
        self.follow_admin(user, grants.admin).await
    }

    async fn follow_workspaces(&self, user: &UserId, grants: &GroupGrants) -> Result<(), AuthError> {
        let current = self.store().memberships(user).await?;
        for membership in &current {
            let is_over = |group| !grants.unresolved.contains(group);
            let workspace = &membership.workspace_id;
            if membership.from_group.as_ref().is_some_and(is_over) && !grants.workspaces.contains_key(workspace) {
                let change = AccountChange::RemoveGroupMember { workspace: workspace.clone(), user: user.clone() };
                self.change_by_group(change, "group.member_removed", format!("{workspace}/{user}")).await?;
            }
        }
        for (workspace, GroupMembership { group, role }) in &grants.workspaces {
            let is_current = |from: &Option<String>, current| match from {
                Some(from) => from == group && current == *role,
                None => true,
            };
            let membership = current.iter().find(|membership| membership.workspace_id == *workspace);
            if membership.is_none_or(|membership| !is_current(&membership.from_group, membership.role)) {
                let (workspace, group) = (workspace.clone(), group.clone());
                let subject = format!("{workspace}/{user}");
                let change = AccountChange::SetGroupMember { workspace, user: user.clone(), role: *role, group };
                self.change_by_group(change, "group.member", subject).await?;
            }
        }
        Ok(())
    }

    async fn follow_admin(&self, user: &UserId, group: Option<String>) -> Result<(), AuthError> {
        let is_admin = self.store().user(user).await?.is_some_and(|user| user.is_admin);
        let from_group = self.store().admin_group(user).await?;
        // A person made this administrator, or nobody did.
        if from_group == group || (is_admin && from_group.is_none()) {
            return Ok(());
        }
        let action = if group.is_some() { "group.admin" } else { "group.admin_removed" };
        self.change_by_group(AccountChange::SetGroupAdmin { user: user.clone(), group }, action, user.to_string()).await
    }

    /// Applies one change. The last administrator and the last owner of a workspace stay, and the sign-in goes on.
    async fn change_by_group(&self, change: AccountChange, action: &str, subject: String) -> Result<(), AuthError> {
        tracing::info!(action, subject, ?change, "a right follows the groups of the provider");
        let audit = self.audit(&Actor::System, action, &subject);
        match self.change(&[change], audit).await {
            Err(error @ (AccountError::LastAdmin | AccountError::LastWorkspaceOwner)) => {
                tracing::warn!(action, subject, %error, "a right stays, though no group gives it");
                Ok(())
            }
            done => Ok(done?),
        }
    }
}
