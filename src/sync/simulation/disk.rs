//! Simulated disk: keeps synced writes, and answers as a store does.

use notarium_core::{
    Append, CommandId, CommandRecord, Context, Decision, Document, Envelope, Epoch, EventId, Head, HistoryQuery,
    Judgement, JudgementQuery, Notebook, NotebookId, Past, Risk, Salt, Selection, Stored, Version, seal,
};

use notarium_core::reactive::{CodeNames, CodeText};

use crate::io::{AppendFailure, Input, Rendered};
use crate::replay::{Loaded, Replay};

/// Renders the state for joining clients.
pub(crate) fn rendered(document: &Document, event_id: EventId) -> Input {
    Input::Rendered(Rendered::of(document, event_id).map(Box::new))
}

/// Judges all code as harmless.
pub(crate) fn harmless(query: JudgementQuery) -> Judgement {
    Judgement::of(query)
}

/// Judges code with one letter as dangerous; people type it now and then.
pub(crate) fn judged(query: JudgementQuery) -> Judgement {
    if query.codes.iter().any(|code| code.contains('é')) {
        let each = vec![Risk::Destructive; query.codes.len()];
        let reasons = vec!["It has an é.".to_owned()];
        return Judgement { risk: Risk::Destructive, each, reasons, ..Judgement::of(query) };
    }
    harmless(query)
}

/// Finds names in a small language: each line `a b = c d` defines the names before its `=` and reads those after it.
pub(crate) fn named(texts: Vec<CodeText>) -> Input {
    let named = |text: CodeText| {
        let names = names_of(&text.source);
        (text, Some(names))
    };
    Input::Names { names: texts.into_iter().map(named).collect() }
}

pub(crate) fn names_of(source: &str) -> CodeNames {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut names = CodeNames::default();
    for (left, right) in source.lines().filter_map(|line| line.split_once('=')) {
        let read = words(right).into_iter().filter(|name| !names.leaves.contains(name)).collect::<Vec<_>>();
        names.reads.extend(read);
        names.leaves.extend(words(left));
    }
    names
}

#[derive(Default)]
pub(crate) struct Disk {
    pub events: Vec<Stored>,
    subjects: Vec<Option<String>>,
    pub commands: Vec<CommandRecord>,
    /// Epoch of the last lease.
    pub epoch: Epoch,
    /// Reason why no lease can be taken.
    pub no_lease: Option<String>,
    /// Snapshots with their heads.
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

    /// Writes as another node.
    pub(crate) fn write(&mut self, context: &mut Context, decision: &Decision) {
        let (mut head, id) = (self.head(), context_notebook());
        let sealed = seal(&mut head, &id, context, &decision.events).expect("events serialise");
        self.subjects.extend(decision.events.iter().map(|decided| decided.event.subject().map(str::to_owned)));
        self.events.extend(sealed);
    }

    /// Adds an event of a newer build.
    pub(crate) fn add_unknown_event(&mut self) {
        let last = self.events.last().expect("an event");
        let (version, event_type) = (last.envelope.version + 1, "CellDreamt".to_owned());
        let envelope = Envelope { version, event_type, ..last.envelope.clone() };
        let stored = Stored::seal(&mut self.head(), envelope, last.payload.clone(), Salt([0; 16]));
        self.subjects.push(None);
        self.events.push(stored);
    }

    pub(crate) fn command(&self, actor: &str, id: &CommandId) -> Option<CommandRecord> {
        self.commands.iter().find(|record| record.actor == actor && record.command_id == *id).cloned()
    }

    pub(crate) fn read(&self, after: Version, limit: usize) -> Vec<Stored> {
        self.events.iter().filter(|stored| stored.envelope.version > after).take(limit).cloned().collect()
    }

    pub(crate) fn history(&self, queries: &[HistoryQuery]) -> Past<Stored> {
        let select = |selection: &Selection| {
            let all = self.events.iter().zip(&self.subjects);
            let selected = all.filter(|(stored, subject)| selection.holds(stored.envelope.version, subject.as_deref()));
            Ok::<_, ()>(selected.map(|(stored, _)| stored.clone()).collect())
        };
        let mut past = Past::default();
        queries.iter().for_each(|query| past.extend(query.answer(select).expect("a disk answers")));
        past
    }

    pub(crate) fn keep_snapshot(&mut self, notebook: Notebook, head: Head) {
        // Converts through JSON, as a real snapshot.
        let json = serde_json::to_string(&notebook).expect("a notebook serialises");
        self.snapshots.push((serde_json::from_str(&json).expect("a snapshot parses"), head));
    }

    pub(crate) fn lose_snapshots(&mut self) {
        self.snapshots.clear();
    }

    /// Takes the lease and loads.
    pub(crate) fn loaded(&mut self, recent_after: Version) -> Result<Input, String> {
        self.epoch += 1;
        Ok(Input::Loaded {
            loaded: Box::new(self.load(recent_after)?),
            lease: self.no_lease.clone().map_or(Ok(self.epoch), Err),
        })
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

/// Id of the only notebook in the simulation.
pub(crate) fn context_notebook() -> NotebookId {
    NotebookId::new("nb").expect("an id")
}
