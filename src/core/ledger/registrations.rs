//! Ledger: text and place of each function's registration. A risk that a person gave belongs to that text, not to the
//! name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use notarium_record::{
    Actor, CellId, Document, Event, Execution, ExecutionCause, ExecutionStatus, FunctionPlace, Hash, KernelSessionId,
    UserFunction,
};

/// By function: digest of the last text by which a person's run registered it, and its last registration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Registrations {
    texts: BTreeMap<String, Hash>,
    /// True: the function was registered last by a person's run, or restored from its text.
    by_people: BTreeMap<String, bool>,
    places: BTreeMap<String, Registration>,
}

/// Last registration of a function, by any actor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registration {
    pub place: FunctionPlace,
    /// Kernelspec of the kernel.
    pub kernelspec: String,
    /// Digest of the cell's text, if a person ran it: running it again registers the function again.
    text: Option<Hash>,
}

impl Registrations {
    /// Checks that a person's run registered the function by the text of these runs.
    pub(crate) fn has(&self, name: &str, causes: &RegisteringRuns) -> bool {
        let text = Some(causes.text());
        self.texts.get(name).copied() == text || self.of(name).and_then(|known| known.text) == text
    }

    /// Checks that a person's run registered the function last.
    pub(crate) fn is_by_person(&self, name: &str) -> bool {
        self.by_people.get(name).is_some_and(|by_person| *by_person)
    }

    /// Notes whose run registered the functions. A kernel reports all its functions at every registration: those that
    /// the run does not name stay as they are.
    fn note_people(&mut self, document: &Document, functions: &[UserFunction], causes: &RegisteringRuns) {
        self.by_people.retain(|name, _| document.functions.contains_key(name));
        for UserFunction { name, .. } in functions {
            let known = document.functions.get(name);
            let is_new = known.is_some_and(|known| known.registered_version == document.version);
            if is_new || causes.name(name) || !self.by_people.contains_key(name) {
                let is_by_person = causes.are_people() || (causes.are_restores() && self.has(name, causes));
                self.by_people.insert(name.clone(), is_by_person);
            }
        }
    }

    /// Checks that a person registered the function by running exactly this text of its cell.
    pub(crate) fn is_text_of(&self, name: &str, source: &str) -> bool {
        self.of(name).and_then(|known| known.text) == Some(text_of([source].into_iter()))
    }

    /// Last registration of a function.
    pub(crate) fn of(&self, name: &str) -> Option<&Registration> {
        self.places.get(name)
    }

    /// Digest of the text for a place. A kernel reports all its functions at every registration: functions of other
    /// cells keep their digests.
    fn text_at(&self, place: &FunctionPlace, causes: &RegisteringRuns) -> Option<Hash> {
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
        let causes = RegisteringRuns::of(document, &event.kernel_session);
        self.note_people(document, &event.functions, &causes);
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

/// Runs that may have caused a kernel's report: those that run now, else the one requested last.
pub(crate) struct RegisteringRuns<'a>(Vec<&'a Execution>);

impl<'a> RegisteringRuns<'a> {
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

    /// Returns true if only users and guests requested the runs. Assistants do not count, nor agents, which rerun cells
    /// after a restart.
    pub(crate) fn are_people(&self) -> bool {
        self.0.iter().all(|run| matches!(run.requested_by, Actor::User { .. } | Actor::Guest { .. }))
    }

    /// Returns true if the runs restore functions in a new kernel.
    fn are_restores(&self) -> bool {
        self.0.iter().all(|run| run.cause == ExecutionCause::FunctionsRestored)
    }

    /// Checks that the source of a run contains the function's name.
    pub(crate) fn name(&self, function: &str) -> bool {
        self.0.iter().any(|run| run.subject.source().contains(function))
    }

    /// Cell of the run; `None` if there are several runs.
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
