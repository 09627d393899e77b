//! Chat events of a turn for its followers: a pure state machine over the turn's events in the log and its live activity.
//! The same log gives the same chat events, so a follower that resumes with a [`TurnCursor`] gets exactly the rest.
//!
//! A reply is written first from activity, finally from the message in the log. Each time it begins at its beginning, and
//! pieces up to the follower's cursor are not sent.

use std::collections::{BTreeMap, VecDeque};

use notarium_core::{
    CallAnswer, Event, MAX_MODEL_CALLS, MessageBlock, MessagePosted, MessageRole, RawObject, Recorded, ToolCallId,
    TurnId, TurnModelCallFinished, wire_word,
};
use notarium_wire::rest::{CallState, ChatEvent};
use notarium_wire::{ActivityKind, TurnActivity};

use super::TurnCursor;
use crate::assistants::calls;

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

/// State of one follower.
#[derive(Debug)]
pub struct Transcript {
    turn_id: TurnId,
    /// Cursor of the last event that the follower has.
    sent: TurnCursor,
    /// Cursor of the last event that followed from the log, sent or not.
    at: TurnCursor,
    model_call: u32,
    attempt: u32,
    /// Reply to the model call that is not answered yet.
    reply: Option<ShownReply>,
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
            sent: resume.unwrap_or_default(),
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
        self.at = TurnCursor { version: recorded.envelope.version, count: 0 };
        self.follow(recorded);
    }

    /// Handles live activity, after the events of the log that came before it. Activity of other turns is ignored.
    pub fn see_live(&mut self, activity: &TurnActivity) {
        if self.is_over || activity.turn_id != self.turn_id {
            return;
        }
        if let ActivityKind::ToolUpdate { call_id, message } = &activity.what {
            self.take_update(call_id, message);
        // Activity of another attempt is late, and not part of the current reply.
        } else if (activity.model_call, activity.attempt) == (self.model_call, self.attempt)
            && let Some(reply) = &mut self.reply
        {
            reply.write(&activity.what);
            let pieces = std::mem::take(&mut reply.pieces);
            self.send_pieces(pieces);
        }
    }

    /// Handles the activity of all unfinished replies from their beginning, in place of earlier activity.
    pub fn see_anew(&mut self, activity: &[TurnActivity]) {
        if let Some(reply) = &mut self.reply {
            *reply = ShownReply::new(reply.start, reply.model_call);
        }
        activity.iter().for_each(|piece| self.see_live(piece));
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

    /// Sends a chat event that follows from the current event of the log, unless the follower has it.
    fn send(&mut self, event: ChatEvent) {
        self.at.count += 1;
        self.send_at(self.at, event);
    }

    fn send_at(&mut self, at: TurnCursor, event: ChatEvent) {
        if at > self.sent {
            self.sent = at;
            self.out.push(FollowerEvent { at, event });
        }
    }

    /// Sends the pieces of a reply that the follower does not have.
    fn send_pieces(&mut self, pieces: Vec<FollowerEvent>) {
        for FollowerEvent { at, mut event } in pieces {
            if let ChatEvent::TextDelta { text, .. } = &mut event
                && self.sent.version == at.version
            {
                let missing = at.count.saturating_sub(self.sent.count);
                text.drain(..text.floor_char_boundary(text.len().saturating_sub(missing)));
            }
            self.send_at(at, event);
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
        self.reply = Some(ShownReply::new(self.at, number));
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
        // Without a reply its attempt has failed, and followers dropped the text. The partial message counts after all.
        let live = self.reply.take().unwrap_or_else(|| ShownReply::new(self.at, self.model_call));
        let mut reply = ShownReply::new(live.start, live.model_call);
        written(message).iter().for_each(|what| reply.write(what));
        // A partial message has no unfinished tool call.
        let is_beginning = message.is_partial && live.line.starts_with(&reply.line);
        if !is_beginning && !reply.line.starts_with(&live.line) && self.sent.version == live.start.version {
            // The follower has another text: it gets the reply again from the start.
            self.sent = live.start;
        }
        self.send_pieces(reply.pieces);
        self.unanswered.clear();
        for block in message.known_blocks() {
            if let MessageBlock::ToolCall { provider_id, call_id, function, .. } = block {
                let known = self.calls.entry(call_id.clone()).or_default();
                (known.tool_id, known.tool_name) = (Some(provider_id.clone()), function.clone());
                self.unanswered.push_back(call_id.clone());
            }
        }
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

/// Activity that writes a message as a whole.
fn written(message: &MessagePosted) -> Vec<ActivityKind> {
    let mut written = Vec::new();
    for (block, content) in message.known_blocks().enumerate() {
        written.push(match content {
            MessageBlock::Text { text } => ActivityKind::TextDelta { block, text: text.clone() },
            MessageBlock::ToolCall { provider_id, function, .. } => {
                ActivityKind::ToolStart { block, provider_id: provider_id.clone(), function: function.clone() }
            }
            _ => continue,
        });
        written.push(ActivityKind::BlockStop { block });
    }
    written
}

/// The reply of one model call as followers see it: without thoughts and empty texts.
#[derive(Debug)]
struct ShownReply {
    /// Cursor before its first piece.
    start: TurnCursor,
    model_call: u32,
    /// All that was written, with a mark for each start and end of a block. Its length is counted as in [`TurnCursor`].
    line: String,
    /// Number of blocks that followers see.
    blocks: usize,
    /// The block that is being written, by the model's count.
    open: Option<usize>,
    /// The first block that may begin, by the model's count.
    next: usize,
    /// Chat events that were not taken yet.
    pieces: Vec<FollowerEvent>,
}

impl ShownReply {
    fn new(start: TurnCursor, model_call: u32) -> Self {
        Self { start, model_call, line: String::new(), blocks: 0, open: None, next: 0, pieces: Vec::new() }
    }

    fn write(&mut self, what: &ActivityKind) {
        let model_call = self.model_call;
        match what {
            ActivityKind::TextDelta { block, text } if !text.is_empty() => {
                self.begin(*block, "\u{1}", |block| ChatEvent::TextStart { model_call, block });
                // Text of a block that has ended comes with the message.
                if self.open == Some(*block) {
                    let block = self.blocks - 1;
                    self.add(text, ChatEvent::TextDelta { model_call, block, text: text.clone() });
                }
            }
            ActivityKind::ToolStart { block, provider_id, function } => {
                let (tool_id, tool_name) = (provider_id.clone(), function.clone());
                self.begin(*block, "\u{2}", |block| ChatEvent::ToolStart { model_call, block, tool_id, tool_name });
            }
            ActivityKind::BlockStop { block } if self.open == Some(*block) => self.stop(),
            _ => {}
        }
    }

    /// Begins a block, which ends the one before.
    fn begin(&mut self, block: usize, mark: &str, start: impl FnOnce(usize) -> ChatEvent) {
        if block < self.next {
            return;
        }
        self.stop();
        let shown = self.blocks;
        (self.open, self.next, self.blocks) = (Some(block), block + 1, shown + 1);
        self.add(mark, start(shown));
    }

    fn stop(&mut self) {
        if self.open.take().is_some() {
            self.add("\u{3}", ChatEvent::ContentBlockStop { model_call: self.model_call, block: self.blocks - 1 });
        }
    }

    fn add(&mut self, piece: &str, event: ChatEvent) {
        self.line.push_str(piece);
        let at = TurnCursor { count: self.start.count + self.line.len(), ..self.start };
        self.pieces.push(FollowerEvent { at, event });
    }
}
