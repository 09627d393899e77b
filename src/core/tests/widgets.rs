//! States of widgets, saved in the notebook's metadata.

use crate::support::*;
use notarium_core::RejectionCode as Code;

const STATE: &str = "application/vnd.jupyter.widget-state+json";

fn save(state: serde_json::Value) -> serde_json::Value {
    json!({"SaveWidgets": {"kernel_session": "$kernel", "state": state}})
}

fn slider() -> serde_json::Value {
    json!({
        "box": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_s"]}},
        "s": {"model_name": "IntSliderModel", "state": {"value": 3}},
        "other": {"model_name": "IntSliderModel", "state": {}},
    })
}

/// A run shows the widget `box`.
fn showing() -> World {
    let view = json!({"application/vnd.jupyter.widget-view+json": {"model_id": "box"}, "text/plain": "VBox()"});
    let shown = json!({"content": {"output_type": "display_data", "data": view, "metadata": {}}});
    running().with(&agent("gpu"), report("run-a", 2, json!({"output": {"outputs": [shown]}})))
}

pub fn cases() -> Vec<Case> {
    let gpu = || agent("gpu");
    let large = json!({"box": {"model_name": "VBoxModel", "state": {"value": "x".repeat(600 << 10)}}});
    vec![
        case(showing, gpu(), save(slider()), events(["NotebookMetadataSet"])),
        case(running, gpu(), save(slider()), nothing()),
        case(showing, gpu(), save(large), rejected(Code::LimitExceeded)),
        case(showing, user("ann"), save(slider()), rejected(Code::Forbidden)),
        case(showing, agent("other"), save(slider()), rejected(Code::StaleFence)),
    ]
}

#[test]
fn widgets_are_saved_as_written() {
    check_all("widgets", &cases());
}

fn kept(world: &World) -> serde_json::Value {
    let metadata: serde_json::Value = serde_json::from_str(world.notebook.metadata.get()).unwrap();
    metadata["widgets"][STATE]["state"].clone()
}

#[test]
fn what_outputs_show_is_kept_with_what_it_is_made_of_and_the_last_state_counts() {
    let mut world = showing().with(&agent("gpu"), save(slider()));
    let names = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept(&world)), ["box", "s"]);
    world.step(&agent("gpu"), save(json!({"s": {"model_name": "IntSliderModel", "state": {"value": 7}}})));
    assert_eq!(names(&kept(&world)), ["box", "s"]);
    assert_eq!(kept(&world)["s"]["state"]["value"], 7);
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(24));
    world.step(&agent("gpu"), save(json!({"s": {"state": {"value": key}}})));
    assert!(!world.notebook.metadata.get().contains(&key), "keys are masked");
}

#[test]
fn what_is_shown_no_more_goes_and_other_metadata_stays() {
    let mut world = showing().with(&user("ann"), json!({"SetNotebookMetadata": {"metadata": {"a": 1}}}));
    world.step(&agent("gpu"), save(slider()));
    world.step(&agent("gpu"), report("run-a", 3, completed(true)));
    world.step(&user("ann"), json!({"ClearOutputs": {"cell_id": "a"}}));
    world.step(&agent("gpu"), save(json!({})));
    assert_eq!(world.notebook.metadata.get(), r#"{"a":1}"#);
}
