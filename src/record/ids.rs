//! Ids, versions, times, hashes and salts: short values with a checked text form.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
                deserializer.deserialize_str(TextVisitor(|text: &str| Self::new(text)))
            }
        }
    )*};
}

ids! {
    /// Id of a notebook. The client chooses it, so that a repeated creation has no second effect.
    NotebookId,
    /// Id of a cell, as in nbformat 4.5.
    CellId,
    /// Id of an event.
    EventId,
    /// Id of a command. The client chooses it; a command that is repeated with the same id is applied once.
    CommandId,
    /// Id of a group of commands that is undone as one, such as a typing burst, a tool call or an import.
    CorrelationId,
    /// Id of one execution of some source on a kernel.
    ExecutionId,
    /// Id of a kernel session: one life of a kernel, from launch to end. A restart begins a new session.
    KernelSessionId,
    /// Id of a person with an account.
    UserId,
    /// Id of a share link, by which people without an account take part.
    ShareLinkId,
    /// Id of a runtime agent.
    AgentId,
    /// Id of a thread of comments.
    ThreadId,
    /// Id of a comment in a thread.
    CommentId,
    /// Id of a conversation with an assistant.
    ConversationId,
    /// Id of a message in a conversation.
    MessageId,
    /// Id of a turn: an assistant's work on one message, with its model calls and tool calls.
    TurnId,
    /// Id of one call of a tool by an assistant.
    ToolCallId,
    /// Id of a grant: a person's permission, given in advance, for tool calls of one conversation.
    GrantId,
    /// Id of a workspace: a group of notebooks and people.
    WorkspaceId,
    /// Id of a token. It is not the token's secret.
    TokenId,
    /// Id of a schedule by which a notebook runs by itself.
    ScheduleId,
    /// Id of one life of a server process, which holds leases of notebooks and makes claims.
    InstanceId,
}

/// Reads a text where it stands: logs have millions of ids and hashes, and a copy of each costs more than its check.
struct TextVisitor<F>(F);

impl<T, E: fmt::Display, F: FnOnce(&str) -> Result<T, E>> Visitor<'_> for TextVisitor<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<R: serde::de::Error>(self, text: &str) -> Result<T, R> {
        (self.0)(text).map_err(R::custom)
    }
}

// --- hashes ---

macro_rules! hex_bytes {
    ($($(#[$doc:meta])* $name:ident [$length:literal]),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub [u8; $length]);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{self}")
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut digits = [0_u8; 2 * $length];
                hex::encode_to_slice(self.0, &mut digits).map_err(serde::ser::Error::custom)?;
                serializer.serialize_str(std::str::from_utf8(&digits).map_err(serde::ser::Error::custom)?)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": concat!("^([0-9a-f]{2}){", stringify!($length), "}$") })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(|text: &str| {
                    let mut bytes = [0_u8; $length];
                    hex::decode_to_slice(text, &mut bytes).map(|()| Self(bytes))
                }))
            }
        }
    )*};
}

hex_bytes! {
    /// A SHA-256 digest, as lower-case hex in JSON.
    Hash[32],
    /// Random bytes hashed with a payload, so that its digest does not allow guesses of the payload.
    Salt[16]
}

impl Hash {
    /// The hash before the first event.
    pub const ZERO: Hash = Hash([0; 32]);

    /// Reads 64 hexadecimal digits; `None`: these are none.
    pub fn from_hex(digits: &str) -> Option<Hash> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).ok().map(|()| Hash(bytes))
    }
}
