//! The scripted model: a small server that speaks real OpenAI chat completions and Anthropic Messages over HTTP.
//!
//! Purpose: answers from a script, for tests and the demo.
//!
//! Invariants:
//! - It checks requests as strictly as the real providers do: the key, the model, results for every call, thinking that comes
//!   back unchanged.
//! - The same script and the same requests give the same answers.
//!
//! It must never know the crate that calls it: both know the providers' protocols alone.
//!
//! A script is JSON:
//!
//! ```json
//! {
//!   "key": "only-this-key-is-let-in",
//!   "models": ["scripted-1"],
//!   "replies": [
//!     { "when": { "user": "delete" },
//!       "reply": { "thinking": "Which cell?", "calls": [{ "name": "get_notebook_state", "arguments": {} }] } },
//!     { "when": { "after_tool": "get_notebook_state" },
//!       "reply": { "text": "I delete it.",
//!                  "calls": [{ "name": "delete_cell",
//!                              "arguments": { "cell_id": "${get_notebook_state/cells/0/cell_id}" } }] } },
//!     { "when": { "after_tool": "delete_cell", "result": "denied" }, "reply": { "text": "Then it stays." } },
//!     { "when": { "after_tool": "delete_cell" }, "reply": { "text": "Gone." } },
//!     { "reply": { "status": 429, "retry_after": "1" } },
//!     { "reply": { "text": "Hello again." } }
//!   ]
//! }
//! ```
//!
//! `key` and `models` are optional; without them any are accepted. The first rule that matches and is not used up
//! answers. If none does, the answer is status 400 and says so.
//!
//! **`when`** (all that is given must match; texts match as parts, without regard to case):
//! - `user`: the last text that a person wrote. Without `after_tool` the rule answers only directly after that text,
//!   never after a tool result.
//! - `after_tool`: the request ends with a result of this tool (`*`: of any).
//! - `result`: the text of that result.
//! - `model`, `system`: the model's name, the system text.
//!
//! **`times`**: how often the rule may answer. By default a rule with `when` answers without limit, one without answers
//! once: rules without `when` are a queue. `"when": {}` matches everything: endless tool calls are made so.
//!
//! **`reply`**: what is said
//! - `thinking`, `text`, `calls` in this order, or `blocks`: a list of `{"thinking": …}`, `{"text": …}`, `{"call": …}`.
//! - a call has `name`, and `arguments` (JSON) or `raw_arguments` (text, which need not be JSON), and may have an `id`.
//! - `stop`: `end_turn`, `tool_use`, `max_tokens` or `refusal`; by default what fits.
//! - `usage`: `{ "input_tokens": n, "output_tokens": n }`; by default an estimate.
//! - `raw`: the bytes of the whole stream instead of all that.
//!
//! and how:
//! - `piece_characters` (12): characters per delta.
//! - `chunk_bytes` or `chunks` (a list of sizes): where the bytes are cut into HTTP chunks, in the middle of characters
//!   and of JSON too; what the list does not cover is one last chunk. By default one chunk per event.
//! - `delay_ms`: before the first byte; `chunk_delay_ms`: before every further chunk.
//! - `cut_after_bytes`: the connection breaks there. `hang_after_bytes`: nothing more comes, and the connection stays.
//! - `malformed_event`: the number, from 0, of an event that is sent with broken JSON.
//! - `error_event`: a type such as `overloaded_error`; said in the stream in place of its end.
//! - `status`, with `retry_after` and `body`: no stream but this answer.
//!
//! **Placeholders** in texts and arguments take what only the conversation knows:
//! - `${create_cell/cell_id}`: from the last result of `create_cell`, read as JSON, the value at the pointer `/cell_id`. A
//!   string that is nothing but the placeholder becomes the value itself, a number for instance.
//! - `${create_cell~Created cell}`: the word that follows "Created cell" in the last result of `create_cell`.
//! - `${*~notebook}`: the word that follows "notebook" for the last time in the whole request.
//! - `#` instead of `~`: the word as a number. `$${` is a literal `${`.

mod conversation;
mod placeholders;
mod script;
mod server;
mod sse;

use serde::{Deserialize, Serialize};

pub use script::{Rule, Script, ScriptError, ScriptedBlock, ScriptedCall, ScriptedReply, ScriptedUsage, When};
pub use server::{Outcome, RecordedRequest, ScriptedServer};

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// Anthropic's Messages.
    Messages,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
}
