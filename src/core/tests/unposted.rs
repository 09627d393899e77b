//! Partial answers: the text that a model has written is kept when the turn ends early.

use crate::support::*;
use notarium_core::{Actor, Command, Event, MessageBlock, MessagePosted, MessageRole, RejectionCode as Code};
use serde_json::Value;

fn model_call() -> Value {
    json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}})
}

fn cancel() -> Value {
    json!({"CancelTurn": {"turn_id": "turn"}})
}

fn fail() -> Value {
    json!({"EndTurn": {"turn_id": "turn", "end": {"failed": {"cause": "unavailable"}}}})
}

fn written(mut world: World, texts: &[&str]) -> World {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    world.unposted.insert("turn".parse().unwrap(), texts);
    world
}

/// The model has written part of its answer.
fn writing() -> World {
    written(talking().with(&reactor_of("ann"), model_call()), &["Half of ", " \n", "an answer"])
}

/// The model has only thought, or begun a call.
fn thinking() -> World {
    written(talking().with(&reactor_of("ann"), model_call()), &["", "\n"])
}

/// The model call has failed, and no other follows.
fn given_up() -> World {
    writing().with(&reactor_of("ann"), json!({"ReportModelCall": {"turn_id": "turn", "failure": "unavailable"}}))
}

fn begun_with_token() -> World {
    let mut who = user("ann");
    who.authority.token = Some("key".parse().unwrap());
    let world =
        started().with(&who, json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Hi"}}));
    written(world.with(&reactor_of("ann"), model_call()), &["Half"])
}

fn stopped() -> World {
    writing().with(&user("ann"), cancel())
}

pub fn cases() -> Vec<Case> {
    let (ann, it) = (|| user("ann"), || reactor_of("ann"));
    let partial =
        json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [{"text": {"text": "more"}}]}});
    vec![
        case(writing, ann(), cancel(), events(["MessagePosted", "TurnCancelled"])),
        case(writing, user("editor"), cancel(), events(["MessagePosted", "TurnCancelled"])),
        case(writing, user("viewer"), cancel(), rejected(Code::Forbidden)),
        case(writing, system(), cancel(), events(["MessagePosted", "TurnCancelled"])),
        case(thinking, ann(), cancel(), events(["TurnCancelled"])),
        case(given_up, it(), fail(), events(["MessagePosted", "TurnFailed"])),
        case(given_up, ann(), cancel(), events(["MessagePosted", "TurnCancelled"])),
        case(thinking, it(), fail(), events(["TurnFailed"])),
        case(
            writing,
            it(),
            json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}}),
            events(["TurnFinished"]),
        ),
        case(
            begun_with_token,
            system(),
            json!({"WithdrawRevoked": {"revoked": {"token": "key"}}}),
            events(["MessagePosted", "TurnFailed"]),
        ),
        case(stopped, ann(), cancel(), rejected(Code::TurnState)),
        case(stopped, it(), fail(), rejected(Code::TurnState)),
        case(stopped, it(), partial, rejected(Code::TurnState)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("unposted", &cases());
}

/// The partial message and its actor.
fn kept(world: &World) -> (MessagePosted, Actor) {
    let found = world.recorded.iter().find_map(|recorded| match &recorded.event {
        Event::MessagePosted(event) if event.is_partial => Some((event.clone(), recorded.envelope.actor.clone())),
        _ => None,
    });
    found.expect("a partial message")
}

fn texts(posted: &MessagePosted) -> Vec<&str> {
    let texts = posted.known_blocks().map(|block| match block {
        MessageBlock::Text { text } => text.as_str(),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn it_is_said_by_the_assistant_whoever_stopped_it() {
    let world = writing().with(&user("editor"), cancel());
    let (posted, actor) = kept(&world);
    assert_eq!(actor, assistant_of("ann").actor);
    assert_eq!((posted.role.clone(), texts(&posted)), (MessageRole::Assistant.into(), vec!["Half of ", "an answer"]));
    let end = world.recorded.last().unwrap();
    assert_eq!((end.envelope.actor.clone(), end.event.event_type()), (user("editor").actor, "TurnCancelled"));
}

#[test]
fn a_turn_of_the_same_id_has_written_nothing() {
    let start = json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Once more"}});
    let world = writing().with(&user("ann"), json!({"Batch": {"commands": [cancel(), start, cancel()]}}));
    let partial = world.recorded.iter().filter(|recorded| match &recorded.event {
        Event::MessagePosted(event) => event.is_partial,
        _ => false,
    });
    assert_eq!(partial.count(), 1);
}

#[test]
fn nobody_may_say_that_a_message_is_partial() {
    let says = json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [], "is_partial": true}});
    assert!(serde_json::from_value::<Command>(says).is_err());
}

#[test]
fn of_a_text_that_is_longer_than_a_message_the_beginning_is_kept() {
    // A control character takes six bytes as JSON, the others one to four.
    for text in ["x".repeat(500), "ü🎵".repeat(100), "\u{1}".repeat(200)] {
        let mut world = written(writing(), &["first", &text, "never"]);
        world.limits.max_message_bytes = 300;
        world.step(&user("ann"), cancel());
        let (posted, _) = kept(&world);
        let bytes = serde_json::to_string(&posted.blocks).unwrap().len();
        assert!((200..=300).contains(&bytes), "{bytes} bytes of {text:?}");
        let [first, second] = texts(&posted)[..] else { panic!("{posted:?}") };
        assert!(first == "first" && text.starts_with(second) && !second.is_empty());
    }
}

#[test]
fn the_prompt_cell_shows_it_too() {
    let world = with_cells()
        .with(&user("ann"), insert("ask", "prompt", "What is x?"))
        .with(&user("ann"), json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "cell_id": "ask"}}))
        .with(&reactor_of("ann"), model_call());
    let world = written(world, &["It is"]).with(&user("ann"), cancel());
    let reply = world.cell("ask").reply.clone().unwrap();
    assert_eq!((reply.text.as_str(), serde_json::to_value(&reply.status).unwrap()), ("It is", json!("stopped")));
    assert_eq!(serde_json::to_string(&replay(&world.log).document).unwrap(), world.json());
}
