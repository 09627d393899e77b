//! Authorises commands by roles, scopes and kind of actor, and decides the commands that change the access list.

use crate::account_status::{AccountStatus, check_active, user};
use crate::authority::{Authority, Operation, operation};
use crate::checks::{check_not_archived, check_not_erased, kernel_session};
use crate::command::Command;
use crate::context::Context;
use crate::values::decision::{Decision, Rejection, RejectionCode, Result, word};
use crate::values::details::{LimitName, RejectionDetails};
use notarium_record::{
    AccessGranted, AccessRevoked, Actor, AgentId, Document, Grant, KernelSession, KernelSessionId, Millis, Role, Scope,
    Subject, Turn, UserId,
};

/// Returns the actor's roles in the notebook now: its own grant, those of its workspaces, and the ambient one. Roles
/// add up: an author by grant who is a runner by workspace edits and runs.
fn roles_of(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis) -> Vec<Role> {
    let workspaces = authority.workspaces.iter().map(|id| Subject::Workspace { id: id.clone() });
    let granted = actor.subject().into_iter().chain(workspaces);
    granted.filter_map(|subject| granted_role(notebook, &subject, now)).chain(authority.ambient_role).collect()
}

/// Returns the highest of the actor's roles now, as its client shows it. `None`: the actor may not read the notebook.
pub fn role_of(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis) -> Option<Role> {
    roles_of(notebook, actor, authority, now).into_iter().max()
}

/// The role that the access list gives a subject now; expired grants give none.
pub fn granted_role(notebook: &Document, subject: &Subject, now: Millis) -> Option<Role> {
    let entry = notebook.access.iter().find(|entry| entry.subject == *subject)?;
    entry.grant.expires_at.is_none_or(|at| now < at).then_some(entry.grant.role)
}

/// Refuses a command that the sender may not send, or that would change an archived notebook.
pub(crate) fn authorise_command(notebook: &Document, context: &Context, command: &Command) -> Result<()> {
    match command {
        Command::CreateNotebook { .. } => authorise_create(context),
        // A batch may begin by creating the notebook: each part is authorised on the state that it meets.
        Command::Batch { commands } if matches!(commands.first(), Some(Command::CreateNotebook { .. })) => {
            authorise_create(context)
        }
        Command::Batch { .. } => authorise(notebook, context, Operation::Read),
        Command::TakeOverNotebook { .. } => authorise_take_over(notebook, context),
        command => {
            authorise(notebook, context, operation(command))?;
            match operation(command) {
                Operation::Edit | Operation::Comment => check_not_archived(notebook),
                _ => Ok(()),
            }
        }
    }
}

/// Refuses an operation that the roles or the scopes do not allow. If the actor may not read the notebook, the code is
/// `unknown_notebook`.
pub(crate) fn authorise(notebook: &Document, context: &Context, operation: Operation) -> Result<()> {
    if !notebook.exists() {
        return Err(unknown_notebook(notebook));
    }
    check_kind_of_actor(&context.actor, operation)?;
    if context.actor == Actor::System {
        return check_not_erased(notebook);
    }
    let roles = roles_of(notebook, &context.actor, &context.authority, context.now);
    let Some(highest) = roles.iter().max() else { return Err(unknown_notebook(notebook)) };
    check_not_erased(notebook)?;
    let is_closed = !roles.iter().any(|role| operation.is_open_to(*role));
    if is_closed {
        return Err(not_open(*highest, operation));
    }
    // After the roles: a guest of another notebook does not learn that this one exists.
    let is_guest = matches!(context.actor, Actor::Guest { .. });
    RejectionCode::Forbidden.when(
        is_guest && operation == Operation::Archive,
        || "a guest by link does not archive or unarchive a notebook: ask somebody with an account",
    )?;
    require_scope(context, operation.scope())
}

/// Refusal: the role does not allow the operation.
pub fn not_open(role: Role, operation: Operation) -> Rejection {
    let message =
        format!("your role here is {}, which does not allow you to {}: ask an owner", word(&role), word(&operation));
    RejectionCode::Forbidden.because(message).with(RejectionDetails::MissingRight { role })
}

/// Refusal: the token lacks the scope.
pub fn lacks_scope(scope: Scope) -> Rejection {
    let message = format!("this token lacks the scope {}: use one that has it", word(&scope));
    RejectionCode::Forbidden.because(message).with(RejectionDetails::MissingScope { scope })
}

/// Checks the actor's roles now and its kind; does not check the scopes of a token.
pub fn may(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis, operation: Operation) -> bool {
    check_kind_of_actor(actor, operation).is_ok()
        && roles_of(notebook, actor, authority, now).iter().any(|role| operation.is_open_to(*role))
}

/// Checks that the authority sent along for this actor allows all these operations now.
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

/// Refuses by kind of actor, whatever its role and scopes: only users decide on tool calls, and no assistant uses the
/// scope `manage`.
fn check_kind_of_actor(actor: &Actor, operation: Operation) -> Result<()> {
    let is_beyond_it = match operation.scope() {
        Scope::Confirm => !matches!(actor, Actor::User { .. }),
        Scope::Manage => matches!(actor, Actor::Assistant { .. }),
        _ => false,
    };
    RejectionCode::Forbidden.when(is_beyond_it, || format!("to {} is for a person: ask one to do it", word(&operation)))
}

/// Lets users and their assistants create notebooks, if the scopes include `edit`.
fn authorise_create(context: &Context) -> Result<()> {
    match context.actor {
        Actor::User { .. } | Actor::Assistant { .. } => require_scope(context, Scope::Edit),
        Actor::Guest { .. } | Actor::Agent { .. } | Actor::System => {
            Err(RejectionCode::Forbidden.because("only a person with an account makes notebooks: sign in first"))
        }
    }
}

/// Lets only users with the scope `admin` take a notebook over. `decide_take_over` checks that the owner's account is
/// not active.
fn authorise_take_over(notebook: &Document, context: &Context) -> Result<()> {
    let is_admin = matches!(context.actor, Actor::User { .. }) && context.authority.scopes.contains(&Scope::Admin);
    RejectionCode::Forbidden.when(!is_admin, || "only an administrator takes notebooks over: ask one")?;
    if notebook.exists() { check_not_erased(notebook) } else { Err(unknown_notebook(notebook)) }
}

/// Refuses all senders but the server: only its reactor starts and reports calls and advances turns.
pub(crate) fn check_is_reactor(context: &Context) -> Result<()> {
    let is_other = context.authority.reactor.is_none() && context.actor != Actor::System;
    RejectionCode::Forbidden.when(is_other, || "only the server itself does this for an assistant")
}

/// Checks that the turn belongs to this assistant.
pub(crate) fn is_of(turn: &Turn, actor: &Actor) -> bool {
    turn.requested_by.assistant_in(&turn.conversation_id).as_ref() == Some(actor)
}

pub(crate) fn require_scope(context: &Context, scope: Scope) -> Result<()> {
    if context.authority.scopes.contains(&scope) { Ok(()) } else { Err(lacks_scope(scope)) }
}

fn unknown_notebook(notebook: &Document) -> Rejection {
    let id = &notebook.notebook_id;
    RejectionCode::UnknownNotebook
        .because(format!("no notebook {id} that you may see: check the id, or ask for access"))
}

pub(crate) fn decide_grant(notebook: &Document, context: &Context, subject: Subject, grant: Grant) -> Result<Decision> {
    check_grantable(&subject, grant)?;
    check_active(&context.account_status, &subject)?;
    let limits = &context.limits;
    let before = notebook.access.iter().find(|entry| entry.subject == subject);
    if before.is_some_and(|entry| entry.grant == grant) {
        return Ok(Decision::nothing());
    }
    if before.is_none() && notebook.access.len() >= limits.max_access_entries {
        let message = format!("an access list has at most {} entries: revoke some", limits.max_access_entries);
        return Err(LimitName::AccessEntries.refusal(limits.max_access_entries as u64, message));
    }
    if before.is_some() && !is_lasting_owner(&subject, grant) {
        keep_an_owner(notebook, &subject)?;
    }
    Ok(Decision::one(granted(subject, grant)))
}

fn granted(subject: Subject, Grant { role, expires_at }: Grant) -> AccessGranted {
    AccessGranted { subject, role, expires_at, taken_over_from: None }
}

fn check_grantable(subject: &Subject, grant: Grant) -> Result<()> {
    let is_agent = matches!(subject, Subject::Agent { .. });
    if is_agent != (grant.role == Role::Agent) {
        return Err(RejectionCode::InvalidValue.because("the role agent is for runtime agents, and they hold no other"));
    }
    if grant.role == Role::Owner && matches!(subject, Subject::ShareLink { .. }) {
        return Err(RejectionCode::InvalidValue.because("a share link makes nobody an owner: use editor"));
    }
    Ok(())
}

pub(crate) fn decide_revoke(notebook: &Document, subject: Subject) -> Result<Decision> {
    if !notebook.access.iter().any(|entry| entry.subject == subject) {
        return Ok(Decision::nothing());
    }
    keep_an_owner(notebook, &subject)?;
    Ok(Decision::one(AccessRevoked { subject }))
}

/// Adds the new owner before the former one is removed, so that every version has an owner.
pub(crate) fn decide_take_over(notebook: &Document, context: &Context, from: UserId, to: UserId) -> Result<Decision> {
    let (former, owner) = (user(&from), user(&to));
    if granted_role(notebook, &former, context.now) != Some(Role::Owner) {
        let message = "who left is no owner of this notebook: there is nothing to take over";
        return Err(RejectionCode::InvalidValue.because(message));
    }
    RejectionCode::Forbidden.when(context.account_status.of(&former) == AccountStatus::Active, || {
        "the owner's account is in use: the owner hands the notebook over; an administrator takes over where the account is \
         deactivated"
    })?;
    check_active(&context.account_status, &owner)?;
    let grant = Grant { role: Role::Owner, expires_at: None };
    let granted = AccessGranted { taken_over_from: Some(from), ..granted(owner, grant) };
    Ok(Decision::of([granted.into(), AccessRevoked { subject: former }.into()]))
}

fn is_lasting_owner(subject: &Subject, grant: Grant) -> bool {
    matches!(subject, Subject::User { .. }) && grant.role == Role::Owner && grant.expires_at.is_none()
}

/// Refuses to remove the last owner: a notebook without one could never be shared again.
fn keep_an_owner(notebook: &Document, leaving: &Subject) -> Result<()> {
    let mut others = notebook.access.iter().filter(|entry| entry.subject != *leaving);
    let is_last = !others.any(|entry| is_lasting_owner(&entry.subject, entry.grant));
    RejectionCode::LastOwner.when(is_last, || "a notebook keeps at least one owner: make somebody else owner first")
}

// --- kernels ---

/// Returns the runtime agent that sends the report; `None`: the server does. Refuses other senders.
pub(crate) fn reporting_agent(context: &Context) -> Result<Option<&AgentId>> {
    match &context.actor {
        Actor::Agent { id } => Ok(Some(id)),
        Actor::System => Ok(None),
        _ => Err(RejectionCode::Forbidden.because("only runtime agents report on kernels")),
    }
}

/// Refuses an agent that does not own the session; the server may act for any.
pub(crate) fn check_owner(context: &Context, session: &KernelSession) -> Result<()> {
    match reporting_agent(context)? {
        Some(agent) if session.agent.as_ref() != Some(agent) => {
            Err(RejectionCode::StaleFence.because("this kernel session belongs to another agent: leave it"))
        }
        _ => Ok(()),
    }
}

/// Returns a session that the sender owns.
pub(crate) fn owned_kernel<'a>(
    notebook: &'a Document,
    context: &Context,
    id: &KernelSessionId,
) -> Result<&'a KernelSession> {
    let session = kernel_session(notebook, id)?;
    check_owner(context, session)?;
    Ok(session)
}
