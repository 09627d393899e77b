//! Values of Notarium in files, under `metadata.notarium` of a notebook or of a cell. Pure.

use notarium_wire::ipynb::Object;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blobs::parts::to_raw;

const OURS: &str = "notarium";
/// Reply to a prompt, which nbformat has no field for.
pub const REPLY: &str = "reply";
/// Mode of a reactive notebook.
pub const REACTIVITY: &str = "reactivity";

/// Stores a value under a name.
pub fn put(metadata: &mut Object, name: &str, value: &impl Serialize) {
    let mut own = read(metadata).unwrap_or_default();
    own.insert(name.to_owned(), to_raw(value));
    metadata.insert(OURS.to_owned(), to_raw(&own));
}

/// Removes and returns a value. `None`: there is none, or it is of another type and stays.
pub fn take<T: DeserializeOwned>(metadata: &mut Object, name: &str) -> Option<T> {
    let mut own = read(metadata)?;
    let value = serde_json::from_str(own.remove(name)?.get()).ok()?;
    match own.is_empty() {
        true => metadata.remove(OURS),
        false => metadata.insert(OURS.to_owned(), to_raw(&own)),
    };
    Some(value)
}

fn read(metadata: &Object) -> Option<Object> {
    serde_json::from_str(metadata.get(OURS)?.get()).ok()
}
