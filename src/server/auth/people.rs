//! Search for people by name, and names of guests.

use std::collections::BTreeSet;

use dashmap::DashMap;
use notarium_core::{ShareLinkId, UserId};
use notarium_store::accounts::{AccountError, MAX_ACCOUNT_PAGE, User};

use super::{Accounts, AuthError, Authenticated};

/// Most people that a search returns.
const MAX_FOUND: usize = 10;
const MAX_TEXT_CHARS: usize = 100;
/// Links with a remembered guest name. At this number all are cleared.
const MAX_GUESTS: usize = 10_000;

/// Last name that a guest chose, by link. In memory only.
#[derive(Default)]
pub(super) struct GuestNames(DashMap<ShareLinkId, String>);

impl Accounts {
    /// People whose name or login begins with each word: members of the caller's workspaces, for an administrator
    /// everybody.
    pub async fn people_matching(&self, who: &Authenticated, text: &str) -> Result<Vec<User>, AuthError> {
        let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        if words.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            return Err(AuthError::invalid(format!("text has 1 to {MAX_TEXT_CHARS} characters")));
        }
        let asking = self.user_of(who).await?;
        let mut found = match asking.is_admin {
            true => self.everybody(&words).await?,
            false => self.fellows(who, &words).await?,
        };
        found.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id.clone()));
        found.truncate(MAX_FOUND);
        Ok(found)
    }

    async fn everybody(&self, words: &[String]) -> Result<Vec<User>, AccountError> {
        let (mut found, mut after) = (Vec::new(), None::<UserId>);
        loop {
            let page = self.store().users(after.as_ref(), MAX_ACCOUNT_PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Some(last.id.clone());
            found.extend(page.into_iter().filter(|user| fits(user, words)));
        }
    }

    async fn fellows(&self, who: &Authenticated, words: &[String]) -> Result<Vec<User>, AccountError> {
        let mut ids = BTreeSet::new();
        for workspace in who.workspaces.keys() {
            ids.extend(self.store().members(workspace).await?.into_iter().map(|member| member.user_id));
        }
        let mut found = Vec::new();
        for id in ids {
            found.extend(self.store().user(&id).await?.filter(|user| fits(user, words)));
        }
        Ok(found)
    }

    /// A guest's name: the link's label, else the last name that a guest chose. `None`: there is no such link.
    pub async fn guest_name(&self, link: &ShareLinkId) -> Result<Option<String>, AccountError> {
        let Some(found) = self.store().share_link(link).await? else { return Ok(None) };
        if !found.label.is_empty() {
            return Ok(Some(found.label));
        }
        let said = self.guest_names().0.get(link).map(|name| name.clone());
        Ok(Some(said.unwrap_or_else(|| "Guest".to_owned())))
    }

    /// Remembers the name that a guest chose.
    pub fn guest_says(&self, link: &ShareLinkId, name: &str) {
        let names = &self.guest_names().0;
        if names.len() >= MAX_GUESTS && !names.contains_key(link) {
            names.clear();
        }
        names.insert(link.clone(), name.to_owned());
    }
}

fn fits(user: &User, words: &[String]) -> bool {
    let name = user.name.to_lowercase();
    let parts: Vec<&str> = name.split(|character: char| !character.is_alphanumeric()).collect();
    let login = user.login.as_deref().unwrap_or_default();
    let begins = |word: &String| login.starts_with(word) || parts.iter().any(|part| part.starts_with(word.as_str()));
    user.deactivated_at.is_none() && words.iter().all(begins)
}
