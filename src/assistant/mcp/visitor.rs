//! Who sends a message.

use std::sync::Arc;

use notarium_core::{Actor, Document, NotebookId, Rejection, RejectionCode, Scope, ToolCall};

use super::Person;
use crate::host::Host;

/// Who sends a message, and for which notebook the connection is.
pub struct Visitor {
    pub person: Person,
    pub actor: Actor,
    /// What the conversation is called.
    pub title: String,
    /// The connection reaches no other.
    pub notebook: Option<NotebookId>,
}

impl Visitor {
    /// Whether the connection and its token are good for the notebook.
    pub fn reaches(&self, notebook: &NotebookId) -> bool {
        self.notebook.as_ref().is_none_or(|own| own == notebook) && self.covers(notebook)
    }

    /// Whether the token is good for the notebook.
    pub fn covers(&self, notebook: &NotebookId) -> bool {
        (self.person.covers)(notebook)
    }

    pub fn may_take_back(&self, call: &ToolCall) -> bool {
        let of_person =
            |actor: &Actor| matches!(actor, Actor::Assistant { for_user, .. } if *for_user == self.person.user_id);
        let is_persons = of_person(&call.requested_by);
        call.requested_by == self.actor || is_persons && self.person.scopes.contains(&Scope::Edit)
    }

    /// The notebook, if person, token and connection allow it.
    pub async fn read(&self, host: &Arc<dyn Host>, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        if !self.reaches(notebook) {
            let message = format!("no notebook {notebook} that you may see: list_notebooks says which there are");
            return Err(Rejection::new(RejectionCode::UnknownNotebook, message));
        }
        host.read_as(&self.actor, notebook).await
    }
}
