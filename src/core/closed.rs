//! What clients send is closed.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// A value in which no field is unknown, however deep. Readers of the record ignore fields that they do not know; what a client
/// sends is refused if it has one, or somebody would believe that something was done that was not.
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
