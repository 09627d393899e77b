//! The server's key for signed heads of records.
//!
//! Purpose: a head that was signed and kept elsewhere proves later that a record was neither cut nor rewritten.
//!
//! Invariants:
//! - The secret key is a file of the data folder that only its owner reads; it is in no backup. Nodes of a cluster derive theirs from the
//!   cluster's secret. The public keys are in the database, the oldest
//!   first, and are never removed.
//! - Without its file a new key begins, and the list of keys says since when.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use notarium_core::{Actor, Hash};
use notarium_store::accounts::{AccountChange, AccountError, SigningKey};
use notarium_wire::signed_head::StatedHead;
use notarium_wire::signed_names::StatedNames;
use notarium_wire::signed_note::VerifierKey;
use notarium_wire::tree_log::checkpoint::Checkpoint;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use secrecy::{ExposeSecret, SecretString};

use crate::auth::Accounts;

/// File of the secret key, in PKCS #8.
const KEY_FILE: &str = "signing-key.pk8";

/// Reason why there is no key. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SigningKeyError {
    #[error(
        "the key for signed heads in {path} is damaged: move the file away, and a new key begins at the next start"
    )]
    Damaged { path: PathBuf },
    #[error(
        "the key for signed heads in {path} cannot be read or made ({reason}): its folder must be writable for the server"
    )]
    Unusable { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Accounts(#[from] AccountError),
}

/// Signs heads.
pub struct HeadSigner(Ed25519KeyPair);

impl HeadSigner {
    /// Reads the key of a data folder, or makes one; of a cluster: derives the key that all nodes have. Lists its public part.
    pub async fn open(
        folder: &Path,
        cluster_secret: Option<&SecretString>,
        accounts: &Accounts,
    ) -> Result<Self, SigningKeyError> {
        let path = folder.join(KEY_FILE);
        let damaged = || SigningKeyError::Damaged { path: path.clone() };
        let pair = match cluster_secret {
            Some(secret) => of_cluster(secret).ok_or_else(damaged)?,
            None => {
                let unusable = |reason| SigningKeyError::Unusable { path: path.clone(), reason };
                let secret = read_or_make(&path).map_err(unusable)?;
                Ed25519KeyPair::from_pkcs8(&secret).map_err(|_| damaged())?
            }
        };
        let public_key = pair.public_key().as_ref().try_into().map_err(|_| damaged())?;
        let name = VerifierKey::of(public_key).name;
        if accounts.store().signing_keys().await?.iter().all(|key| key.name != name) {
            let key = SigningKey { name: name.clone(), public_key, since: accounts.now() };
            let audit = accounts.audit(&Actor::System, "signing_key.begin", &name);
            accounts.change(&[AccountChange::AddSigningKey(key)], audit).await?;
            tracing::info!(key = name, "heads of records are signed with a new key");
        }
        Ok(Self(pair))
    }

    /// The names as a note.
    pub fn sign_names(&self, names: &StatedNames) -> String {
        names.signed(&self.0)
    }

    /// Name of the key in the list of signing keys.
    pub fn key_name(&self) -> String {
        VerifierKey::of_pair(&self.0).name
    }

    /// The key of the tree of heads.
    pub fn log_key(&self) -> VerifierKey {
        VerifierKey::of_log_pair(&self.0)
    }

    /// The checkpoint of the tree of heads as a note.
    pub fn sign_tree(&self, size: u64, root: Hash) -> String {
        Checkpoint::signed(size, root, &self.0)
    }

    /// The head as a note.
    pub fn sign(&self, head: &StatedHead) -> String {
        head.signed(&self.0)
    }
}

/// The key of a cluster's nodes, from their secret.
fn of_cluster(secret: &SecretString) -> Option<Ed25519KeyPair> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    Ed25519KeyPair::from_seed_unchecked(hmac::sign(&key, b"notarium signing key").as_ref()).ok()
}

fn read_or_make(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        read => {
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            read
        }
    }
}

/// Makes a key. The file has its name only once it is whole.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    let secret = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
    let secret = secret.map_err(|_| io::Error::other("there are no random numbers"))?;
    let part = path.with_extension("part");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(secret.as_ref())?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(secret.as_ref().to_vec())
}
