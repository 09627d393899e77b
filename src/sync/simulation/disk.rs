//! A disk that keeps what was synced, and answers what a store answers.

use notarium_core::{
    Append, CommandId, CommandRecord, Context, Decision, Epoch, Hash, Head, HistoryQuery, Judgement, JudgementQuery,
    Notebook, NotebookId, Risk, Selection, Stored, Version, in_order, seal,
};
use sha2::{Digest, Sha256};

use crate::io::{AppendFailure, Input};
use crate::replay::{Loaded, Replay};

/// A judge that knows nothing against any code.
pub(crate) fn harmless(query: JudgementQuery) -> Judgement {
    Judgement { query, risk: Risk::Read, reasons: Vec::new() }
}

#[derive(Default)]
pub(crate) struct Disk {
    pub events: Vec<Stored>,
    subjects: Vec<Option<String>>,
    pub commands: Vec<CommandRecord>,
    /// Of the last lease.
    pub epoch: Epoch,
    /// States, with their heads.
    snapshots: Vec<(Notebook, Head)>,
}

impl Disk {
    pub(crate) fn head(&self) -> Head {
        self.events.last().map_or(Head::START, Stored::head)
    }

    pub(crate) fn append(&mut self, append: Append) -> Result<(), AppendFailure> {
        if append.epoch != self.epoch {
            return Err(AppendFailure::LeaseLost);
        }
        if append.expected != self.head() {
            return Err(AppendFailure::VersionConflict);
        }
        if append.commands.iter().any(|record| self.command(&record.actor, &record.command_id).is_some()) {
            return Err(AppendFailure::DuplicateCommand);
        }
        for event in append.events {
            self.subjects.push(event.subject);
            self.events.push(event.stored);
        }
        self.commands.extend(append.commands);
        Ok(())
    }

    /// Another node writes.
    pub(crate) fn write(&mut self, context: &mut Context, decision: &Decision) {
        let (mut head, id) = (self.head(), context_notebook());
        let sealed = seal(&mut head, &id, context, &decision.events).expect("events serialise");
        self.subjects.extend(decision.events.iter().map(|decided| decided.event.subject().map(str::to_owned)));
        self.events.extend(sealed);
    }

    /// A newer server has written something.
    pub(crate) fn add_unknown_event(&mut self) {
        let mut stored = self.events.last().expect("an event").clone();
        stored.envelope.version += 1;
        stored.envelope.event_type = "CellDreamt".to_owned();
        stored.hash = chained(&self.head(), &stored);
        self.subjects.push(None);
        self.events.push(stored);
    }

    pub(crate) fn command(&self, actor: &str, id: &CommandId) -> Option<CommandRecord> {
        self.commands.iter().find(|record| record.actor == actor && record.command_id == *id).cloned()
    }

    pub(crate) fn read(&self, after: Version, limit: usize) -> Vec<Stored> {
        self.events.iter().filter(|stored| stored.envelope.version > after).take(limit).cloned().collect()
    }

    pub(crate) fn history(&self, queries: &[HistoryQuery]) -> Vec<Stored> {
        let select = |selection: &Selection| {
            let all = self.events.iter().zip(&self.subjects);
            let selected = all.filter(|(stored, subject)| selection.holds(stored.envelope.version, subject.as_deref()));
            Ok::<_, ()>(selected.map(|(stored, _)| stored.clone()).collect())
        };
        let mut all = queries.iter().flat_map(|query| query.answer(select).expect("a disk answers")).collect();
        in_order(&mut all);
        all
    }

    pub(crate) fn keep_snapshot(&mut self, notebook: Notebook, head: Head) {
        // Through JSON, as a real one.
        let json = serde_json::to_string(&notebook).expect("a notebook serialises");
        self.snapshots.push((serde_json::from_str(&json).expect("a snapshot parses"), head));
    }

    pub(crate) fn lose_snapshots(&mut self) {
        self.snapshots.clear();
    }

    /// Takes the lease and loads.
    pub(crate) fn loaded(&mut self, recent_after: Version) -> Result<Input, String> {
        self.epoch += 1;
        Ok(Input::Loaded { loaded: Box::new(self.load(recent_after)?), epoch: self.epoch })
    }

    pub(crate) fn load(&self, recent_after: Version) -> Result<Loaded, String> {
        let mut replay = match self.snapshots.last() {
            Some((notebook, head)) => Replay::from_snapshot(notebook.clone(), *head),
            None => Replay::new(context_notebook()),
        };
        let recent = self.read(replay.head().version.saturating_sub(1).min(recent_after), usize::MAX);
        replay.apply(&recent).map_err(|error| error.to_string())?;
        Ok(replay.finish(recent))
    }
}

/// There is one notebook in the simulation.
pub(crate) fn context_notebook() -> NotebookId {
    NotebookId::new("nb").expect("an id")
}

/// The hash as `envelope.rs` of the core describes it, for an event that this build cannot seal.
fn chained(before: &Head, stored: &Stored) -> Hash {
    let it = &stored.envelope;
    let (version, schema, at) = (it.version.to_be_bytes(), it.schema.to_be_bytes(), it.recorded_at.to_be_bytes());
    let actor = it.actor.key();
    let first: [&[u8]; 8] = [
        it.id.as_str().as_bytes(),
        it.notebook_id.as_str().as_bytes(),
        &version,
        it.event_type.as_bytes(),
        &schema,
        actor.as_bytes(),
        it.command_id.as_str().as_bytes(),
        it.correlation_id.as_str().as_bytes(),
    ];
    let mut hash = Sha256::new().chain_update(before.hash.0).chain_update([1_u8]);
    for field in first {
        hash = hash.chain_update((field.len() as u32).to_be_bytes()).chain_update(field);
    }
    // No causation, undoes nothing.
    hash = hash.chain_update(u32::MAX.to_be_bytes()).chain_update(u32::MAX.to_be_bytes());
    hash = hash.chain_update(8_u32.to_be_bytes()).chain_update(at);
    Hash(hash.chain_update(stored.payload_digest.0).finalize().into())
}
