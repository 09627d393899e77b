//! Saves the last states of widgets in the notebook's metadata, in nbformat's place: for files, and for pages after the
//! kernel has ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::access::owned_kernel;
use crate::checks::{check_metadata, check_not_archived};
use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::decision::{Decision, Result};
use crate::values::details::LimitName;
use crate::values::mask::mask_keys;
use notarium_record::{Document, KernelSessionId, NotebookMetadataSet, RawObject};

/// Bytes of all saved states as JSON, at most.
const MAX_WIDGETS_BYTES: usize = 512 << 10;
const FIELD: &str = "widgets";
const STATE_TYPE: &str = "application/vnd.jupyter.widget-state+json";
const VIEW_TYPE: &str = "application/vnd.jupyter.widget-view+json";
/// Prefix with which a widget's state refers to another widget.
const REFERENCE: &str = "IPY_MODEL_";

/// Widget states by model id.
type States = BTreeMap<String, Box<RawValue>>;

pub(crate) fn decide_save(
    notebook: &Notebook,
    context: &Context,
    kernel_session: &KernelSessionId,
    state: &RawObject,
) -> Result<Decision> {
    owned_kernel(notebook, context, kernel_session)?;
    check_not_archived(notebook)?;
    let kept = merged(notebook, state);
    let size: usize = kept.iter().map(|(id, state)| id.len() + state.get().len()).sum();
    LimitName::Widgets.when(size > MAX_WIDGETS_BYTES, MAX_WIDGETS_BYTES, || {
        format!("the widgets of a notebook are kept in at most {MAX_WIDGETS_BYTES} bytes: show fewer")
    })?;
    let metadata = with_widgets(&notebook.metadata, &kept);
    if metadata == notebook.metadata {
        return Ok(Decision::nothing());
    }
    check_metadata(&context.limits, &metadata)?;
    Ok(Decision::one(NotebookMetadataSet { metadata, previous: notebook.metadata.clone() }))
}

/// Merges new states over the saved ones, and keeps those that outputs show. Keys of known shapes are masked, as in
/// outputs of assistants.
fn merged(notebook: &Document, state: &RawObject) -> States {
    let mut all = kept_before(&notebook.metadata);
    let new: States = serde_json::from_str(state.get()).unwrap_or_default();
    all.extend(
        new.into_iter()
            .filter_map(|(id, state)| Some((id, RawValue::from_string(mask_keys(state.get()).into_owned()).ok()?))),
    );
    let shown = reachable(&all, shown(notebook));
    all.retain(|id, _| shown.contains(id));
    all
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Widgets {
    #[serde(rename = "application/vnd.jupyter.widget-state+json")]
    saved: SavedWidgets,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedWidgets {
    state: States,
}

fn kept_before(metadata: &RawObject) -> States {
    let fields: States = serde_json::from_str(metadata.get()).unwrap_or_default();
    let widgets = fields.get(FIELD).and_then(|widgets| serde_json::from_str::<Widgets>(widgets.get()).ok());
    widgets.unwrap_or_default().saved.state
}

/// Model ids of the widgets that outputs show.
fn shown(notebook: &Document) -> Vec<String> {
    let outputs = notebook.executions.values().flat_map(|execution| &execution.outputs);
    let views = outputs.filter(|output| output.content.get().contains(VIEW_TYPE)).filter_map(|output| {
        let content: Value = serde_json::from_str(output.content.get()).ok()?;
        Some(content["data"][VIEW_TYPE]["model_id"].as_str()?.to_owned())
    });
    views.collect()
}

/// These widgets, and the widgets to which they refer.
fn reachable(all: &States, shown: Vec<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = shown;
    while let Some(id) = waiting.pop() {
        let Some(state) = all.get(&id).filter(|_| !found.contains(&id)) else { continue };
        waiting.extend(references(state.get()).map(str::to_owned));
        found.insert(id);
    }
    found
}

fn references(state: &str) -> impl Iterator<Item = &str> {
    state.split(REFERENCE).skip(1).map(|rest| rest.split('"').next().unwrap_or_default())
}

fn with_widgets(metadata: &RawObject, states: &States) -> RawObject {
    let mut fields: States = serde_json::from_str(metadata.get()).unwrap_or_default();
    if states.is_empty() {
        fields.remove(FIELD);
    } else {
        let widgets = json!({ STATE_TYPE: { "state": states, "version_major": 2, "version_minor": 0 } });
        let widgets = serde_json::value::to_raw_value(&widgets).ok();
        fields.extend(widgets.map(|widgets| (FIELD.to_owned(), widgets)));
    }
    let text = serde_json::to_string(&fields).unwrap_or_default();
    RawObject::parse(&text).unwrap_or_else(|_| metadata.clone())
}
