//! Which text of a person's run registered each function, and where it stands: a risk that a person gave is of that text, not of
//! the name.

use std::collections::BTreeMap;

use notarium_record::{
    Actor, CellId, Document, Event, Execution, ExecutionStatus, FunctionPlace, Hash, KernelSessionId,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// By function. Digests of texts, the last one of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Registrations {
    texts: BTreeMap<String, Hash>,
    places: BTreeMap<String, Registration>,
}

/// Where a function was registered last, by whomever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registration {
    pub place: FunctionPlace,
    /// Of the kernel.
    pub kernelspec: String,
    /// Digest of the cell's text, where a person ran it: it registers the function again.
    text: Option<Hash>,
}

impl Registrations {
    /// Whether a person ran the very text that registers it now.
    pub(crate) fn has(&self, name: &str, causes: &Causes) -> bool {
        let text = Some(causes.text());
        self.texts.get(name).copied() == text || self.of(name).and_then(|known| known.text) == text
    }

    /// Whether a person registered it by running this very text of its cell, and nothing beside it.
    pub(crate) fn is_text_of(&self, name: &str, source: &str) -> bool {
        self.of(name).and_then(|known| known.text) == Some(text_of([source].into_iter()))
    }

    /// Where it was registered.
    pub(crate) fn of(&self, name: &str) -> Option<&Registration> {
        self.places.get(name)
    }

    /// A kernel tells all its functions whenever one is registered: of those of other cells nothing new is known.
    fn text_at(&self, place: &FunctionPlace, causes: &Causes) -> Option<Hash> {
        let known =
            self.of(&place.name).filter(|known| known.place.cell_id == place.cell_id).and_then(|known| known.text);
        match place.cell_id.is_some() && causes.cell() == place.cell_id.as_ref() {
            false => known,
            true if causes.are_people() => Some(causes.text()),
            true => known.filter(|text| *text == causes.text()),
        }
    }

    pub(crate) fn apply(&mut self, document: &Document, event: &Event) {
        let Event::KernelFunctionsRegistered(event) = event else { return };
        self.texts.retain(|name, _| document.functions.contains_key(name));
        self.places.retain(|name, _| document.functions.contains_key(name));
        let causes = Causes::of(document, &event.kernel_session);
        if let Some(kernel) = document.kernels.get(&event.kernel_session) {
            for place in &event.places {
                let text = self.text_at(place, &causes);
                let registration = Registration { place: place.clone(), kernelspec: kernel.kernelspec.clone(), text };
                self.places.insert(place.name.clone(), registration);
            }
        }
        if !causes.are_people() {
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

    /// Not assistants, and not the agent itself, which runs cells again after a restart.
    pub(crate) fn are_people(&self) -> bool {
        self.0.iter().all(|run| matches!(run.requested_by, Actor::User { .. } | Actor::Guest { .. }))
    }

    /// Whether the function is named in what ran.
    pub(crate) fn name(&self, function: &str) -> bool {
        self.0.iter().any(|run| run.subject.source().contains(function))
    }

    /// The cell whose run it is; of several none.
    fn cell(&self) -> Option<&CellId> {
        match self.0.as_slice() {
            [run] => run.subject.cell_id(),
            _ => None,
        }
    }

    fn text(&self) -> Hash {
        text_of(self.0.iter().map(|run| run.subject.source()))
    }
}

fn text_of<'a>(sources: impl Iterator<Item = &'a str>) -> Hash {
    let add = |digest: Sha256, source: &str| digest.chain_update(source).chain_update([0]);
    Hash(sources.fold(Sha256::new(), add).finalize().into())
}
