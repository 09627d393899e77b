//! Conversations and turns: begun by people, carried on by the server's reactor, stopped by people, ended once.

use crate::support::*;
use notarium_core::{Event, MAX_MODEL_CALLS, RejectionCode as Code, Scope};

fn turn(conversation: &str, id: &str, text: &str) -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": conversation, "turn_id": id, "text": text}})
}

fn model_call() -> serde_json::Value {
    json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}})
}

fn answered() -> serde_json::Value {
    json!({"ReportModelCall": {"turn_id": "turn", "usage": {"input_tokens": 7, "output_tokens": 3}}})
}

fn failed() -> serde_json::Value {
    json!({"ReportModelCall": {"turn_id": "turn", "failure": "overloaded"}})
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

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let (ann, it) = (|| user("ann"), || reactor_of("ann"));
    let edits_only = user("ann").with_scopes(&[Scope::Read, Scope::Edit]);
    let begun = ["ConversationStarted", "MessagePosted", "TurnStarted"];
    let long = "x".repeat((1 << 20) + 1);
    vec![
        case(with_cells, ann(), turn("talk", "t", "Hi"), events(begun)),
        case(with_cells, user("commenter"), turn("talk", "t", "Hi"), events(begun)),
        case(with_cells, user("viewer"), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, guest("link"), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, edits_only, turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, it(), turn("talk", "t", "Hi"), rejected(Code::Forbidden)),
        case(with_cells, ann(), turn("talk", "t", "  \n"), rejected(Code::InvalidValue)),
        case(with_cells, ann(), turn("talk", "t", &long), rejected(Code::LimitExceeded)),
        case(with_cells, ann(), json!({"StartTurn": {"conversation_id": "talk"}}), rejected(Code::InvalidValue)),
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
        case(talking, it(), model_call(), events(["ModelCallStarted"])),
        case(talking, assistant_of("ann"), model_call(), rejected(Code::Forbidden)),
        case(talking, ann(), model_call(), rejected(Code::Forbidden)),
        case(modelling, it(), model_call(), rejected(Code::AlreadyClaimed)),
        case(modelling, it(), answered(), events(["ModelCallFinished"])),
        case(modelling, it(), failed(), events(["ModelCallFinished"])),
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
            json!({"EndTurn": {"turn_id": "turn", "end": {"failed": "no key"}}}),
            events(["TurnFailed"]),
        ),
        case(with_cells, ann(), json!({"SetPolicy": {"policy": "trusted"}}), events(["PolicyChanged"])),
        case(with_cells, ann(), json!({"SetPolicy": {"policy": "guarded"}}), nothing()),
        case(with_cells, user("editor"), json!({"SetPolicy": {"policy": "trusted"}}), rejected(Code::Forbidden)),
        case(with_cells, it(), json!({"SetPolicy": {"policy": "trusted"}}), rejected(Code::Forbidden)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    cases().iter().for_each(check);
}

#[test]
fn a_failed_model_call_is_tried_again_and_a_turn_has_ten_at_most() {
    let it = reactor_of("ann");
    let mut world = talking();
    let mut seen = Vec::new();
    for end in [failed(), answered(), answered()] {
        let (events, _) = world.try_do(&it, &model_call()).unwrap();
        let [Event::ModelCallStarted(event)] = &events[..] else { panic!("{events:?}") };
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
    assert_eq!(types(&events), ["MessagePosted", "TurnStarted"]);
    assert_eq!(outcome.turn.unwrap().as_str(), "next");
    assert_eq!(world.notebook.conversations.values().next().unwrap().title, "Tidy up");
}
