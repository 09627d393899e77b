//! The gate: which tool calls wait for a person, and what opens it. Pure data and one function; `tool_calls` asks it
//! before every start, whoever wants the start.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::access::{self, Operation};
use crate::actor::Actor;
use crate::context::Context;
use crate::envelope::Hash;
use crate::functions;
use crate::ids::{CellId, ConversationId, GrantId, KernelSessionId, Millis, UserId, Version};
use crate::json::RawObject;
use crate::notebook::{CellType, Notebook};
use crate::tool_calls::ToolCall;

/// What a tool call can do, from harmless to what cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Changes what can be undone; runs harmless code.
    Edit,
    /// Runs code that reaches outside the notebook, though it destroys nothing.
    Sensitive,
    /// Deletes, clears, restarts, overwrites, or runs code that might.
    Destructive,
}

/// How much an assistant may do unasked in a notebook. What destroys asks under every policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Reading, editing and running harmless code pass.
    #[default]
    Guarded,
    /// Only reading passes.
    AskForEveryEdit,
    /// All passes that destroys nothing.
    Trusted,
}

impl Policy {
    fn permits(self, risk: Risk) -> bool {
        risk <= match self {
            Policy::AskForEveryEdit => Risk::Read,
            Policy::Guarded => Risk::Edit,
            Policy::Trusted => Risk::Sensitive,
        }
    }
}

/// Something that a call touches, as it was when the call was requested. A change of it voids the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    Cell {
        cell_id: CellId,
        cell_version: Version,
    },
    /// All code cells: how many, and the newest of their versions. Each change of one of them, of their order or of which
    /// there are changes one of the two.
    Code {
        cells: u64,
        newest_version: Version,
    },
    Kernel {
        kernel_session: KernelSessionId,
    },
    /// A registered function, as it is since that version.
    Function {
        name: String,
        registered_version: Version,
    },
    /// A file where the kernel runs. `sha256`: of what it holds; absent: it must not exist yet.
    File {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
}

impl Target {
    /// Why it is not what it was; `None`: it is. Files are looked at by who executes the call.
    pub fn change(&self, notebook: &Notebook) -> Option<String> {
        TargetChanges::since(notebook).of(self)
    }

    /// All code cells as they are now.
    pub(crate) fn code(notebook: &Notebook) -> Self {
        let (mut cells, mut newest_version) = (0, 0);
        for cell in notebook.cells.values().filter(|cell| cell.content.cell_type == CellType::Code) {
            cells += 1;
            newest_version = newest_version.max(cell.cell_version);
        }
        Target::Code { cells, newest_version }
    }
}

/// Looks at the targets of many calls: the cells are walked once.
pub(crate) struct TargetChanges<'a> {
    notebook: &'a Notebook,
    code: OnceCell<Target>,
}

impl<'a> TargetChanges<'a> {
    pub(crate) fn since(notebook: &'a Notebook) -> Self {
        Self { notebook, code: OnceCell::new() }
    }

    pub(crate) fn of_call(&self, call: &ToolCall) -> Option<String> {
        call.targets.iter().find_map(|target| self.of(target))
    }

    fn of(&self, target: &Target) -> Option<String> {
        let notebook = self.notebook;
        match target {
            Target::Cell { cell_id, cell_version } => match notebook.cells.get(cell_id) {
                None => Some(format!("cell {cell_id} was deleted")),
                Some(cell) if cell.cell_version != *cell_version => {
                    Some(format!("cell {cell_id} is at version {}, not {cell_version}", cell.cell_version))
                }
                Some(_) => None,
            },
            Target::Code { .. } => {
                let now = self.code.get_or_init(|| Target::code(notebook));
                (now != target).then(|| "the notebook's code cells are not those that it was asked for".to_owned())
            }
            Target::Kernel { kernel_session } if !notebook.kernels.contains_key(kernel_session) => {
                Some(format!("kernel session {kernel_session} is over"))
            }
            Target::Function { name, registered_version } => functions::change(notebook, name, *registered_version),
            Target::Kernel { .. } | Target::File { .. } => None,
        }
    }
}

/// What let a call through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Passed {
    /// Its risk asks nobody under the policy.
    Policy,
    Grant {
        grant_id: GrantId,
    },
    /// This person's confirmation.
    Confirmation {
        by: Actor,
    },
}

/// A person's leave for the calls of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantGrant {
    pub conversation_id: ConversationId,
    /// The person for whom the assistant acted when it was issued: another one who goes on in the conversation has no part
    /// in it. Absent in old records: everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_user: Option<UserId>,
    /// Empty: every function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    pub expires_at: Millis,
    pub issued_by: Actor,
}

impl AssistantGrant {
    fn covers(&self, requester: &Actor, function: &str, risk: Risk, now: Millis) -> bool {
        let Actor::Assistant { for_user, conversation } = requester else { return false };
        risk < Risk::Destructive
            && now < self.expires_at
            && self.conversation_id == *conversation
            && self.for_user.as_ref().is_none_or(|named| named == for_user)
            && (self.functions.is_empty() || self.functions.iter().any(|one| one == function))
    }
}

/// The right to decide on a call of this risk.
pub(crate) fn deciding(risk: Risk) -> Operation {
    if risk <= Risk::Edit { Operation::ConfirmEdit } else { Operation::Confirm }
}

/// What lets a call pass without a confirmation now; `None`: it waits for a person. `operations`: what the call does.
///
/// A grant stands for its issuer's confirmation: it counts while the authority that the server sends along shows that the issuer could still give that.
pub(crate) fn passes_unasked(
    notebook: &Notebook,
    context: &Context,
    requester: &Actor,
    function: &str,
    risk: Risk,
    operations: &[Operation],
) -> Option<Passed> {
    if notebook.policy.permits(risk) {
        return Some(Passed::Policy);
    }
    let needed: Vec<Operation> = operations.iter().copied().chain([deciding(risk)]).collect();
    let may = |issuer| access::delegated_may(notebook, &context.authority, issuer, context.now, &needed);
    let mut grants = notebook.grants.iter();
    let (grant_id, _) =
        grants.find(|(_, grant)| grant.covers(requester, function, risk, context.now) && may(&grant.issued_by))?;
    Some(Passed::Grant { grant_id: grant_id.clone() })
}

/// SHA-256 over the function's name and its arguments with sorted keys and no blanks: two texts of the same arguments
/// have the same hash.
pub fn arguments_hash(function: &str, arguments: &RawObject) -> Hash {
    let value: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
    let canonical = serde_json::to_string(&sorted(value)).unwrap_or_default();
    Hash(Sha256::new().chain_update(function).chain_update([0]).chain_update(canonical).finalize().into())
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        value => value,
    }
}
