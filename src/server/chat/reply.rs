//! The reply of one model call as it is told: from what is being written first, from the message in the log at last, each
//! piece once. Pure.

use notarium_core::MessageBlock;

use super::cursor::Mark;
use crate::news::{LiveBlock, LiveContent, LiveReply};
use notarium_wire::rest::ChatEvent;

/// A block that followers are shown.
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

/// What is being written. Thoughts, and text that has not begun, are not shown.
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

/// What it came to.
pub fn of_message(blocks: &[MessageBlock]) -> Vec<Shown<'_>> {
    let shown = blocks.iter().filter_map(|block| {
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

/// How much of a reply has been told.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub mark: Mark,
    /// Of the live reply that was looked at last: its beginning is what was told.
    generation: Option<u64>,
}

impl Progress {
    pub const START: Self = Self { mark: Mark::START, generation: None };

    pub fn at(mark: Mark) -> Self {
        Self { mark, generation: None }
    }

    /// Tells what is new in `blocks`; `generation`: of the live reply they are from. Where they do not begin as what was
    /// told, all is told anew.
    pub fn advance(
        &mut self,
        model_call: u32,
        blocks: &[Shown<'_>],
        generation: Option<u64>,
        mut tell: impl FnMut(Mark, ChatEvent),
    ) {
        if (generation.is_none() || self.generation != generation) && !self.mark.is_place_in(blocks) {
            self.mark = Mark::START;
        }
        self.generation = generation;
        while let Some(shown) = blocks.get(self.mark.block) {
            let block = self.mark.block;
            if !self.mark.is_begun {
                self.mark.begin(&shown.content);
                tell(self.mark, start(model_call, block, &shown.content));
            }
            if let Some(text) = self.mark.read(&shown.content) {
                tell(self.mark, ChatEvent::TextDelta { model_call, block, text: text.to_owned() });
            }
            if !shown.is_stopped {
                return;
            }
            self.mark.end();
            tell(self.mark, ChatEvent::ContentBlockStop { model_call, block });
        }
    }
}

fn start(model_call: u32, block: usize, content: &Content<'_>) -> ChatEvent {
    match *content {
        Content::Text(_) => ChatEvent::TextStart { model_call, block },
        Content::Call { tool_id, tool_name } => {
            let (tool_id, tool_name) = (tool_id.to_owned(), tool_name.to_owned());
            ChatEvent::ToolStart { model_call, block, tool_id, tool_name }
        }
    }
}

impl Mark {
    fn begin(&mut self, content: &Content<'_>) {
        self.is_begun = true;
        match content {
            Content::Text(_) => self.mix(b"\x01"),
            Content::Call { tool_id, tool_name } => {
                [b"\x02", tool_id.as_bytes(), b"\0", tool_name.as_bytes()].iter().for_each(|bytes| self.mix(bytes));
            }
        }
    }

    /// The text that was not read yet.
    fn read<'a>(&mut self, content: &Content<'a>) -> Option<&'a str> {
        let Content::Text(text) = content else { return None };
        let more = text.get(self.bytes..).filter(|more| !more.is_empty())?;
        self.bytes = text.len();
        self.mix(more.as_bytes());
        Some(more)
    }

    fn end(&mut self) {
        self.mix(b"\x03");
        *self = Self { block: self.block + 1, is_begun: false, bytes: 0, ..*self };
    }

    /// Whether these blocks begin with what led to this mark.
    fn is_place_in(&self, blocks: &[Shown<'_>]) -> bool {
        self.replayed(blocks).is_some_and(|mark| mark == *self)
    }

    fn replayed(&self, blocks: &[Shown<'_>]) -> Option<Mark> {
        let mut mark = Mark::START;
        for shown in blocks.get(..self.block)? {
            mark.begin(&shown.content);
            mark.read(&shown.content);
            mark.end();
        }
        if self.is_begun {
            let content = blocks.get(self.block)?.content;
            mark.begin(&content);
            if let Content::Text(text) = content {
                mark.read(&Content::Text(text.get(..self.bytes)?));
            }
        }
        Some(mark)
    }
}
