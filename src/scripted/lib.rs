//! The scripted model: a small server that speaks real OpenAI Responses, OpenAI chat completions and Anthropic Messages over HTTP.
//!
//! Purpose: answers from a script, for tests and the demo.
//!
//! Invariants:
//! - It checks requests as strictly as the real providers: the key, the model, a result for every call, and that thinking comes back
//!   unchanged. Over Responses it comes back encrypted, and is followed by what the model did with it.
//! - The same script and the same requests give the same answers.
//!
//! It must never know the crate that calls it: both know only the providers' protocols.
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
//! `key` and `models` are optional; without them any are accepted. The first matching rule that is not used up answers. If there is none,
//! the answer is status 400 with a message.
//!
//! **`when`** (every given field must match; texts match as substrings, ignoring case):
//! - `user`: the last text that a person wrote. Without `after_tool` the rule answers only directly after that text,
//!   never after a tool result.
//! - `after_tool`: the request ends with a result of this tool (`*`: of any).
//! - `result`: the text of that result.
//! - `model`, `system`: the model's name, the system text.
//!
//! **`times`**: how often the rule may answer. By default a rule with `when` answers without limit, one without answers once: rules without
//! `when` are a queue. `"when": {}` matches everything, for instance for endless tool calls.
//!
//! **`reply`**: content
//! - `thinking`, `text`, `calls` in this order, or `blocks`: a list of `{"thinking": …}`, `{"text": …}`, `{"call": …}`.
//! - a call has `name`, and `arguments` (JSON) or `raw_arguments` (text, which need not be JSON), and may have an `id`.
//! - `stop`: `end_turn`, `tool_use`, `max_tokens` or `refusal`; derived from the content by default.
//! - `usage`: `{ "input_tokens": n, "output_tokens": n }`; by default an estimate.
//! - `raw`: the bytes of the whole stream instead of all other fields.
//!
//! and delivery:
//! - `piece_characters` (12): characters per delta.
//! - `chunk_bytes` or `chunks` (a list of sizes): positions at which the bytes are cut into HTTP chunks, even within characters and JSON.
//!   Bytes beyond the list are one last chunk. By default there is one chunk per event.
//! - `delay_ms`: delay before the first byte; `chunk_delay_ms`: delay before every further chunk.
//! - `cut_after_bytes`: breaks the connection there. `hang_after_bytes`: sends nothing more, and keeps the connection open.
//! - `malformed_event`: number of an event, from 0, that is sent with broken JSON.
//! - `error_event`: an error type such as `overloaded_error`, sent in the stream instead of its end.
//! - `status`, with `retry_after` and `body`: an answer with this status instead of a stream.
//!
//! **Placeholders** in texts and arguments insert values from the conversation:
//! - `${create_cell/cell_id}`: from the last result of `create_cell`, read as JSON, the value at the pointer `/cell_id`. A string that
//!   consists of one placeholder becomes the value itself, a number for instance.
//! - `${create_cell~Created cell}`: the word after "Created cell" in the last result of `create_cell`.
//! - `${*~notebook}`: the word after the last "notebook" in the whole request.
//! - `#` instead of `~`: the word as a number. `$${` is a literal `${`.

mod conversation;
mod script;
mod server;
mod sse;

use serde::{Deserialize, Serialize};

pub use script::{Rule, Script, ScriptError, ScriptedBlock, ScriptedCall, ScriptedReply, ScriptedUsage, When};
pub use server::{AnswerOutcome, RecordedRequest, ScriptedServer};

/// Protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestProtocol {
    /// OpenAI Responses.
    Responses,
    /// OpenAI chat completions.
    ChatCompletions,
    /// Anthropic Messages.
    Messages,
}

/// Reason why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
}
