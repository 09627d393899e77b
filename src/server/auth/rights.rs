//! What a person may do now, for those who act in the person's name without a token of theirs.

use std::collections::BTreeMap;

use notarium_core::{Authority, NotebookId, UserId};
use notarium_store::accounts::AccountError;

use super::Accounts;

impl Accounts {
    /// The rights of a person in a notebook, beside its own access list, as an interactive session would have them;
    /// `None`: there is no such account, or it is deactivated. Read from the accounts each time, so that nothing is stale.
    pub async fn rights_of(&self, user: &UserId, notebook: &NotebookId) -> Result<Option<Authority>, AccountError> {
        let account = self.store().user(user).await?;
        if account.is_none_or(|account| account.deactivated_at.is_some()) {
            return Ok(None);
        }
        let memberships = self.store().memberships(user).await?;
        let roles: BTreeMap<_, _> = memberships.into_iter().map(|member| (member.workspace_id, member.role)).collect();
        let place = self.placements().workspace_of(notebook);
        let ambient_role = place.and_then(|workspace| roles.get(&workspace).copied());
        Ok(Some(Authority { ambient_role, workspaces: roles.into_keys().collect(), ..Authority::session() }))
    }
}
