//! Tools of assistants for marks, outputs, redo, positions and code of no cell.

use crate::support::*;
use notarium_core::{Event, Policy, RejectionCode as Code, Risk};

fn order(world: &World) -> Vec<String> {
    world.notebook.order.iter().map(ToString::to_string).collect()
}

#[test]
fn cells_go_to_a_position() {
    let mut world = talking();
    let before = order(&world);
    let made = world.step(&assistant_of("ann"), call("one", "create_cell", json!({"source": "1", "index": 1})));
    assert_eq!(order(&world)[1], made.cells[0].to_string());
    let two = json!({"cells": [{"source": "2"}, {"source": "3"}], "index": 0});
    let made = world.step(&assistant_of("ann"), call("two", "create_cells", two));
    assert_eq!(order(&world)[..2], [made.cells[0].to_string(), made.cells[1].to_string()]);
    let last = world.step(&assistant_of("ann"), call("end", "create_cell", json!({"source": "4", "index": 99})));
    assert_eq!(order(&world).last(), Some(&last.cells[0].to_string()));
    assert_eq!(order(&world).len(), before.len() + 4);
    let both = call("both", "create_cell", json!({"source": "5", "index": 0, "after": before[0]}));
    let (events, _) = world.try_do(&assistant_of("ann"), &both).unwrap();
    let told = events.iter().find_map(|event| match event {
        Event::ToolCallExecuted(event) => Some(event.result.clone()),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("give one of after, before and index"));
}

#[test]
fn a_position_that_waits_for_a_person_is_asked_as_a_cell() {
    let mut world = talking();
    world.step(&user("ann"), json!({"SetPolicy": {"policy": "ask_for_every_edit"}}));
    assert_eq!(world.notebook.policy, Policy::AskForEveryEdit);
    let first = order(&world)[0].clone();
    world.step(&assistant_of("ann"), call("new", "create_cell", json!({"source": "1", "index": 0})));
    let asked = world.notebook.tool_calls[&"new".parse().unwrap()].arguments.get().to_owned();
    assert_eq!(asked, json!({"source": "1", "before": first}).to_string());
}

#[test]
fn marks_are_set_and_an_undo_is_redone() {
    let mut world = talking();
    world.step(
        &assistant_of("ann"),
        call("mark", "set_cell_flags", json!({"cell_id": "a", "pinned": true, "bookmark": 3})),
    );
    let marks = |world: &World| (world.cell("a").content.flags.pinned, world.cell("a").content.flags.bookmark);
    assert_eq!(marks(&world), (true, Some(3)));
    world.step(&assistant_of("ann"), call("back", "undo", json!({})));
    assert_eq!(marks(&world), (false, None));
    world.step(&assistant_of("ann"), call("again", "redo", json!({})));
    assert_eq!(marks(&world), (true, Some(3)));
    let (events, _) = world.try_do(&assistant_of("ann"), &call("more", "redo", json!({}))).unwrap();
    assert!(
        matches!(events.last(), Some(Event::ToolCallExecuted(event)) if event.result.contains("redone")),
        "{events:?}"
    );
}

#[test]
fn outputs_are_cleared_after_a_person_has_agreed() {
    let mut world = talking();
    world.step(&assistant_of("ann"), call("clear", "clear_outputs", json!({"cell_id": "a"})));
    let call = &world.notebook.tool_calls[&"clear".parse().unwrap()];
    assert_eq!(call.risk.judged(), Risk::Destructive);
    assert_eq!(call.targets.len(), 1);
}

#[test]
fn code_of_no_cell_is_judged_and_run_like_that_of_a_cell() {
    let mut world = talking();
    let code = |id: &str, more: serde_json::Value| {
        let mut arguments = json!({"source": "x + 1"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(id, "execute_code", arguments)
    };
    let (events, _) = world.try_do(&assistant_of("ann"), &code("code", json!({"effects": ["write"]}))).unwrap();
    let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(event.risk.judged(), Risk::Destructive);
    let query =
        notarium_core::required_judgement(&world.notebook, &serde_json::from_value(code("code", json!({}))).unwrap());
    assert_eq!(query.unwrap().codes, ["x + 1"]);
    let refused = world.try_do(&assistant_of("ann"), &call("no", "execute_code", json!({}))).unwrap_err();
    assert_eq!(refused.code, Code::InvalidArguments);
}
