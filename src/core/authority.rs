//! Operations on a notebook, the roles and scopes that allow them, and the authority of a connection.
//! The test `roles_md_is_current` prints `protocol/roles.md` from this file.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::Command;
use notarium_record::{Actor, Means, Role, Scope, Scopes, TokenId, WorkspaceId};

/// Operation on a notebook. Every command, route and message needs one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Read state, history and outputs; follow; export; fork.
    Read,
    /// Be seen by others.
    ShowPresence,
    /// Write and resolve comments.
    Comment,
    /// Delete comments of others.
    Moderate,
    /// Insert, edit, move, delete, restore, retype cells; undo and redo; metadata, title.
    Edit,
    /// Request and cancel executions; launch a kernel; ask one about code that is being written; set and remove schedules.
    Run,
    /// Interrupt, restart, shut down a kernel; clear the queue.
    ControlKernel,
    /// Answer an input request of running code (stdin).
    AnswerInput,
    /// Talk to an assistant. It acts with the rights of the person who asks, and no more.
    Converse,
    /// Decide on a tool call that only edits.
    ConfirmEdit,
    /// Decide on any tool call.
    Confirm,
    /// Name versions; make a notebook reactive.
    Organise,
    /// Archive and unarchive. Guests do not, whatever their link gives them.
    Archive,
    /// Grant and revoke access, hand over ownership, make share links.
    Share,
    /// Set which tool calls of assistants need no confirmation.
    SetPolicy,
    /// Remove content from the record for good.
    Redact,
    /// Remove the whole notebook, but for a tombstone.
    Erase,
    /// Claim launches and report what kernels do.
    ReportExecution,
}

impl Operation {
    /// All operations, in the order of `protocol/roles.md`.
    pub const ALL: [Operation; 18] = [
        Operation::Read,
        Operation::ShowPresence,
        Operation::Comment,
        Operation::Moderate,
        Operation::Edit,
        Operation::Run,
        Operation::ControlKernel,
        Operation::AnswerInput,
        Operation::Converse,
        Operation::ConfirmEdit,
        Operation::Confirm,
        Operation::Organise,
        Operation::Archive,
        Operation::Share,
        Operation::SetPolicy,
        Operation::Redact,
        Operation::Erase,
        Operation::ReportExecution,
    ];

    /// Table of roles and operations. Total: a new role or operation does not compile until it has an entry.
    pub fn is_open_to(self, role: Role) -> bool {
        use Operation as O;
        match self {
            O::Read | O::ShowPresence => true,
            O::Comment | O::Converse => !matches!(role, Role::Viewer | Role::Agent),
            O::Edit | O::ConfirmEdit => matches!(role, Role::Author | Role::Editor | Role::Owner),
            O::Run | O::ControlKernel | O::AnswerInput => matches!(role, Role::Runner | Role::Editor | Role::Owner),
            O::Confirm | O::Organise | O::Archive => matches!(role, Role::Editor | Role::Owner),
            O::Moderate | O::Share | O::SetPolicy | O::Redact | O::Erase => matches!(role, Role::Owner),
            O::ReportExecution => matches!(role, Role::Agent),
        }
    }

    /// Returns the scope that a token needs for the operation, beside the role.
    pub fn scope(self) -> Scope {
        use Operation as O;
        match self {
            O::Read | O::ShowPresence => Scope::Read,
            O::Comment | O::Moderate | O::Converse | O::Edit | O::Organise | O::Archive => Scope::Edit,
            O::Run | O::ControlKernel | O::AnswerInput => Scope::Run,
            O::ConfirmEdit | O::Confirm => Scope::Confirm,
            O::Share | O::SetPolicy | O::Redact | O::Erase => Scope::Manage,
            O::ReportExecution => Scope::Agent,
        }
    }
}

/// Rights of a connection besides the notebook's own access list. Nodes of a cluster send it to each other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Authority {
    /// A role that comes from outside the notebook: a workspace, a share link, an agent's token.
    pub ambient_role: Option<Role>,
    /// The person's workspaces. A grant to one of these workspaces counts as a grant to the person.
    pub workspaces: BTreeSet<WorkspaceId>,
    /// The scopes of the token or session.
    pub scopes: Scopes,
    /// The token is bound to some notebooks.
    pub is_bound: bool,
    /// Set for the server's own reactor, which acts in the name of an assistant. Only the reactor starts and reports
    /// calls that the gate let through; no connection ever has this.
    pub reactor: Option<DelegatedAuthority>,
    /// Way in which the connection was made; decisions on tool calls record it.
    pub means: Option<Means>,
    /// The token or session. Turns and calls that were requested with it end when it is revoked.
    pub token: Option<TokenId>,
}

/// Rights, as the server knows them now, of people on whom a call depends. They are the person who confirmed it, and
/// those who issued grants to its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DelegatedAuthority(pub Vec<(Actor, Authority)>);

impl Authority {
    /// An interactive session: every scope that people have.
    pub fn session() -> Self {
        let scopes = [Scope::Read, Scope::Edit, Scope::Run, Scope::Confirm, Scope::Manage, Scope::Admin];
        Self { scopes: scopes.into(), ..Self::default() }
    }

    /// A runtime agent whose token covers this notebook.
    pub fn agent() -> Self {
        Self { ambient_role: Some(Role::Agent), scopes: [Scope::Read, Scope::Agent].into(), ..Self::default() }
    }
}

/// The right that a command needs. Total: a new command does not compile without one.
pub fn operation(command: &Command) -> Operation {
    use Command as C;
    match command {
        C::CreateNotebook { .. } | C::RenameNotebook { .. } | C::SetNotebookMetadata { .. } => Operation::Edit,
        C::InsertCell(_) | C::EditSource(_) | C::ReplaceSource { .. } | C::MoveCell { .. } => Operation::Edit,
        C::ChangeCellType { .. } | C::DeleteCell { .. } | C::RestoreCell { .. } | C::SetCellMetadata { .. } => {
            Operation::Edit
        }
        C::SetCellAttachments { .. } | C::SetCellFlags { .. } | C::ClearOutputs { .. } => Operation::Edit,
        C::RedactContent(_) => Operation::Redact,
        C::RestoreNotebook(_) | C::Undo { .. } | C::Redo { .. } => Operation::Edit,
        C::RecordExecution { .. } | C::FlagMessage(_) => Operation::Edit,
        C::AddComment(_) | C::EditComment(_) | C::DeleteComment { .. } => Operation::Comment,
        C::ResolveThread { .. } | C::ReopenThread { .. } => Operation::Comment,
        C::MoveThread { .. } => Operation::Edit,
        C::Batch { .. } => Operation::Read,
        C::ArchiveNotebook {} | C::UnarchiveNotebook {} => Operation::Archive,
        C::NameVersion { .. } | C::SetReactivity { .. } | C::SetKernelSettings(_) => Operation::Organise,
        C::GrantAccess { .. } | C::RevokeAccess { .. } | C::TakeOverNotebook { .. } => Operation::Share,
        C::RequestExecution(_) | C::CancelExecution { .. } | C::GiveUpExecution { .. } | C::LaunchKernel(_) => {
            Operation::Run
        }
        C::InterruptKernel { .. } | C::RestartKernel(_) | C::ShutDownKernel { .. } | C::StopAll {} => {
            Operation::ControlKernel
        }
        C::AnswerInput { .. } => Operation::AnswerInput,
        C::SetSchedule(_) | C::RemoveSchedule(_) | C::RunSchedule(_) => Operation::Run,
        C::StartTurn(_) | C::CancelTurn { .. } => Operation::Converse,
        C::SetPolicy { .. } => Operation::SetPolicy,
        C::EraseNotebook(_) => Operation::Erase,
        // The rights that the call itself needs are checked where its arguments are known.
        C::RequestToolCall(_) | C::StartToolCall { .. } | C::ReportToolCall { .. } | C::WithdrawToolCall { .. } => {
            Operation::Read
        }
        C::StartModelCall { .. } | C::ReportModelCall { .. } | C::PostReply { .. } | C::EndTurn { .. } => {
            Operation::Read
        }
        C::SweepToolCalls {} | C::WithdrawRevoked { .. } | C::MoveOutputs(_) => Operation::Read,
        C::StartScheduledRun(_) | C::EndScheduledRun(_) => Operation::Read,
        C::ConfirmToolCall { .. } | C::DenyToolCall { .. } | C::RevokeGrant { .. } => Operation::ConfirmEdit,
        // A grant lets calls pass that an author could not confirm one by one.
        C::IssueGrant { .. } => Operation::Confirm,
        C::ClaimKernelLaunch { .. } | C::ReportKernelStarted { .. } | C::ReportKernelLaunchFailed { .. } => {
            Operation::ReportExecution
        }
        C::ReportKernelEnded { .. } | C::ReportExecution { .. } | C::ReconcileKernels { .. } => {
            Operation::ReportExecution
        }
        C::ReportEffectRefused(_) | C::ReportNextInput(_) => Operation::ReportExecution,
        C::RegisterFunctions { .. } | C::SaveWidgets { .. } => Operation::ReportExecution,
    }
}
