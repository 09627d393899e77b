//! Prompt cells: the reply stays with its prompt through deletion and restoration, with its status.

use crate::support::*;
use notarium_core::{CellReply, MAX_REPLY_UNITS, RejectionCode as Code, ReplyStatus, StopReason};

fn with_prompt() -> World {
    with_cells().with(&user("ann"), insert("ask", "prompt", "What is x?"))
}

fn ask() -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "cell_id": "ask"}})
}

fn asked() -> World {
    with_prompt().with(&user("ann"), ask())
}

fn says(text: &str) -> serde_json::Value {
    json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [{"text": {"text": text}}]}})
}

fn finished() -> serde_json::Value {
    json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}})
}

fn answered() -> World {
    asked().with(&reactor_of("ann"), says("It is 1.")).with(&reactor_of("ann"), finished())
}

fn delete() -> serde_json::Value {
    json!({"DeleteCell": {"cell_id": "ask"}})
}

fn restore() -> serde_json::Value {
    json!({"RestoreCell": {"cell_id": "ask"}})
}

fn reply(world: &World) -> CellReply {
    assert_eq!(replay(&world.log), world.notebook);
    (**world.cell("ask").reply.as_ref().expect("a reply")).clone()
}

fn with_reply(cell_type: &str, prompt: &str) -> serde_json::Value {
    let reply = json!({"turn_id": "elsewhere", "status": "running", "prompt": prompt, "text": "It is"});
    json!({"InsertCell": {"cell_id": "new", "cell_type": cell_type, "source": "What?", "reply": reply}})
}

pub fn cases() -> Vec<Case> {
    let ann = || user("ann");
    vec![
        case(with_cells, ann(), with_reply("prompt", "What?"), events(["CellInserted"])),
        case(with_cells, ann(), with_reply("markdown", "What?"), rejected(Code::InvalidValue)),
        case(with_cells, ann(), with_reply("prompt", &"x".repeat((1 << 20) + 1)), rejected(Code::LimitExceeded)),
        case(with_cells, user("viewer"), with_reply("prompt", "What?"), rejected(Code::Forbidden)),
        case(answered, ann(), delete(), events(["CellDeleted"])),
        case(|| answered().with(&user("ann"), delete()), ann(), restore(), events(["CellRestored"])),
        case(
            || asked().with(&user("ann"), delete()),
            reactor_of("ann"),
            json!({"EndTurn": {"turn_id": "turn", "end": {"failed": {"cause": "wrong_key", "detail": "no key"}}}}),
            events(["TurnFailed"]),
        ),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("replies", &cases());
}

#[test]
fn the_reply_grows_with_the_turns_messages_and_says_how_it_ended() {
    let it = reactor_of("ann");
    let mut world = asked();
    let begun = reply(&world);
    assert_eq!((begun.status.clone(), &*begun.prompt, &*begun.text), (ReplyStatus::Running.into(), "What is x?", ""));
    world.step(
        &it,
        json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [
            {"text": {"text": "I look "}}, {"text": {"text": "at it."}},
            {"tool_call": {"provider_id": "p", "call_id": "v", "function": "get_variables", "arguments": "{}"}}]}}),
    );
    world.step(&it, json!({"PostReply": {"turn_id": "turn", "role": "tool", "blocks": [{"text": {"text": "1"}}]}}));
    world.step(&it, says("It is 1."));
    assert_eq!(reply(&world).text, "I look at it.\n\nIt is 1.");
    let version = world.cell("ask").cell_version;
    let ends = [
        (it.clone(), finished(), ReplyStatus::Finished, None),
        (user("ann"), json!({"CancelTurn": {"turn_id": "turn"}}), ReplyStatus::Stopped, None),
        (
            it,
            json!({"EndTurn": {"turn_id": "turn", "end": {"failed": {"cause": "wrong_key", "detail": "no key"}}}}),
            ReplyStatus::Failed,
            Some("no key"),
        ),
    ];
    for (who, command, status, cause) in ends {
        let ended = reply(&world.clone().with(&who, command));
        assert_eq!((ended.status.clone(), ended.end_sentence().as_deref()), (status.into(), cause));
        assert_eq!(ended.stop_reason, (status == ReplyStatus::Finished).then_some(StopReason::EndTurn.into()));
        assert_eq!(ended.text, "I look at it.\n\nIt is 1.");
    }
    assert_eq!(world.cell("ask").cell_version, version, "an answer is no edit");
}

#[test]
fn asked_again_the_cell_shows_the_new_reply_and_another_prompt_makes_it_stale() {
    let mut world = answered();
    assert!(!world.notebook.is_stale(&cell_id("ask")));
    let version = world.version();
    world.step(&user("ann"), crate::edits::edit("ask", version, json!([9, [0, "y?"], 1])));
    assert!(world.notebook.is_stale(&cell_id("ask")));
    world.step(&user("ann"), ask());
    let again = reply(&world);
    assert_eq!((again.status.clone(), &*again.text), (ReplyStatus::Running.into(), ""));
    assert!(!world.notebook.is_stale(&cell_id("ask")));
}

#[test]
fn a_reply_survives_the_trash_as_outputs_do() {
    let before = reply(&answered());
    let ann = user("ann");
    assert_eq!(reply(&answered().with(&ann, delete()).with(&ann, restore())), before);
    assert_eq!(reply(&answered().with(&ann, delete()).with(&ann, json!({"Undo": {}}))), before);
}

#[test]
fn what_was_said_while_the_cell_was_in_the_trash_is_there_when_it_comes_back() {
    let (ann, it) = (user("ann"), reactor_of("ann"));
    let said = asked().with(&it, says("One.")).with(&ann, delete()).with(&it, says("Two."));
    let ended = said.clone().with(&it, finished());
    for back in [restore(), json!({"Undo": {}})] {
        let back_early = said.clone().with(&ann, back.clone()).with(&it, says("Three.")).with(&it, finished());
        assert_eq!(reply(&back_early).text, "One.\n\nTwo.\n\nThree.");
        let back_late = ended.clone().with(&ann, back);
        let found = reply(&back_late);
        assert_eq!((found.status.clone(), &*found.text), (ReplyStatus::Finished.into(), "One.\n\nTwo."));
    }
}

#[test]
fn a_long_reply_is_cut_where_everybody_sees_it() {
    let it = reactor_of("ann");
    let long = "é".repeat(MAX_REPLY_UNITS - 10);
    let world = asked().with(&it, says(&long)).with(&it, says(&long)).with(&it, says("more"));
    let reply = reply(&world);
    assert!(reply.is_cut && reply.text.encode_utf16().count() <= MAX_REPLY_UNITS + 2);
    assert!(reply.text.ends_with("éé"), "the second message is shown as far as there is room");
}

#[test]
fn a_reply_from_elsewhere_is_nobodys_turn_here() {
    let world = with_cells().with(&user("ann"), with_reply("prompt", "What?"));
    let reply = world.cell("new").reply.clone().expect("a reply");
    assert_eq!(
        (reply.turn_id.as_ref(), reply.status.clone(), &*reply.text),
        (None, ReplyStatus::Stopped.into(), "It is")
    );
    assert!(reply.cause.is_some());
}
