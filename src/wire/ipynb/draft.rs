//! A notebook between file and [`Document`]: every value is a [`Json`], and entries of `metadata.notarium` are in their own fields.
//!
//! Reading *settles* the parsed draft, writing settles the given document. Both then hold the same draft, so a round trip changes
//! nothing.

use std::collections::btree_map::Entry;

use super::json::{Json, Map};
use super::schema::Base;
use super::{Document, DocumentCell, ImportNotices, NoticeCode, Object, output};

/// Flags that JupyterLab knows. They are stored in `metadata.jupyter`, so that it shows the cell alike.
pub const JUPYTER_FLAGS: [&str; 2] = ["outputs_hidden", "source_hidden"];

/// Keys that exports store under `metadata.notarium` of a cell, besides metadata that nbformat does not allow.
const CELL_ASIDE: [&str; 7] =
    ["attachments", "cell_type", "execution_count", "extra", "flags", "output_patches", "outputs"];

/// A cell whose values are parsed JSON instead of JSON text.
pub(super) type CellDraft = DocumentCell<Json>;

impl CellDraft {
    pub(super) fn of(cell: &DocumentCell) -> Self {
        cell.with_values(|raw| Json::from_raw(raw))
    }

    pub(super) fn base(&self) -> Base {
        Base::of(&self.cell_type).unwrap_or(Base::Raw)
    }

    /// Returns the depth of the deepest value.
    pub(super) fn depth(&self) -> usize {
        let maps = [&self.metadata, &self.flags, &self.extra];
        let maps = maps.into_iter().chain(&self.attachments).flat_map(Map::values);
        maps.chain(&self.outputs).map(Json::depth).max().unwrap_or(0)
    }

    /// Normalises the draft to its settled form.
    pub(super) fn settle(&mut self, notices: &mut ImportNotices) {
        self.settle_type();
        self.settle_source(notices);
        self.settle_outputs(notices);
        self.restore(notices);
        self.metadata.remove("trusted");
        self.settle_flags();
        self.settle_count(notices);
        if let Some(attachments) = &mut self.attachments {
            attachments.values_mut().for_each(output::join_bundle);
        }
    }

    fn settle_type(&mut self) {
        if Base::of(&self.cell_type).is_none() {
            let cell_type = std::mem::replace(&mut self.cell_type, "raw".to_owned());
            self.extra.insert("cell_type".to_owned(), Json::String(cell_type));
        }
    }

    fn settle_source(&mut self, notices: &mut ImportNotices) {
        if self.source.contains('\r') {
            self.source = self.source.replace("\r\n", "\n").replace('\r', "\n");
            notices.add(NoticeCode::LineEndings);
        }
    }

    pub(super) fn settle_outputs(&mut self, notices: &mut ImportNotices) {
        for value in &mut self.outputs {
            if !value.is_object() {
                notices.add(NoticeCode::OutputNotAnObject);
                let output_type = ("output_type".to_owned(), Json::text("unrecognized"));
                *value = Json::Object(Map::from([output_type, ("value".to_owned(), value.clone())]));
            }
            if let Json::Object(output) = value {
                output::join_output(output);
                if output::complete(output) {
                    notices.add(NoticeCode::OutputCompleted);
                }
                if output::drop_empty_metadata(output) {
                    notices.add(NoticeCode::EmptyFieldDropped);
                }
            }
        }
    }

    fn settle_count(&mut self, notices: &mut ImportNotices) {
        if let Some(count) = self.execution_count.filter(|count| *count < 0) {
            notices.add(NoticeCode::ExecutionCount);
            self.execution_count = None;
            self.extra.insert("execution_count".to_owned(), Json::Number(count.to_string()));
        }
    }

    /// Restores entries that an export stored under `metadata.notarium`.
    fn restore(&mut self, notices: &mut ImportNotices) {
        let Some(mut aside) = take_aside(&mut self.metadata) else {
            return;
        };
        self.restore_type(&mut aside, notices);
        restore_map(&mut aside, "flags", &mut self.flags);
        restore_map(&mut aside, "extra", &mut self.extra);
        self.restore_attachments(&mut aside);
        self.restore_outputs(&mut aside, notices);
        drop_stale(&mut aside, &CELL_ASIDE, notices);
        restore_metadata(&mut self.metadata, aside, notices);
    }

    fn restore_type(&mut self, aside: &mut Map, notices: &mut ImportNotices) {
        let ours = aside.get("cell_type").and_then(Json::as_str).filter(|ours| ["sql", "prompt"].contains(ours));
        let Some(ours) = ours.map(str::to_owned) else {
            return;
        };
        aside.remove("cell_type");
        if Base::of(&ours) == Base::of(&self.cell_type) {
            self.cell_type = ours;
        } else {
            notices.add_with(NoticeCode::StaleAside, "cell_type");
        }
    }

    fn restore_attachments(&mut self, aside: &mut Map) {
        let Some(files) = take_object(aside, "attachments") else {
            return;
        };
        let own = self.attachments.get_or_insert_default();
        for (name, bundle) in files {
            own.entry(name).or_insert(bundle);
        }
    }

    /// Restores outputs from `aside`: all of them for a cell that is not written as a code cell, else only those that do not fit nbformat.
    fn restore_outputs(&mut self, aside: &mut Map, notices: &mut ImportNotices) {
        if self.base() == Base::Code {
            self.mend_outputs(aside, notices);
        }
        if self.outputs.is_empty() {
            self.outputs = take_list(aside, "outputs").unwrap_or_default();
        }
        let count = aside.get("execution_count").and_then(Json::as_integer).filter(|count| *count >= 0);
        if count.is_some() && self.execution_count.is_none() {
            aside.remove("execution_count");
            self.execution_count = count;
        }
        self.settle_outputs(notices);
    }

    fn mend_outputs(&mut self, aside: &mut Map, notices: &mut ImportNotices) {
        for patch in take_list(aside, "output_patches").unwrap_or_default() {
            if self.mend_output(patch).is_none() {
                notices.add_with(NoticeCode::StaleAside, "output_patches");
            }
        }
    }

    fn mend_output(&mut self, patch: Json) -> Option<()> {
        let Json::Object(patch) = patch else {
            return None;
        };
        let index = usize::try_from(patch.get("index")?.as_integer()?).ok()?;
        let Json::Object(written) = self.outputs.get_mut(index)? else {
            return None;
        };
        if patch.get("digest")?.as_str()? != output::digest(written) {
            return None;
        }
        output::mend(written, patch);
        Some(())
    }

    fn settle_flags(&mut self) {
        let Some(Json::Object(jupyter)) = self.metadata.get_mut("jupyter") else {
            return;
        };
        let mut any = false;
        for flag in JUPYTER_FLAGS {
            if jupyter.get(flag) == Some(&Json::Bool(true)) {
                jupyter.remove(flag);
                self.flags.entry(flag.to_owned()).or_insert(Json::Bool(true));
            }
            any |= self.flags.get(flag) == Some(&Json::Bool(true));
        }
        if any && jupyter.is_empty() {
            self.metadata.remove("jupyter");
        }
    }
}

/// The notebook's part outside of cells: metadata and unknown top-level keys.
#[derive(Debug, Default)]
pub struct NotebookDraft {
    pub metadata: Map,
    pub extra: Map,
}

impl NotebookDraft {
    pub fn from_document(document: &Document) -> Self {
        Self { metadata: from_object(&document.metadata), extra: from_object(&document.extra) }
    }

    pub fn depth(&self) -> usize {
        self.metadata.values().chain(self.extra.values()).map(Json::depth).max().unwrap_or(0)
    }

    pub fn settle(&mut self, notices: &mut ImportNotices) {
        self.restore(notices);
        for transient in ["orig_nbformat", "orig_nbformat_minor", "signature"] {
            self.metadata.remove(transient);
        }
        complete_kernelspec(&mut self.metadata, notices);
    }

    fn restore(&mut self, notices: &mut ImportNotices) {
        let Some(mut aside) = take_aside(&mut self.metadata) else {
            return;
        };
        restore_map(&mut aside, "extra", &mut self.extra);
        drop_stale(&mut aside, &["extra"], notices);
        restore_metadata(&mut self.metadata, aside, notices);
    }
}

/// Fills in display names that many real files lack and the schema requires.
fn complete_kernelspec(metadata: &mut Map, notices: &mut ImportNotices) {
    let mut language = None;
    if let Some(Json::Object(spec)) = metadata.get_mut("kernelspec") {
        language = spec.get("language").filter(|language| language.is_string()).cloned();
        complete_name(spec, "display_name", spec.get("name").cloned(), notices);
    }
    if let Some(Json::Object(info)) = metadata.get_mut("language_info") {
        complete_name(info, "name", language, notices);
    }
}

fn complete_name(map: &mut Map, key: &str, name: Option<Json>, notices: &mut ImportNotices) {
    let Some(name) = name.filter(Json::is_string) else {
        return;
    };
    if !map.contains_key(key) {
        map.insert(key.to_owned(), name);
        notices.add(NoticeCode::KernelspecCompleted);
    }
}

/// Drops entries left under our own keys: they have the wrong type, or newer content has taken their place.
fn drop_stale(aside: &mut Map, keys: &[&str], notices: &mut ImportNotices) {
    for key in keys {
        if aside.remove(*key).is_some() {
            notices.add_with(NoticeCode::StaleAside, key);
        }
    }
}

fn take_aside(metadata: &mut Map) -> Option<Map> {
    take_object(metadata, "notarium")
}

/// Restores metadata entries that nbformat does not allow, and the rest of `metadata.notarium`, if any.
fn restore_metadata(metadata: &mut Map, mut aside: Map, notices: &mut ImportNotices) {
    let mut odd = take_object(&mut aside, "metadata").unwrap_or_default();
    aside.remove("metadata");
    let own = odd.remove("notarium").filter(|own| !own.is_object());
    for (key, value) in odd {
        match metadata.entry(key) {
            Entry::Occupied(entry) => notices.add_with(NoticeCode::StaleAside, entry.key()),
            Entry::Vacant(entry) => _ = entry.insert(value),
        }
    }
    if !aside.is_empty() {
        metadata.insert("notarium".to_owned(), Json::Object(aside));
    } else if let Some(own) = own {
        metadata.insert("notarium".to_owned(), own);
    }
}

fn restore_map(aside: &mut Map, key: &str, into: &mut Map) {
    for (key, value) in take_object(aside, key).unwrap_or_default() {
        into.entry(key).or_insert(value);
    }
}

/// Removes and returns the entry if it is an object; leaves any other entry in place.
pub fn take_object(map: &mut Map, key: &str) -> Option<Map> {
    match map.remove(key)? {
        Json::Object(object) => Some(object),
        other => map.insert(key.to_owned(), other).and(None),
    }
}

/// Removes and returns the entry if it is a list; leaves any other entry in place.
pub fn take_list(map: &mut Map, key: &str) -> Option<Vec<Json>> {
    match map.remove(key)? {
        Json::Array(items) => Some(items),
        other => map.insert(key.to_owned(), other).and(None),
    }
}

pub fn from_object(object: &Object) -> Map {
    object.iter().map(|(key, raw)| (key.clone(), Json::from_raw(raw))).collect()
}

pub fn to_object(map: &Map) -> Object {
    map.iter().map(|(key, value)| (key.clone(), value.to_raw())).collect()
}
