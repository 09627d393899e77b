//! An authenticated caller, and its rights in each notebook.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use notarium_core::{
    Actor, Authority, Door, Means, Millis, NotebookId, Role, Scope, Scopes, TokenId, UserId, WorkspaceId, word,
};
use notarium_store::accounts::{Coverage, TokenKind};

/// Workspace of each notebook. Shared by all connections, and kept current.
#[derive(Debug, Default)]
pub struct Placements(DashMap<NotebookId, WorkspaceId>);

impl Placements {
    pub fn workspace_of(&self, notebook: &NotebookId) -> Option<WorkspaceId> {
        self.0.get(notebook).map(|workspace| workspace.clone())
    }

    pub(super) fn place(&self, notebook: &NotebookId, workspace: Option<&WorkspaceId>) {
        match workspace {
            Some(workspace) => drop(self.0.insert(notebook.clone(), workspace.clone())),
            None => drop(self.0.remove(notebook)),
        }
    }
}

/// An authenticated caller. Valid until [`super::Accounts::follow`] reports a change.
#[derive(Debug, Clone)]
pub struct Authenticated {
    pub actor: Actor,
    /// Display name.
    pub name: String,
    pub kind: TokenKind,
    pub token_id: TokenId,
    /// The owner's label of the session or token.
    pub label: String,
    /// Entry point: page, terminal, REST or socket.
    pub door: Door,
    pub scopes: Scopes,
    /// Notebooks that the token covers.
    pub coverage: Coverage,
    /// Role in each of the person's workspaces.
    pub workspaces: BTreeMap<WorkspaceId, Role>,
    pub expires_at: Option<Millis>,
    /// True for a session of a few minutes, for which the password was asked.
    pub(super) is_fresh: bool,
    /// True if scopes are withheld that a fresh sign-in has.
    pub asks_again: bool,
    pub(super) placements: Arc<Placements>,
}

impl Authenticated {
    /// Rights that the token adds to the notebook's own access list. Outside its coverage: none.
    ///
    /// A share link's role is in the notebook's access list, as an event. Its token only opens that one notebook.
    pub fn authority_for(&self, notebook: &NotebookId) -> Authority {
        let workspace = self.placements.workspace_of(notebook);
        if !self.covers(notebook, workspace.as_ref()) {
            return Authority::default();
        }
        let scopes = self.scopes.clone();
        match &self.actor {
            Actor::Agent { .. } => Authority { ambient_role: Some(Role::Agent), scopes, ..Authority::default() },
            Actor::User { .. } => {
                let ambient_role = workspace.and_then(|workspace| self.workspaces.get(&workspace).copied());
                let workspaces = self.workspaces.keys().cloned().collect();
                let is_bound = self.coverage != Coverage::All;
                let token = Some(self.token_id.clone());
                Authority {
                    ambient_role,
                    scopes,
                    workspaces,
                    is_bound,
                    reactor: None,
                    means: Some(self.means()),
                    token,
                }
            }
            _ => Authority { scopes, means: Some(self.means()), ..Authority::default() },
        }
    }

    fn means(&self) -> Means {
        Means { door: self.door.into(), credential: self.kind.as_str().to_owned(), label: self.label.clone() }
    }

    /// True for runtime agents.
    pub fn is_agent(&self) -> bool {
        matches!(self.actor, Actor::Agent { .. })
    }

    /// True if the token covers the notebook. Otherwise the notebook is reported as unknown.
    pub fn may_see(&self, notebook: &NotebookId) -> bool {
        self.covers(notebook, self.placements.workspace_of(notebook).as_ref())
    }

    /// The workspace that the notebook is in.
    pub fn workspace_of(&self, notebook: &NotebookId) -> Option<WorkspaceId> {
        self.placements.workspace_of(notebook)
    }

    fn covers(&self, notebook: &NotebookId, workspace: Option<&WorkspaceId>) -> bool {
        match &self.coverage {
            Coverage::All => true,
            Coverage::Notebooks(notebooks) => notebooks.contains(notebook),
            Coverage::Workspace(covered) => workspace == Some(covered),
        }
    }

    pub(super) fn is_bound_to_a_workspace(&self) -> bool {
        matches!(self.coverage, Coverage::Workspace(_))
    }

    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Error text of an operation that needs this scope.
    pub fn lacks(&self, scope: Scope) -> String {
        match self.asks_again {
            true => "this asks for your password again: sign in afresh (POST /api/session with \"fresh\"), and use that session \
                     within its 15 minutes"
                .to_owned(),
            false => format!("this token lacks the scope {}: use one that has it", word(&scope)),
        }
    }

    /// The person, for a person or a program that acts for one.
    pub fn user_id(&self) -> Option<&UserId> {
        match &self.actor {
            Actor::User { id } => Some(id),
            _ => None,
        }
    }
}
