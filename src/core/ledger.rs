//! What only the server's `decide` remembers beside the document. It never crosses the wire and may change with every
//! release: losing it costs a replay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel_uses::KernelUses;
use crate::left_behind::Reactive;
use crate::registrations::Registrations;
use crate::requesters::Requesters;
use crate::undo_stacks::{NextSteps, UndoStacks, Undoable};
use crate::written::WrittenByRun;
use notarium_record::{
    Actor, CellId, CommandId, Document, Event, EventId, MessagePosted, Recorded, Reply, ReplyStatus, TokenId,
    ToolCallId, TurnId,
};

/// Replies of cells that were deleted while the assistant was answering.
const MAX_REPLIES_IN_TRASH: usize = 100;

/// The server's own memory of one notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// What each actor can undo and redo.
    pub(crate) undo: Undoable,
    /// The command that made the notebook.
    made_by: Option<CommandId>,
    /// The latest event of each turn that has not ended, and of each tool call: what the server's reactor goes on from.
    pub(crate) latest_of_turns: BTreeMap<TurnId, EventId>,
    pub(crate) latest_of_calls: BTreeMap<ToolCallId, EventId>,
    /// The turns of the tool calls that have not ended.
    turns_of_calls: BTreeMap<ToolCallId, TurnId>,
    /// By which tokens turns and tool calls came, and how many of late.
    pub(crate) requesters: Requesters,
    /// Replies of cells that were deleted while an assistant was answering them, as far as they have come.
    replies_in_trash: BTreeMap<CellId, Arc<Reply>>,
    /// How much each run has written.
    pub(crate) written: WrittenByRun,
    /// What code has run where.
    pub(crate) kernels: KernelUses,
    /// Which text registered which function.
    pub(crate) registrations: Registrations,
    /// Of a reactive notebook: what its runs left in the kernel, and which of those that wait read from which.
    pub(crate) reactive: Reactive,
}

impl Ledger {
    /// What the actor can undo and redo.
    pub fn undo_of(&self, actor: &Actor) -> Option<&UndoStacks> {
        self.undo.of(&actor.key()).map(|(_, stacks)| stacks)
    }

    /// What a person can undo and redo next; nobody else is told.
    pub fn next_steps(&self, actor: &Actor) -> Option<NextSteps> {
        let is_person = matches!(actor, Actor::User { .. } | Actor::Guest { .. });
        is_person.then(|| self.undo_of(actor).map(UndoStacks::next).unwrap_or_default())
    }

    /// Folds one event in, after `document` has. Total, like the document's.
    pub fn apply(&mut self, document: &Document, recorded: &Recorded) {
        if matches!(recorded.event, Event::NotebookCreated(_)) {
            self.made_by = Some(recorded.envelope.command_id.clone());
        }
        let is_beginning = self.made_by.as_ref() == Some(&recorded.envelope.command_id);
        self.undo.note(recorded, self.turn_of_effect(recorded), is_beginning);
        self.note_latest(recorded);
        self.written.apply(&recorded.event);
        self.kernels.apply(recorded);
        self.registrations.apply(document, &recorded.event);
        self.reactive.apply(&recorded.event);
        self.requesters.apply(recorded);
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                self.turns_of_calls.extend(event.turn_id.clone().map(|turn_id| (event.call_id.clone(), turn_id)));
            }
            Event::ToolCallConfirmed(_) | Event::ToolCallStarted(_) => {}
            Event::CellInserted(event) => _ = self.replies_in_trash.remove(&event.cell_id),
            Event::CellRestored(event) => _ = self.replies_in_trash.remove(&event.cell_id),
            Event::CellDeleted(event) => {
                if let Some(reply) = event.reply.as_ref().filter(|reply| reply.status == ReplyStatus::Running) {
                    self.keep_reply(&event.cell_id, Reply::from(reply));
                }
            }
            Event::MessagePosted(event) => self.advance_replies(event.turn_id.as_ref(), &recorded.event),
            event => {
                self.advance_replies(event.turn_id(), event);
                if let Some(call_id) = event.tool_call_id() {
                    self.turns_of_calls.remove(call_id);
                }
            }
        }
    }

    fn note_latest(&mut self, recorded: &Recorded) {
        use Event as E;
        let id = || recorded.envelope.id.clone();
        match &recorded.event {
            E::TurnFinished(_) | E::TurnCancelled(_) | E::TurnFailed(_) => {
                recorded.event.turn_id().map(|turn_id| self.latest_of_turns.remove(turn_id));
            }
            E::MessagePosted(MessagePosted { turn_id: Some(turn_id), .. }) => {
                self.latest_of_turns.insert(turn_id.clone(), id());
            }
            E::ToolCallRequested(_) | E::ToolCallConfirmed(_) | E::ToolCallStarted(_) => {
                recorded.event.tool_call_id().map(|call_id| self.latest_of_calls.insert(call_id.clone(), id()));
            }
            event => {
                event.turn_id().map(|turn_id| self.latest_of_turns.insert(turn_id.clone(), id()));
                event.tool_call_id().map(|call_id| self.latest_of_calls.remove(call_id));
            }
        }
    }

    /// The tokens with which turns and tool calls were asked for that have not ended.
    pub fn open_tokens(&self) -> BTreeSet<&TokenId> {
        let Requesters { tokens_of_turns, tokens_of_calls, .. } = &self.requesters;
        tokens_of_turns.values().chain(tokens_of_calls.values()).collect()
    }

    /// The effects of a tool call carry its id as their correlation.
    fn turn_of_effect(&self, recorded: &Recorded) -> Option<TurnId> {
        let call_id = ToolCallId::new(recorded.envelope.correlation_id.as_str()).ok()?;
        self.turns_of_calls.get(&call_id).cloned()
    }

    fn keep_reply(&mut self, cell_id: &CellId, reply: Reply) {
        self.replies_in_trash.insert(cell_id.clone(), Arc::new(reply));
        if self.replies_in_trash.len() > MAX_REPLIES_IN_TRASH {
            self.replies_in_trash.pop_first();
        }
    }

    fn advance_replies(&mut self, turn_id: Option<&TurnId>, event: &Event) {
        let Some(turn_id) = turn_id else { return };
        let its = |reply: &&mut Arc<Reply>| reply.turn_id.as_ref() == Some(turn_id);
        for reply in self.replies_in_trash.values_mut().filter(its) {
            Arc::make_mut(reply).advance(event);
        }
    }

    /// What became of a reply whose cell was deleted while the assistant was answering.
    pub(crate) fn reply_in_trash(&self, cell_id: &CellId) -> Option<&Reply> {
        self.replies_in_trash.get(cell_id).map(|reply| &**reply)
    }
}
