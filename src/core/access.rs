//! Roles, operations and the total table between them. `protocol/roles.md` is printed from here.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::context::Context;
use crate::decision::Decision;
use crate::limits::Limits;
use crate::rejection::{Rejection, RejectionCode};
use notarium_record::{
    AccessGranted, AccessRevoked, Actor, Document, Grant, Millis, Role, Scope, Scopes, Subject, WorkspaceId,
};

/// What can be done to a notebook. Every command, route and message is one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Read state, history and outputs; follow; export; fork.
    Read,
    /// Be seen by others.
    ShowPresence,
    Comment,
    /// Insert, edit, move, delete, restore, retype cells; undo and redo; metadata, title.
    Edit,
    /// Request and cancel executions; launch a kernel.
    Run,
    /// Interrupt, restart, shut down a kernel; clear the queue.
    ControlKernel,
    AnswerInput,
    /// Talk to an assistant, which then acts with the rights of who asks, and no more.
    Converse,
    /// Decide on a tool call that only edits.
    ConfirmEdit,
    /// Decide on any tool call.
    Confirm,
    /// Archive, unarchive, name versions.
    Organise,
    /// Grant and revoke access, hand over ownership, make share links.
    Share,
    SetPolicy,
    Redact,
    Erase,
    /// Claim launches and report what kernels do.
    ReportExecution,
}

impl Operation {
    pub const ALL: [Operation; 16] = [
        Operation::Read,
        Operation::ShowPresence,
        Operation::Comment,
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
            O::Share | O::SetPolicy | O::Redact | O::Erase => matches!(role, Role::Owner),
            O::ReportExecution => matches!(role, Role::Agent),
        }
    }

    /// The scope that a token needs for it, beside the role.
    pub fn scope(self) -> Scope {
        use Operation as O;
        match self {
            O::Read | O::ShowPresence => Scope::Read,
            O::Comment | O::Converse | O::Edit | O::Organise => Scope::Edit,
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

/// The actor's roles in the notebook now: its own grant, those of its workspaces, and the ambient one. They add up: an
/// author by grant who is a runner by workspace edits and runs.
fn roles_of(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis) -> Vec<Role> {
    let workspaces = authority.workspaces.iter().map(|id| Subject::Workspace { id: id.clone() });
    let granted = subject_of(actor).into_iter().chain(workspaces);
    granted.filter_map(|subject| granted_role(notebook, &subject, now)).chain(authority.ambient_role).collect()
}

/// The highest of the actor's roles now: what a client is told of itself. `None`: the notebook is not for its eyes.
pub fn role_of(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis) -> Option<Role> {
    roles_of(notebook, actor, authority, now).into_iter().max()
}

fn subject_of(actor: &Actor) -> Option<Subject> {
    match actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(Subject::User { id: id.clone() }),
        Actor::Guest { share_link } => Some(Subject::ShareLink { id: share_link.clone() }),
        Actor::Agent { id } => Some(Subject::Agent { id: id.clone() }),
        Actor::System => None,
    }
}

/// The role that the access list gives a subject now; expired grants give none.
pub fn granted_role(notebook: &Document, subject: &Subject, now: Millis) -> Option<Role> {
    let entry = notebook.access.iter().find(|entry| entry.subject == *subject)?;
    entry.grant.expires_at.is_none_or(|at| now < at).then_some(entry.grant.role)
}

/// Refuses what the role or the scopes do not allow. A notebook that the actor may not read is unknown to it.
pub(crate) fn authorise(notebook: &Document, context: &Context, operation: Operation) -> Result<(), Rejection> {
    if !notebook.exists() {
        return Err(unknown_notebook(notebook));
    }
    check_kind_of_actor(&context.actor, operation)?;
    if context.actor == Actor::System {
        return Ok(());
    }
    let roles = roles_of(notebook, &context.actor, &context.authority, context.now);
    let Some(highest) = roles.iter().max() else { return Err(unknown_notebook(notebook)) };
    if !roles.iter().any(|role| operation.is_open_to(*role)) {
        return Err(forbidden(&format!(
            "your role here is {highest:?}, which does not allow {operation:?}: ask an owner"
        )));
    }
    require_scope(context, operation.scope())
}

/// Whether the roles of `actor` allow it now, and its kind does; the scopes of a token are not asked.
pub(crate) fn may(
    notebook: &Document,
    actor: &Actor,
    authority: &Authority,
    now: Millis,
    operation: Operation,
) -> bool {
    check_kind_of_actor(actor, operation).is_ok()
        && roles_of(notebook, actor, authority, now).iter().any(|role| operation.is_open_to(*role))
}

/// Whether somebody whose authority was sent along may do all of this now.
pub(crate) fn delegated_may(
    notebook: &Document,
    delegating: &Authority,
    actor: &Actor,
    now: Millis,
    operations: &[Operation],
) -> bool {
    let mut delegated = delegating.reactor.iter().flat_map(|delegated| &delegated.0);
    delegated.find(|(other, _)| other == actor).is_some_and(|(_, authority)| {
        operations.iter().all(|operation| may(notebook, actor, authority, now, *operation))
    })
}

/// What no role or scope can give: only people decide on tool calls, and an assistant shares and rules nothing.
fn check_kind_of_actor(actor: &Actor, operation: Operation) -> Result<(), Rejection> {
    let is_allowed = match operation.scope() {
        Scope::Confirm => matches!(actor, Actor::User { .. }),
        Scope::Manage => !matches!(actor, Actor::Assistant { .. }),
        _ => true,
    };
    if is_allowed { Ok(()) } else { Err(forbidden(&format!("{operation:?} is for a person: ask one to do it"))) }
}

/// Anybody with an account may make a notebook of their own.
pub(crate) fn authorise_create(context: &Context) -> Result<(), Rejection> {
    match context.actor {
        Actor::User { .. } | Actor::Assistant { .. } => require_scope(context, Scope::Edit),
        Actor::Guest { .. } | Actor::Agent { .. } | Actor::System => {
            Err(forbidden("only a person with an account makes notebooks: sign in first"))
        }
    }
}

fn require_scope(context: &Context, scope: Scope) -> Result<(), Rejection> {
    if context.authority.scopes.contains(&scope) {
        return Ok(());
    }
    Err(forbidden(&format!("this token lacks the scope {scope:?}: use one that has it")))
}

fn forbidden(message: &str) -> Rejection {
    Rejection::new(RejectionCode::Forbidden, message)
}

fn unknown_notebook(notebook: &Document) -> Rejection {
    let id = &notebook.notebook_id;
    Rejection::new(
        RejectionCode::UnknownNotebook,
        format!("no notebook {id} that you may see: check the id, or ask for access"),
    )
}

pub(crate) fn decide(notebook: &Document, context: &Context, command: Command) -> Result<Decision, Rejection> {
    match command {
        Command::GrantAccess { subject, role, expires_at } => {
            decide_grant(notebook, &context.limits, subject, Grant { role, expires_at })
        }
        Command::RevokeAccess { subject } => decide_revoke(notebook, subject),
        _ => unreachable!("the dispatcher sends access commands only"),
    }
}

fn decide_grant(notebook: &Document, limits: &Limits, subject: Subject, grant: Grant) -> Result<Decision, Rejection> {
    check_grantable(&subject, grant)?;
    let before = notebook.access.iter().find(|entry| entry.subject == subject);
    if before.is_some_and(|entry| entry.grant == grant) {
        return Ok(Decision::nothing());
    }
    if before.is_none() && notebook.access.len() >= limits.max_access_entries {
        let message = format!("an access list has at most {} entries: revoke some", limits.max_access_entries);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if before.is_some() && !is_lasting_owner(&subject, grant) {
        keep_an_owner(notebook, &subject)?;
    }
    Ok(Decision::one(AccessGranted { subject, role: grant.role, expires_at: grant.expires_at }))
}

fn check_grantable(subject: &Subject, grant: Grant) -> Result<(), Rejection> {
    let is_agent = matches!(subject, Subject::Agent { .. });
    if is_agent != (grant.role == Role::Agent) {
        return Err(Rejection::new(
            RejectionCode::InvalidValue,
            "the role agent is for runtime agents, and they hold no other",
        ));
    }
    if grant.role == Role::Owner && matches!(subject, Subject::ShareLink { .. }) {
        return Err(Rejection::new(RejectionCode::InvalidValue, "a share link makes nobody an owner: use editor"));
    }
    Ok(())
}

fn decide_revoke(notebook: &Document, subject: Subject) -> Result<Decision, Rejection> {
    if !notebook.access.iter().any(|entry| entry.subject == subject) {
        return Ok(Decision::nothing());
    }
    keep_an_owner(notebook, &subject)?;
    Ok(Decision::one(AccessRevoked { subject }))
}

fn is_lasting_owner(subject: &Subject, grant: Grant) -> bool {
    matches!(subject, Subject::User { .. }) && grant.role == Role::Owner && grant.expires_at.is_none()
}

/// A notebook without an owner could never be shared again.
fn keep_an_owner(notebook: &Document, leaving: &Subject) -> Result<(), Rejection> {
    let mut others = notebook.access.iter().filter(|entry| entry.subject != *leaving);
    if others.any(|entry| is_lasting_owner(&entry.subject, entry.grant)) {
        return Ok(());
    }
    Err(Rejection::new(RejectionCode::LastOwner, "a notebook keeps at least one owner: make somebody else owner first"))
}
