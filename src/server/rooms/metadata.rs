//! Values of Notarium under `metadata.notarium` of a notebook or of a cell, in the record and in files. Pure.

use notarium_core::RawObject;
use notarium_wire::ipynb::Object;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const OURS: &str = "notarium";
/// Reply to a prompt, which nbformat has no field for.
pub const REPLY: &str = "reply";
/// True: the notebook comes from a file that names no kernelspec.
pub const NO_KERNELSPEC: &str = "no_kernelspec";
/// Mode of a reactive notebook.
pub const REACTIVITY: &str = "reactivity";
/// Settings of the notebook's kernels.
pub const KERNELS: &str = "kernels";

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

pub fn to_raw<T: Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

// --- templates ---

/// Longer descriptions are refused; those from files are cut.
pub const MAX_DESCRIPTION_CHARACTERS: usize = 200;
pub const TEMPLATE: &str = "template";

/// Value of `metadata.notarium.template`.
#[derive(Serialize, Deserialize)]
struct TemplateEntry {
    #[serde(default)]
    description: String,
}

/// Description of a template; `None`: the notebook is not one.
pub fn template_description(metadata: &RawObject) -> Option<String> {
    let mark: TemplateEntry = take(&mut entries(metadata), TEMPLATE)?;
    Some(
        mark.description.chars().filter(|character| !character.is_control()).take(MAX_DESCRIPTION_CHARACTERS).collect(),
    )
}

pub fn with_template_mark(metadata: &RawObject, description: String) -> RawObject {
    let mut entries = entries(metadata);
    put(&mut entries, TEMPLATE, &TemplateEntry { description });
    object(&entries)
}

/// Metadata without the mark; unchanged if there is none.
pub fn without_template_mark(metadata: &RawObject) -> RawObject {
    let mut entries = entries(metadata);
    let mark: Option<Box<RawValue>> = take(&mut entries, TEMPLATE);
    mark.map_or_else(|| metadata.clone(), |_| object(&entries))
}

pub fn entries(metadata: &RawObject) -> Object {
    serde_json::from_str(metadata.get()).unwrap_or_default()
}

fn object(entries: &Object) -> RawObject {
    serde_json::to_string(entries).ok().and_then(|text| RawObject::parse(&text).ok()).unwrap_or_default()
}
