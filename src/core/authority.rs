//! What can be done to a notebook, which roles may do it, and what a connection may do besides.
//! `protocol/roles.md` is printed from here.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::Command;
use notarium_record::{Actor, Means, Role, Scope, Scopes, TokenId, WorkspaceId};

/// What can be done to a notebook. Every command, route and message is one of these.
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
    /// Request and cancel executions; launch a kernel; ask one about code that is being written.
    Run,
    /// Interrupt, restart, shut down a kernel; clear the queue.
    ControlKernel,
    /// Answer what running code asks on stdin.
    AnswerInput,
    /// Talk to an assistant, which then acts with the rights of who asks, and no more.
    Converse,
    /// Decide on a tool call that only edits.
    ConfirmEdit,
    /// Decide on any tool call.
    Confirm,
    /// Archive, unarchive, name versions; make a notebook reactive.
    Organise,
    /// Grant and revoke access, hand over ownership, make share links.
    Share,
    /// Say what assistants may do unasked.
    SetPolicy,
    /// Remove content from the record for good.
    Redact,
    /// Remove the whole notebook, but for a tombstone.
    Erase,
    /// Claim launches and report what kernels do.
    ReportExecution,
}

impl Operation {
    /// In the order of `protocol/roles.md`.
    pub const ALL: [Operation; 17] = [
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
        Operation::Share,
        Operation::SetPolicy,
        Operation::Redact,
        Operation::Erase,
        Operation::ReportExecution,
    ];

    /// The table of roles and operations. Total: a new role or operation does not compile until it has its answer.
    pub fn is_open_to(self, role: Role) -> bool {
        use Operation as O;
        match self {
            O::Read | O::ShowPresence => true,
            O::Comment | O::Converse => !matches!(role, Role::Viewer | Role::Agent),
            O::Edit | O::ConfirmEdit => matches!(role, Role::Author | Role::Editor | Role::Owner),
            O::Run | O::ControlKernel | O::AnswerInput => matches!(role, Role::Runner | Role::Editor | Role::Owner),
            O::Confirm | O::Organise => matches!(role, Role::Editor | Role::Owner),
            O::Moderate | O::Share | O::SetPolicy | O::Redact | O::Erase => matches!(role, Role::Owner),
            O::ReportExecution => matches!(role, Role::Agent),
        }
    }

    /// The scope that a token needs for it, beside the role.
    pub fn scope(self) -> Scope {
        use Operation as O;
        match self {
            O::Read | O::ShowPresence => Scope::Read,
            O::Comment | O::Moderate | O::Converse | O::Edit | O::Organise => Scope::Edit,
            O::Run | O::ControlKernel | O::AnswerInput => Scope::Run,
            O::ConfirmEdit | O::Confirm => Scope::Confirm,
            O::Share | O::SetPolicy | O::Redact | O::Erase => Scope::Manage,
            O::ReportExecution => Scope::Agent,
        }
    }
}

/// What a connection may do besides the notebook's own access list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Authority {
    /// A role that comes from outside the notebook: a workspace, a share link, an agent's token.
    pub ambient_role: Option<Role>,
    /// The person's workspaces: what the notebook's access list grants to one of these is granted to the person.
    pub workspaces: BTreeSet<WorkspaceId>,
    /// The scopes of the token or session.
    pub scopes: Scopes,
    /// The token is good for some notebooks only.
    pub is_bound: bool,
    /// The server's own reactor, in the name of an assistant: it alone starts and reports what the gate let through. No
    /// connection ever has it.
    pub reactor: Option<DelegatedAuthority>,
    /// How the connection came in: decisions on tool calls record it.
    pub means: Option<Means>,
    /// The token or session: what is asked of assistants with it holds as long as it does.
    pub token: Option<TokenId>,
}

/// Rights of others on which a call depends, as the server knows them now: of the person who confirmed it, and of those who
/// issued grants to its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
        C::Undo { .. } | C::Redo { .. } | C::RecordExecution { .. } | C::FlagMessage(_) => Operation::Edit,
        C::AddComment(_) | C::EditComment(_) | C::DeleteComment { .. } => Operation::Comment,
        C::ResolveThread { .. } | C::ReopenThread { .. } => Operation::Comment,
        C::MoveThread { .. } => Operation::Edit,
        C::Batch { .. } => Operation::Read,
        C::ArchiveNotebook {} | C::UnarchiveNotebook {} | C::NameVersion { .. } => Operation::Organise,
        C::SetReactivity { .. } => Operation::Organise,
        C::GrantAccess { .. } | C::RevokeAccess { .. } | C::TakeOverNotebook { .. } => Operation::Share,
        C::RequestExecution(_) | C::CancelExecution { .. } | C::GiveUpExecution { .. } | C::LaunchKernel { .. } => {
            Operation::Run
        }
        C::InterruptKernel { .. } | C::RestartKernel { .. } | C::ShutDownKernel { .. } | C::StopAll {} => {
            Operation::ControlKernel
        }
        C::AnswerInput { .. } => Operation::AnswerInput,
        C::StartTurn(_) | C::CancelTurn { .. } => Operation::Converse,
        C::SetPolicy { .. } => Operation::SetPolicy,
        // What the call itself needs is asked with the call in hand.
        C::RequestToolCall(_) | C::StartToolCall { .. } | C::ReportToolCall { .. } | C::WithdrawToolCall { .. } => {
            Operation::Read
        }
        C::StartModelCall { .. } | C::ReportModelCall { .. } | C::PostReply { .. } | C::EndTurn { .. } => {
            Operation::Read
        }
        C::SweepToolCalls {} | C::WithdrawRevoked { .. } | C::MoveOutputs(_) => Operation::Read,
        C::ConfirmToolCall { .. } | C::DenyToolCall { .. } | C::RevokeGrant { .. } => Operation::ConfirmEdit,
        // It lets through what an author could not confirm call by call.
        C::IssueGrant { .. } => Operation::Confirm,
        C::ClaimKernelLaunch { .. } | C::ReportKernelStarted { .. } | C::ReportKernelLaunchFailed { .. } => {
            Operation::ReportExecution
        }
        C::ReportKernelEnded { .. } | C::ReportExecution { .. } | C::ReconcileKernels { .. } => {
            Operation::ReportExecution
        }
        C::RegisterFunctions { .. } | C::SaveWidgets { .. } => Operation::ReportExecution,
    }
}
