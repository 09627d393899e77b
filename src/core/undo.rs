//! Undo and redo, per actor and group: the group's events are inverted against today's state and appended as ordinary
//! events that carry `undoes`. The stacks are part of the state, so they survive reconnect and restart.
//!
//! Text is inverted by rebasing: the group's edits of a cell are taken out from last to first, and everybody else's later
//! edits are carried over, so nobody else's characters are touched.

use std::collections::{BTreeMap, BTreeSet};

use crate::actor::Actor;
use crate::cells;
use crate::command::Command;
use crate::context::Context;
use crate::decide::{Decided, Decision, provisional};
use crate::envelope::{Envelope, Recorded};
use crate::event::{
    CellAttachmentsSet, CellFlagsSet, CellMetadataSet, CellMoved, CellSourceEdited, CellTypeChanged, Event,
    NotebookMetadataSet, NotebookRenamed,
};
use crate::history::{History, HistoryQuery};
use crate::ids::{CellId, CorrelationId};
use crate::lifecycle::check_not_archived;
use crate::notebook::{Cell, Notebook, UndoGroup, UndoStacks};
use crate::rejection::{Rejection, RejectionCode};
use crate::text::{ChangeSet, TextError};

/// Groups that an actor can go back. A constant, because replicas must agree on it.
const DEPTH: usize = 200;

// --- which groups ---

/// The groups that a command would invert, newest first, with the key of the actor whose they are.
fn targets<'a>(notebook: &'a Notebook, context: &Context, command: &Command) -> Vec<(&'a str, &'a UndoGroup)> {
    let own = context.actor.key();
    match command {
        Command::Undo { correlation_id: Some(id), .. } => find_group(notebook, &own, id).into_iter().collect(),
        Command::Undo { steps, .. } => newest(notebook, &own, *steps, |stacks| &stacks.undo),
        Command::Redo { steps } => newest(notebook, &own, *steps, |stacks| &stacks.redo),
        _ => Vec::new(),
    }
}

fn newest<'a>(
    notebook: &'a Notebook,
    actor: &str,
    steps: u32,
    stack: impl Fn(&UndoStacks) -> &Vec<UndoGroup>,
) -> Vec<(&'a str, &'a UndoGroup)> {
    let Some((key, stacks)) = notebook.undo.get_key_value(actor) else { return Vec::new() };
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    stack(stacks).iter().rev().take(steps).map(|group| (key.as_str(), group)).collect()
}

/// A group by its id: the actor's own first, then anybody's.
fn find_group<'a>(notebook: &'a Notebook, own: &str, id: &CorrelationId) -> Option<(&'a str, &'a UndoGroup)> {
    let find = |(key, stacks): (&'a String, &'a UndoStacks)| {
        stacks.undo.iter().find(|group| group.correlation_id == *id).map(|group| (key.as_str(), group))
    };
    notebook.undo.get_key_value(own).and_then(find).or_else(|| notebook.undo.iter().find_map(find))
}

/// What the inversion of the command's groups wants from the past.
pub(crate) fn needs(notebook: &Notebook, context: &Context, command: &Command) -> Option<HistoryQuery> {
    let groups = targets(notebook, context, command);
    let since = groups.iter().map(|(_, group)| group.first_version).min()? - 1;
    let cells: BTreeSet<CellId> = groups.iter().flat_map(|(_, group)| group.cells.iter().cloned()).collect();
    Some(HistoryQuery::Cells { cells: cells.into_iter().collect(), since, with_notebook: true })
}

// --- decide ---

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    check_not_archived(notebook)?;
    check_steps(context, &command)?;
    let groups = targets(notebook, context, &command);
    if groups.is_empty() {
        let message = "nothing of yours is left to undo or redo here";
        return Err(Rejection::new(RejectionCode::NothingToUndo, message));
    }
    check_own_work(context, &groups)?;
    let mut inversion = Inversion { scratch: notebook.clone(), decision: Decision::nothing() };
    for (actor, group) in groups {
        inversion.invert(context, actor, group)?;
    }
    Ok(inversion.decision)
}

fn check_steps(context: &Context, command: &Command) -> Result<(), Rejection> {
    let (Command::Undo { steps, .. } | Command::Redo { steps }) = command else { return Ok(()) };
    let limit = context.limits.max_undo_steps;
    if *steps == 0 || usize::try_from(*steps).is_ok_and(|steps| steps > limit) {
        return Err(Rejection::new(RejectionCode::InvalidValue, format!("steps is 1 to {limit}")));
    }
    Ok(())
}

/// Anyone who may edit undoes an assistant's turn; an assistant undoes only its own work.
fn check_own_work(context: &Context, groups: &[(&str, &UndoGroup)]) -> Result<(), Rejection> {
    let own = context.actor.key();
    let is_assistant = matches!(context.actor, Actor::Assistant { .. });
    if is_assistant && groups.iter().any(|(actor, _)| *actor != own) {
        return Err(Rejection::new(RejectionCode::Forbidden, "an assistant undoes only its own work"));
    }
    Ok(())
}

/// The inversion of some groups, one after the other, on the state that each leaves to the next.
struct Inversion {
    scratch: Notebook,
    decision: Decision,
}

impl Inversion {
    fn invert(&mut self, context: &mut Context, actor: &str, group: &UndoGroup) -> Result<(), Rejection> {
        let step: CorrelationId = context.ids.ulid().into();
        // Edits decided by earlier steps of this command are part of the past by now.
        let history = std::mem::take(&mut context.history);
        let inverted = self.invert_group(context, &history, &step, &GroupEvents::of(&history, actor, group));
        context.history = history;
        inverted.map_err(|error| {
            let message = format!("this cannot be undone: {error}; nothing was changed");
            Rejection::new(RejectionCode::InvalidChange, message)
        })
    }

    fn invert_group(
        &mut self,
        context: &Context,
        history: &History,
        step: &CorrelationId,
        group: &GroupEvents,
    ) -> Result<(), TextError> {
        let mut texts_done = BTreeSet::new();
        for recorded in group.events.iter().rev() {
            let events = match &recorded.event {
                Event::CellSourceEdited(event)
                    if group.inserts(&event.cell_id) || !texts_done.insert(&event.cell_id) =>
                {
                    continue;
                }
                Event::CellSourceEdited(event) => self.invert_text(history, group, &event.cell_id)?,
                event => self.invert_event(history, event),
            };
            for event in events {
                self.push(context, step, group.correlation_id, event);
            }
        }
        Ok(())
    }

    fn push(&mut self, context: &Context, step: &CorrelationId, undoes: &CorrelationId, decided: Decided) {
        let decided =
            Decided { event: decided.event, undoes: Some(undoes.clone()), correlation_id: Some(step.clone()) };
        let recorded = provisional(&self.scratch, context, &decided);
        crate::apply(&mut self.scratch, &recorded);
        self.decision.events.push(decided);
    }

    fn notice(&mut self, sentence: String) -> Vec<Decided> {
        self.decision.outcome.notices.push(sentence);
        Vec::new()
    }

    fn invert_event(&mut self, history: &History, event: &Event) -> Vec<Decided> {
        match event {
            Event::CellInserted(event) => self.invert_insertion(&event.cell_id),
            Event::CellRestored(event) => self.invert_insertion(&event.cell_id),
            Event::CellDeleted(event) => {
                if self.scratch.cells.contains_key(&event.cell_id) {
                    return self.notice(format!("cell {} is there again already", event.cell_id));
                }
                cells::restoration(&self.scratch, history, &event.cell_id).map(Decided::from).into_iter().collect()
            }
            Event::NotebookRenamed(event) if self.scratch.title == event.title => {
                vec![NotebookRenamed { title: event.previous.clone(), previous: event.title.clone() }.into()]
            }
            Event::NotebookRenamed(_) => self.notice("the notebook was renamed again since".to_owned()),
            Event::NotebookMetadataSet(event) if self.scratch.metadata == event.metadata => {
                let (metadata, previous) = (event.previous.clone(), event.metadata.clone());
                vec![NotebookMetadataSet { metadata, previous }.into()]
            }
            Event::NotebookMetadataSet(_) => self.notice("the notebook's metadata was changed again since".to_owned()),
            event => self.invert_property(event),
        }
    }

    fn invert_insertion(&mut self, cell_id: &CellId) -> Vec<Decided> {
        match self.scratch.cells.get(cell_id) {
            Some(cell) => cells::deletion(&self.scratch, cell_id, cell),
            None => self.notice(format!("cell {cell_id} was deleted already")),
        }
    }

    /// A property goes back where it still is what the group made it.
    fn invert_property(&mut self, event: &Event) -> Vec<Decided> {
        let Some(cell_id) = event.cell_id() else { return Vec::new() };
        let Some(cell) = self.scratch.cells.get(cell_id) else {
            return self.notice(format!("cell {cell_id} was deleted since"));
        };
        match reversed_property(cell, event) {
            Some(event) => vec![event.into()],
            None => self.notice(format!("cell {cell_id} was changed again since")),
        }
    }

    fn invert_text(
        &mut self,
        history: &History,
        group: &GroupEvents,
        cell_id: &CellId,
    ) -> Result<Vec<Decided>, TextError> {
        let Some(cell) = self.scratch.cells.get(cell_id) else {
            return Ok(self.notice(format!("cell {cell_id} was deleted since: its text was not undone")));
        };
        let decided = self.decision.events.iter().map(|decided| (&decided.event, false));
        let past = history.events.iter().map(|recorded| (&recorded.event, group.contains(recorded)));
        let edits: Vec<_> = past.chain(decided).filter_map(|(event, mine)| edit_of(event, cell_id, mine)).collect();
        let Some(change) = taken_out(&edits)? else { return Ok(Vec::new()) };
        if change.is_identity() {
            return Ok(self.notice(format!("the text in cell {cell_id} was overwritten by others already")));
        }
        let removed = change.apply(&cell.content.source)?.removed;
        Ok(vec![CellSourceEdited { cell_id: cell_id.clone(), change, removed }.into()])
    }
}

/// One edit of the cell in question.
struct Edit<'a> {
    event: &'a CellSourceEdited,
    /// Of the group that is undone.
    mine: bool,
}

fn edit_of<'a>(event: &'a Event, cell_id: &CellId, mine: bool) -> Option<Edit<'a>> {
    match event {
        Event::CellSourceEdited(event) if event.cell_id == *cell_id => Some(Edit { event, mine }),
        _ => None,
    }
}

/// The change that takes the marked edits out of the text that `edits` lead to, and leaves the others in.
fn taken_out(edits: &[Edit]) -> Result<Option<ChangeSet>, TextError> {
    // Everybody else's edits after the point that we are at, as they would be without the edits taken out so far.
    let mut later: Vec<ChangeSet> = Vec::new();
    let mut whole: Option<ChangeSet> = None;
    for edit in edits.iter().rev() {
        if !edit.mine {
            later.insert(0, edit.event.change.clone());
            continue;
        }
        let mut inverse = edit.event.change.invert_with(&edit.event.removed)?;
        for other in &mut later {
            let rebased = other.map(&inverse, true)?;
            inverse = inverse.map(other, false)?;
            *other = rebased;
        }
        whole = Some(match whole {
            Some(before) => before.compose(&inverse)?,
            None => inverse,
        });
    }
    Ok(whole)
}

fn reversed_property(cell: &Cell, event: &Event) -> Option<Event> {
    let content = &cell.content;
    let cell_id = event.cell_id()?.clone();
    match event {
        Event::CellMoved(event) if content.order_key == event.order_key => {
            Some(CellMoved { cell_id, order_key: event.previous.clone(), previous: event.order_key.clone() }.into())
        }
        Event::CellTypeChanged(event) if content.cell_type == event.cell_type => {
            Some(CellTypeChanged { cell_id, cell_type: event.previous, previous: event.cell_type }.into())
        }
        Event::CellMetadataSet(event) if content.metadata == event.metadata => {
            let (metadata, previous) = (event.previous.clone(), event.metadata.clone());
            Some(CellMetadataSet { cell_id, metadata, previous }.into())
        }
        Event::CellAttachmentsSet(event) if content.attachments == event.attachments => {
            let (attachments, previous) = (event.previous.clone(), event.attachments.clone());
            Some(CellAttachmentsSet { cell_id, attachments, previous }.into())
        }
        Event::CellFlagsSet(event) if content.flags == event.flags => {
            Some(CellFlagsSet { cell_id, flags: event.previous, previous: event.flags }.into())
        }
        _ => None,
    }
}

/// The recorded events of one group.
struct GroupEvents<'a> {
    correlation_id: &'a CorrelationId,
    actor: &'a str,
    events: Vec<&'a Recorded>,
}

impl<'a> GroupEvents<'a> {
    fn of(history: &'a History, actor: &'a str, group: &'a UndoGroup) -> Self {
        let mut whole = Self { correlation_id: &group.correlation_id, actor, events: Vec::new() };
        whole.events = history.events.iter().filter(|recorded| whole.contains(recorded)).collect();
        whole
    }

    fn contains(&self, recorded: &Recorded) -> bool {
        let Envelope { correlation_id, actor, .. } = &recorded.envelope;
        correlation_id == self.correlation_id && is_undoable(&recorded.event) && actor.key() == self.actor
    }

    /// The cell's insertion is of this group, so that taking it out takes the text with it.
    fn inserts(&self, cell_id: &CellId) -> bool {
        let is_insertion = |event: &Event| matches!(event, Event::CellInserted(event) if event.cell_id == *cell_id);
        self.events.iter().any(|recorded| is_insertion(&recorded.event))
    }
}

/// Runs, kernels, access and clearing outputs are not undone.
fn is_undoable(event: &Event) -> bool {
    match event {
        Event::NotebookRenamed(_) | Event::NotebookMetadataSet(_) => true,
        Event::CellOutputsCleared(_) => false,
        event => event.cell_id().is_some(),
    }
}

// --- apply ---

pub(crate) fn apply(notebook: &mut Notebook, recorded: &Recorded) {
    if !is_undoable(&recorded.event) || matches!(recorded.envelope.actor, Actor::Agent { .. } | Actor::System) {
        return;
    }
    let actor = recorded.envelope.actor.key();
    match &recorded.envelope.undoes {
        None => {
            let stacks = notebook.undo.entry(actor).or_default();
            stacks.redo.clear();
            extend(&mut stacks.undo, recorded);
        }
        Some(target) => apply_undoing(&mut notebook.undo, &actor, recorded, target),
    }
}

/// Moves the undone group to the other stack: under the correlation of the events that undo it.
fn apply_undoing(undo: &mut BTreeMap<String, UndoStacks>, actor: &str, recorded: &Recorded, target: &CorrelationId) {
    let correlation = &recorded.envelope.correlation_id;
    let stacks = undo.entry(actor.to_owned()).or_default();
    let holds = |stack: &[UndoGroup], id: &CorrelationId| stack.iter().any(|group| group.correlation_id == *id);
    let is_undo = holds(&stacks.undo, target) || holds(&stacks.redo, correlation);
    stacks.undo.retain(|group| group.correlation_id != *target);
    stacks.redo.retain(|group| group.correlation_id != *target);
    extend(if is_undo { &mut stacks.redo } else { &mut stacks.undo }, recorded);
    // Another's group, undone by somebody who may edit, is no longer there for its author to undo.
    for (_, others) in undo.iter_mut().filter(|(key, _)| *key != actor) {
        others.undo.retain(|group| group.correlation_id != *target);
    }
}

/// Adds the event to its group, which is begun where there is none.
fn extend(stack: &mut Vec<UndoGroup>, recorded: &Recorded) {
    let Envelope { version, correlation_id, .. } = &recorded.envelope;
    let known = stack.iter().rposition(|group| group.correlation_id == *correlation_id);
    let index = known.unwrap_or_else(|| {
        stack.push(UndoGroup {
            correlation_id: correlation_id.clone(),
            first_version: *version,
            last_version: *version,
            cells: BTreeSet::new(),
        });
        stack.len() - 1
    });
    stack[index].last_version = *version;
    stack[index].cells.extend(recorded.event.cell_id().cloned());
    if stack.len() > DEPTH {
        stack.remove(0);
    }
}
