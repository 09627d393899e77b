//! Deserialises and rejects unknown fields at any depth.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// A value without unknown fields at any depth. Readers of the record ignore unknown fields; a client's message with
/// one is refused. Otherwise the client would believe that the field had an effect.
#[derive(Debug, Clone, Copy)]
pub struct Closed<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Closed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut unknown: Option<String> = None;
        let note = |path: serde_ignored::Path<'_>| _ = unknown.get_or_insert_with(|| path.to_string());
        let value = serde_ignored::deserialize(deserializer, note)?;
        match unknown {
            Some(path) => Err(D::Error::custom(format_args!("unknown field `{path}`"))),
            None => Ok(Self(value)),
        }
    }
}
