//! Workspaces as people write them in lists and settings: a name or an id, with a role after a colon if it is not editor.

use std::collections::HashMap;

use notarium_core::{Role, WorkspaceId, word};
use notarium_store::accounts::{AccountError, AccountStore, MAX_ACCOUNT_PAGE};

/// Role of a member for whom none is written.
const DEFAULT_ROLE: Role = Role::Editor;

/// A workspace with a role in it, as in `Lab` or `Lab:viewer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedWorkspace {
    /// Name or id.
    pub name: String,
    pub role: Role,
}

impl NamedWorkspace {
    /// Text after a colon that is no role is a part of the name.
    pub fn parse(text: &str) -> Self {
        let role_named = |text: &str| Role::ALL.into_iter().find(|role| *role != Role::Agent && word(role) == text);
        let parts = text.rsplit_once(':').and_then(|(name, role)| Some((name.trim(), role_named(role.trim())?)));
        let (name, role) = parts.unwrap_or((text.trim(), DEFAULT_ROLE));
        Self { name: name.to_owned(), role }
    }
}

/// All workspaces of the server, by name. Names are not unique.
#[derive(Debug, Default)]
pub struct WorkspaceNames(HashMap<String, Vec<WorkspaceId>>);

impl WorkspaceNames {
    pub async fn read(store: &dyn AccountStore) -> Result<Self, AccountError> {
        let mut names: HashMap<String, Vec<WorkspaceId>> = HashMap::new();
        let mut after: Option<WorkspaceId> = None;
        loop {
            let page = store.workspaces(after.as_ref(), MAX_ACCOUNT_PAGE).await?;
            let Some(last) = page.last() else { return Ok(Self(names)) };
            after = Some(last.id.clone());
            for workspace in page {
                names.entry(workspace.name).or_default().push(workspace.id);
            }
        }
    }

    #[cfg(test)]
    pub fn of<const N: usize>(names: [(&str, &str); N]) -> Self {
        let id = |id: &str| WorkspaceId::new(id).expect("an id");
        Self(names.into_iter().map(|(name, of)| (name.to_owned(), vec![id(of)])).collect())
    }

    /// Finds a workspace by name, else by id. The error is a sentence for people.
    pub fn find(&self, name: &str) -> Result<WorkspaceId, String> {
        match self.0.get(name).map(Vec::as_slice) {
            Some([id]) => Ok(id.clone()),
            Some(ids) => Err(format!("{} workspaces have the name '{name}': write the id instead", ids.len())),
            None => {
                let by_id = self.0.values().flatten().find(|id| id.as_str() == name).cloned();
                by_id.ok_or_else(|| {
                    format!("no workspace has the name '{name}': create it with `notarium workspace new`, or correct the name")
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_follows_a_colon() {
        let cases = [
            ("Lab", "Lab", Role::Editor),
            (" Lab : viewer ", "Lab", Role::Viewer),
            ("Lab:owner", "Lab", Role::Owner),
            ("Course: week 1", "Course: week 1", Role::Editor),
            ("Course: week 1:runner", "Course: week 1", Role::Runner),
            ("Lab:agent", "Lab:agent", Role::Editor),
        ];
        for (text, name, role) in cases {
            assert_eq!(NamedWorkspace::parse(text), NamedWorkspace { name: name.to_owned(), role }, "{text}");
        }
    }

    #[test]
    fn a_name_that_two_workspaces_have_names_neither() {
        let ids = |ids: &[&str]| ids.iter().map(|id| WorkspaceId::new(*id).unwrap()).collect::<Vec<_>>();
        let names = WorkspaceNames([("Lab".to_owned(), ids(&["a"])), ("Class".to_owned(), ids(&["b", "c"]))].into());
        assert_eq!(names.find("Lab").unwrap().as_str(), "a");
        assert_eq!(names.find("c").unwrap().as_str(), "c");
        assert!(names.find("Class").unwrap_err().contains("2 workspaces"));
        assert!(names.find("lab").unwrap_err().contains("workspace new"));
    }
}
