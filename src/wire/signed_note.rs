//! Signed notes: texts with the signature of a server, in the form of the [C2SP signed note](https://c2sp.org/signed-note) with Ed25519.
//!
//! `signed_head` (the end of a record) and `signed_names` (names of people) say which texts there are.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};

/// Number of Ed25519 in signed notes.
const ED25519_NOTE: u8 = 1;
const PUBLIC_KEY_BYTES: usize = 32;
/// Largest note that is read.
const MAX_NOTE_BYTES: usize = 1 << 20;
/// Beginning of a signature's line.
const SIGNATURE: &str = "— ";

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
        Self::named("notarium-", public)
    }

    /// The same key under the name with which a server signs the tree of its heads.
    pub fn of_log(public: [u8; PUBLIC_KEY_BYTES]) -> Self {
        Self::named("notarium-log-", public)
    }

    /// Like [`Self::of`], of a pair.
    pub fn of_pair(pair: &Ed25519KeyPair) -> Self {
        Self::of(public_of(pair))
    }

    /// Like [`Self::of_log`], of a pair.
    pub fn of_log_pair(pair: &Ed25519KeyPair) -> Self {
        Self::of_log(public_of(pair))
    }

    /// The key of the same server for the tree of its heads.
    pub fn for_log(&self) -> Self {
        Self::of_log(self.public)
    }

    fn named(prefix: &str, public: [u8; PUBLIC_KEY_BYTES]) -> Self {
        let digest = Sha256::digest(public);
        let name = digest[..8].iter().fold(prefix.to_owned(), |mut name, byte| {
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

/// The text with the server's signature. The text ends with a line break.
pub fn sign(text: &str, pair: &Ed25519KeyPair) -> String {
    sign_as(text, pair, &VerifierKey::of(public_of(pair)))
}

fn public_of(pair: &Ed25519KeyPair) -> [u8; PUBLIC_KEY_BYTES] {
    let mut public = [0; PUBLIC_KEY_BYTES];
    public.copy_from_slice(pair.public_key().as_ref());
    public
}

/// Like [`sign`], under the name of this key, which must be the pair's.
pub fn sign_as(text: &str, pair: &Ed25519KeyPair, key: &VerifierKey) -> String {
    let signature = [&key.id()[..], pair.sign(text.as_bytes()).as_ref()].concat();
    format!("{text}\n{SIGNATURE}{} {}\n", key.name, STANDARD.encode(signature))
}

/// Reads a note that one of these keys has signed; returns its text and the key. Signatures of other keys are passed over, as the form says:
/// others may sign the same note.
pub fn verified_text<'n, 'k>(note: &'n str, keys: &'k [VerifierKey]) -> Result<(&'n str, &'k VerifierKey), NoteError> {
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
    Ok((text, signer))
}
