//! Streams the reply of one model call: first from the live reply, finally from the message in the log, each piece
//! once. Pure.

use notarium_core::{MessageBlock, MessagePosted};

use notarium_wire::rest::ChatEvent;

use crate::assistants::turn_activity::{LiveBlock, LiveContent, LiveReply};

/// A block of a reply, as followers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown<'a> {
    content: Content<'a>,
    is_stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content<'a> {
    Text(&'a str),
    Call { tool_id: &'a str, tool_name: &'a str },
}

/// Blocks of a live reply. Hidden thoughts, and text that is still empty, are left out.
pub fn of_live(reply: &LiveReply) -> Vec<Shown<'_>> {
    let shown = reply.blocks.iter().filter_map(|LiveBlock { content, is_stopped }| {
        let content = match content {
            LiveContent::Text(text) if !text.is_empty() => Content::Text(text),
            LiveContent::Call { provider_id, function } => Content::Call { tool_id: provider_id, tool_name: function },
            LiveContent::Text(_) | LiveContent::Hidden => return None,
        };
        Some(Shown { content, is_stopped: *is_stopped })
    });
    shown.collect()
}

/// Blocks of the reply in the log.
pub fn of_message(message: &MessagePosted) -> Vec<Shown<'_>> {
    let shown = message.known_blocks().filter_map(|block| {
        let content = match block {
            MessageBlock::Text { text } if !text.is_empty() => Content::Text(text),
            MessageBlock::ToolCall { provider_id, function, .. } => {
                Content::Call { tool_id: provider_id, tool_name: function }
            }
            _ => return None,
        };
        Some(Shown { content, is_stopped: true })
    });
    shown.collect()
}

/// Length of a reply that was sent, counted as in [`super::Cursor`].
#[derive(Debug, Default)]
pub struct Progress {
    /// Length that was sent before this follower resumed; its content is unknown.
    before: usize,
    /// Content sent since, as [`line`] writes it.
    sent: String,
    /// Generation of the last live reply seen, from which `sent` is.
    generation: Option<u64>,
}

impl Progress {
    /// Begins after a length that the follower already has.
    pub fn after(before: usize) -> Self {
        Self { before, ..Self::default() }
    }

    /// Sends the new pieces of `blocks`, each with the reply's length up to its end. `generation` is that of their live
    /// reply. Blocks that do not begin with what was sent are sent again from the start.
    pub fn advance(
        &mut self,
        model_call: u32,
        blocks: &[Shown<'_>],
        generation: Option<u64>,
        mut send: impl FnMut(usize, ChatEvent),
    ) {
        let is_known = generation.is_some() && self.generation == generation;
        if !is_known && !self.is_beginning_of(blocks) {
            *self = Self::default();
        }
        self.generation = generation;
        let mut length = 0;
        for (block, Shown { content, is_stopped }) in blocks.iter().enumerate() {
            length += 1;
            if self.reach(length, content.mark()) {
                send(length, content.start(model_call, block));
            }
            if let Content::Text(text) = content {
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
    pub fn is_ahead_of(&self, blocks: &[Shown<'_>]) -> bool {
        line(blocks).get(self.before..).is_none_or(|rest| self.sent.starts_with(rest))
    }

    fn is_beginning_of(&self, blocks: &[Shown<'_>]) -> bool {
        self.sent.is_empty() || line(blocks).get(self.before..).is_some_and(|line| line.starts_with(&self.sent))
    }
}

const STOP: &str = "\u{3}";

/// The reply as one line, whose length is the cursor's count.
fn line(blocks: &[Shown<'_>]) -> String {
    let mut line = String::new();
    for Shown { content, is_stopped } in blocks {
        line.push_str(content.mark());
        if let Content::Text(text) = content {
            line.push_str(text);
        }
        if *is_stopped {
            line.push_str(STOP);
        }
    }
    line
}

impl Content<'_> {
    fn mark(&self) -> &'static str {
        match self {
            Self::Text(_) => "\u{1}",
            Self::Call { .. } => "\u{2}",
        }
    }

    fn start(&self, model_call: u32, block: usize) -> ChatEvent {
        match *self {
            Content::Text(_) => ChatEvent::TextStart { model_call, block },
            Content::Call { tool_id, tool_name } => {
                let (tool_id, tool_name) = (tool_id.to_owned(), tool_name.to_owned());
                ChatEvent::ToolStart { model_call, block, tool_id, tool_name }
            }
        }
    }
}
