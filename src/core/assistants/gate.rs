//! The gate: decides which tool calls wait for a person, and what lets them pass: the policy, a grant, a confirmation.
//! `decide/tool_calls` checks it before every start, whoever requests the start. Here are also the grants (a person's
//! permission for the calls of one conversation, for a limited time), and the rights and scopes that a call needs.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::access;
use crate::authority::Operation;
use crate::context::Context;
use crate::functions::tools::{self, Arguments, Tool, find, operation_of};
use crate::values::TargetChange;
use crate::values::decision::{Decided, Decision, RejectionCode, Result, word};
use crate::values::details::LimitName;
use notarium_record::{
    Actor, AssistantGrant, ConversationId, Document, Effect, GrantExpired, GrantId, GrantIssued, GrantRevoked, Hash,
    Millis, Open, Passed, Policy, RawObject, Risk, Target, ToolCall, TurnId, UserId, canonical_json,
};

/// Returns the change of a target; `None`: it has not changed. The executor of the call checks files.
pub fn target_change(document: &Document, target: &Open<Target>) -> Option<TargetChange> {
    TargetChanges::since(document).of(target)
}

/// Target of all cells that run, in their present versions.
pub(crate) fn code_target(document: &Document) -> Target {
    let (mut cells, mut newest_version) = (0, 0);
    for cell in document.cells.values().filter(|cell| cell.content.cell_type.runs()) {
        cells += 1;
        newest_version = newest_version.max(cell.cell_version);
    }
    Target::Code { cells, newest_version }
}

/// Checks that a call of this risk passes under the policy without a confirmation.
fn passes(policy: Policy, risk: Risk) -> bool {
    risk <= match policy {
        Policy::AskForEveryEdit => Risk::Read,
        Policy::Guarded => Risk::Edit,
        Policy::Trusted => Risk::Sensitive,
    }
}

fn covers(
    grant: &AssistantGrant,
    requester: &Actor,
    function: &str,
    risk: Risk,
    kinds: &[Effect],
    now: Millis,
) -> bool {
    let Actor::Assistant { for_user, conversation } = requester else { return false };
    risk < Risk::Destructive
        && kinds.iter().all(|kind| !kind.is_destructive() && grant.kinds.iter().any(|granted| granted == kind))
        && now < grant.expires_at
        && grant.conversation_id == *conversation
        && grant.for_user == *for_user
        && (grant.functions.is_empty() || grant.functions.iter().any(|one| one == function))
}

/// Checks the targets of many calls in one walk over the cells.
pub(crate) struct TargetChanges<'a> {
    notebook: &'a Document,
    code: OnceCell<Target>,
}

impl<'a> TargetChanges<'a> {
    pub(crate) fn since(notebook: &'a Document) -> Self {
        Self { notebook, code: OnceCell::new() }
    }

    pub(crate) fn of_call(&self, call: &ToolCall) -> Option<TargetChange> {
        call.targets.iter().find_map(|target| self.of(target))
    }

    /// Returns how a target has changed. A target of an unknown kind counts as changed, because this server cannot
    /// check it.
    fn of(&self, target: &Open<Target>) -> Option<TargetChange> {
        let Some(known) = target.known() else {
            return Some(TargetChange::UnknownTarget { target: target.to_string() });
        };
        let notebook = self.notebook;
        match known {
            Target::Cell { cell_id, cell_version } => match notebook.cells.get(cell_id) {
                None => Some(TargetChange::CellDeleted { cell_id: cell_id.clone() }),
                Some(cell) if cell.cell_version != *cell_version => Some(TargetChange::CellChanged {
                    cell_id: cell_id.clone(),
                    cell_version: cell.cell_version,
                    requested_version: *cell_version,
                }),
                Some(_) => None,
            },
            Target::Code { .. } => {
                let now = self.code.get_or_init(|| code_target(notebook));
                (now != known).then_some(TargetChange::CodeChanged)
            }
            Target::Kernel { kernel_session } if !notebook.kernels.contains_key(kernel_session) => {
                Some(TargetChange::KernelGone { kernel_session: kernel_session.clone() })
            }
            Target::Function { name, registered_version } => tools::change(notebook, name, *registered_version),
            Target::Kernel { .. } | Target::File { .. } => None,
        }
    }
}

/// Operation that is needed to decide on a call of this risk.
pub(crate) fn deciding(risk: Risk) -> Operation {
    if risk <= Risk::Edit { Operation::ConfirmEdit } else { Operation::Confirm }
}

/// Returns what lets a call pass without a confirmation now; `None`: it waits for a person. `kinds`: the effects that
/// its code may have; `operations`: what the call does.
///
/// A grant replaces its issuer's confirmation. It counts only while the delegated authority shows that the issuer could
/// still confirm.
pub(crate) fn passes_unasked(
    notebook: &Document,
    context: &Context,
    requester: &Actor,
    function: &str,
    risk: Risk,
    kinds: &[Effect],
    operations: &[Operation],
) -> Option<Passed> {
    if passes(notebook.policy, risk) {
        return Some(Passed::Policy);
    }
    let needed: Vec<Operation> = operations.iter().copied().chain([deciding(risk)]).collect();
    let may = |issuer| access::delegated_may(notebook, &context.authority, issuer, context.now, &needed);
    let mut grants = notebook.grants.iter();
    let (grant_id, _) = grants
        .find(|(_, grant)| covers(grant, requester, function, risk, kinds, context.now) && may(&grant.issued_by))?;
    Some(Passed::Grant { grant_id: grant_id.clone() })
}

/// SHA-256 over the function's name, a zero byte and the canonical JSON of the arguments: two texts of the same arguments
/// have the same hash. Arguments without a canonical form count as they are written.
pub fn arguments_hash(function: &str, arguments: &RawObject) -> Hash {
    let canonical = canonical_json(arguments).unwrap_or_else(|_| arguments.get().as_bytes().to_vec());
    Hash(Sha256::new().chain_update(function).chain_update([0]).chain_update(canonical).finalize().into())
}

// --- grants ---

/// Longest duration of a grant.
const MAX_GRANT_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

pub(crate) fn decide_revoke_grant(notebook: &Document, grant_id: GrantId) -> Decision {
    Decision::unless(!notebook.grants.contains_key(&grant_id), GrantRevoked { grant_id })
}

pub(crate) fn decide_issue_grant(
    notebook: &Document,
    context: &mut Context,
    grant_id: Option<GrantId>,
    conversation_id: ConversationId,
    functions: Vec<String>,
    kinds: Vec<Effect>,
    expires_at: Millis,
) -> Result<Decision> {
    let invalid = RejectionCode::InvalidValue;
    invalid.when(
        expires_at <= context.now || expires_at > context.now + MAX_GRANT_MS,
        || "a grant ends in the future, within seven days: choose another time",
    )?;
    for function in &functions {
        let is_destructive = find(notebook, function)?.risk() == Risk::Destructive;
        invalid.when(is_destructive, || format!("{function} always asks: no grant covers it"))?;
    }
    if let Some(kind) = kinds.iter().find(|kind| kind.is_destructive()) {
        return Err(invalid.because(format!("the effect {} always asks: no grant covers it", kind.word())));
    }
    let limit = context.limits.max_grants;
    LimitName::Grants.when(notebook.grants.len() - expired(notebook, context).count() >= limit, limit, || {
        format!("a notebook has at most {limit} grants: revoke some")
    })?;
    let grant_id = grant_id.unwrap_or_else(|| context.ids.ulid().into());
    let exists = notebook.grants.contains_key(&grant_id);
    invalid.when(exists, || format!("grant {grant_id} exists: choose another id"))?;
    let for_user = person_of(notebook, &conversation_id)?.ok_or_else(|| {
        invalid.because(format!("conversation {conversation_id} is nobody's with an account: no assistant acts in it"))
    })?;
    let kinds = kinds.into_iter().collect::<BTreeSet<Effect>>().into_iter().map(Open::Known).collect();
    let issued = GrantIssued { grant_id, conversation_id, functions, kinds, expires_at, for_user };
    Ok(Decision::of(expired(notebook, context).chain([issued.into()])))
}

/// Removes expired grants from the document when the next one is issued.
fn expired(notebook: &Document, context: &Context) -> impl Iterator<Item = Decided> {
    let ended = notebook.grants.iter().filter(|(_, grant)| grant.expires_at <= context.now);
    ended.map(|(grant_id, _)| GrantExpired { grant_id: grant_id.clone() }.into())
}

/// Person for whom the assistant acts in the conversation: the requester of the open turn, else the person who began
/// the conversation.
fn person_of(notebook: &Document, id: &ConversationId) -> Result<Option<UserId>> {
    let Some(conversation) = notebook.conversations.get(id) else {
        let message = format!(
            "no conversation {id} has begun in this notebook: take the id of one from GET …/conversations or `notarium conversations`, \
             or begin it"
        );
        return Err(RejectionCode::UnknownConversation.because(message));
    };
    let turn = conversation.turn.as_ref().and_then(|turn| notebook.turns.get(turn));
    Ok(turn.map_or(&conversation.started_by, |turn| &turn.requested_by).account().cloned())
}

// --- rights and scopes ---

/// Operations that the call needs: the tool's own, and `Run` if the call goes on to run code.
pub(crate) fn operations(own: Operation, arguments: &Arguments) -> Vec<Operation> {
    let runs = match arguments {
        Arguments::CreateCells(call) => call.run,
        Arguments::CreateNotebook(call) => call.run,
        _ => false,
    };
    [own].into_iter().chain(runs.then_some(Operation::Run)).collect()
}

pub(crate) fn operations_of(call: &ToolCall) -> Vec<Operation> {
    let own = operation_of(&call.function);
    let typed = Tool::find(&call.function).and_then(|tool| tool.arguments(&call.arguments).ok());
    typed.map_or_else(|| vec![own], |typed| operations(own, &typed))
}

/// Limits a turn to the scopes and notebooks of the token or session with which it was begun.
pub(crate) fn check_token(
    notebook: &Document,
    turn_id: Option<&TurnId>,
    arguments: &Arguments,
    operations: &[Operation],
) -> Result<()> {
    let Some(turn) = turn_id.and_then(|turn_id| notebook.turns.get(turn_id)) else { return Ok(()) };
    if turn.is_bound && matches!(arguments, Arguments::CreateNotebook(_) | Arguments::ListNotebooks(_)) {
        let message = "the token with which this turn was begun is bound to some notebooks: stay in this one";
        return Err(RejectionCode::Forbidden.because(message));
    }
    let mut scopes = operations.iter().map(|operation| operation.scope());
    scopes.find(|scope| !turn.scopes.contains(scope)).map_or(Ok(()), |scope| {
        let message = format!("the token with which this turn was begun lacks the scope {}: do without", word(&scope));
        Err(RejectionCode::Forbidden.because(message))
    })
}
