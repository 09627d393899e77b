//! Undo and redo stacks of each actor: the versions of its groups, and the cells that they touch.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::{Actor, CellId, CorrelationId, Envelope, Event, Recorded, TurnId, Version};

/// Groups on one stack, at most.
const DEPTH: usize = 100;

/// Actors whose stacks are kept, at most.
const MAX_ACTORS: usize = 200;

/// One undoable group of one actor: the versions of its events, and the cells that they touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoGroup {
    /// The id that all events of the group carry.
    pub correlation_id: CorrelationId,
    /// The version of its first event.
    pub first_version: Version,
    /// The version of its last event.
    pub last_version: Version,
    /// The cells that its events touch, sorted.
    // A list, because there are hundreds of groups of one or two cells, and a tree takes ten times as much for each.
    pub cells: Vec<CellId>,
    /// The assistant's turn that the group is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The group changes the text of an existing cell: undo in an editor takes such groups back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edits_text: bool,
    /// The group is what the notebook was made with (an import, a fork, a template). Only its id undoes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_beginning: bool,
}

impl UndoGroup {
    /// Checks that undo in the editor of this cell takes the group back.
    pub(crate) fn is_text_of(&self, cell_id: &CellId) -> bool {
        self.edits_text && !self.is_beginning && self.cells.binary_search(cell_id).is_ok()
    }
}

/// An actor's stacks, newest last, at most [`DEPTH`] deep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStacks {
    /// Groups that the actor did and has not undone.
    pub undo: VecDeque<UndoGroup>,
    /// Groups that the actor undid and has not redone. The actor's next edit empties the list.
    pub redo: VecDeque<UndoGroup>,
}

/// The next undo and the next redo of an actor.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextSteps {
    /// The group that `Undo` takes next. Absent: there is nothing to undo.
    pub undo: Option<NextStep>,
    /// The group that `Redo` takes next. Absent: there is nothing to redo.
    pub redo: Option<NextStep>,
}

/// One group that can be undone or redone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextStep {
    /// The group's id, as `Undo` takes it.
    pub correlation_id: CorrelationId,
    /// The version of the group's last event.
    pub version: Version,
    /// The cells that the group touches. Empty: it changes the notebook itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellId>,
}

impl From<&UndoGroup> for NextStep {
    fn from(group: &UndoGroup) -> Self {
        let UndoGroup { correlation_id, last_version, cells, .. } = group;
        Self { correlation_id: correlation_id.clone(), version: *last_version, cells: cells.clone() }
    }
}

impl UndoStacks {
    /// Groups that an undo without ids takes back, newest first.
    pub(crate) fn undoable(&self) -> impl Iterator<Item = &UndoGroup> {
        self.undo.iter().rev().filter(|group| !group.is_beginning)
    }

    /// Next step of each stack.
    pub fn next(&self) -> NextSteps {
        NextSteps { undo: self.undoable().next().map(NextStep::from), redo: self.redo.back().map(NextStep::from) }
    }
}

/// Stacks of all actors, by actor key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Undoable(BTreeMap<String, UndoStacks>);

/// Checks that an event can be undone. Runs, kernels, access and clearing outputs cannot.
pub(crate) fn is_undoable(event: &Event) -> bool {
    match event {
        Event::NotebookRenamed(_) | Event::NotebookMetadataSet(_) | Event::UndoSkipped(_) => true,
        Event::CellOutputsCleared(_) => false,
        event => event.cell_id().is_some(),
    }
}

impl Undoable {
    /// Stacks of one actor, with the stored key.
    pub(crate) fn of(&self, actor: &str) -> Option<(&str, &UndoStacks)> {
        self.0.get_key_value(actor).map(|(key, stacks)| (key.as_str(), stacks))
    }

    /// Stacks of all actors, by actor key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &UndoStacks)> {
        self.0.iter().map(|(key, stacks)| (key.as_str(), stacks))
    }

    /// Adds an event. `turn_id`: turn of the tool call that had this effect. `is_beginning`: the event is of the
    /// command that made the notebook.
    pub(crate) fn note(&mut self, recorded: &Recorded, turn_id: Option<TurnId>, is_beginning: bool) {
        if !is_undoable(&recorded.event) || matches!(recorded.envelope.actor, Actor::Agent { .. } | Actor::System) {
            return;
        }
        let actor = recorded.envelope.actor.key();
        match &recorded.envelope.undoes {
            None => {
                let stacks = self.0.entry(actor).or_default();
                stacks.redo.clear();
                extend(&mut stacks.undo, recorded, turn_id, is_beginning);
            }
            Some(target) => self.note_undoing(&actor, recorded, target),
        }
        self.forget_oldest();
    }

    /// Moves the undone group to the other stack, under the correlation id of the events that undo it. The first of
    /// these events makes the entry.
    fn note_undoing(&mut self, actor: &str, recorded: &Recorded, target: &CorrelationId) {
        let correlation = &recorded.envelope.correlation_id;
        let stacks = self.0.entry(actor.to_owned()).or_default();
        let is_begun = holds(&stacks.undo, correlation) || holds(&stacks.redo, correlation);
        let is_own = holds(&stacks.undo, target) || holds(&stacks.redo, target);
        let is_redo = holds(&stacks.undo, correlation) || holds(&stacks.redo, target);
        if is_own {
            stacks.undo.retain(|group| group.correlation_id != *target);
            stacks.redo.retain(|group| group.correlation_id != *target);
        }
        extend(if is_redo { &mut stacks.undo } else { &mut stacks.redo }, recorded, None, false);
        if !is_own && !is_begun {
            // Another actor's group that was undone leaves its author's stack.
            self.0.values_mut().for_each(|others| others.undo.retain(|group| group.correlation_id != *target));
        }
    }

    /// Evicts the stacks of the actors whose last event is oldest.
    fn forget_oldest(&mut self) {
        let last = |stacks: &UndoStacks| {
            stacks.undo.iter().chain(&stacks.redo).map(|group| group.last_version).max().unwrap_or(0)
        };
        while self.0.len() > MAX_ACTORS {
            let Some(oldest) = self.0.iter().min_by_key(|(_, stacks)| last(stacks)).map(|(key, _)| key.clone()) else {
                return;
            };
            self.0.remove(&oldest);
        }
    }
}

fn holds(stack: &VecDeque<UndoGroup>, id: &CorrelationId) -> bool {
    stack.iter().any(|group| group.correlation_id == *id)
}

/// Adds the event to its group; makes the group if there is none.
fn extend(stack: &mut VecDeque<UndoGroup>, recorded: &Recorded, turn_id: Option<TurnId>, is_beginning: bool) {
    let Envelope { version, correlation_id, command_id, .. } = &recorded.envelope;
    // A command without a named group is its own group, which can only be at the top.
    let searched = if correlation_id.as_str() == command_id.as_str() { 1 } else { DEPTH };
    let is_it = |group: &UndoGroup| group.correlation_id == *correlation_id && group.is_beginning == is_beginning;
    let known = stack.iter().rev().take(searched).position(is_it);
    let known = known.map(|depth| stack.len() - 1 - depth);
    let index = known.unwrap_or_else(|| {
        stack.push_back(UndoGroup {
            correlation_id: correlation_id.clone(),
            first_version: *version,
            last_version: *version,
            cells: Vec::new(),
            turn_id,
            edits_text: false,
            is_beginning,
        });
        stack.len() - 1
    });
    stack[index].last_version = *version;
    stack[index].edits_text |= matches!(recorded.event, Event::CellSourceEdited(_));
    if let Some(cell_id) = recorded.event.cell_id() {
        let cells = &mut stack[index].cells;
        if let Err(place) = cells.binary_search(cell_id) {
            cells.insert(place, cell_id.clone());
        }
    }
    if stack.len() > DEPTH {
        stack.pop_front();
    }
}
