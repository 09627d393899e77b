//! Chat events of a turn for its followers: a pure state machine over the turn's events in the log and the live reply.
//! The same log gives the same chat events, so a follower that resumes with a [`TurnCursor`] gets exactly the rest.
//!
//! A reply is streamed first from the live reply, finally from the message in the log, each piece once.

use std::collections::{BTreeMap, VecDeque};

use notarium_core::{
    CallAnswer, Event, MAX_MODEL_CALLS, MessageBlock, MessagePosted, MessageRole, RawObject, Recorded, ToolCallId,
    TurnId, TurnModelCallFinished, wire_word,
};
use notarium_wire::rest::{CallState, ChatEvent};

use super::TurnCursor;
use crate::assistants::calls;
use crate::assistants::turn_activity::{LiveBlock, LiveContent, LiveReply};

/// An event for the follower, and the cursor after it.
#[derive(Debug)]
pub struct FollowerEvent {
    pub at: TurnCursor,
    pub event: ChatEvent,
}

/// A tool call of the turn.
#[derive(Debug, Default)]
struct TurnCall {
    tool_id: Option<String>,
    tool_name: String,
    /// Arguments, held from the request to the start.
    input: Option<RawObject>,
    /// True once the log has the call's request: its events belong to the turn.
    is_requested: bool,
    is_running: bool,
    /// True once the follower was sent a notice that the call takes long.
    is_slow: bool,
    result: Option<(String, bool)>,
}

/// The reply to the current model call.
#[derive(Debug)]
struct CurrentReply {
    /// Cursor before its first piece.
    start: TurnCursor,
    progress: ReplyProgress,
}

/// State of one follower.
#[derive(Debug)]
pub struct Transcript {
    turn_id: TurnId,
    /// Cursor that the follower resumes from; `None` once it is passed.
    resume: Option<TurnCursor>,
    at: TurnCursor,
    model_call: u32,
    attempt: u32,
    /// Reply to the model call that is not answered yet.
    reply: Option<CurrentReply>,
    calls: BTreeMap<ToolCallId, TurnCall>,
    /// Calls of the last message whose results have not been sent, in the order of the message.
    unanswered: VecDeque<ToolCallId>,
    is_over: bool,
    out: Vec<FollowerEvent>,
}

impl Transcript {
    /// Begins a follower. `resume`: the cursor of the last event that it received.
    pub fn new(turn_id: TurnId, resume: Option<TurnCursor>) -> Self {
        Self {
            turn_id,
            resume,
            at: TurnCursor::default(),
            model_call: 0,
            attempt: 0,
            reply: None,
            calls: BTreeMap::new(),
            unanswered: VecDeque::new(),
            is_over: false,
            out: Vec::new(),
        }
    }

    /// True once the turn's end was sent.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the events to send now.
    pub fn take(&mut self) -> Vec<FollowerEvent> {
        std::mem::take(&mut self.out)
    }

    /// Handles the next event of the log, from the turn's start on. Events of other turns are ignored.
    pub fn see(&mut self, recorded: &Recorded) {
        if self.is_over || !self.is_mine(&recorded.event) {
            return;
        }
        let version = recorded.envelope.version;
        if self.resume.is_some_and(|resume| version > resume.version) {
            self.catch_up();
        }
        self.at = TurnCursor { version, count: 0 };
        self.follow(recorded);
    }

    /// Handles the live reply, after the log was read to its current end.
    pub fn see_live(&mut self, live: &LiveReply) {
        self.catch_up();
        // Activity of another attempt is ahead of the log, or behind it.
        if (live.model_call, live.attempt) == (self.model_call, self.attempt) {
            self.write(&of_live(live), Some(live.generation));
        }
        for (call_id, message) in &live.updates {
            self.take_update(call_id, message);
        }
    }

    fn is_mine(&self, event: &Event) -> bool {
        match event {
            Event::MessagePosted(event) => event.turn_id.as_ref() == Some(&self.turn_id),
            Event::ToolCallRequested(event) => event.turn_id.as_ref() == Some(&self.turn_id),
            event => match event.tool_call_id() {
                Some(call_id) => self.calls.get(call_id).is_some_and(|known| known.is_requested),
                None => event.turn_id() == Some(&self.turn_id),
            },
        }
    }

    /// Ends the resuming: from here on every event is new to the follower.
    fn catch_up(&mut self) {
        let Some(resume) = self.resume.take() else { return };
        match &mut self.reply {
            Some(reply) if reply.start.version == resume.version => {
                reply.progress = ReplyProgress::after(resume.count.saturating_sub(reply.start.count));
            }
            // The cursor is ahead of the log's events, so the follower was sent the notice that the running call takes
            // long.
            _ if resume > self.at && resume.version == self.at.version => {
                self.calls.values_mut().filter(|known| known.is_running).for_each(|known| known.is_slow = true);
                self.at = resume;
            }
            _ => {}
        }
    }

    /// Sends a chat event that follows from the current event of the log, unless the follower has it.
    fn send(&mut self, event: ChatEvent) {
        self.at.count += 1;
        if self.resume.is_none_or(|resume| self.at > resume) {
            self.out.push(FollowerEvent { at: self.at, event });
        }
    }

    // --- the log ---

    fn follow(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::TurnStarted(event) => self.send(ChatEvent::Turn {
                conversation_id: event.conversation_id.clone(),
                turn_id: event.turn_id.clone(),
                requested_by: recorded.envelope.actor.clone(),
                started_at: recorded.envelope.recorded_at,
                cell_id: event.cell_id.clone(),
                model: event.model.clone(),
            }),
            Event::TurnModelCallStarted(event) => self.begin_model_call(event.number, event.attempt),
            Event::TurnModelCallFinished(event) => self.end_model_call(event),
            Event::MessagePosted(event) => self.posted(event),
            Event::TurnFinished(event) => self.end(ChatEvent::Done { stop_reason: wire_word(&event.stop_reason) }),
            Event::TurnCancelled(_) => self.end(ChatEvent::Done { stop_reason: "cancelled".to_owned() }),
            Event::TurnFailed(event) => self.end(ChatEvent::Error { error: event.sentence() }),
            _ => self.follow_call(recorded),
        }
    }

    fn begin_model_call(&mut self, number: u32, attempt: u32) {
        (self.model_call, self.attempt) = (number, attempt);
        if number > 1 && attempt == 1 {
            self.send(ChatEvent::TurnStart { turn: number, max_turns: MAX_MODEL_CALLS });
        }
        self.reply = Some(CurrentReply { start: self.at, progress: ReplyProgress::default() });
    }

    fn end_model_call(&mut self, event: &TurnModelCallFinished) {
        let Some(error) = event.sentence() else { return };
        self.reply = None;
        self.send(ChatEvent::AttemptFailed { model_call: event.number, attempt: event.attempt, error });
    }

    fn end(&mut self, event: ChatEvent) {
        self.send_results(true);
        self.send(event);
        self.is_over = true;
    }

    fn posted(&mut self, event: &MessagePosted) {
        match event.role.known() {
            Some(MessageRole::Assistant) => self.answered(event),
            Some(MessageRole::Tool) => self.take_results(event),
            Some(MessageRole::User) | None => {}
        }
    }

    /// The reply is in the log: sends the part that was not sent live.
    fn answered(&mut self, message: &MessagePosted) {
        if message.is_partial && self.reply.is_none() {
            // The attempt failed, and followers dropped its text. The partial message counts after all, and is sent
            // again.
            self.reply = Some(CurrentReply { start: self.at, progress: ReplyProgress::default() });
            if self.resume.is_some_and(|resume| resume.version == self.at.version) {
                self.catch_up();
            }
        }
        let blocks = of_message(message);
        // A partial message keeps no unfinished tool call.
        let has_it = |reply: &CurrentReply| message.is_partial && reply.progress.is_ahead_of(&blocks);
        // A follower that resumes after this event has all of it.
        if self.resume.is_none() && !self.reply.as_ref().is_some_and(has_it) {
            self.write(&blocks, None);
        }
        self.reply = None;
        self.unanswered.clear();
        for block in message.known_blocks() {
            if let MessageBlock::ToolCall { provider_id, call_id, function, .. } = block {
                let known = self.calls.entry(call_id.clone()).or_default();
                (known.tool_id, known.tool_name) = (Some(provider_id.clone()), function.clone());
                self.unanswered.push_back(call_id.clone());
            }
        }
    }

    fn write(&mut self, blocks: &[ShownBlock<'_>], generation: Option<u64>) {
        let Some(CurrentReply { start, progress }) = self.reply.as_mut().filter(|_| !self.is_over) else { return };
        let out = &mut self.out;
        progress.advance(self.model_call, blocks, generation, |length, event| {
            out.push(FollowerEvent { at: TurnCursor { count: start.count + length, ..*start }, event });
        });
    }

    // --- calls ---

    fn follow_call(&mut self, recorded: &Recorded) {
        let by = &recorded.envelope.actor;
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                let known = self.calls.entry(event.call_id.clone()).or_default();
                (known.is_requested, known.tool_name) = (true, event.function.clone());
                known.input = Some(event.arguments.clone());
                let tool_id = known.tool_id.clone();
                if event.gate.waits()
                    && let Some(call) = calls::replay(std::slice::from_ref(recorded))
                {
                    self.send(ChatEvent::ToolConfirmation { tool_id, call: Box::new(call), confirmation: None });
                }
            }
            Event::ToolCallConfirmed(event) => self.send(ChatEvent::ToolDecision {
                call_id: event.call_id.clone(),
                decision: CallState::Confirmed,
                decided_by: by.clone(),
                reason: String::new(),
            }),
            Event::ToolCallDenied(event) => self.send(ChatEvent::ToolDecision {
                call_id: event.call_id.clone(),
                decision: CallState::Denied,
                decided_by: by.clone(),
                reason: event.detail.clone().unwrap_or_default(),
            }),
            Event::ToolCallStarted(event) => self.started(&event.call_id),
            _ => {}
        }
        if let (Some(call_id), Some(answer)) = (recorded.event.tool_call_id(), CallAnswer::of(&recorded.event)) {
            self.result(call_id, answer.text, answer.is_error);
        }
    }

    fn started(&mut self, call_id: &ToolCallId) {
        let Some(known) = self.calls.get_mut(call_id) else { return };
        known.is_running = true;
        let event = ChatEvent::ToolExecute {
            call_id: call_id.clone(),
            tool_id: known.tool_id.clone(),
            tool_name: known.tool_name.clone(),
            tool_input: known.input.take().unwrap_or_default(),
        };
        self.send(event);
    }

    fn result(&mut self, call_id: &ToolCallId, result: String, is_error: bool) {
        let known = self.calls.entry(call_id.clone()).or_default();
        (known.is_running, known.result) = (false, Some((result, is_error)));
        if self.unanswered.contains(call_id) {
            self.send_results(false);
        } else {
            self.send_result(call_id.clone());
        }
    }

    /// Sends results in the order of the calls: a result waits for those of earlier calls. `is_last`: no more results
    /// come.
    fn send_results(&mut self, is_last: bool) {
        while let Some(call_id) = self.unanswered.pop_front() {
            if self.calls.get(&call_id).is_some_and(|known| known.result.is_some()) {
                self.send_result(call_id);
            } else if !is_last {
                return self.unanswered.push_front(call_id);
            }
        }
    }

    fn send_result(&mut self, call_id: ToolCallId) {
        let Some(known) = self.calls.get_mut(&call_id) else { return };
        let Some((result, is_error)) = known.result.take() else { return };
        let (tool_id, tool_name) = (known.tool_id.clone(), known.tool_name.clone());
        self.send(ChatEvent::ToolResult { call_id, tool_id, tool_name, result, is_error });
    }

    /// The message with all results also has those of calls that were never requested: refused, or unreadable. The
    /// others ended before it.
    fn take_results(&mut self, message: &MessagePosted) {
        for block in message.known_blocks() {
            if let MessageBlock::ToolResult { call_id, text: Some(text), is_error, .. } = block
                && self.unanswered.contains(call_id)
            {
                let known = self.calls.entry(call_id.clone()).or_default();
                known.result.get_or_insert_with(|| (text.clone(), *is_error));
            }
        }
        self.send_results(true);
    }

    fn take_update(&mut self, call_id: &ToolCallId, message: &str) {
        let Some(known) = self.calls.get_mut(call_id).filter(|known| known.is_running && !known.is_slow) else {
            return;
        };
        known.is_slow = true;
        let tool_name = known.tool_name.clone();
        self.send(ChatEvent::ToolUpdate { call_id: call_id.clone(), tool_name, message: message.to_owned() });
    }
}

/// A block of a reply, as followers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownBlock<'a> {
    content: BlockContent<'a>,
    is_stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockContent<'a> {
    Text(&'a str),
    Call { tool_id: &'a str, tool_name: &'a str },
}

/// Blocks of a live reply. Hidden thoughts, and text that is still empty, are left out.
pub fn of_live(reply: &LiveReply) -> Vec<ShownBlock<'_>> {
    let shown = reply.blocks.iter().filter_map(|LiveBlock { content, is_stopped }| {
        let content = match content {
            LiveContent::Text(text) if !text.is_empty() => BlockContent::Text(text),
            LiveContent::Call { provider_id, function } => {
                BlockContent::Call { tool_id: provider_id, tool_name: function }
            }
            LiveContent::Text(_) | LiveContent::Hidden => return None,
        };
        Some(ShownBlock { content, is_stopped: *is_stopped })
    });
    shown.collect()
}

/// Blocks of the reply in the log.
pub fn of_message(message: &MessagePosted) -> Vec<ShownBlock<'_>> {
    let shown = message.known_blocks().filter_map(|block| {
        let content = match block {
            MessageBlock::Text { text } if !text.is_empty() => BlockContent::Text(text),
            MessageBlock::ToolCall { provider_id, function, .. } => {
                BlockContent::Call { tool_id: provider_id, tool_name: function }
            }
            _ => return None,
        };
        Some(ShownBlock { content, is_stopped: true })
    });
    shown.collect()
}

/// Length of a reply that was sent, counted as in [`super::TurnCursor`].
#[derive(Debug, Default)]
pub struct ReplyProgress {
    /// Length that was sent before this follower resumed; its content is unknown.
    before: usize,
    /// Content sent since, as [`line`] writes it.
    sent: String,
    /// Generation of the last live reply seen, from which `sent` is.
    generation: Option<u64>,
}

impl ReplyProgress {
    /// Begins after a length that the follower already has.
    pub fn after(before: usize) -> Self {
        Self { before, ..Self::default() }
    }

    /// Sends the new pieces of `blocks`, each with the reply's length up to its end. `generation` is that of their live
    /// reply. Blocks that do not begin with what was sent are sent again from the start.
    pub fn advance(
        &mut self,
        model_call: u32,
        blocks: &[ShownBlock<'_>],
        generation: Option<u64>,
        mut send: impl FnMut(usize, ChatEvent),
    ) {
        let is_known = generation.is_some() && self.generation == generation;
        if !is_known && !self.is_beginning_of(blocks) {
            *self = Self::default();
        }
        self.generation = generation;
        let mut length = 0;
        for (block, ShownBlock { content, is_stopped }) in blocks.iter().enumerate() {
            length += 1;
            if self.reach(length, content.mark()) {
                send(length, content.start(model_call, block));
            }
            if let BlockContent::Text(text) = content {
                let known = text.floor_char_boundary((self.before + self.sent.len()).saturating_sub(length));
                length += text.len();
                let more = &text[known..];
                if !more.is_empty() && self.reach(length, more) {
                    send(length, ChatEvent::TextDelta { model_call, block, text: more.to_owned() });
                }
            }
            if !is_stopped {
                return;
            }
            length += 1;
            if self.reach(length, STOP) {
                send(length, ChatEvent::ContentBlockStop { model_call, block });
            }
        }
    }

    /// Returns true if `piece`, which ends at `length`, is new, and records it as sent.
    fn reach(&mut self, length: usize, piece: &str) -> bool {
        let is_new = length > self.before + self.sent.len();
        if is_new {
            self.sent.push_str(piece);
        }
        is_new
    }

    /// True if all of `blocks` was sent, and perhaps more after it.
    pub fn is_ahead_of(&self, blocks: &[ShownBlock<'_>]) -> bool {
        line(blocks).get(self.before..).is_none_or(|rest| self.sent.starts_with(rest))
    }

    fn is_beginning_of(&self, blocks: &[ShownBlock<'_>]) -> bool {
        self.sent.is_empty() || line(blocks).get(self.before..).is_some_and(|line| line.starts_with(&self.sent))
    }
}

const STOP: &str = "\u{3}";

/// The reply as one line, whose length is the cursor's count.
fn line(blocks: &[ShownBlock<'_>]) -> String {
    let mut line = String::new();
    for ShownBlock { content, is_stopped } in blocks {
        line.push_str(content.mark());
        if let BlockContent::Text(text) = content {
            line.push_str(text);
        }
        if *is_stopped {
            line.push_str(STOP);
        }
    }
    line
}

impl BlockContent<'_> {
    fn mark(&self) -> &'static str {
        match self {
            Self::Text(_) => "\u{1}",
            Self::Call { .. } => "\u{2}",
        }
    }

    fn start(&self, model_call: u32, block: usize) -> ChatEvent {
        match *self {
            BlockContent::Text(_) => ChatEvent::TextStart { model_call, block },
            BlockContent::Call { tool_id, tool_name } => {
                let (tool_id, tool_name) = (tool_id.to_owned(), tool_name.to_owned());
                ChatEvent::ToolStart { model_call, block, tool_id, tool_name }
            }
        }
    }
}
