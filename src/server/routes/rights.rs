//! Rights in notebooks for the guards of routes, answered by the rooms.

use async_trait::async_trait;
use notarium_core::{Command, Millis, NotebookId, Operation, Rejection, RejectionCode, Role, Subject, not_open};

use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::Conditions;
use crate::http::guard::NotebookRights;
use crate::notebooks::body_of;

/// Implementation of [`NotebookRights`] by the rooms.
pub struct RoomRights(pub App);

impl RoomRights {
    async fn execute(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<(), Rejection> {
        let message = Conditions::default().message(notebook, body_of(command)?);
        self.0.execute(authenticated, message).await.map(drop)
    }
}

#[async_trait]
impl NotebookRights for RoomRights {
    async fn require(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        operation: Operation,
    ) -> Result<(), Rejection> {
        let state = self.0.read(authenticated, notebook).await?;
        if !operation.is_open_to(state.role) {
            return Err(Rejection::new(RejectionCode::Forbidden, not_open(state.role, operation)));
        }
        let scope = operation.scope();
        if !authenticated.has(scope) {
            return Err(Rejection::new(RejectionCode::Forbidden, authenticated.lacks(scope)));
        }
        Ok(())
    }

    async fn grant(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
        role: Role,
        expires_at: Option<Millis>,
    ) -> Result<(), Rejection> {
        self.execute(authenticated, notebook, &Command::GrantAccess { subject, role, expires_at }).await
    }

    async fn revoke(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
    ) -> Result<(), Rejection> {
        self.execute(authenticated, notebook, &Command::RevokeAccess { subject }).await
    }
}
