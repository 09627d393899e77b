//! Follows one turn of an assistant: its events from the log, merged with the live reply.
//!
//! Disconnecting does not stop the turn; late followers replay the log; slow readers do not block it. Text that was
//! written while a follower read arrives in one piece.
//!
//! Position of a turn's follower: the `id` of each event that it is sent, with which it resumes.

#[cfg(test)]
mod tests;
mod transcript;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use notarium_core::{NotebookId, ToolCallPhase, TurnId, Version};
use notarium_wire::rest::ChatEvent;
use tokio::sync::watch;
use tokio::time::Instant;

use super::AssistantState;
use super::calls;
use super::turn_activity::LiveTurn;
use crate::auth::Authenticated;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::notebooks::history::{KEEP_ALIVE, LogWatch};
use transcript::{FollowerEvent, Transcript};

/// Shortest time between two looks at the live reply.
const PACE: Duration = Duration::from_millis(30);

/// Streams a turn that began at `started`, after the cursor `resume`, while the follower may read the notebook.
pub async fn stream(
    notebooks: Arc<Notebooks>,
    assistants: Arc<AssistantState>,
    authenticated: Authenticated,
    notebook: NotebookId,
    turn_id: TurnId,
    started: Version,
    resume: Option<TurnCursor>,
) -> Result<Response, Problem> {
    let head = notebooks.read(&authenticated, &notebook).await?.head;
    let live = assistants.turn_activity.follow(&notebook, &turn_id);
    let watch = LogWatch::start(notebooks, authenticated, &notebook, head.version, started.saturating_sub(1)).await?;
    let follower = TurnFollower {
        watch,
        assistants,
        activity: live.changes(),
        live,
        transcript: Transcript::new(turn_id.clone(), resume),
        turn_id,
        is_log_read: false,
        next_look: Instant::now(),
        ready: VecDeque::new(),
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let piece = follower.next().await?;
        Some((Ok::<_, Infallible>(follower.written(piece).await), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// State of one connection that follows a turn.
struct TurnFollower {
    watch: LogWatch,
    assistants: Arc<AssistantState>,
    live: Arc<LiveTurn>,
    activity: watch::Receiver<()>,
    transcript: Transcript,
    turn_id: TurnId,
    /// True if the log was read to its end.
    is_log_read: bool,
    /// Earliest time of the next look at the live reply.
    next_look: Instant,
    ready: VecDeque<FollowerEvent>,
}

impl TurnFollower {
    /// Next event. `None`: the end was sent, or the follower may read no more.
    async fn next(&mut self) -> Option<FollowerEvent> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.transcript.is_over() {
                self.assistants.turn_activity.forget(self.watch.notebook(), &self.turn_id);
                return None;
            }
            if !self.is_log_read {
                self.read_log().await?;
            } else if self.look_is_due() {
                self.look();
            }
            self.ready.extend(self.transcript.take());
            if self.ready.is_empty() && self.is_log_read && !self.transcript.is_over() {
                self.wait().await?;
            }
        }
    }

    async fn read_log(&mut self) -> Option<()> {
        let stored = self.watch.read().await?;
        let of_turns = stored.iter().filter(|stored| may_be_of_a_turn(&stored.envelope.event_type));
        for recorded in of_turns.filter_map(|stored| stored.typed().ok()) {
            self.transcript.see(&recorded);
        }
        self.is_log_read = stored.is_empty();
        if self.is_log_read {
            // The log may now have reached an earlier live reply.
            self.activity.mark_changed();
        }
        Some(())
    }

    fn look_is_due(&self) -> bool {
        self.activity.has_changed().unwrap_or(false) && Instant::now() >= self.next_look
    }

    fn look(&mut self) {
        self.activity.mark_unchanged();
        self.transcript.see_live(&self.live.reply());
        self.next_look = Instant::now() + PACE;
    }

    /// Waits for new events in the log or a due look at the live reply.
    async fn wait(&mut self) -> Option<()> {
        let (mut activity, next_look) = (self.activity.clone(), self.next_look);
        let due = async move {
            // The sender lives as long as this follower holds it.
            if activity.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep_until(next_look).await;
        };
        tokio::select! {
            is_allowed = self.watch.wait() => {
                is_allowed?;
                self.is_log_read = false;
            }
            () = due => {}
        }
        Some(())
    }

    /// Serialises an event for the wire. An open confirmation gets a preview of what the call would do.
    async fn written(&mut self, FollowerEvent { at, mut event }: FollowerEvent) -> SseEvent {
        if let ChatEvent::ToolConfirmation { call, confirmation, .. } = &mut event
            && let Ok(state) = self.watch.notebooks.read(&self.watch.authenticated, self.watch.notebook()).await
            && let Some(open) = state.notebook.tool_calls.get(&call.id)
            && !matches!(open.phase, ToolCallPhase::Started { .. })
        {
            *confirmation = Some(Box::new(calls::preview(&state.notebook, open)));
        }
        let data = serde_json::to_string(&event).unwrap_or_default();
        SseEvent::default().id(at.to_string()).event(event.name()).data(data)
    }
}

/// Filter by type: cheaper than parsing every output.
fn may_be_of_a_turn(event_type: &str) -> bool {
    event_type == "MessagePosted" || ["Turn", "ModelCall", "ToolCall"].iter().any(|kind| event_type.starts_with(kind))
}

/// A position in a turn: `VERSION-N`, an event of the log and a count of what was sent after it. Chat events that
/// follow from one event of the log count from 1. A live reply belongs to the event that began its model call. There
/// each start and end of a block counts 1, and each byte of its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnCursor {
    pub version: Version,
    pub count: usize,
}

impl fmt::Display for TurnCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.version, self.count)
    }
}

/// The text is not an id from this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for TurnCursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (version, count) = text.split_once('-').ok_or(NoCursor)?;
        Ok(Self { version: version.parse().map_err(|_| NoCursor)?, count: count.parse().map_err(|_| NoCursor)? })
    }
}
