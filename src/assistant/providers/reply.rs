//! A model's answer: the events of its stream, the whole [`ModelReply`], and the [`Assembler`] that builds both from the pieces.
//! Pure; all protocols use it.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ProviderError;
use super::message::{Block, CallArguments, Thinking, ToolCall};

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub blocks: Vec<Block>,
    pub stop: StopReason,
    /// Absent if the provider reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attempt that succeeded, from 1.
    pub attempts: u32,
}

/// Reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    /// Token limit. The last block may be cut: a call's arguments then do not parse.
    MaxTokens,
    Refusal,
    /// Any other reason, in the provider's word.
    Other(String),
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached or not.
    pub input_tokens: u64,
    /// Tokens written, thinking included.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
}

/// Event of a stream. `block` is an index in [`ModelReply::blocks`]. Blocks may be interleaved: parallel calls can grow side by side.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An attempt failed before anything was handed out; the next begins after `wait`.
    AttemptFailed {
        /// Counts from 1.
        attempt: u32,
        error: ProviderError,
        wait: Duration,
    },
    TextDelta {
        block: usize,
        text: String,
    },
    ThinkingDelta {
        block: usize,
        text: String,
    },
    ToolCallStarted {
        block: usize,
        id: String,
        name: String,
    },
    /// The next characters of the arguments, which are valid JSON only when complete.
    ArgumentsDelta {
        block: usize,
        text: String,
    },
    /// The block is complete, but a call in it must not be executed before [`Event::Finished`]: the stream may still be cut.
    BlockStop {
        block: usize,
    },
    /// The last event: the whole reply, for the record.
    Finished(ModelReply),
}

/// Most blocks in one reply; more are an endless loop of the model, or an attack.
pub(super) const MAX_BLOCKS: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Assembler {
    origin: String,
    blocks: Vec<GrowingBlock>,
    events: VecDeque<Event>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
}

#[derive(Debug)]
struct GrowingBlock {
    block: Block,
    is_open: bool,
}

impl Assembler {
    /// `origin` is `provider/model`, to which thinking is bound.
    pub(super) fn new(origin: String) -> Self {
        Self { origin, ..Self::default() }
    }

    pub(super) fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// True once the model gave its stop reason: later bytes are not needed.
    pub(super) fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() > MAX_BLOCKS
    }

    pub(super) fn open_text(&mut self) -> usize {
        self.open(Block::text(""))
    }

    pub(super) fn open_thinking(&mut self, redacted: Option<String>) -> usize {
        let origin = self.origin.clone();
        self.open(Block::Thinking(Thinking { redacted, origin, ..Thinking::default() }))
    }

    pub(super) fn open_call(&mut self, id: String, name: String) -> usize {
        let call = ToolCall { id: id.clone(), name: name.clone(), arguments: CallArguments::default(), extra: None };
        let block = self.open(Block::ToolCall(call));
        self.events.push_back(Event::ToolCallStarted { block, id, name });
        block
    }

    fn open(&mut self, block: Block) -> usize {
        self.blocks.push(GrowingBlock { block, is_open: true });
        self.blocks.len() - 1
    }

    /// The last block, if it is still open and of this kind.
    pub(super) fn last_open(&self, is_kind: impl Fn(&Block) -> bool) -> Option<usize> {
        let last = self.blocks.last()?;
        (last.is_open && is_kind(&last.block)).then(|| self.blocks.len() - 1)
    }

    /// Adds characters to an open block of text, thinking or arguments.
    pub(super) fn grow(&mut self, block: usize, more: &str) {
        let Some(growing) = self.blocks.get_mut(block).filter(|growing| growing.is_open) else { return };
        if more.is_empty() {
            return;
        }
        let text = more.to_owned();
        let event = match &mut growing.block {
            Block::Text { text: all } => {
                all.push_str(more);
                Event::TextDelta { block, text }
            }
            Block::Thinking(thinking) => {
                thinking.text.push_str(more);
                Event::ThinkingDelta { block, text }
            }
            Block::ToolCall(call) => {
                call.arguments.push(more);
                Event::ArgumentsDelta { block, text }
            }
            Block::Image { .. } | Block::ToolResult(_) => return,
        };
        self.events.push_back(event);
    }

    pub(super) fn sign(&mut self, block: usize, more: &str) {
        if let Some(GrowingBlock { block: Block::Thinking(thinking), .. }) = self.blocks.get_mut(block) {
            thinking.signature.get_or_insert_default().push_str(more);
        }
    }

    /// Keeps encrypted reasoning, and the id of its item.
    pub(super) fn seal(&mut self, block: usize, id: String, sealed: String) {
        if let Some(GrowingBlock { block: Block::Thinking(thinking), .. }) = self.blocks.get_mut(block) {
            (thinking.id, thinking.sealed) = (Some(id), Some(sealed));
        }
    }

    /// True for an open block to which nothing was added.
    pub(super) fn is_blank(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(|growing| growing.is_open && growing.block.is_blank())
    }

    /// Keeps data that the provider attached to a call and expects back.
    pub(super) fn attach(&mut self, block: usize, json: &str) {
        if let Some(GrowingBlock { block: Block::ToolCall(call), .. }) = self.blocks.get_mut(block) {
            call.extra = Some(json.to_owned());
        }
    }

    pub(super) fn close(&mut self, block: usize) {
        let Some(growing) = self.blocks.get_mut(block).filter(|growing| growing.is_open) else { return };
        growing.is_open = false;
        if is_filled(&growing.block) {
            self.events.push_back(Event::BlockStop { block });
        }
    }

    pub(super) fn close_all(&mut self) {
        (0..self.blocks.len()).for_each(|block| self.close(block));
    }

    /// Takes the maximum of all reports: providers repeat their counts as they grow.
    pub(super) fn count(&mut self, usage: Usage) {
        let known = self.usage.get_or_insert_default();
        known.input_tokens = known.input_tokens.max(usage.input_tokens);
        known.output_tokens = known.output_tokens.max(usage.output_tokens);
        known.cached_tokens = known.cached_tokens.max(usage.cached_tokens);
    }

    pub(super) fn stop(&mut self, reason: StopReason) {
        self.stop = Some(reason);
    }

    /// Ends the reply: pushes its last events, or fails if it is empty.
    pub(super) fn finish(&mut self, attempts: u32) -> Result<(), ProviderError> {
        self.close_all();
        let has_call = self.blocks.iter().any(|growing| matches!(growing.block, Block::ToolCall(_)));
        let stop = match self.stop.take() {
            // Gemini and Ollama report `stop` although there are calls.
            Some(StopReason::EndTurn) | None if has_call => StopReason::ToolUse,
            Some(reason) => reason,
            None => StopReason::EndTurn,
        };
        let blocks: Vec<Block> = self.blocks.drain(..).map(|growing| growing.block).filter(is_filled).collect();
        if !blocks.iter().any(is_answer) && stop != StopReason::Refusal {
            return Err(ProviderError::EmptyReply { stop });
        }
        let usage = self.usage.take();
        self.events.push_back(Event::Finished(ModelReply { blocks, stop, usage, attempts }));
        Ok(())
    }
}

/// True for a block with content. Empty blocks are dropped; a signature without text is kept.
fn is_filled(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.is_empty(),
        Block::Thinking(thinking) => {
            let hidden = [&thinking.signature, &thinking.redacted, &thinking.sealed];
            !thinking.text.is_empty() || hidden.iter().any(|hidden| hidden.is_some())
        }
        _ => true,
    }
}

fn is_answer(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::ToolCall(_) => true,
        _ => false,
    }
}
