//! The story of a turn as its followers are told it: a pure state machine over the turn's events in the log and what is being
//! written beside them. The same log gives the same story, so that who comes back with a [`Cursor`] gets exactly the rest.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{
    Event, MAX_MODEL_CALLS, MessageBlock, MessagePosted, MessageRole, ModelCallFinished, RawObject, Recorded,
    ToolCallId, TurnId, Version,
};

use super::cursor::{Cursor, Mark};
use super::reply::{self, Progress};
use crate::news::LiveReply;
use notarium_wire::rest::{CallState, ChatEvent};

use crate::routes::calls::record;

/// An event for the follower, and the place after it.
#[derive(Debug)]
pub struct Piece {
    pub at: Cursor,
    pub event: ChatEvent,
}

/// A call of the turn's.
#[derive(Debug, Default)]
struct Known {
    tool_id: Option<String>,
    tool_name: String,
    /// Kept from the request to the start.
    input: Option<RawObject>,
    /// It is in the log as a call: its events belong to the turn.
    is_requested: bool,
    is_running: bool,
    is_told: bool,
}

/// One follower's state.
#[derive(Debug)]
pub struct Transcript {
    turn_id: TurnId,
    /// What the follower has; `None` once that is passed.
    resume: Option<Cursor>,
    version: Version,
    step: u32,
    model_call: u32,
    attempt: u32,
    /// Of the model call that has not been answered.
    reply: Option<Progress>,
    calls: BTreeMap<ToolCallId, Known>,
    /// Calls of which was said that they take long.
    slow: BTreeSet<ToolCallId>,
    last_slow: Option<ToolCallId>,
    is_over: bool,
    out: Vec<Piece>,
}

impl Transcript {
    /// `resume`: what the follower has been told before.
    pub fn new(turn_id: TurnId, resume: Option<Cursor>) -> Self {
        Self {
            turn_id,
            resume,
            version: 0,
            step: 0,
            model_call: 0,
            attempt: 0,
            reply: None,
            calls: BTreeMap::new(),
            slow: BTreeSet::new(),
            last_slow: None,
            is_over: false,
            out: Vec::new(),
        }
    }

    /// Whether the turn's end has been told.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What is to be told now.
    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.out)
    }

    /// The next event of the log, from the one that started the turn on. Those that are not of the turn change nothing.
    pub fn see(&mut self, recorded: &Recorded) {
        if self.is_over || !self.is_mine(&recorded.event) {
            return;
        }
        let version = recorded.envelope.version;
        if self.resume.as_ref().is_some_and(|resume| version > resume.version) {
            self.catch_up();
        }
        if let Event::MessagePosted(MessagePosted { role: MessageRole::Assistant, blocks, .. }) = &recorded.event {
            // Its pieces go on from the event that began the model call.
            self.answered(blocks);
            (self.version, self.step) = (version, 0);
        } else {
            (self.version, self.step) = (version, 0);
            self.last_slow = None;
            self.follow(recorded);
        }
    }

    /// The log has been read to its end, for now: this is what is being written.
    pub fn see_live(&mut self, live: &LiveReply) {
        self.catch_up();
        // What is ahead of the log, or behind it, is not what the log speaks of.
        let is_present = (live.model_call, live.attempt) == (self.model_call, self.attempt);
        if let Some(progress) = self.reply.filter(|_| is_present && !self.is_over) {
            self.write(progress, &reply::of_live(live), Some(live.generation));
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

    /// What comes from here on is new to the follower.
    fn catch_up(&mut self) {
        let Some(Cursor { reply, told, .. }) = self.resume.take() else { return };
        if let (Some(progress), Some(mark)) = (&mut self.reply, reply) {
            *progress = Progress::at(mark);
        }
        self.slow.extend(told.clone());
        self.last_slow = told;
    }

    // --- out ---

    fn cursor(&self, reply: Option<Mark>) -> Cursor {
        Cursor { version: self.version, step: self.step, reply, told: self.last_slow.clone() }
    }

    /// What follows from the present event of the log, unless the follower has it.
    fn tell(&mut self, event: ChatEvent) {
        self.step += 1;
        let place = (self.version, self.step);
        if self.resume.as_ref().is_none_or(|resume| place > (resume.version, resume.step)) {
            let at = self.cursor(None);
            self.out.push(Piece { at, event });
        }
    }

    // --- the log ---

    fn follow(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::TurnStarted(event) => self.tell(ChatEvent::Turn {
                conversation_id: event.conversation_id.clone(),
                turn_id: event.turn_id.clone(),
                requested_by: recorded.envelope.actor.clone(),
                started_at: recorded.envelope.recorded_at,
                cell_id: event.cell_id.clone(),
                model: event.model.clone(),
            }),
            Event::ModelCallStarted(event) => self.begin_model_call(event.number, event.attempt),
            Event::ModelCallFinished(event) => self.end_model_call(event),
            Event::MessagePosted(event) if event.role == MessageRole::Tool => self.answers(&event.blocks),
            Event::TurnFinished(event) => self.end(ChatEvent::Done { stop_reason: word(&event.stop_reason) }),
            Event::TurnCancelled(_) => self.end(ChatEvent::Done { stop_reason: "cancelled".to_owned() }),
            Event::TurnFailed(event) => self.end(ChatEvent::Error { error: event.cause.clone() }),
            _ => self.follow_call(recorded),
        }
    }

    fn begin_model_call(&mut self, number: u32, attempt: u32) {
        (self.model_call, self.attempt) = (number, attempt);
        self.reply = Some(Progress::START);
        if number > 1 && attempt == 1 {
            self.tell(ChatEvent::TurnStart { turn: number, max_turns: MAX_MODEL_CALLS });
        }
    }

    fn end_model_call(&mut self, event: &ModelCallFinished) {
        let Some(error) = event.failure.clone() else { return };
        self.reply = None;
        self.tell(ChatEvent::AttemptFailed { model_call: event.number, attempt: event.attempt, error });
    }

    fn end(&mut self, event: ChatEvent) {
        self.tell(event);
        self.is_over = true;
    }

    /// The reply is in the log: what was not told while it was written is told now.
    fn answered(&mut self, blocks: &[MessageBlock]) {
        // In the past of who comes back nothing is left of it.
        if self.resume.is_none()
            && let Some(progress) = self.reply
        {
            self.write(progress, &reply::of_message(blocks), None);
        }
        self.reply = None;
        for block in blocks {
            if let MessageBlock::ToolCall { provider_id, call_id, function, .. } = block {
                let known = self.calls.entry(call_id.clone()).or_default();
                (known.tool_id, known.tool_name) = (Some(provider_id.clone()), function.clone());
            }
        }
    }

    fn write(&mut self, mut progress: Progress, blocks: &[reply::Shown<'_>], generation: Option<u64>) {
        let before = self.cursor(None);
        let out = &mut self.out;
        progress.advance(self.model_call, blocks, generation, |mark, event| {
            out.push(Piece { at: Cursor { reply: Some(mark), ..before.clone() }, event });
        });
        self.reply = Some(progress);
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
                if event.expires_at.is_some()
                    && let Some(call) = record::replay(std::slice::from_ref(recorded))
                {
                    self.tell(ChatEvent::ToolConfirmation { tool_id, call: Box::new(call), confirmation: None });
                }
            }
            Event::ToolCallConfirmed(event) => self.tell(ChatEvent::ToolDecision {
                call_id: event.call_id.clone(),
                decision: CallState::Confirmed,
                decided_by: by.clone(),
                reason: String::new(),
            }),
            Event::ToolCallDenied(event) => self.tell(ChatEvent::ToolDecision {
                call_id: event.call_id.clone(),
                decision: CallState::Denied,
                decided_by: by.clone(),
                reason: event.reason.clone(),
            }),
            Event::ToolCallStarted(event) => self.started(&event.call_id),
            _ => {}
        }
        if let (Some(call_id), Some(answer)) = (recorded.event.tool_call_id(), recorded.event.call_answer()) {
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
        self.tell(event);
    }

    fn result(&mut self, call_id: &ToolCallId, result: String, is_error: bool) {
        let known = self.calls.entry(call_id.clone()).or_default();
        (known.is_running, known.is_told) = (false, true);
        let (tool_id, tool_name) = (known.tool_id.clone(), known.tool_name.clone());
        self.tell(ChatEvent::ToolResult { call_id: call_id.clone(), tool_id, tool_name, result, is_error });
    }

    /// Results of calls that never came to be one: refused before, or unreadable.
    fn answers(&mut self, blocks: &[MessageBlock]) {
        for block in blocks {
            if let MessageBlock::ToolResult { call_id, text, is_error, .. } = block
                && self.calls.get(call_id).is_none_or(|known| !known.is_told)
            {
                self.result(call_id, text.clone(), *is_error);
            }
        }
    }

    fn take_update(&mut self, call_id: &ToolCallId, message: &str) {
        let Some(known) = self.calls.get(call_id).filter(|known| known.is_running) else { return };
        let tool_name = known.tool_name.clone();
        if !self.slow.insert(call_id.clone()) {
            return;
        }
        self.last_slow = Some(call_id.clone());
        let at = self.cursor(None);
        let event = ChatEvent::ToolUpdate { call_id: call_id.clone(), tool_name, message: message.to_owned() };
        self.out.push(Piece { at, event });
    }
}

/// As it is on the wire.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
