//! Envelope of every event, and the hash chain that makes the log tamper-evident.
//!
//! `hash = SHA-256(previous hash ‖ header ‖ payload digest)`. The header is a format byte (1), then every field of the
//! envelope, each preceded by its length (u32, big endian). The payload digest is `SHA-256(salt ‖ payload bytes)`. If
//! the salt is destroyed, a redacted payload cannot be guessed from its digest, and the chain still verifies.
//!
//! An append has the events and commands that are written to the log in one transaction: a room makes it, a store keeps
//! it.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::Actor;
use crate::event::Event;
use crate::ids::{CommandId, CorrelationId, EventId, Hash, Millis, NotebookId, Salt, Version};
use crate::json::RawJson;
use crate::stand_in::ContentRemoval;
use crate::upcast::{DecodeError, newest_schema, to_newest};

/// All fields of an event but its payload. The store's `position` (over all notebooks) is not among them and not
/// hashed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Unique over all notebooks; made by the server.
    pub id: EventId,
    /// The notebook whose log this is.
    pub notebook_id: NotebookId,
    /// Version of the event before, plus one.
    pub version: Version,
    /// The name of the payload's type, as in `CellInserted`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Schema number of the payload, counted for each type from 1.
    pub schema: u16,
    /// Actor of the connection; stamped by the server.
    pub actor: Actor,
    /// The command to which the event belongs.
    pub command_id: CommandId,
    /// The undo group; equal to `command_id` if the command named none.
    pub correlation_id: CorrelationId,
    /// The event that led to this one; absent if a client's command did.
    pub causation_id: Option<EventId>,
    /// The group that this event undoes.
    pub undoes: Option<CorrelationId>,
    /// Time of the append; never before the previous event's.
    pub recorded_at: Millis,
}

/// An event as the store keeps it: the payload is exactly the text that was hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FlatStored")]
pub struct Stored {
    /// Hashed fields beside the payload.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Payload in the schema in which it was written. After a redaction a stand-in.
    pub payload: RawJson,
    /// Absent after a redaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Salt>,
    /// SHA-256 of salt and payload. It stays after a redaction.
    pub payload_digest: Hash,
    /// SHA-256 of the previous hash, the envelope and the digest.
    pub hash: Hash,
}

/// The fields of [`Stored`] in one object. A derived reader of flattened fields keeps a copy of each until it knows all, which takes three times
/// as long.
#[derive(Deserialize)]
struct FlatStored {
    id: EventId,
    notebook_id: NotebookId,
    version: Version,
    #[serde(rename = "type")]
    event_type: String,
    schema: u16,
    actor: Actor,
    command_id: CommandId,
    correlation_id: CorrelationId,
    #[serde(default)]
    causation_id: Option<EventId>,
    #[serde(default)]
    undoes: Option<CorrelationId>,
    recorded_at: Millis,
    payload: RawJson,
    #[serde(default)]
    salt: Option<Salt>,
    payload_digest: Hash,
    hash: Hash,
}

impl From<FlatStored> for Stored {
    fn from(flat: FlatStored) -> Self {
        let FlatStored { id, notebook_id, version, event_type, schema, actor, command_id, correlation_id, .. } = flat;
        let FlatStored { causation_id, undoes, recorded_at, payload, salt, payload_digest, hash, .. } = flat;
        let envelope = Envelope {
            id,
            notebook_id,
            version,
            event_type,
            schema,
            actor,
            command_id,
            correlation_id,
            causation_id,
            undoes,
            recorded_at,
        };
        Stored { envelope, payload, salt, payload_digest, hash }
    }
}

/// A typed event with its envelope: the input of `apply`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Actor, time, and place in the log.
    pub envelope: Envelope,
    /// The payload, in the newest schema of its type.
    pub event: Event,
}

/// Type of the event that erases a notebook.
pub const ERASED: &str = "NotebookErased";

/// End of a notebook's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the last event; 0 before the first.
    pub version: Version,
    /// The hash of the last event; zeros before the first.
    pub hash: Hash,
    /// When the last event was recorded; 0 before the first.
    pub recorded_at: Millis,
}

impl Head {
    /// The head before the first event.
    pub const START: Head = Head { version: 0, hash: Hash::ZERO, recorded_at: 0 };
}

/// The first break of a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// A version is missing or doubled.
    #[error("version {found} follows version {after}: an event is missing or doubled")]
    Gap {
        /// The last version that is proven.
        after: Version,
        /// The version that came next.
        found: Version,
    },
    /// The payload does not have its digest.
    #[error("the payload of version {version} is not the one that was recorded")]
    Payload {
        /// The first event that is wrong.
        version: Version,
    },
    /// The hash does not match the previous hash, the envelope and the digest.
    #[error("the envelope of version {version} is not the one that was recorded, or the event before it was changed")]
    Hash {
        /// The first event that is wrong.
        version: Version,
    },
    /// An event has an earlier time than the one before.
    #[error("version {version} is dated before the one it follows")]
    Time {
        /// The first event that is wrong.
        version: Version,
    },
}

impl Stored {
    /// Types the payload, in whatever schema it was written.
    ///
    /// # Errors
    /// This build cannot read the event.
    pub fn typed(&self) -> Result<Recorded, DecodeError> {
        let event = Event::decode(&self.envelope.event_type, self.envelope.schema, self.payload.get())?;
        Ok(Recorded { envelope: self.envelope.clone(), event })
    }

    /// Returns schema and payload as this build writes them. A payload of an older schema is upcast; others, and those
    /// that this build cannot read, are as in the log.
    pub fn newest(&self) -> (u16, RawJson) {
        let Envelope { event_type, schema, .. } = &self.envelope;
        let upcast = match to_newest(event_type, *schema, self.payload.get()) {
            Ok(Cow::Owned(payload)) => RawJson::parse(&payload).ok(),
            Ok(Cow::Borrowed(_)) | Err(_) => None,
        };
        upcast.map_or_else(|| (*schema, self.payload.clone()), |payload| (newest_schema(event_type), payload))
    }

    /// Head of a chain that ends with this event.
    pub fn head(&self) -> Head {
        Head { version: self.envelope.version, hash: self.hash, recorded_at: self.envelope.recorded_at }
    }

    /// Head of the erased chain, if this is the event that erased it: a record that begins with this event continues there.
    pub fn erased_head(&self) -> Option<Head> {
        if self.envelope.event_type != ERASED {
            return None;
        }
        let Ok(Event::NotebookErased(event)) = self.typed().map(|recorded| recorded.event) else { return None };
        Some(Head { version: event.version, hash: event.hash, recorded_at: 0 })
    }
}

/// SHA-256(salt ‖ payload).
fn payload_digest(salt: &Salt, payload: &str) -> Hash {
    Hash(Sha256::new().chain_update(salt.0).chain_update(payload).finalize().into())
}

/// Writes the header of the hash: length-prefixed fields in the order of [`Envelope`]. An absent field has length
/// 2^32-1.
struct Header(Sha256);

impl Header {
    fn bytes(self, field: &[u8]) -> Self {
        self.joined([field])
    }

    /// A field in pieces.
    fn joined<const N: usize>(mut self, pieces: [&[u8]; N]) -> Self {
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        self.0.update(u32::try_from(length).unwrap_or(u32::MAX - 1).to_be_bytes());
        pieces.into_iter().for_each(|piece| self.0.update(piece));
        self
    }

    fn optional(mut self, field: Option<&str>) -> Self {
        match field {
            Some(text) => self.bytes(text.as_bytes()),
            None => {
                self.0.update(u32::MAX.to_be_bytes());
                self
            }
        }
    }
}

/// First byte of every header. Another order or meaning of its fields gets another number.
const HASH_FORMAT: u8 = 1;

fn chain_hash(previous: &Hash, envelope: &Envelope, digest: &Hash) -> Hash {
    let header = Header(Sha256::new().chain_update(previous.0).chain_update([HASH_FORMAT]))
        .bytes(envelope.id.as_str().as_bytes())
        .bytes(envelope.notebook_id.as_str().as_bytes())
        .bytes(&envelope.version.to_be_bytes())
        .bytes(envelope.event_type.as_bytes())
        .bytes(&envelope.schema.to_be_bytes())
        .joined(envelope.actor.key_parts().map(str::as_bytes))
        .bytes(envelope.command_id.as_str().as_bytes())
        .bytes(envelope.correlation_id.as_str().as_bytes())
        .optional(envelope.causation_id.as_ref().map(EventId::as_str))
        .optional(envelope.undoes.as_ref().map(CorrelationId::as_str))
        .bytes(&envelope.recorded_at.to_be_bytes());
    Hash(header.0.chain_update(digest.0).finalize().into())
}

impl Stored {
    /// Seals an event's payload with the hash that continues the chain at `head`, and advances `head`.
    pub fn seal(head: &mut Head, envelope: Envelope, payload: RawJson, salt: Salt) -> Stored {
        let digest = payload_digest(&salt, payload.get());
        let hash = chain_hash(&head.hash, &envelope, &digest);
        *head = Head { version: envelope.version, hash, recorded_at: envelope.recorded_at };
        Stored { envelope, payload, salt: Some(salt), payload_digest: digest, hash }
    }
}

/// Checks that `events` continue the chain at `head`, and returns its new end. The error names the first break.
pub fn verify_chain<'a>(head: Head, events: impl IntoIterator<Item = &'a Stored>) -> Result<Head, ChainError> {
    events.into_iter().try_fold(head, verify_one)
}

fn verify_one(head: Head, stored: &Stored) -> Result<Head, ChainError> {
    let head = if head == Head::START { stored.erased_head().unwrap_or(head) } else { head };
    let Envelope { version, recorded_at, .. } = stored.envelope;
    if version != head.version + 1 {
        return Err(ChainError::Gap { after: head.version, found: version });
    }
    if recorded_at < head.recorded_at {
        return Err(ChainError::Time { version });
    }
    if stored.salt.is_some_and(|salt| payload_digest(&salt, stored.payload.get()) != stored.payload_digest) {
        return Err(ChainError::Payload { version });
    }
    if chain_hash(&head.hash, &stored.envelope, &stored.payload_digest) != stored.hash {
        return Err(ChainError::Hash { version });
    }
    Ok(Head { version, hash: stored.hash, recorded_at })
}

// --- appends ---

/// A sealed event with its index key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The event as written to disk, hash included.
    pub stored: Stored,
    /// [`Event::subject`]; `None` for the notebook as a whole.
    pub subject: Option<String>,
}

impl NewEvent {
    /// Takes the subject from the event.
    pub fn new(stored: Stored, event: &Event) -> Self {
        Self { stored, subject: event.subject().map(str::to_owned) }
    }
}

/// An accepted command, kept so that a repeat gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// Key of the sender, from `Actor::key()`.
    pub actor: String,
    /// Unique for each actor in a notebook.
    pub command_id: CommandId,
    /// SHA-256 of the command's body. Another body under the same id is refused.
    pub digest: [u8; 32],
    /// The notebook's version after the command.
    pub version: Version,
    /// The answer, as JSON.
    pub outcome: RawJson,
}

/// Number of a notebook's lease, counted up. 0: no lease was taken yet, for instance because the notebook does not
/// exist.
pub type Epoch = u64;

/// Events and commands that are written all or nothing. Without events: a command that changed nothing is recorded too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The notebook whose log is written.
    pub notebook_id: NotebookId,
    /// Epoch of the lease under which this is written. The store refuses it if a later lease was taken.
    pub epoch: Epoch,
    /// The head that the events continue; [`Head::START`] for a new notebook.
    pub expected: Head,
    /// Versions `expected.version + 1`, `+ 2` …
    pub events: Vec<NewEvent>,
    /// The commands that these events answer.
    pub commands: Vec<CommandRecord>,
    /// Content of earlier events that is removed: payloads are replaced, their salts go, and all that was derived from the notebook is dropped.
    pub removal: ContentRemoval,
}

impl Append {
    /// The notebook's head after this append.
    pub fn head(&self) -> Head {
        self.events.last().map_or(self.expected, |event| event.stored.head())
    }
}

/// An event of the log, typed or stored.
pub trait Logged {
    /// Actor, time, and place in the log.
    fn envelope(&self) -> &Envelope;

    /// The typed event; `None`: this build cannot read it.
    fn recorded(&self) -> Option<Cow<'_, Recorded>>;
}

impl Logged for Recorded {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        Some(Cow::Borrowed(self))
    }
}

impl Logged for Stored {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        self.typed().ok().map(Cow::Owned)
    }
}

impl<T: Logged> Logged for Arc<T> {
    fn envelope(&self) -> &Envelope {
        (**self).envelope()
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        (**self).recorded()
    }
}

/// Sorts events by version and removes duplicates.
pub fn in_order<T: Logged>(events: &mut Vec<T>) {
    events.sort_by_key(|event| event.envelope().version);
    events.dedup_by_key(|event| event.envelope().version);
}
