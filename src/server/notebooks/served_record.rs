//! The record of a notebook for pages about it: events from the store, names as the reader may see them.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{Actor, NotebookId, Stored, Subject, Version};
use notarium_report::RecordSource;
use notarium_report::words::{clean, short};

use super::Notebooks;
use crate::auth::Authenticated;
use crate::http::problem::Problem;

/// A record that the caller may read.
pub struct ServedRecord {
    notebooks: Arc<Notebooks>,
    who: Authenticated,
    notebook: NotebookId,
    /// Names by the keys of their subjects.
    names: BTreeMap<String, String>,
}

impl ServedRecord {
    /// The record of a notebook for its reader.
    pub fn new(notebooks: &Arc<Notebooks>, who: &Authenticated, notebook: &NotebookId) -> Self {
        Self { notebooks: notebooks.clone(), who: who.clone(), notebook: notebook.clone(), names: BTreeMap::new() }
    }

    async fn found(&self, subject: &Subject) -> Option<String> {
        let accounts = &self.notebooks.accounts;
        match subject {
            Subject::User { id } => accounts.store().user(id).await.ok()?.map(|user| user.name),
            Subject::ShareLink { id } => match accounts.guest_name(id).await.ok()?? {
                name if name == "Guest" => Some("a guest".to_owned()),
                name => Some(format!("{name} (guest)")),
            },
            Subject::Agent { id } => {
                let label = accounts.agent_name(id).await.filter(|label| !label.is_empty())?;
                Some(format!("agent \"{label}\""))
            }
            Subject::Workspace { id } if self.who.workspaces.contains_key(id) => {
                let workspace = accounts.store().workspace(id).await.ok()??;
                Some(format!("workspace \"{}\"", workspace.name))
            }
            Subject::Workspace { .. } => None,
        }
    }

    async fn name(&mut self, subject: Subject) -> String {
        let (kind, id) = match &subject {
            Subject::User { id } => ("user", short(id.as_str())),
            Subject::ShareLink { id } => ("guest", short(id.as_str())),
            Subject::Agent { id } => ("agent", short(id.as_str())),
            Subject::Workspace { id } => ("workspace", id.as_str()),
        };
        let unknown = format!("{kind} {id}");
        let key = subject.key();
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name = clean(&self.found(&subject).await.unwrap_or(unknown));
        self.names.insert(key, name.clone());
        name
    }
}

impl RecordSource for ServedRecord {
    type Error = Problem;

    async fn events(&self, after: Version, limit: usize) -> Result<Vec<Stored>, Problem> {
        Ok(self.notebooks.store.read(&self.notebook, after, limit).await?)
    }

    async fn actor_name(&mut self, actor: &Actor) -> String {
        match actor.clone() {
            Actor::User { id } => self.name(Subject::User { id }).await,
            Actor::Assistant { for_user, .. } => {
                format!("the assistant of {}", self.name(Subject::User { id: for_user }).await)
            }
            Actor::Agent { id } => self.name(Subject::Agent { id }).await,
            Actor::Guest { share_link } => self.name(Subject::ShareLink { id: share_link }).await,
            Actor::System => "the server".to_owned(),
        }
    }

    async fn subject_name(&mut self, subject: &Subject) -> String {
        let name = self.name(subject.clone()).await;
        if matches!(subject, Subject::ShareLink { .. }) { format!("share link of {name}") } else { name }
    }
}
