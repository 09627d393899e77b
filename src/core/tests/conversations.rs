//! Conversations and turns: begun by people, advanced by the server's reactor, stopped by people, ended once.

use crate::support::*;
use notarium_core::{Event, MAX_MODEL_CALLS, RejectionCode as Code, Scope};

fn turn(conversation: &str, id: &str, text: &str) -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": conversation, "turn_id": id, "text": text}})
}

fn attached(media_type: &str, size_bytes: u64, count: usize) -> serde_json::Value {
    let one = json!({"sha256": "a".repeat(64), "size_bytes": size_bytes, "media_type": media_type, "name": "plot.png"});
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "t", "text": "Why?", "attachments": vec![one; count]}})
}

#[test]
fn what_goes_with_a_question_stands_in_its_message() {
    let world = with_cells().with(&user("ann"), attached("image/png", 9, 2));
    let blocks = world.recorded.iter().find_map(|recorded| match &recorded.event {
        Event::MessagePosted(event) => Some(serde_json::to_value(&event.blocks).unwrap()),
        _ => None,
    });
    let one = json!({"attachment": {"sha256": "a".repeat(64), "size_bytes": 9, "media_type": "image/png", "name": "plot.png"}});
    assert_eq!(blocks.unwrap(), json!([{"text": {"text": "Why?"}}, one, one]));
}

fn model_call() -> serde_json::Value {
    json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}})
}

fn answered() -> serde_json::Value {
    json!({"ReportModelCall": {"turn_id": "turn", "usage": {"input_tokens": 7, "output_tokens": 3}}})
}

fn failed() -> serde_json::Value {
    json!({"ReportModelCall": {"turn_id": "turn", "failure": "unavailable"}})
}

fn reply(role: &str) -> serde_json::Value {
    json!({"PostReply": {"turn_id": "turn", "role": role, "blocks": [{"text": {"text": "Hello"}}]}})
}

fn end() -> serde_json::Value {
    json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}})
}

fn modelling() -> World {
    talking().with(&reactor_of("ann"), model_call())
}

fn with_prompt() -> World {
    with_cells().with(&user("ann"), insert("ask", "prompt", "What is x?"))
}

fn ask_cell(cell: &str) -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "cell_id": cell}})
}

fn edits_only() -> Who {
    user("ann").with_scopes(&[Scope::Read, Scope::Edit, Scope::Confirm, Scope::Manage])
}

/// A turn that was begun with a token without the scope `run`.
fn without_run() -> World {
    started().with(&edits_only(), turn("talk", "turn", "Hi"))
}

/// A world in which the conversation's first message is `$message`.
fn with_message() -> World {
    let mut world = talking();
    let message = world.notebook.turns.values().next().unwrap().message_id.clone();
    world.name("message", format!("\"{message}\""));
    world
}

fn flag(message: &str, flags: serde_json::Value) -> serde_json::Value {
    let mut command = json!({"FlagMessage": {"conversation_id": "talk", "message_id": message}});
    command["FlagMessage"].as_object_mut().unwrap().extend(flags.as_object().unwrap().clone());
    command
}

fn pinned() -> World {
    with_message().with(&user("ann"), flag("$message", json!({"pinned": true})))
}

fn at_the_limit() -> World {
    let mut world = with_message();
    world.limits.max_flagged_messages = 0;
    world
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let (ann, it) = (|| user("ann"), || reactor_of("ann"));
    let begun = ["ConversationStarted", "MessagePosted", "TurnStarted"];
    let long = "x".repeat((1 << 20) + 1);
    vec![
        case(with_cells, ann(), turn("talk", "t", "Hi"), events(begun)),
        case(with_cells, user("commenter"), turn("talk", "t", "Hi"), events(begun)),
        case(with_cells, user("viewer"), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, guest("link"), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, edits_only(), turn("talk", "t", "Hi"), events(begun)),
        case(with_cells, user("ann").with_scopes(&[Scope::Run]), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, it(), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, ann(), turn("talk", "t", "  \n"), rejected(Code::InvalidValue)),
        case(with_cells, ann(), turn("talk", "t", &long), rejected(Code::LimitExceeded)),
        case(with_cells, ann(), json!({"StartTurn": {"conversation_id": "talk"}}), rejected(Code::InvalidValue)),
        case(with_cells, ann(), attached("image/png", 3_750_000, 8), events(begun)),
        case(with_cells, ann(), attached("application/geo+json", 1, 1), events(begun)),
        case(with_cells, ann(), attached("image/png", 1, 9), rejected(Code::LimitExceeded)),
        case(with_cells, ann(), attached("image/png", 3_750_001, 1), rejected(Code::LimitExceeded)),
        case(with_cells, ann(), attached("text/csv", (256 << 10) + 1, 1), rejected(Code::LimitExceeded)),
        case(with_cells, ann(), attached("text/csv", 0, 1), rejected(Code::InvalidValue)),
        case(with_cells, ann(), attached("image/svg+xml", 1, 1), events(begun)),
        case(with_cells, ann(), attached("application/pdf", 1, 1), rejected(Code::InvalidValue)),
        case(archived, ann(), turn("talk", "t", "Hi"), rejected(Code::NotebookArchived)),
        case(with_prompt, ann(), ask_cell("ask"), events(begun)),
        case(with_prompt, ann(), ask_cell("a"), rejected(Code::NotRunnable)),
        case(with_prompt, ann(), ask_cell("nowhere"), rejected(Code::UnknownCell)),
        case(talking, ann(), turn("talk", "t", "Hi"), rejected(Code::TurnState)),
        case(talking, ann(), turn("other", "turn", "Hi"), rejected(Code::InvalidValue)),
        case(talking, user("editor"), turn("other", "t", "Hi"), events(begun)),
        case(talking, ann(), json!({"CancelTurn": {"turn_id": "turn"}}), events(["TurnCancelled"])),
        case(talking, user("viewer"), json!({"CancelTurn": {"turn_id": "turn"}}), rejected(Code::Forbidden)),
        case(talking, ann(), json!({"CancelTurn": {"turn_id": "none"}}), rejected(Code::TurnState)),
        case(
            waiting,
            ann(),
            json!({"CancelTurn": {"turn_id": "turn"}}),
            events(["ToolCallWithdrawn", "TurnCancelled"]),
        ),
        case(talking, it(), model_call(), events(["TurnModelCallStarted"])),
        case(talking, assistant_of("ann"), model_call(), rejected(Code::Forbidden)),
        case(talking, ann(), model_call(), rejected(Code::Forbidden)),
        case(modelling, it(), model_call(), rejected(Code::AlreadyClaimed)),
        case(modelling, it(), answered(), events(["TurnModelCallFinished"])),
        case(modelling, it(), failed(), events(["TurnModelCallFinished"])),
        case(talking, it(), answered(), rejected(Code::TurnState)),
        case(modelling, ann(), answered(), rejected(Code::Forbidden)),
        case(talking, it(), reply("assistant"), events(["MessagePosted"])),
        case(talking, it(), reply("user"), rejected(Code::Forbidden)),
        case(talking, ann(), reply("assistant"), rejected(Code::Forbidden)),
        case(talking, it(), end(), events(["TurnFinished"])),
        case(talking, reactor_of("editor"), end(), rejected(Code::Forbidden)),
        case(talking, ann(), end(), rejected(Code::Forbidden)),
        case(waiting, it(), end(), events(["ToolCallWithdrawn", "TurnFinished"])),
        case(
            talking,
            it(),
            json!({"EndTurn": {"turn_id": "turn", "end": {"failed": {"cause": "no_model"}}}}),
            events(["TurnFailed"]),
        ),
        // flags of messages
        case(with_message, ann(), flag("$message", json!({"pinned": true})), events(["MessageFlagged"])),
        case(with_message, user("author"), flag("$message", json!({"skipped": true})), events(["MessageFlagged"])),
        case(with_message, guest("link"), flag("$message", json!({"skipped": true})), events(["MessageFlagged"])),
        case(with_message, ann(), flag("$message", json!({"pinned": false})), nothing()),
        case(with_message, ann(), flag("$message", json!({})), nothing()),
        case(with_message, user("commenter"), flag("$message", json!({"pinned": true})), rejected(Code::Forbidden)),
        case(with_message, user("viewer"), flag("$message", json!({"pinned": true})), rejected(Code::Forbidden)),
        case(with_message, it(), flag("$message", json!({"pinned": true})), rejected(Code::Forbidden)),
        case(with_message, ann(), flag("none", json!({"pinned": true})), rejected(Code::UnknownMessage)),
        case(
            with_message,
            ann(),
            json!({"FlagMessage": {"conversation_id": "other", "message_id": "$message", "pinned": true}}),
            rejected(Code::UnknownMessage),
        ),
        case(
            with_message,
            ann(),
            flag("$message", json!({"pinned": true, "skipped": true})),
            rejected(Code::InvalidValue),
        ),
        case(pinned, ann(), flag("$message", json!({"skipped": true})), rejected(Code::InvalidValue)),
        case(pinned, ann(), flag("$message", json!({"pinned": false, "skipped": true})), events(["MessageFlagged"])),
        case(at_the_limit, ann(), flag("$message", json!({"pinned": true})), rejected(Code::LimitExceeded)),
        case(
            || with_message().with(&user("ann"), json!({"ArchiveNotebook": {}})),
            ann(),
            flag("$message", json!({"pinned": true})),
            rejected(Code::NotebookArchived),
        ),
        // a turn does no more than the token with which it was begun
        case(
            without_run,
            assistant_of("ann"),
            call("x", "create_cell", json!({"source": "1"})),
            events(["ToolCallRequested", "ToolCallStarted", "CellInserted", "ToolCallExecuted"]),
        ),
        case(without_run, assistant_of("ann"), call("x", "run_all", json!({})), rejected(Code::Forbidden)),
        case(without_run, assistant_of("ann"), call("x", "restart_kernel", json!({})), rejected(Code::Forbidden)),
        case(
            without_run,
            assistant_of("ann"),
            call("x", "create_cells", json!({"cells": [{"source": "1"}], "run": true})),
            rejected(Code::Forbidden),
        ),
        case(with_cells, ann(), json!({"SetPolicy": {"policy": "trusted"}}), events(["NotebookPolicyChanged"])),
        case(with_cells, ann(), json!({"SetPolicy": {"policy": "guarded"}}), nothing()),
        case(with_cells, user("editor"), json!({"SetPolicy": {"policy": "trusted"}}), rejected(Code::Forbidden)),
        case(with_cells, it(), json!({"SetPolicy": {"policy": "trusted"}}), rejected(Code::Forbidden)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("conversations", &cases());
}

#[test]
fn a_failed_model_call_is_tried_again_and_a_turn_has_ten_at_most() {
    let it = reactor_of("ann");
    let mut world = talking();
    let mut seen = Vec::new();
    for end in [failed(), answered(), answered()] {
        let (events, _) = world.try_do(&it, &model_call()).unwrap();
        let [Event::TurnModelCallStarted(event)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(event.claimant.as_str(), "instance");
        seen.push((event.number, event.attempt));
        world.step(&it, end);
    }
    assert_eq!(seen, [(1, 1), (1, 2), (2, 1)]);
    for _ in 2..MAX_MODEL_CALLS {
        world.step(&it, model_call());
        world.step(&it, answered());
    }
    assert_eq!(world.try_do(&it, &model_call()).unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn the_conversation_goes_on_when_its_turn_has_ended() {
    let mut world = talking().with(&reactor_of("ann"), end());
    assert!(world.notebook.turns.is_empty());
    let (events, outcome) = world.try_do(&user("ann"), &turn("talk", "next", "And now?")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"MessagePosted": {"conversation_id": "talk", "message_id": "000000YGJJ00000000000141R8", "turn_id": "next", "role": "user", "blocks": [{"text": {"text": "And now?"}}]}},
            {"TurnStarted": {"turn_id": "next", "conversation_id": "talk", "message_id": "000000YGJJ00000000000141R8", "scopes": ["read", "edit", "run"], "is_bound": false}},
        ])
    );
    assert_eq!(outcome.turn.unwrap().as_str(), "next");
    assert_eq!(world.notebook.conversations.values().next().unwrap().title, "Tidy up");
}

#[test]
fn a_message_is_remembered_while_it_is_flagged() {
    let mut world = pinned();
    let flagged = |world: &World| world.notebook.conversations.values().next().unwrap().flagged.len();
    assert_eq!(flagged(&world), 1);
    world.step(&user("ann"), flag("$message", json!({"pinned": false})));
    assert_eq!(flagged(&world), 0);
}

#[test]
fn what_a_turn_may_do_is_said_and_never_left_out() {
    let silent = r#"{"turn_id": "t", "conversation_id": "c", "message_id": "m"}"#;
    assert!(Event::decode("TurnStarted", 1, silent).is_err(), "{silent}");
}

#[test]
fn a_turn_of_a_token_for_some_notebooks_reaches_no_other() {
    let begun = |who: &Who| with_cells().with(who, turn("talk", "turn", "Hi"));
    for (function, arguments) in [("list_notebooks", json!({})), ("create_notebook", json!({"title": "Elsewhere"}))] {
        let command = call("x", function, arguments);
        let refused = begun(&user("ann").bound()).try_do(&assistant_of("ann"), &command).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden, "{function}");
        assert!(begun(&user("ann")).try_do(&assistant_of("ann"), &command).is_ok(), "{function}");
    }
    let here = call("x", "get_notebook_state", json!({}));
    assert!(begun(&user("ann").bound()).try_do(&assistant_of("ann"), &here).is_ok());
}

#[test]
fn an_author_has_nothing_run_by_creating_cells() {
    let mut world = with_cells().with(&user("author"), turn("talk", "turn", "Hi"));
    let run = call("x", "create_cells", json!({"cells": [{"source": "1"}], "run": true}));
    assert_eq!(world.try_do(&assistant_of("author"), &run).unwrap_err().code, Code::Forbidden);
}
