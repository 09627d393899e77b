//! The sender of a message (person, token and connection), and the notebooks that it reaches.

use std::sync::Arc;

use notarium_core::{Actor, Document, NotebookId, Rejection, RejectionCode, Scope, ToolCall};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::TokenOwner;
use super::tools::NOTEBOOK;
use crate::host::{ListedNotebook, NotebookHost};

/// The sender of a message, and the notebook of the connection.
pub struct Visitor {
    pub person: TokenOwner,
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
    pub async fn read(&self, host: &Arc<dyn NotebookHost>, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        if !self.reaches(notebook) {
            let message = format!("no notebook {notebook} that you may see: list_notebooks says which there are");
            return Err(Rejection::new(RejectionCode::UnknownNotebook, message));
        }
        host.read_as(&self.actor, notebook).await
    }
}

/// Most notebooks that are listed, or searched for a title.
pub const MAX_LISTED: usize = 200;
/// Most candidates in the error for an ambiguous title.
const MAX_NAMED: usize = 10;

/// Removes the argument `notebook` and resolves it. The error is for the model to read.
pub async fn chosen(
    host: &Arc<dyn NotebookHost>,
    visitor: &Visitor,
    arguments: &mut JsonObject,
) -> Result<NotebookId, String> {
    match arguments.shift_remove(NOTEBOOK) {
        Some(Value::String(name)) => named(host, visitor, &name).await,
        Some(Value::Null) | None => match &visitor.notebook {
            Some(own) if visitor.covers(own) => Ok(own.clone()),
            Some(own) => Err(format!("this token is not good for the notebook {own}")),
            None => Err(format!(
                "Missing required parameters: {NOTEBOOK} (an id or a title; list_notebooks says which there are)"
            )),
        },
        Some(_) => Err(format!("{NOTEBOOK} is a text: the id or the title of a notebook")),
    }
}

/// A notebook by its id, else by a unique title.
pub async fn named(host: &Arc<dyn NotebookHost>, visitor: &Visitor, name: &str) -> Result<NotebookId, String> {
    if let Ok(id) = NotebookId::new(name)
        && visitor.covers(&id)
        && host.read_as(&visitor.actor, &id).await.is_ok()
    {
        return within(visitor, id);
    }
    let visible = visible(host, visitor, Some(name)).await.map_err(|rejection| rejection.message)?;
    let titled: Vec<NotebookId> =
        visible.into_iter().filter(|listed| listed.title == name).map(|listed| listed.notebook_id).collect();
    match titled.as_slice() {
        [one] => within(visitor, one.clone()),
        [] => Err(format!("no notebook has the id or the title '{name}': list_notebooks says which there are")),
        several => {
            let ids: Vec<&str> = several.iter().take(MAX_NAMED).map(NotebookId::as_str).collect();
            Err(format!("{} notebooks have this title: name one by its id ({})", several.len(), ids.join(", ")))
        }
    }
}

/// Refuses other notebooks on a connection for one notebook.
fn within(visitor: &Visitor, id: NotebookId) -> Result<NotebookId, String> {
    match &visitor.notebook {
        Some(own) if *own != id => Err(format!("this connection is for the notebook {own} alone")),
        _ => Ok(id),
    }
}

/// The notebooks that person, token and connection allow, last changed first.
pub async fn visible(
    host: &Arc<dyn NotebookHost>,
    visitor: &Visitor,
    query: Option<&str>,
) -> Result<Vec<ListedNotebook>, Rejection> {
    let mut found = host.notebooks(&visitor.actor, query, MAX_LISTED).await?;
    found.retain(|listed| visitor.reaches(&listed.notebook_id));
    Ok(found)
}
