//! Checks of a client's state against the notebook's, and the notebooks of messages.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use notarium_core::{NotebookId, RejectionCode};
use notarium_wire::{
    AskKernelMessage, CheckMessage, CheckedMessage, ClientMessage, CommandMessage, ErrorCode, ErrorMessage,
    SubscribeMessage,
};

use super::hello::problem;
use crate::app::App;
use crate::rooms::{ClientId, ClientInput, Identity, RoomHandle};

/// Client that asks for a check, and the room it goes through.
pub struct Asker {
    pub client: ClientId,
    pub identity: Arc<Identity>,
    pub room: RoomHandle,
}

impl Asker {
    /// Answers a check. If the digests differ, call [`Self::heal`] after the answer is sent.
    pub async fn check(&self, app: &App, asked: CheckMessage) -> Result<CheckedMessage, ErrorMessage> {
        let CheckMessage { notebook, version, digest: theirs } = asked;
        let refused =
            |code, message: String| ErrorMessage { notebook: Some(notebook.clone()), ..problem(code, message) };
        let state = self.room.read(self.identity.clone()).await.map_err(|rejection| {
            let is_unavailable = rejection.code == RejectionCode::Unavailable;
            let code = if is_unavailable { ErrorCode::Unavailable } else { ErrorCode::UnknownNotebook };
            refused(code, rejection.message)
        })?;
        let now = state.notebook;
        if version > now.version {
            let message = format!("the notebook is at version {}, before {version}", now.version);
            return Err(refused(ErrorCode::VersionInFuture, message));
        }
        let digest =
            app.checks.digest(&*app.store, app.limits.max_checked_events, now, version).await.map_err(|failed| {
                let is_far_back = failed.status == http::StatusCode::PAYLOAD_TOO_LARGE.as_u16();
                let code = if is_far_back { ErrorCode::VersionTooOld } else { ErrorCode::Unavailable };
                refused(code, failed.detail.clone())
            })?;
        app.checks.answered.fetch_add(1, Ordering::Relaxed);
        let differs = digest.is_some() && theirs.is_some() && theirs != digest;
        Ok(CheckedMessage { notebook, version, digest, differs })
    }

    /// Sends the whole state to a client whose state differed, and logs an error for the operator.
    pub fn heal(&self, app: &App, checked: &CheckedMessage) {
        app.checks.differed.fetch_add(1, Ordering::Relaxed);
        let CheckedMessage { notebook, version, .. } = checked;
        let (actor, connection) = (self.identity.actor.key(), &self.identity.connection);
        tracing::error!(%notebook, version, actor, connection, "a client's state is not the notebook's: it gets the whole state");
        self.room.send(self.client, ClientInput::Differs);
    }
}

/// The notebook that a message is for.
pub fn notebook_of(message: &ClientMessage) -> Option<&NotebookId> {
    use ClientMessage as M;
    match message {
        M::Subscribe(SubscribeMessage { notebook, .. })
        | M::Unsubscribe { notebook }
        | M::Command(CommandMessage { notebook, .. })
        | M::Check(CheckMessage { notebook, .. })
        | M::Presence { notebook, .. }
        | M::AskKernel(AskKernelMessage { notebook, .. })
        | M::FollowComms { notebook, .. }
        | M::KernelStatus { notebook, .. }
        | M::KernelUse { notebook, .. }
        | M::Comms { notebook, .. }
        | M::Comm { notebook, .. } => Some(notebook),
        M::SendComm(message) => Some(&message.notebook),
        M::Hello(_) | M::Refresh { .. } | M::Offer(_) | M::MachineLoad { .. } => None,
        M::AnswerQuestion { .. } | M::AnswerFile { .. } => None,
    }
}
