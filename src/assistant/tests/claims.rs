//! Claims in the log on which this process does not act: the next step for each claimant.

use notarium_assistant::turn::{Live, Record, Step, next};
use notarium_core::*;
use serde_json::{Value, json};

const OWN: &str = "this-life";
const OTHER: &str = "an-earlier-life";

/// The document and the turn's record after these events, `(type, payload)`.
fn given(events: &[(&str, Value)]) -> (Document, Record) {
    let (mut document, mut record) = (Document::new("nb".parse().unwrap()), Record::default());
    for (index, (event_type, payload)) in events.iter().enumerate() {
        let version = index as Version + 1;
        let envelope = Envelope {
            id: format!("event-{version}").parse().unwrap(),
            notebook_id: "nb".parse().unwrap(),
            version,
            event_type: (*event_type).to_owned(),
            schema: 1,
            actor: Actor::User { id: "ann".parse().unwrap() },
            command_id: "command".parse().unwrap(),
            correlation_id: "group".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: version,
        };
        let event = Event::decode(event_type, 1, &payload.to_string()).unwrap();
        let recorded = Recorded { envelope, event };
        document.apply(&recorded);
        record.see(&"turn".parse().unwrap(), &recorded);
    }
    (document, record)
}

fn turn() -> (&'static str, Value) {
    let payload =
        json!({"turn_id": "turn", "conversation_id": "talk", "message_id": "m", "scopes": [], "is_bound": false});
    ("TurnStarted", payload)
}

fn model_call(claimant: &str) -> [(&'static str, Value); 2] {
    let payload =
        json!({"turn_id": "turn", "claimant": claimant, "number": 1, "attempt": 1, "provider": "p", "model": "m"});
    [turn(), ("TurnModelCallStarted", payload)]
}

/// The model calls a tool, and `claimant` starts that call.
fn tool_call(function: &str, claimant: &str) -> [(&'static str, Value); 4] {
    let arguments = json!({"cell_id": "a", "cell_version": 1});
    let call = json!({"tool_call": {"provider_id": "p", "call_id": "call", "function": function, "arguments": arguments.to_string()}});
    [
        turn(),
        (
            "MessagePosted",
            json!({"conversation_id": "talk", "message_id": "n", "turn_id": "turn", "role": "assistant", "blocks": [call]}),
        ),
        (
            "ToolCallRequested",
            json!({"call_id": "call", "turn_id": "turn", "function": function, "arguments": arguments,
                "arguments_hash": "0".repeat(64), "risk": "read", "gate": {"kind": "passes"}}),
        ),
        ("ToolCallStarted", json!({"call_id": "call", "passed_by": {"kind": "policy"}, "claimant": claimant})),
    ]
}

fn live() -> Live {
    Live::new(OWN.parse().unwrap())
}

#[track_caller]
fn check(events: &[(&str, Value)], live: &Live, then: &Step) {
    let (document, record) = given(events);
    assert_eq!(next(&"turn".parse().unwrap(), &document, &record, live), *then);
}

#[test]
fn a_model_call_that_another_instance_claimed_has_failed_and_an_own_one_is_made() {
    check(&model_call(OTHER), &live(), &Step::LoseModelCall);
    check(&model_call(OWN), &live(), &Step::CallModel);
    check(&model_call(OWN), &Live { is_calling_model: true, ..live() }, &Step::Wait);
    // The call was made, but its end could not be recorded: it is not made again.
    check(&model_call(OWN), &Live { is_model_call_lost: true, ..live() }, &Step::LoseModelCall);
}

#[test]
fn a_tool_call_that_another_instance_started_has_an_unknown_outcome_and_an_own_one_is_executed() {
    let call: ToolCallId = "call".parse().unwrap();
    check(&tool_call("delete_cell", OTHER), &live(), &Step::Lose(call.clone()));
    check(&tool_call("delete_cell", OWN), &live(), &Step::Resume(call.clone()));
    let executing = Live { executing: [call.clone()].into(), ..live() };
    check(&tool_call("delete_cell", OWN), &executing, &Step::Wait);
    // A run's effects are all in the log, so its claimant does not matter.
    check(&tool_call("execute_cell", OTHER), &live(), &Step::Resume(call));
}
