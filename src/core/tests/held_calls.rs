//! Calls of one message: all wait for confirmation together and run one after the other. Also conversations of outside
//! assistants, which begin with a call.

use crate::support::*;
use notarium_core::{Actor, Event, MAX_CALLS_PER_MINUTE, RejectionCode as Code};

/// A call that comes after another one.
fn after(other: &str, id: &str, function: &str, arguments: serde_json::Value) -> serde_json::Value {
    let mut command = call(id, function, arguments);
    command["RequestToolCall"]["after"] = json!(other);
    command
}

fn create_after(other: &str) -> serde_json::Value {
    after(other, "new", "create_cell", json!({"source": "1"}))
}

/// The call `new` comes after `del`, which waits for a person.
fn held() -> World {
    waiting().with(&assistant_of("ann"), create_after("del"))
}

fn deletion(world: &World, cell: &str) -> serde_json::Value {
    json!({"cell_id": cell, "cell_version": world.cell(cell).cell_version})
}

fn hash_of(world: &World, id: &str) -> String {
    world.notebook.tool_calls[&id.parse().unwrap()].arguments_hash.to_string()
}

/// Two deletions, both confirmed: `next` comes after `del`.
fn both_confirmed() -> World {
    let mut world = confirmed();
    let arguments = deletion(&world, "c");
    world.step(&assistant_of("ann"), after("del", "next", "delete_cell", arguments));
    let hash = hash_of(&world, "next");
    world.step(&user("ann"), json!({"ConfirmToolCall": {"call_id": "next", "arguments_hash": hash}}));
    world
}

pub fn assistant_in(conversation: &str) -> Who {
    let mut who = assistant_of("ann");
    who.actor = Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: conversation.parse().unwrap() };
    who
}

fn from_outside(id: &str, title: Option<&str>) -> serde_json::Value {
    json!({"RequestToolCall": {"call_id": id, "function": "get_notebook_state", "conversation_title": title}})
}

fn with_outside() -> World {
    with_cells().with(&assistant_in("mcp"), from_outside("first", Some(" Zed ")))
}

/// The largest number of outside assistants, each with a call.
fn crowded() -> World {
    let mut world = with_cells();
    world.limits.max_token_calls_per_minute = 1_000;
    for number in 0..world.limits.max_outside_conversations {
        let id = format!("mcp-{number}");
        world.step(&assistant_in(&id), from_outside(&id, None));
    }
    world
}

pub fn cases() -> Vec<Case> {
    let (mcp, it) = (|| assistant_of("ann"), || reactor_of("ann"));
    let requested = ["ToolCallRequested"];
    let at_once = ["ToolCallRequested", "ToolCallStarted", "CellInserted", "ToolCallExecuted"];
    vec![
        case(waiting, mcp(), create_after("del"), events(requested)),
        case(confirmed, mcp(), create_after("del"), events(requested)),
        case(waiting, mcp(), create_after("never"), events(at_once)),
        case(|| confirmed().with(&reactor_of("ann"), start("del")), mcp(), create_after("del"), events(at_once)),
        case(
            || waiting().with(&user("ann"), json!({"DenyToolCall": {"call_id": "del"}})),
            mcp(),
            create_after("del"),
            events(at_once),
        ),
        case(waiting, mcp(), create_after("new"), rejected(Code::InvalidValue)),
        case(waiting, assistant_in("mcp"), after("del", "x", "get_variables", json!({})), rejected(Code::TurnState)),
        case(
            waiting,
            assistant_in("mcp"),
            json!({"RequestToolCall": {"call_id": "x", "function": "get_variables", "after": "del"}}),
            rejected(Code::InvalidValue),
        ),
        case(held, it(), start("new"), rejected(Code::ToolCallState)),
        case(
            || held().with(&user("ann"), json!({"DenyToolCall": {"call_id": "del"}})),
            it(),
            start("new"),
            events(["ToolCallStarted", "CellInserted", "ToolCallExecuted"]),
        ),
        case(both_confirmed, it(), start("next"), rejected(Code::ToolCallState)),
        case(both_confirmed, it(), start("del"), events(["ToolCallStarted", "CellDeleted", "ToolCallExecuted"])),
        case(
            || both_confirmed().with(&reactor_of("ann"), start("del")),
            it(),
            start("next"),
            events(["ToolCallStarted", "CellDeleted", "ToolCallExecuted"]),
        ),
        case(
            with_cells,
            assistant_in("mcp"),
            from_outside("first", None),
            events(["ConversationStarted", "ToolCallRequested"]),
        ),
        case(with_outside, assistant_in("mcp"), from_outside("second", Some("Another")), events(requested)),
        case(crowded, assistant_in("one-more"), from_outside("x", None), rejected(Code::LimitExceeded)),
        case(crowded, assistant_in("mcp-7"), from_outside("x", None), events(requested)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("held_calls", &cases());
}

#[test]
fn code_is_judged_again_when_its_turn_comes() {
    let mut world = waiting().with(&user("ann"), insert("use", "code", "tidy('x')"));
    world.step(&user("ann"), insert("names", "code", "pass"));
    let arguments = deletion(&world, "use");
    world.step(&assistant_of("ann"), after("del", "run", "execute_cell_async", arguments));
    world.step(&user("ann"), json!({"DenyToolCall": {"call_id": "del"}}));
    let version = world.cell("names").cell_version;
    let bind = json!({"cell_id": "names", "cell_version": version, "source": "from os import remove as tidy"});
    world.step(&assistant_of("ann"), call("bind", "modify_cell", bind));
    let (events, outcome) = world.try_do(&reactor_of("ann"), &start("run")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallVoided": {"call_id": "run", "cause": "risk_grew", "detail": "it can do more now than when it was asked for: Line 1: `tidy('x')` deletes."}},
        ])
    );
    assert!(outcome.notices[0].contains("more now than when it was asked for"), "{:?}", outcome.notices);
}

#[test]
fn what_waits_for_an_earlier_call_ends_with_its_turn() {
    let mut world = held();
    let (events, _) = world.try_do(&user("ann"), &json!({"CancelTurn": {"turn_id": "turn"}})).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallWithdrawn": {"call_id": "del", "cause": "turn_cancelled"}},
            {"ToolCallWithdrawn": {"call_id": "new", "cause": "turn_cancelled"}},
            {"TurnCancelled": {"turn_id": "turn"}},
        ])
    );
}

#[test]
fn an_outside_assistants_calls_are_counted_from_its_first() {
    let mut world = with_outside();
    let conversation = &world.notebook.conversations[&"mcp".parse().unwrap()];
    assert_eq!(conversation.title, "Zed");
    for number in 1..MAX_CALLS_PER_MINUTE {
        world.step(&assistant_in("mcp"), from_outside(&format!("c{number}"), None));
    }
    let refused = world.try_do(&assistant_in("mcp"), &from_outside("x", None)).unwrap_err();
    assert_eq!(refused.code, Code::RateLimited);
}

#[test]
fn a_title_that_is_none_is_replaced() {
    for title in ["", "a\nb", &"x".repeat(300)] {
        let mut world = with_cells();
        let (events, _) = world.try_do(&assistant_in("mcp"), &from_outside("x", Some(title))).unwrap();
        let Event::ConversationStarted(event) = &events[0] else { panic!("{events:?}") };
        assert_eq!(event.title, "An outside assistant");
    }
}

#[test]
fn the_longest_idle_outside_assistant_makes_room_and_people_are_not_counted_with_them() {
    let mut world = crowded();
    world.now += 60_000;
    world.limits.max_conversations = 1;
    // Each has an unfinished call, so none can be closed.
    let refused = world.try_do(&assistant_in("one-more"), &from_outside("x", None)).unwrap_err();
    assert!(refused.message.contains("confirm or deny"), "{refused}");
    for id in ["mcp-3", "mcp-4"] {
        world.step(&assistant_in(id), json!({"WithdrawToolCall": {"call_id": id}}));
    }
    world.step(&assistant_in("one-more"), from_outside("x", None));
    let has = |world: &World, id: &str| world.notebook.conversations.contains_key(&id.parse().unwrap());
    assert!(!has(&world, "mcp-3") && has(&world, "mcp-4") && has(&world, "one-more"));
    world.step(&user("ann"), json!({"StartTurn": {"conversation_id": "own", "text": "Hi"}}));
    let second = json!({"StartTurn": {"conversation_id": "second", "text": "Hi"}});
    assert_eq!(world.try_do(&user("ann"), &second).unwrap_err().code, Code::LimitExceeded);
    let spoken_in = json!({"StartTurn": {"conversation_id": "mcp-4", "text": "Hi"}});
    assert_eq!(world.try_do(&user("ann"), &spoken_in).unwrap_err().code, Code::LimitExceeded);
    assert_eq!(replay(&world.log), world.notebook);
}
