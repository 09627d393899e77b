//! Signed heads: the end of a notebook's record, signed by its server, for keeping elsewhere. A record that was cut or rewritten later does not
//! agree with it.
//!
//! The form is a [C2SP signed note](https://c2sp.org/signed-note) with an Ed25519 signature. The head of a chain of hashes is no tree head, so the
//! text is not that of a checkpoint:
//!
//! ```text
//! notarium head 1
//! notebook 01JQ0XK7Q0N7W2M8Q4V3T5Y6Z7
//! version 42
//! hash 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//! recorded 1764300000000
//! signed 1764300000123
//!
//! — notarium-3f2a9c0d51e7b846 Rz4…
//! ```
//!
//! Times are in milliseconds since 1970: of the last event, and of the signature.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::{Hash, Head, Millis, NotebookId, Version};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};

/// First line of the text: format and its number.
const FORMAT: &str = "notarium head 1";
/// Number of Ed25519 in signed notes.
const ED25519_NOTE: u8 = 1;
const PUBLIC_KEY_BYTES: usize = 32;
/// Largest note that is read.
const MAX_NOTE_BYTES: usize = 1 << 20;
/// Beginning of a signature's line.
const SIGNATURE: &str = "— ";

/// A head as its server states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedHead {
    /// The notebook of the record.
    pub notebook_id: NotebookId,
    /// Version of the last event.
    pub version: Version,
    /// Hash of the last event.
    pub hash: Hash,
    /// Time of the last event, in milliseconds since 1970.
    pub recorded_at: Millis,
    /// Time of the signature, in milliseconds since 1970.
    pub signed_at: Millis,
}

/// Reason why a note does not count. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text is not a note with a head.
    #[error("this is no signed head ({reason}): `notarium head NB --sign` makes one")]
    Malformed {
        /// Fault of the text.
        reason: &'static str,
    },
    /// The text is not a key.
    #[error("this is no key of a server ({reason}): take a line of SERVER/.well-known/notarium-keys")]
    MalformedKey {
        /// Fault of the text.
        reason: &'static str,
    },
    /// Only others have signed the note.
    #[error(
        "none of the known keys has signed this head (it names {names}): give the key that its server had then (--key)"
    )]
    UnknownKey {
        /// Names of the keys that have.
        names: String,
    },
    /// A known key has not signed this text.
    #[error(
        "the signature of {name} is not right: the head was changed after it was signed, or it is another server's"
    )]
    WrongSignature {
        /// Name of the key.
        name: String,
    },
}

/// A public key by which heads are verified, in the form of signed notes: `NAME+ID+KEY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    /// Name of the key, `notarium-` and 16 hexadecimal digits for those of servers.
    pub name: String,
    public: [u8; PUBLIC_KEY_BYTES],
}

impl VerifierKey {
    /// The key of a server, whose name follows from the key.
    pub fn of(public: [u8; PUBLIC_KEY_BYTES]) -> Self {
        let digest = Sha256::digest(public);
        let name = digest[..8].iter().fold("notarium-".to_owned(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        });
        Self { name, public }
    }

    /// Parses `NAME+ID+KEY`.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let malformed = |reason| NoteError::MalformedKey { reason };
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(malformed("it is not NAME+ID+KEY"));
        };
        let bytes = STANDARD.decode(key).map_err(|_| malformed("its key is not base64"))?;
        let public = bytes.strip_prefix(&[ED25519_NOTE]).ok_or(malformed("its key is not of Ed25519"))?;
        let public = public.try_into().map_err(|_| malformed("an Ed25519 key has 32 bytes"))?;
        if !is_name(name) {
            return Err(malformed("its name has blanks, or is missing"));
        }
        let key = Self { name: name.to_owned(), public };
        match u32::from_str_radix(id, 16) {
            Ok(given) if id.len() == 8 && given.to_be_bytes() == key.id() => Ok(key),
            _ => Err(malformed("its id does not belong to it")),
        }
    }

    fn id(&self) -> [u8; 4] {
        let digest =
            Sha256::new().chain_update(&self.name).chain_update([b'\n', ED25519_NOTE]).chain_update(self.public);
        let digest = digest.finalize();
        [digest[0], digest[1], digest[2], digest[3]]
    }
}

impl std::fmt::Display for VerifierKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = STANDARD.encode([&[ED25519_NOTE][..], &self.public].concat());
        write!(formatter, "{}+{:08x}+{key}", self.name, u32::from_be_bytes(self.id()))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|character: char| character.is_whitespace() || character == '+')
}

impl StatedHead {
    /// The head of a notebook, stated now.
    pub fn new(notebook_id: NotebookId, head: Head, signed_at: Millis) -> Self {
        Self { notebook_id, version: head.version, hash: head.hash, recorded_at: head.recorded_at, signed_at }
    }

    fn text(&self) -> String {
        let Self { notebook_id, version, hash, recorded_at, signed_at } = self;
        format!(
            "{FORMAT}\nnotebook {notebook_id}\nversion {version}\nhash {hash}\nrecorded {recorded_at}\nsigned {signed_at}\n"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.strip_suffix('\n')?.split('\n');
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        let head = Self {
            notebook_id: field("notebook")?.parse().ok()?,
            version: field("version")?.parse().ok()?,
            hash: serde_json::from_value(serde_json::Value::String(field("hash")?)).ok()?,
            recorded_at: field("recorded")?.parse().ok()?,
            signed_at: field("signed")?.parse().ok()?,
        };
        // Each head has one text: what is signed is what is read.
        (head.text() == text).then_some(head)
    }

    /// The head as a note with the server's signature.
    pub fn signed(&self, pair: &Ed25519KeyPair) -> String {
        let mut public = [0; PUBLIC_KEY_BYTES];
        public.copy_from_slice(pair.public_key().as_ref());
        let (text, key) = (self.text(), VerifierKey::of(public));
        let signature = [&key.id()[..], pair.sign(text.as_bytes()).as_ref()].concat();
        format!("{text}\n{SIGNATURE}{} {}\n", key.name, STANDARD.encode(signature))
    }

    /// Reads a note that one of these keys has signed; returns the head and the key. Signatures of other keys are passed over, as the form
    /// says: others may sign the same note.
    pub fn verified<'k>(note: &str, keys: &'k [VerifierKey]) -> Result<(Self, &'k VerifierKey), NoteError> {
        let malformed = |reason| NoteError::Malformed { reason };
        if note.len() > MAX_NOTE_BYTES {
            return Err(malformed("it is too large"));
        }
        let end = note.rfind("\n\n").ok_or(malformed("it has no signature"))?;
        let (text, signatures) = (&note[..=end], &note[end + 2..]);
        let signatures = signatures.strip_suffix('\n').ok_or(malformed("its last line has no end"))?;
        let (mut signer, mut names) = (None, Vec::new());
        for line in signatures.split('\n') {
            let parts = line.strip_prefix(SIGNATURE).and_then(|line| line.split_once(' '));
            let (name, encoded) = parts.filter(|(name, _)| is_name(name)).ok_or(malformed("a line is no signature"))?;
            let bytes = STANDARD.decode(encoded).map_err(|_| malformed("a signature is not base64"))?;
            let (id, signature) = bytes.split_at_checked(4).ok_or(malformed("a signature is cut"))?;
            names.push(name);
            let Some(key) = keys.iter().find(|key| key.name == name && key.id() == id) else { continue };
            let verified = UnparsedPublicKey::new(&ED25519, &key.public).verify(text.as_bytes(), signature);
            verified.map_err(|_| NoteError::WrongSignature { name: name.to_owned() })?;
            signer = signer.or(Some(key));
        }
        let signer = signer.ok_or_else(|| NoteError::UnknownKey { names: names.join(", ") })?;
        let head = Self::parse(text).ok_or(malformed("its text is not that of a head"))?;
        Ok((head, signer))
    }
}

/// The notes of a file that holds one after the other.
pub fn notes_of(text: &str) -> impl Iterator<Item = &str> {
    let begins = text.match_indices(FORMAT).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let begins: Vec<usize> = begins.collect();
    let ends: Vec<usize> = begins.iter().skip(1).copied().chain([text.len()]).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| &text[begin..end])
}
