//! The sender of a message: person, token and connection.

use std::sync::Arc;

use notarium_core::{Actor, Document, NotebookId, Rejection, RejectionCode, Scope, ToolCall};

use super::Person;
use crate::host::Host;

/// The sender of a message, and the notebook of the connection.
pub struct Visitor {
    pub person: Person,
    pub actor: Actor,
    /// Title of the conversation.
    pub title: String,
    /// The only notebook that the connection reaches; absent: all.
    pub notebook: Option<NotebookId>,
}

impl Visitor {
    /// True if the connection and its token permit access to the notebook.
    pub fn reaches(&self, notebook: &NotebookId) -> bool {
        self.notebook.as_ref().is_none_or(|own| own == notebook) && self.covers(notebook)
    }

    /// True if the token permits access to the notebook.
    pub fn covers(&self, notebook: &NotebookId) -> bool {
        (self.person.covers)(notebook)
    }

    pub fn may_take_back(&self, call: &ToolCall) -> bool {
        let of_person =
            |actor: &Actor| matches!(actor, Actor::Assistant { for_user, .. } if *for_user == self.person.user_id);
        let is_persons = of_person(&call.requested_by);
        call.requested_by == self.actor || is_persons && self.person.scopes.contains(&Scope::Edit)
    }

    /// The notebook, if person, token and connection permit access.
    pub async fn read(&self, host: &Arc<dyn Host>, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        if !self.reaches(notebook) {
            let message = format!("no notebook {notebook} that you may see: list_notebooks says which there are");
            return Err(Rejection::new(RejectionCode::UnknownNotebook, message));
        }
        host.read_as(&self.actor, notebook).await
    }
}
