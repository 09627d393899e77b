//! Follows one turn of an assistant: its events from the log and the room, with the activity that all subscribers of the
//! notebook get.
//!
//! Disconnecting does not stop the turn; late followers replay the log; slow readers do not block it.
//!
//! Position of a turn's follower: the `id` of each event that it is sent, with which it resumes.

#[cfg(test)]
mod tests;
mod transcript;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use notarium_core::{NotebookId, ToolCallPhase, TurnId, Version};
use notarium_wire::rest::ChatEvent;

use super::calls;
use crate::auth::Authenticated;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::notebooks::history::{KEEP_ALIVE, LogWatch};
use crate::rooms::News;
use transcript::{FollowerEvent, Transcript};

/// Streams a turn that began at `started`, after the cursor `resume`, while the follower may read the notebook.
pub async fn stream(
    notebooks: Arc<Notebooks>,
    authenticated: Authenticated,
    notebook: NotebookId,
    turn_id: TurnId,
    started: Version,
    resume: Option<TurnCursor>,
) -> Result<Response, Problem> {
    let watch = LogWatch::start(notebooks, authenticated, &notebook, started.saturating_sub(1)).await?;
    let transcript = Transcript::new(turn_id, resume);
    let follower = TurnFollower { watch, transcript, news: VecDeque::new(), ready: VecDeque::new() };
    let events = stream::unfold(follower, |mut follower| async move {
        let piece = follower.next().await?;
        Some((Ok::<_, Infallible>(follower.written(piece).await), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// State of one connection that follows a turn.
struct TurnFollower {
    watch: LogWatch,
    transcript: Transcript,
    news: VecDeque<Arc<News>>,
    ready: VecDeque<FollowerEvent>,
}

impl TurnFollower {
    /// Next event. `None`: the end was sent, or the follower may read no more.
    async fn next(&mut self) -> Option<FollowerEvent> {
        while self.ready.is_empty() && !self.transcript.is_over() {
            match self.news.front().map(|news| log_before(news)) {
                None => self.news.extend(self.watch.news().await?),
                Some(version) if self.watch.version < version => self.read_log().await?,
                Some(_) => self.take_news(),
            }
            self.ready.extend(self.transcript.take());
        }
        self.ready.pop_front()
    }

    async fn read_log(&mut self) -> Option<()> {
        let stored = self.watch.read().await?;
        let of_turns = stored.iter().filter(|stored| may_be_of_a_turn(&stored.envelope.event_type));
        for recorded in of_turns.filter_map(|stored| stored.typed().ok()) {
            self.transcript.see(&recorded);
        }
        (!stored.is_empty()).then_some(())
    }

    fn take_news(&mut self) {
        let Some(news) = self.news.pop_front() else { return };
        match &*news {
            News::Position { activity, .. } => self.transcript.see_anew(activity),
            News::Committed { events, .. } => {
                for recorded in events.iter().filter(|recorded| recorded.envelope.version > self.watch.version) {
                    self.transcript.see(recorded);
                }
                let last = events.last().map_or(0, |recorded| recorded.envelope.version);
                self.watch.version = last.max(self.watch.version);
            }
            News::Activity(activity) => activity.iter().for_each(|piece| self.transcript.see_live(piece)),
        }
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

/// Version up to which the log is read before this news. A follower that missed nothing has read it.
fn log_before(news: &News) -> Version {
    match news {
        News::Position { version, .. } => *version,
        News::Committed { events, .. } => events.first().map_or(0, |first| first.envelope.version - 1),
        News::Activity(_) => 0,
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

impl TurnCursor {
    /// `None`: the text is not an id from this server.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, count) = text.split_once('-')?;
        Some(Self { version: version.parse().ok()?, count: count.parse().ok()? })
    }
}
