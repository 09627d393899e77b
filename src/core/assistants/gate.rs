//! The gate: decides which tool calls wait for a person, and what lets them pass. Pure; `tool_calls` checks it before
//! every start, whoever requests the start.

use std::cell::OnceCell;

use sha2::{Digest, Sha256};

use crate::access;
use crate::authority::Operation;
use crate::context::Context;
use crate::functions::offered;
use notarium_record::{
    Actor, AssistantGrant, Document, Hash, Millis, Open, Passed, Policy, RawObject, Risk, Target, ToolCall,
    canonical_json,
};

/// Returns why a target has changed; `None`: it has not. The executor of the call checks files.
pub fn target_change(document: &Document, target: &Open<Target>) -> Option<String> {
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

fn covers(grant: &AssistantGrant, requester: &Actor, function: &str, risk: Risk, now: Millis) -> bool {
    let Actor::Assistant { for_user, conversation } = requester else { return false };
    risk < Risk::Destructive
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

    pub(crate) fn of_call(&self, call: &ToolCall) -> Option<String> {
        call.targets.iter().find_map(|target| self.of(target))
    }

    /// Returns why a target has changed. A target of an unknown kind counts as changed, because this server cannot
    /// check it.
    fn of(&self, target: &Open<Target>) -> Option<String> {
        let Some(known) = target.known() else {
            return Some(format!("this server cannot tell whether a target of the kind '{target}' has changed"));
        };
        let notebook = self.notebook;
        match known {
            Target::Cell { cell_id, cell_version } => match notebook.cells.get(cell_id) {
                None => Some(format!("cell {cell_id} is in the trash")),
                Some(cell) if cell.cell_version != *cell_version => {
                    Some(format!("cell {cell_id} is at version {}, not {cell_version}", cell.cell_version))
                }
                Some(_) => None,
            },
            Target::Code { .. } => {
                let now = self.code.get_or_init(|| code_target(notebook));
                (now != known).then(|| "the notebook's code cells are not those that it was asked for".to_owned())
            }
            Target::Kernel { kernel_session } if !notebook.kernels.contains_key(kernel_session) => {
                Some(format!("kernel session {kernel_session} is over"))
            }
            Target::Function { name, registered_version } => offered::change(notebook, name, *registered_version),
            Target::Kernel { .. } | Target::File { .. } => None,
        }
    }
}

/// Operation that is needed to decide on a call of this risk.
pub(crate) fn deciding(risk: Risk) -> Operation {
    if risk <= Risk::Edit { Operation::ConfirmEdit } else { Operation::Confirm }
}

/// Returns what lets a call pass without a confirmation now; `None`: it waits for a person. `operations`: what the call
/// does.
///
/// A grant replaces its issuer's confirmation. It counts only while the delegated authority shows that the issuer could
/// still confirm.
pub(crate) fn passes_unasked(
    notebook: &Document,
    context: &Context,
    requester: &Actor,
    function: &str,
    risk: Risk,
    operations: &[Operation],
) -> Option<Passed> {
    if passes(notebook.policy, risk) {
        return Some(Passed::Policy);
    }
    let needed: Vec<Operation> = operations.iter().copied().chain([deciding(risk)]).collect();
    let may = |issuer| access::delegated_may(notebook, &context.authority, issuer, context.now, &needed);
    let mut grants = notebook.grants.iter();
    let (grant_id, _) =
        grants.find(|(_, grant)| covers(grant, requester, function, risk, context.now) && may(&grant.issued_by))?;
    Some(Passed::Grant { grant_id: grant_id.clone() })
}

/// SHA-256 over the function's name, a zero byte and the canonical JSON of the arguments: two texts of the same arguments
/// have the same hash. Arguments without a canonical form count as they are written.
pub fn arguments_hash(function: &str, arguments: &RawObject) -> Hash {
    let canonical = canonical_json(arguments).unwrap_or_else(|_| arguments.get().as_bytes().to_vec());
    Hash(Sha256::new().chain_update(function).chain_update([0]).chain_update(canonical).finalize().into())
}
