//! Undo and redo, per actor and group: the group's events are inverted against the present state and appended as
//! ordinary events that carry `undoes`. The stacks are part of the ledger, so they survive reconnect and restart.
//!
//! Undo in an editor covers one cell: the actor's groups that changed text and touch the cell. The editor names the
//! group that it takes back (`EditSource.undoes`), so that its stack and this one agree.
//!
//! Text of other actors stays: edits are rebased (`undo_text`), and an inserted cell stays if others have written in
//! it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::cells;
use crate::cells::comments::ReturningThreads;
use crate::cells::undo_text::{HistoryIndex, PlayedEdits};
use crate::command::Command;
use crate::context::{Context, History};
use crate::ledger::undo_stacks::{UndoGroup, UndoStacks, is_undoable};
use crate::notebook::{Notebook, provisional};
use crate::values::EditSource;
use crate::values::decision::{Decided, Decision, Rejection, RejectionCode, Result};
use crate::values::details::RejectionDetails;
use notarium_record::text::TextError;
use notarium_record::{
    Actor, Cell, CellAttachmentsSet, CellFlagsSet, CellId, CellMetadataSet, CellMoved, CellSourceEdited,
    CellTypeChanged, CorrelationId, Envelope, Event, HistoryQuery, NotebookMetadataSet, NotebookRenamed, OrderKey,
    Recorded, TurnId, UndoSkipped, Version,
};

// --- which groups ---

/// Groups that a command would invert, newest first, with the key of their actor.
fn targets<'a>(notebook: &'a Notebook, context: &Context, command: &Command) -> Vec<(&'a str, &'a UndoGroup)> {
    match command {
        Command::Undo { turn_id: Some(turn_id), .. } => groups_of_turn(notebook, turn_id),
        Command::Undo { correlation_id: Some(id), .. } => {
            find_group(notebook, &context.actor.key(), id).into_iter().collect()
        }
        Command::Undo { steps, cell_id, .. } | Command::Redo { steps, cell_id } => {
            let Some((key, stacks)) = notebook.ledger.undo.of(&context.actor.key()) else { return Vec::new() };
            let is_redo = matches!(command, Command::Redo { .. });
            newest(stacks, is_redo, *steps, cell_id.as_ref()).map(|group| (key, group)).collect()
        }
        _ => Vec::new(),
    }
}

/// Additional groups of a cell beyond those requested: groups that others have overwritten have no effect.
const SPARE_GROUPS: usize = 10;

fn newest<'a>(
    stacks: &'a UndoStacks,
    is_redo: bool,
    steps: u32,
    cell_id: Option<&CellId>,
) -> Box<dyn Iterator<Item = &'a UndoGroup> + 'a> {
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    let all: Box<dyn Iterator<Item = &UndoGroup>> =
        if is_redo { Box::new(stacks.redo.iter().rev()) } else { Box::new(stacks.undoable()) };
    match cell_id.cloned() {
        None => Box::new(all.take(steps)),
        Some(cell_id) => {
            Box::new(all.filter(move |group| group.is_text_of(&cell_id)).take(steps.saturating_add(SPARE_GROUPS)))
        }
    }
}

/// The group that an undo without ids would invert now.
pub(crate) fn latest<'a>(notebook: &'a Notebook, context: &Context) -> Option<&'a CorrelationId> {
    let (_, stacks) = notebook.ledger.undo.of(&context.actor.key())?;
    stacks.undoable().next().map(|group| &group.correlation_id)
}

/// Groups of one turn, newest first.
fn groups_of_turn<'a>(notebook: &'a Notebook, turn_id: &TurnId) -> Vec<(&'a str, &'a UndoGroup)> {
    let stacks = notebook.ledger.undo.iter();
    let groups = stacks.flat_map(|(key, stacks)| stacks.undo.iter().map(move |group| (key, group)));
    let mut groups: Vec<_> = groups.filter(|(_, group)| group.turn_id.as_ref() == Some(turn_id)).collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.last_version));
    groups
}

/// Finds a group by its id: the actor's own first, then those of others.
fn find_group<'a>(notebook: &'a Notebook, own: &str, id: &CorrelationId) -> Option<(&'a str, &'a UndoGroup)> {
    let find = |(key, stacks): (&'a str, &'a UndoStacks)| {
        stacks.undo.iter().find(|group| group.correlation_id == *id).map(|group| (key, group))
    };
    let undo = &notebook.ledger.undo;
    undo.of(own).and_then(find).or_else(|| undo.iter().find_map(find))
}

/// Query for the inversion of the command's groups. If there are none: query whether the named turn or call ever
/// existed.
pub(crate) fn required_history(notebook: &Notebook, context: &Context, command: &Command) -> Option<HistoryQuery> {
    let groups = targets(notebook, context, command);
    let Some(first) = groups.iter().map(|(_, group)| group.first_version).min() else { return existence(command) };
    let since = first - 1;
    let cells: BTreeSet<CellId> = groups.iter().flat_map(|(_, group)| group.cells.iter().cloned()).collect();
    Some(HistoryQuery::Cells { cells: cells.into_iter().collect(), since, with_notebook: true })
}

/// Query for the turn or call that the command names: the group of a tool call has the call's id.
fn existence(command: &Command) -> Option<HistoryQuery> {
    match command {
        Command::Undo { turn_id: Some(turn_id), .. } => Some(HistoryQuery::Turn { turn_id: turn_id.clone() }),
        Command::Undo { correlation_id: Some(id), .. } => {
            Some(HistoryQuery::ToolCall { call_id: id.as_str().parse().ok()? })
        }
        _ => None,
    }
}

// --- decide ---

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision> {
    check_steps(context, &command)?;
    let groups = targets(notebook, context, &command);
    if groups.is_empty() {
        return Err(nothing_left(notebook, context, &command));
    }
    check_own_work(context, &groups)?;
    let history = std::mem::take(&mut context.history);
    let index = HistoryIndex::of(&history.events);
    let mut inversion = Inversion { scratch: notebook.clone(), history, index, decision: Decision::nothing() };
    let Some(mut left) = steps_of_cell(&command) else {
        for group in groups {
            let step = context.ids.ulid().into();
            inversion.invert(context, &InvertedGroup::new(group, step))?;
        }
        return Ok(inversion.decision);
    };
    for group in groups {
        let step = context.ids.ulid().into();
        let notices = inversion.decision.outcome.notices.len();
        if inversion.invert(context, &InvertedGroup::new(group, step))? {
            left -= 1;
        } else {
            inversion.decision.outcome.notices.truncate(notices);
        }
        if left == 0 {
            return Ok(inversion.decision);
        }
    }
    Ok(inversion.decision)
}

/// Number of groups of a cell that should have an effect; `None`: the command names no cell.
fn steps_of_cell(command: &Command) -> Option<u32> {
    match command {
        Command::Undo { steps, cell_id: Some(_), turn_id: None, correlation_id: None }
        | Command::Redo { steps, cell_id: Some(_) } => Some(*steps),
        _ => None,
    }
}

/// Decides an edit from an editor, also an undo or redo that the editor has computed itself.
pub(crate) fn decide_edit(notebook: &Notebook, context: &Context, edit: EditSource) -> Result<Decision> {
    let undoes = taken_back(notebook, context, &edit);
    let mut decision = cells::decide_edit(notebook, context, edit.cell_id, edit.base, edit.change)?;
    decision.events.iter_mut().for_each(|decided| decided.undoes.clone_from(&undoes));
    Ok(decision)
}

/// Group that the edit takes back; `None`: an ordinary edit.
fn taken_back(notebook: &Notebook, context: &Context, edit: &EditSource) -> Option<CorrelationId> {
    let own = context.actor.key();
    let stacks = notebook.ledger.undo.of(&own).map(|(_, stacks)| stacks);
    let is_of_cell = |group: &UndoGroup| group.edits_text && group.cells == [edit.cell_id.clone()];
    let find = |stack: &VecDeque<UndoGroup>, id: &CorrelationId| {
        stack.iter().find(|group| group.correlation_id == *id).is_some_and(is_of_cell)
    };
    match (&edit.undoes, &edit.redoes) {
        (Some(id), _) => match find_group(notebook, &own, id) {
            // The group is on no stack any more; the edit is still no step that an undo would take back.
            None => Some(id.clone()),
            Some((actor, group)) => (actor == own && is_of_cell(group)).then(|| id.clone()),
        },
        (None, Some(id)) => stacks.is_some_and(|stacks| find(&stacks.redo, id)).then(|| id.clone()),
        (None, None) => None,
    }
}

/// Reasons why a group cannot be undone, for messages.
const NOT_UNDONE: &str = "what it changed is undone already, lies too far back, or cannot be undone, as runs cannot";

fn nothing_left(notebook: &Notebook, context: &Context, command: &Command) -> Rejection {
    let History { events, .. } = &context.history;
    let is_of = |recorded: &Recorded| match command {
        Command::Undo { turn_id: Some(id), .. } => recorded.event.turn_id() == Some(id),
        Command::Undo { correlation_id: Some(id), .. } => {
            recorded.event.tool_call_id().is_some_and(|call_id| call_id.as_str() == id.as_str())
        }
        _ => false,
    };
    let was = events.iter().any(|recorded| is_of(recorded));
    let message = match command {
        Command::Undo { turn_id: Some(id), .. } if !was => {
            return RejectionCode::UnknownTurn.because(format!(
                "this notebook has no turn {id}: GET …/turns or `notarium log` names those that there are"
            ));
        }
        Command::Undo { turn_id: Some(id), .. } => format!("nothing of turn {id} is left to undo: {NOT_UNDONE}"),
        Command::Undo { correlation_id: Some(id), .. } if was => {
            format!("nothing of call {id} is left to undo: {NOT_UNDONE}")
        }
        Command::Undo { correlation_id: Some(id), .. } => format!(
            "there is nothing of the id {id} to undo: check the id (`notarium log`, `notarium calls`); if it is right, {NOT_UNDONE}"
        ),
        Command::Undo { cell_id: Some(_), .. } => "nothing that you wrote in this cell is left to undo".to_owned(),
        Command::Redo { cell_id: Some(_), .. } => "you have undone nothing in this cell that could be redone".to_owned(),
        Command::Redo { .. } => "you have undone nothing here that could be redone".to_owned(),
        _ if is_only_beginning_left(notebook, context) => {
            "nothing of yours is left to undo here but what the notebook was made with: its id undoes that (`notarium undo --import`)"
                .to_owned()
        }
        _ => "nothing of yours is left to undo here".to_owned(),
    };
    let details = match command {
        Command::Redo { .. } => RejectionDetails::NothingToRedo,
        _ => RejectionDetails::NothingToUndo,
    };
    RejectionCode::NothingToUndo.because(message).with(details)
}

fn is_only_beginning_left(notebook: &Notebook, context: &Context) -> bool {
    let stacks = notebook.ledger.undo.of(&context.actor.key());
    stacks.is_some_and(|(_, stacks)| stacks.undo.iter().any(|group| group.is_beginning))
}

fn check_steps(context: &Context, command: &Command) -> Result<()> {
    let (Command::Undo { steps, .. } | Command::Redo { steps, .. }) = command else { return Ok(()) };
    let limit = context.limits.max_undo_steps;
    let fits = usize::try_from(*steps).is_ok_and(|steps| (1..=limit).contains(&steps));
    RejectionCode::InvalidValue.when(!fits, || format!("steps is 1 to {limit}"))
}

/// Refuses an assistant that would undo the work of others. All other editors may undo any group.
fn check_own_work(context: &Context, groups: &[(&str, &UndoGroup)]) -> Result<()> {
    let own = context.actor.key();
    let is_others = groups.iter().any(|(actor, _)| *actor != own);
    let is_assistant = matches!(context.actor, Actor::Assistant { .. });
    RejectionCode::Forbidden.when(is_assistant && is_others, || "an assistant undoes only its own work")
}

/// Inversion of groups in sequence, each on the state that the one before leaves.
struct Inversion {
    scratch: Notebook,
    /// Answer to `required_history`, and the events decided so far.
    history: History,
    index: HistoryIndex,
    decision: Decision,
}

impl Inversion {
    /// Inverts a group; returns true if that changed anything.
    fn invert(&mut self, context: &Context, group: &InvertedGroup) -> Result<bool> {
        let events_before = self.decision.events.len();
        self.invert_events(context, group).map_err(|error| {
            let message = format!("this cannot be undone: {error}; nothing was changed");
            RejectionCode::InvalidChange.because(message)
        })?;
        let has_effect = self.decision.events.len() > events_before;
        if !has_effect {
            self.push(context, group, UndoSkipped {}.into());
        }
        Ok(has_effect)
    }

    fn invert_events(&mut self, context: &Context, group: &InvertedGroup) -> Result<(), TextError> {
        let events: Vec<Arc<Recorded>> =
            self.history.events.iter().filter(|recorded| group.contains(recorded)).cloned().collect();
        let mut texts_done = self.cells_that_go(group, &events);
        let mut returning = Vec::new();
        for recorded in events.iter().rev() {
            if let Event::ThreadMoved(event) = &recorded.event {
                returning.extend(ReturningThreads::new(&self.scratch, event));
            }
            for event in self.inverse(group, &recorded.event, &mut texts_done)? {
                self.push(context, group, event);
            }
        }
        // Threads move last, because their former text must be restored before.
        for thread in returning {
            if let Some(moved) = thread.back(&self.scratch) {
                self.push(context, group, moved.into());
            }
        }
        Ok(())
    }

    /// Cells that the group made and that are deleted with all their text, because no other actor has written in them.
    fn cells_that_go(&self, group: &InvertedGroup, events: &[Arc<Recorded>]) -> BTreeSet<CellId> {
        let made = events.iter().filter_map(|recorded| match &recorded.event {
            Event::CellInserted(event) => Some(&event.cell_id),
            _ => None,
        });
        made.filter(|cell_id| !self.others_wrote(group, cell_id)).cloned().collect()
    }

    fn played(&self, group: &InvertedGroup, cell_id: &CellId) -> Result<PlayedEdits<'_>, TextError> {
        PlayedEdits::of(&self.history.events, &self.index, cell_id, group.first_version, &group.step)
    }

    fn others_wrote(&self, group: &InvertedGroup, cell_id: &CellId) -> bool {
        self.played(group, cell_id).is_ok_and(|played| played.others_wrote(&group.actor))
    }

    fn push(&mut self, context: &Context, group: &InvertedGroup, decided: Decided) {
        let undoes = Some(group.correlation_id.clone());
        let decided = Decided { undoes, correlation_id: Some(group.step.clone()), ..Decided::from(decided.event) };
        let recorded = provisional(&self.scratch, context, &decided);
        self.scratch.apply(&recorded);
        self.index.note(self.history.events.len(), &recorded);
        self.history.events.push(Arc::new(recorded));
        self.decision.events.push(decided);
    }

    fn notice(&mut self, sentence: String) -> Vec<Decided> {
        self.decision.outcome.notices.push(sentence);
        Vec::new()
    }

    fn inverse(
        &mut self,
        group: &InvertedGroup,
        event: &Event,
        texts_done: &mut BTreeSet<CellId>,
    ) -> Result<Vec<Decided>, TextError> {
        Ok(match event {
            Event::CellSourceEdited(event) if texts_done.insert(event.cell_id.clone()) => {
                self.inverse_text(group, &event.cell_id)?
            }
            Event::CellSourceEdited(_) | Event::UndoSkipped(_) | Event::ThreadMoved(_) => Vec::new(),
            Event::CellInserted(event) if texts_done.insert(event.cell_id.clone()) => {
                self.inverse_first_source(group, &event.cell_id)?
            }
            Event::CellInserted(event) => self.inverse_insertion(group, &event.cell_id),
            Event::CellRestored(event) => self.inverse_insertion(group, &event.cell_id),
            Event::CellDeleted(event) => self.inverse_deletion(&event.cell_id),
            Event::NotebookRenamed(event) => self.inverse_title(event),
            Event::NotebookMetadataSet(event) => self.inverse_metadata(event),
            event => self.inverse_property(group, event),
        })
    }

    /// Inverts the first text of a cell that the group made and that stays because others have written in it.
    fn inverse_first_source(&mut self, group: &InvertedGroup, cell_id: &CellId) -> Result<Vec<Decided>, TextError> {
        if self.scratch.cells.contains_key(cell_id) {
            self.notice(stays(cell_id));
        }
        self.inverse_text(group, cell_id)
    }

    fn inverse_insertion(&mut self, group: &InvertedGroup, cell_id: &CellId) -> Vec<Decided> {
        let Some(cell) = self.scratch.cells.get(cell_id) else {
            return self.notice(format!("cell {cell_id} is in the trash already"));
        };
        if self.others_wrote(group, cell_id) {
            return self.notice(stays(cell_id));
        }
        cells::deletion(&self.scratch, cell_id, cell)
    }

    fn inverse_deletion(&mut self, cell_id: &CellId) -> Vec<Decided> {
        if self.scratch.cells.contains_key(cell_id) {
            return self.notice(format!("cell {cell_id} is there again already"));
        }
        let events = &self.history.events;
        let Some(deleted) = self.index.deleted(events, cell_id) else { return Vec::new() };
        let execution = deleted.latest_execution.as_ref().and_then(|id| self.history.executions.get(id));
        let execution = execution.map(|replayed| replayed.execution.clone());
        vec![cells::restoration(&self.scratch, cell_id, deleted, execution).into()]
    }

    fn inverse_title(&mut self, event: &NotebookRenamed) -> Vec<Decided> {
        if self.scratch.title != event.title {
            return self.notice("the notebook was renamed again since".to_owned());
        }
        vec![NotebookRenamed { title: event.previous.clone(), previous: event.title.clone() }.into()]
    }

    fn inverse_metadata(&mut self, event: &NotebookMetadataSet) -> Vec<Decided> {
        if self.scratch.metadata != event.metadata {
            return self.notice("the notebook's metadata was changed again since".to_owned());
        }
        let (metadata, previous) = (event.previous.clone(), event.metadata.clone());
        vec![NotebookMetadataSet { metadata, previous }.into()]
    }

    /// Restores a property if it still is as the group set it.
    fn inverse_property(&mut self, group: &InvertedGroup, event: &Event) -> Vec<Decided> {
        let Some(cell_id) = event.cell_id() else { return Vec::new() };
        let Some(cell) = self.scratch.cells.get(cell_id) else {
            return self.notice(format!("cell {cell_id} is in the trash now"));
        };
        match reversed_property(cell, event, |moved| self.former_place(group, moved)) {
            Some(event) => vec![event.into()],
            None => self.notice(format!("cell {cell_id} was changed again since")),
        }
    }

    /// The place that a cell left, or the next free one if another cell is there that does not leave it with this group.
    fn former_place(&self, group: &InvertedGroup, moved: &CellMoved) -> OrderKey {
        let is_there =
            |cell_id| self.scratch.cells.get(cell_id).is_some_and(|cell| cell.content.order_key == moved.previous);
        let mut events = self.history.events.iter().filter(|recorded| group.contains(recorded));
        let leaves = events.any(|recorded| match &recorded.event {
            Event::CellMoved(other) => other.order_key == moved.previous && is_there(&other.cell_id),
            Event::CellRestored(other) => is_there(&other.cell_id) && !self.others_wrote(group, &other.cell_id),
            _ => false,
        });
        let place = || cells::free_key(&self.scratch, &moved.cell_id, &moved.previous);
        if leaves { moved.previous.clone() } else { place() }
    }

    fn inverse_text(&mut self, group: &InvertedGroup, cell_id: &CellId) -> Result<Vec<Decided>, TextError> {
        let Some(cell) = self.scratch.cells.get(cell_id) else {
            return Ok(self.notice(format!("cell {cell_id} is in the trash now: its text was not undone")));
        };
        let change = self.played(group, cell_id)?.without(|recorded| group.contains(recorded))?;
        let Some(change) = change else { return Ok(Vec::new()) };
        if change.is_identity() {
            return Ok(self.notice(format!("the text in cell {cell_id} was overwritten by others already")));
        }
        let removed = change.apply(&cell.content.source)?.removed;
        Ok(vec![CellSourceEdited { cell_id: cell_id.clone(), change, removed }.into()])
    }
}

fn stays(cell_id: &CellId) -> String {
    format!("others have written in cell {cell_id}: it stays")
}

fn reversed_property(cell: &Cell, event: &Event, former_place: impl FnOnce(&CellMoved) -> OrderKey) -> Option<Event> {
    let content = &cell.content;
    let cell_id = event.cell_id()?.clone();
    match event {
        Event::CellMoved(event) if content.order_key == event.order_key => {
            let order_key = former_place(event);
            Some(CellMoved { cell_id, order_key, previous: event.order_key.clone() }.into())
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

/// Group that is being inverted; a copy, because the stacks change meanwhile.
struct InvertedGroup {
    actor: String,
    correlation_id: CorrelationId,
    first_version: Version,
    last_version: Version,
    /// Correlation id of the group that the inversion forms.
    step: CorrelationId,
}

impl InvertedGroup {
    fn new((actor, group): (&str, &UndoGroup), step: CorrelationId) -> Self {
        let UndoGroup { correlation_id, first_version, last_version, .. } = group.clone();
        Self { actor: actor.to_owned(), correlation_id, first_version, last_version, step }
    }

    /// Versions count too: a correlation id may be used again after an undo.
    fn contains(&self, recorded: &Recorded) -> bool {
        let Envelope { correlation_id, actor, version, .. } = &recorded.envelope;
        (self.first_version..=self.last_version).contains(version)
            && *correlation_id == self.correlation_id
            && is_undoable(&recorded.event)
            && actor.key() == self.actor
    }
}
