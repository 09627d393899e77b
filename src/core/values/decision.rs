//! The answer to a command: events, and what the sender learns with the ack.

use notarium_record::{
    Actor, CellId, CommentId, CorrelationId, Event, EventId, ExecutionId, KernelSessionId, ThreadId, ToolCallId, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One decided event, and the group that it undoes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The event; [`crate::notebook::seal`] adds the envelope.
    pub event: Event,
    /// Actor of the event if it is not the sender: a partial answer of a stopped turn has the assistant as its actor.
    pub actor: Option<Actor>,
    /// Correlation id of the undone group. Absent for all but undo and redo.
    pub undoes: Option<CorrelationId>,
    /// Replaces the command's own: each step of an undo is its own group.
    pub correlation_id: Option<CorrelationId>,
    /// Number of places back to the event of the same command that led to this one. `None`: the cause of the command
    /// counts, if any.
    pub led_by: Option<usize>,
    /// Cause of the batch part to which the event belongs. `None`: the cause of the command counts.
    pub caused_by: Option<EventId>,
}

impl<E: Into<Event>> From<E> for Decided {
    fn from(event: E) -> Self {
        Self { event: event.into(), actor: None, undoes: None, correlation_id: None, led_by: None, caused_by: None }
    }
}

/// Information for the sender in the ack: ids that the server chose, and notices about effects that are incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Outcome {
    /// Cells that the command made or restored, in the order of its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellId>,
    /// Executions that the command requested, in the order of its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionId>,
    /// The session that the command launched, or in which its run is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    /// The thread that the command began, or in which it replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The comment that the command posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<CommentId>,
    /// The turn that the command started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The tool call that the command requested or decided on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCallId>,
    /// Sentences for people, for example about parts of an undo that other edits had overwritten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Outcome {
    /// Returns true if there is nothing to report; messages then omit the field.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn absorb(&mut self, part: Outcome) {
        self.cells.extend(part.cells);
        self.executions.extend(part.executions);
        self.kernel_session = part.kernel_session.or(self.kernel_session.take());
        self.thread = part.thread.or(self.thread.take());
        self.comment = part.comment.or(self.comment.take());
        self.turn = part.turn.or(self.turn.take());
        self.tool_call = part.tool_call.or(self.tool_call.take());
        self.notices.extend(part.notices);
    }
}

/// An accepted command. Without events: the state is already as requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// Events to record in this order, in one append.
    pub events: Vec<Decided>,
    /// Information that the sender gets with the ack.
    pub outcome: Outcome,
}

impl Decision {
    pub(crate) fn one(event: impl Into<Event>) -> Self {
        Self::of([event.into().into()])
    }

    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// The event, or none if the state is already as the event says.
    pub(crate) fn unless(is_so: bool, event: impl Into<Event>) -> Self {
        if is_so { Self::nothing() } else { Self::one(event) }
    }

    /// Events without an outcome for the sender.
    pub(crate) fn of(events: impl IntoIterator<Item = Decided>) -> Self {
        Self { events: events.into_iter().collect(), outcome: Outcome::default() }
    }

    /// Sets the first event as the cause of the others, unless another of these events is.
    pub(crate) fn led_by_first(mut self) -> Self {
        for (places, decided) in self.events.iter_mut().enumerate().skip(1) {
            decided.led_by.get_or_insert(places);
        }
        self
    }
}
