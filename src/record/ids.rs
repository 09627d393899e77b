//! Identifiers: opaque strings with one shape, so that a wrong one is refused when it is parsed.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Number of an event in its notebook: 1, 2, 3 … without gaps. It stays below 2^53, so that JavaScript can represent
/// it.
pub type Version = u64;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;

/// The text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{found}' is not an id: use 1 to 64 characters from A-Z a-z 0-9 - _")]
pub struct InvalidId {
    /// The text, cut after 80 characters.
    pub found: String,
}

fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[schemars(extend("pattern" = "^[A-Za-z0-9_-]{1,64}$"))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the shape: 1 to 64 characters from `A-Z a-z 0-9 - _`.
            pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidId> {
                let text = text.as_ref();
                if is_id(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(InvalidId { found: text.chars().take(80).collect() })
                }
            }

            /// The id as in JSON.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The same text, shared instead of copied.
            pub fn shared(&self) -> Arc<str> {
                self.0.clone()
            }
        }

        impl From<ulid::Ulid> for $name {
            fn from(id: ulid::Ulid) -> Self {
                Self(id.to_string().into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({})", stringify!($name), self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::new(&*text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A notebook. The client chooses the id of a new one, so that a repeated creation has no second effect.
    NotebookId,
    /// Id of a cell, as in nbformat 4.5.
    CellId,
    /// An event.
    EventId,
    /// A command. The client chooses the id; a command that is repeated with the same id is applied once.
    CommandId,
    /// A group of commands that is undone as one, such as a typing burst, a tool call or an import.
    CorrelationId,
    /// One execution of some source on a kernel.
    ExecutionId,
    /// One life of a kernel, from launch to end. A restart begins a new session.
    KernelSessionId,
    /// A person with an account.
    UserId,
    /// A link by which people without an account take part.
    ShareLinkId,
    /// A runtime agent.
    AgentId,
    /// A thread of comments.
    ThreadId,
    /// A comment in a thread.
    CommentId,
    /// A conversation with an assistant.
    ConversationId,
    /// A message in a conversation.
    MessageId,
    /// A turn: an assistant's work on one message, with its model calls and tool calls.
    TurnId,
    /// One call of a tool by an assistant.
    ToolCallId,
    /// A grant: a person's permission, given in advance, for tool calls of one conversation.
    GrantId,
    /// A workspace: a group of notebooks and people.
    WorkspaceId,
    /// A token, without its secret.
    TokenId,
    /// One life of a server process, which holds leases of notebooks and makes claims.
    InstanceId,
}
