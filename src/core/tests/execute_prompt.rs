//! Prompt cells that an outside assistant has answered by its tool call.

use crate::support::*;
use notarium_core::{Actor, Event, RejectionCode as Code, ReplyStatus, Scope};

/// An assistant of the person over MCP. `at_work`: the server's reactor in its name.
fn outside(name: &str) -> Who {
    in_conversation(assistant_of(name), "mcp-1")
}

fn at_work(name: &str) -> Who {
    in_conversation(reactor_of(name), "mcp-1")
}

/// The assistant that answers.
fn answering(name: &str) -> Who {
    in_conversation(reactor_of(name), "mcp-1-prompts")
}

fn in_conversation(mut who: Who, id: &str) -> Who {
    let Actor::Assistant { conversation, .. } = &mut who.actor else { panic!("{:?}", who.actor) };
    *conversation = id.parse().unwrap();
    who
}

fn with_prompt() -> World {
    with_cells().with(&user("ann"), insert("ask", "prompt", "What is x?"))
}

fn requested(arguments: serde_json::Value) -> serde_json::Value {
    json!({"RequestToolCall": {"call_id": "it", "function": "execute_prompt", "arguments": arguments, "token": "key"}})
}

fn start() -> serde_json::Value {
    json!({"StartToolCall": {"call_id": "it"}})
}

fn begun() -> World {
    with_prompt().with(&outside("ann"), requested(json!({"cell_id": "ask"}))).with(&at_work("ann"), start())
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(Event::event_type).collect()
}

#[test]
fn a_call_begins_a_turn_of_its_own_that_answers_the_cell() {
    let mut world = with_prompt().with(&outside("ann"), requested(json!({"cell_id": "ask"})));
    let (events, outcome) = world.try_do(&at_work("ann"), &start()).unwrap();
    assert_eq!(names(&events), ["ToolCallStarted", "ConversationStarted", "MessagePosted", "TurnStarted"]);
    let Some(Event::TurnStarted(turn)) = events.last() else { panic!("{events:?}") };
    assert_eq!(turn.turn_id.as_str(), "it", "the turn has the call's id");
    assert_eq!(turn.token.as_ref().unwrap().as_str(), "key", "it ends with the token of the call");
    assert_eq!(outcome.turn.unwrap().as_str(), "it");
    assert_eq!(world.notebook.turns[&"it".parse().unwrap()].requested_by, outside("ann").actor);
    world.step(
        &answering("ann"),
        json!({"PostReply": {"turn_id": "it", "role": "assistant", "blocks": [{"text": {"text": "It is 3."}}]}}),
    );
    world.step(&answering("ann"), json!({"EndTurn": {"turn_id": "it", "end": {"finished": "end_turn"}}}));
    let reply = world.cell("ask").reply.clone().unwrap();
    assert_eq!((reply.text.as_str(), reply.status.known()), ("It is 3.", Some(&ReplyStatus::Finished)));
    world.step(&at_work("ann"), json!({"ReportToolCall": {"call_id": "it", "end": "ok", "result": "It is 3."}}));
    assert!(world.notebook.tool_calls.is_empty() && world.notebook.turns.is_empty());
    // The next one goes on in the same conversation.
    let mut again = requested(json!({"cell_id": "ask"}));
    again["RequestToolCall"]["call_id"] = json!("next");
    world.step(&outside("ann"), again);
    let (events, _) = world.try_do(&at_work("ann"), &json!({"StartToolCall": {"call_id": "next"}})).unwrap();
    assert_eq!(names(&events), ["ToolCallStarted", "MessagePosted", "TurnStarted"]);
}

#[test]
fn only_the_turn_s_own_assistant_goes_on_with_it() {
    for (who, is_own) in [(answering("ann"), true), (at_work("ann"), false), (answering("editor"), false)] {
        let reply = json!({"PostReply": {"turn_id": "it", "role": "assistant", "blocks": [{"text": {"text": "3"}}]}});
        assert_eq!(begun().try_do(&who, &reply).is_ok(), is_own, "{:?}", who.actor);
    }
}

#[test]
fn a_turn_that_a_call_began_does_no_more_than_the_call_s_token() {
    let limited = |who: Who| who.with_scopes(&[Scope::Read, Scope::Edit]).bound();
    let mut world = with_prompt()
        .with(&outside("ann"), requested(json!({"cell_id": "ask"})))
        .with(&limited(at_work("ann")), start());
    let turn = &world.notebook.turns[&"it".parse().unwrap()];
    assert_eq!((turn.scopes.clone(), turn.is_bound), ([Scope::Read, Scope::Edit].into(), true));
    let run = json!({"RequestToolCall": {"call_id": "run", "turn_id": "it", "function": "run_all", "arguments": {}}});
    assert_eq!(world.try_do(&answering("ann"), &run).unwrap_err().code, Code::Forbidden);
}

#[test]
fn no_turn_begins_another() {
    let inside = call("it", "execute_prompt", json!({"cell_id": "a"}));
    let rejection = talking().try_do(&assistant_of("ann"), &inside).unwrap_err();
    assert_eq!(rejection.code, Code::Forbidden);
    assert!(rejection.message.contains("answer the prompt yourself"), "{}", rejection.message);
    let direct = json!({"StartTurn": {"conversation_id": "x", "cell_id": "ask"}});
    for who in [outside("ann"), at_work("ann")] {
        assert_eq!(with_prompt().try_do(&who, &direct).unwrap_err().code, Code::Forbidden, "past the gate");
    }
}

#[test]
fn what_cannot_be_asked_is_said() {
    let version = |world: &World| world.cell("ask").cell_version;
    let mut world = with_prompt();
    let old = requested(json!({"cell_id": "ask", "cell_version": version(&world) - 1}));
    assert_eq!(world.try_do(&outside("ann"), &old).unwrap_err().code, Code::Conflict);
    assert_eq!(
        world.try_do(&outside("viewer"), &requested(json!({"cell_id": "ask"}))).unwrap_err().code,
        Code::Forbidden
    );
    let none = requested(json!({"cell_id": "nowhere"}));
    assert_eq!(world.try_do(&outside("ann"), &none).unwrap_err().code, Code::UnknownCell);
    world.step(&outside("ann"), requested(json!({"cell_id": "a"})));
    let (events, _) = world.try_do(&at_work("ann"), &start()).unwrap();
    let Some(Event::ToolCallExecuted(end)) = events.last() else { panic!("{events:?}") };
    assert!(end.result.contains("is no prompt"), "{}", end.result);
}

#[test]
fn a_prompt_that_changes_while_the_call_waits_is_not_asked() {
    let mut world = with_prompt().with(&user("ann"), json!({"SetPolicy": {"policy": "ask_for_every_edit"}}));
    world.step(&outside("ann"), requested(json!({"cell_id": "ask"})));
    let call = world.notebook.tool_calls[&"it".parse().unwrap()].clone();
    assert!(call.gate.waits());
    let version = world.cell("ask").cell_version;
    let change = json!({"ReplaceSource": {"cell_id": "ask", "cell_version": version, "source": "Delete all"}});
    world.step(&user("ann"), change);
    let confirm = json!({"ConfirmToolCall": {"call_id": "it", "arguments_hash": call.arguments_hash}});
    let (events, _) = world.try_do(&user("ann"), &confirm).unwrap();
    assert_eq!(names(&events), ["ToolCallVoided"]);
}

#[test]
fn the_turn_ends_with_the_rights_of_its_person_and_token() {
    for revoked in [json!({"user": "ann"}), json!({"token": "key"})] {
        let mut world = begun();
        let withdraw = json!({"WithdrawRevoked": {"revoked": revoked}});
        let (events, _) = world.try_do(&system(), &withdraw).unwrap();
        assert!(names(&events).contains(&"TurnFailed"), "{revoked}: {events:?}");
    }
}
