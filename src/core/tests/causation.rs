//! Causation: the event that led to each event.

use crate::support::*;
use notarium_core::*;

/// The events after `since`, each with the one that led to it.
fn causes(world: &World, since: Version) -> Vec<(&'static str, Option<&'static str>)> {
    let by_id = |id: &EventId| world.recorded.iter().find(|recorded| recorded.envelope.id == *id).unwrap();
    let later = world.recorded.iter().filter(|recorded| recorded.envelope.version > since);
    let cause = |recorded: &Recorded| {
        let led = by_id(recorded.envelope.causation_id.as_ref()?);
        assert!(led.envelope.version < recorded.envelope.version, "what led to it was before");
        Some(led.event.event_type())
    };
    later.map(|recorded| (recorded.event.event_type(), cause(recorded))).collect()
}

#[test]
fn a_turn_is_a_chain_of_events_each_led_to_by_the_one_that_its_reactor_went_on_from() {
    let (it, reactor) = (assistant_of("ann"), reactor_of("ann"));
    let mut world = talking();
    let since = world.version();
    let says =
        |role: &str| json!({"PostReply": {"turn_id": "turn", "role": role, "blocks": [{"text": {"text": "x"}}]}});
    world.step(&reactor, json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}}));
    world.step(&reactor, json!({"ReportModelCall": {"turn_id": "turn"}}));
    world.step(&reactor, says("assistant"));
    let version = world.cell("a").cell_version;
    let calls = [
        json!({"RequestToolCall": {"call_id": "one", "turn_id": "turn", "function": "delete_cell",
            "arguments": {"cell_id": "a", "cell_version": version}}}),
        json!({"RequestToolCall": {"call_id": "two", "turn_id": "turn", "function": "get_notebook_state", "arguments": {}}}),
    ];
    calls.into_iter().for_each(|call| _ = world.step(&it, call));
    let hash = world.notebook.tool_calls[&"one".parse().unwrap()].arguments_hash;
    world.step(&user("ann"), json!({"ConfirmToolCall": {"call_id": "one", "arguments_hash": hash}}));
    world.step(&reactor, json!({"StartToolCall": {"call_id": "one"}}));
    world.step(&reactor, json!({"StartToolCall": {"call_id": "two"}}));
    world.step(&reactor, json!({"ReportToolCall": {"call_id": "two", "end": "ok", "result": "{}"}}));
    world.step(&reactor, says("assistant"));
    world.step(&reactor, json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}}));
    let expected = [
        ("TurnModelCallStarted", Some("TurnStarted")),
        ("TurnModelCallFinished", Some("TurnModelCallStarted")),
        ("MessagePosted", Some("TurnModelCallFinished")),
        ("ToolCallRequested", Some("MessagePosted")),
        ("ToolCallRequested", Some("MessagePosted")),
        // A person's own command has no cause.
        ("ToolCallConfirmed", None),
        ("ToolCallStarted", Some("ToolCallConfirmed")),
        ("CellDeleted", Some("ToolCallStarted")),
        ("ToolCallExecuted", Some("ToolCallStarted")),
        ("ToolCallStarted", Some("ToolCallRequested")),
        ("ToolCallExecuted", Some("ToolCallStarted")),
        ("MessagePosted", Some("MessagePosted")),
        ("TurnFinished", Some("MessagePosted")),
    ];
    assert_eq!(causes(&world, since), expected);
}

#[test]
fn the_end_of_a_run_leads_to_what_it_stops_and_to_the_next_run() {
    let mut world = queued();
    let since = world.version();
    world.step(&agent("gpu"), report("run-a", 2, completed(false)));
    let led = causes(&world, since);
    assert_eq!(led[0], ("ExecutionCompleted", None), "the agent's own report");
    assert!(led.len() > 1 && led[1..].iter().all(|(_, cause)| *cause == Some("ExecutionCompleted")), "{led:?}");
}

fn on_kernel(command: &str) -> serde_json::Value {
    json!({command: {"kernel_session": "$kernel"}})
}

#[test]
fn an_end_that_an_agent_reports_was_led_to_by_what_a_person_asked_for() {
    let ended = json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "shut_down"}});
    let cancel = json!({"CancelExecution": {"execution_id": "run-a"}});
    let cases = [
        (cancel, report("run-a", 2, completed(false)), "ExecutionCancelRequested"),
        (on_kernel("InterruptKernel"), report("run-a", 2, completed(false)), "KernelInterruptRequested"),
        (on_kernel("RestartKernel"), ended.clone(), "KernelRestartRequested"),
        (on_kernel("ShutDownKernel"), ended, "KernelShutdownRequested"),
    ];
    for (asked, reported, event) in cases {
        let mut world = running().with(&user("ann"), asked);
        let since = world.version();
        world.step(&agent("gpu"), reported);
        let led = causes(&world, since);
        assert_eq!(led[0].1, Some(event), "{led:?}");
    }
    let mut unasked = running();
    let since = unasked.version();
    unasked.step(&agent("gpu"), report("run-a", 2, completed(false)));
    assert_eq!(causes(&unasked, since)[0].1, None);
}

#[test]
fn an_agent_that_reports_outputs_and_the_end_at_once_leaves_the_end_to_who_cancelled() {
    let mut world = running();
    world.step(&user("ann"), json!({"CancelExecution": {"execution_id": "run-a"}}));
    let since = world.version();
    let parts = [report("run-a", 2, output(&["late"])), report("run-a", 3, completed(false))];
    world.step(&agent("gpu"), json!({"Batch": {"commands": parts}}));
    assert_eq!(
        causes(&world, since)[..2],
        [("ExecutionOutputAppended", None), ("ExecutionCancelled", Some("ExecutionCancelRequested"))]
    );
}
