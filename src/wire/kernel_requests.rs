//! Requests of code in a kernel to a door of the server. Its runtime agent passes them on, over REST.

use std::collections::BTreeSet;

use notarium_core::{Actor, ExecutionId};
use serde::{Deserialize, Serialize};

/// Header of such a request, with a [`KernelRequestOrigin`] as JSON.
pub const KERNEL_REQUEST_ORIGIN: &str = "notarium-kernel-request";

/// Headers of the request as the server gives it to the door: the only notebook, the cell that calls, and the reason why the code may not
/// change the notebook.
pub const DOOR_NOTEBOOK: &str = "notarium-notebook";
/// See [`DOOR_NOTEBOOK`].
pub const DOOR_CELL: &str = "notarium-cell";
/// See [`DOOR_NOTEBOOK`]. Absent: it may change the notebook as far as its token allows.
pub const DOOR_REFUSAL: &str = "notarium-refusal";

/// Largest body of such a request.
pub const MAX_KERNEL_REQUEST_BYTES: usize = 8 << 20;

/// The run that had the kernel when the request came, and everybody whose code can still run in that kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRequestOrigin {
    /// The run. The server reads its requester from the log.
    pub run: ExecutionId,
    /// Requesters of runs since the kernel was launched.
    pub callers: KernelCallers,
}

/// Requesters of a kernel's runs since its launch. Threads and functions of each may still be there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCallers {
    /// People and guests, also those for whom an assistant acted.
    pub people: BTreeSet<Actor>,
    /// The assistant that ran code last. Absent: none did.
    pub assistant: Option<Actor>,
}

impl KernelCallers {
    /// Notes the requester of a run.
    pub fn note(&mut self, requester: &Actor) {
        let person = match requester {
            Actor::Assistant { for_user, .. } => {
                self.assistant = Some(requester.clone());
                Actor::User { id: for_user.clone() }
            }
            Actor::User { .. } | Actor::Guest { .. } => requester.clone(),
            Actor::Agent { .. } | Actor::System => return,
        };
        self.people.insert(person);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistant_counts_as_its_person_too() {
        let ann = Actor::User { id: "ann".parse().unwrap() };
        let assistant = Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: "c".parse().unwrap() };
        let mut callers = KernelCallers::default();
        callers.note(&Actor::System);
        assert_eq!(callers, KernelCallers::default());
        callers.note(&assistant);
        callers.note(&ann);
        assert_eq!(callers, KernelCallers { people: [ann].into(), assistant: Some(assistant) });
    }
}
