//! What files keep of ours under `metadata.notarium`, of a notebook or of a cell. Pure.

use notarium_wire::ipynb::Object;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

const OURS: &str = "notarium";
/// The reply to a prompt, which nbformat has no place for.
pub const REPLY: &str = "reply";
/// Of a reactive notebook.
pub const REACTIVITY: &str = "reactivity";

/// Keeps a value under a name.
pub fn put(metadata: &mut Object, name: &str, value: &impl Serialize) {
    let mut own = read(metadata).unwrap_or_default();
    let Some(value) = raw(value) else { return };
    own.insert(name.to_owned(), value);
    metadata.extend(raw(&own).map(|own| (OURS.to_owned(), own)));
}

/// Takes a value out. `None`: there is none, or it is none of these and stays.
pub fn take<T: DeserializeOwned>(metadata: &mut Object, name: &str) -> Option<T> {
    let mut own = read(metadata)?;
    let value = serde_json::from_str(own.remove(name)?.get()).ok()?;
    match raw(&own).filter(|_| !own.is_empty()) {
        Some(own) => metadata.insert(OURS.to_owned(), own),
        None => metadata.remove(OURS),
    };
    Some(value)
}

fn read(metadata: &Object) -> Option<Object> {
    serde_json::from_str(metadata.get(OURS)?.get()).ok()
}

fn raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}
