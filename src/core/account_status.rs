//! Account status (active, ended, unknown) of subjects named by a command. The core has no accounts: the server looks
//! up the subjects of [`required_account_status`] and puts the answer into the context.

use crate::command::Command;
use crate::values::decision::{Rejection, RejectionCode, Result};
use notarium_record::{Subject, UserId};

/// Account status of a subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AccountStatus {
    /// The subject can use its rights.
    Active,
    /// The account is deactivated; the share link or the agent's token was revoked or has expired.
    Ended {
        /// Name for people; may be empty.
        name: String,
    },
    /// No subject has that id.
    #[default]
    Unknown,
}

/// Status of the subjects of one command. A subject that was not looked up is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountStatuses(Vec<(Subject, AccountStatus)>);

impl AccountStatuses {
    /// Makes the answer from subjects that were looked up.
    pub fn new(found: impl IntoIterator<Item = (Subject, AccountStatus)>) -> Self {
        Self(found.into_iter().collect())
    }

    /// Status of the subject.
    pub fn of(&self, subject: &Subject) -> AccountStatus {
        let found = self.0.iter().find(|(found, _)| found == subject);
        found.map(|(_, status)| status.clone()).unwrap_or_default()
    }
}

/// Subjects whose status [`crate::decide`] needs. The answers go into `context.account_status`.
pub fn required_account_status(command: &Command) -> Vec<Subject> {
    match command {
        Command::GrantAccess { subject, .. } => vec![subject.clone()],
        Command::TakeOverNotebook { from, to } => vec![user(from), user(to)],
        Command::Batch { commands } => commands.iter().flat_map(required_account_status).collect(),
        Command::AddComment(command) => command.mentions.iter().map(user).collect(),
        Command::EditComment(command) => command.mentions.iter().map(user).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn user(id: &UserId) -> Subject {
    Subject::User { id: id.clone() }
}

/// Refuses a right for a subject that is unknown or could not use it.
pub(crate) fn check_active(account_status: &AccountStatuses, subject: &Subject) -> Result<()> {
    let refused = |code, message| Err(Rejection::new(code, message));
    match account_status.of(subject) {
        AccountStatus::Active => Ok(()),
        AccountStatus::Ended { name } => refused(RejectionCode::SubjectEnded, ended(subject, &name)),
        AccountStatus::Unknown => refused(RejectionCode::UnknownSubject, unknown(subject)),
    }
}

fn ended(subject: &Subject, name: &str) -> String {
    match subject {
        Subject::User { .. } => format!(
            "the account of {name} is deactivated: choose somebody else, or ask an administrator to reactivate it"
        ),
        Subject::ShareLink { .. } => format!("the share link \"{name}\" is revoked or has expired: make another one"),
        Subject::Agent { .. } => {
            format!("the token of the runtime agent \"{name}\" is revoked or has expired: make another one")
        }
        Subject::Workspace { .. } => format!("the workspace \"{name}\" is no more: choose another one"),
    }
}

fn unknown(subject: &Subject) -> String {
    match subject {
        Subject::User { id } => format!(
            "nobody has an account of the id {id}: take the id that GET /api/people?login=LOGIN answers; somebody without an \
             account, a guest too, takes part by a share link"
        ),
        Subject::ShareLink { id } => {
            format!("this notebook has no share link of the id {id}: make one, and it has its role from the start")
        }
        Subject::Agent { id } => format!("there is no runtime agent of the id {id}: GET /api/agents lists yours"),
        Subject::Workspace { id } => format!("there is no workspace of the id {id}: GET /api/workspaces lists yours"),
    }
}
