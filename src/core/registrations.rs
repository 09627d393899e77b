//! Which text of a person's run registered each function: a risk that a person gave is of that text, not of the name.

use std::collections::BTreeMap;

use notarium_record::{Actor, Document, Event, Execution, ExecutionStatus, Hash, KernelSessionId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// By function. Digests of texts, the last one of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Registrations {
    texts: BTreeMap<String, Hash>,
}

impl Registrations {
    /// Whether a person ran the very text that registers it now.
    pub(crate) fn has(&self, name: &str, causes: &Causes) -> bool {
        self.texts.get(name) == Some(&causes.text())
    }

    pub(crate) fn apply(&mut self, document: &Document, event: &Event) {
        let Event::KernelFunctionsRegistered(event) = event else { return };
        self.texts.retain(|name, _| document.functions.contains_key(name));
        let causes = Causes::of(document, &event.kernel_session);
        if causes.are_assistants() {
            return;
        }
        for function in event.functions.iter().filter(|function| causes.name(&function.name)) {
            self.texts.insert(function.name.clone(), causes.text());
        }
    }
}

/// The runs that may have caused what a kernel tells now: those that run, else the last one.
pub(crate) struct Causes<'a>(Vec<&'a Execution>);

impl<'a> Causes<'a> {
    pub(crate) fn of(document: &'a Document, session: &KernelSessionId) -> Self {
        let of_session = || {
            document.executions.values().map(|run| &**run).filter(|run| run.kernel_session.as_ref() == Some(session))
        };
        let running: Vec<&Execution> = of_session().filter(|run| run.status == ExecutionStatus::Running).collect();
        Self(match running.is_empty() {
            true => of_session().max_by_key(|run| run.requested_version).into_iter().collect(),
            false => running,
        })
    }

    pub(crate) fn are_assistants(&self) -> bool {
        self.0.iter().any(|run| matches!(run.requested_by, Actor::Assistant { .. }))
    }

    /// Whether the function is named in what ran.
    pub(crate) fn name(&self, function: &str) -> bool {
        self.0.iter().any(|run| run.subject.source().contains(function))
    }

    fn text(&self) -> Hash {
        let add = |digest: Sha256, run: &&Execution| digest.chain_update(run.subject.source()).chain_update([0]);
        Hash(self.0.iter().fold(Sha256::new(), add).finalize().into())
    }
}
