//! Tests of widgets: followers get changes, clients that may run send messages, and nothing is recorded.

use std::sync::Arc;

use notarium_core::{KernelSessionId, RawObject, Scope};
use notarium_wire::{CommChange, CommMessage, ErrorCode, MAX_COMM_BYTES, OpenComm, SendCommMessage, ServerMessage};

use super::{Scene, agent, assistant, user};
use crate::behaviour::kernels::with_kernel;
use crate::io::{ClientId, ClientInput, Identity, Input};

fn named(name: &str, connection: &str) -> Arc<Identity> {
    Arc::new(Identity { connection: connection.to_owned(), ..(*user(name)).clone() })
}

fn follow(scene: &mut Scene, client: u64, session: &KernelSessionId) {
    scene.feed(Input::Client(ClientId(client), ClientInput::FollowComms { kernel_session: session.clone() }));
}

fn comms(scene: &mut Scene, from: u64, session: &KernelSessionId, asker: &str) {
    let (comm_id, state, buffers) = ("s".into(), RawObject::default(), Vec::new());
    let comm = OpenComm { comm_id, target: None, execution_id: None, state, buffers };
    let (client, kernel_session, asker) = (ClientId(from), session.clone(), asker.to_owned());
    scene.feed(Input::Client(client, ClientInput::Comms { kernel_session, asker, comms: vec![comm] }));
}

fn change(scene: &mut Scene, from: u64, session: &KernelSessionId) {
    let changes = vec![CommChange::Closed { comm_id: "s".into() }];
    scene.feed(Input::Client(ClientId(from), ClientInput::Comm { kernel_session: session.clone(), changes }));
}

fn moved(session: &KernelSessionId, bytes: usize) -> SendCommMessage {
    let data = RawObject::parse(&format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes))).unwrap();
    let message = CommMessage { comm_id: "s".into(), data, buffers: Vec::new(), parent: None };
    SendCommMessage { notebook: "n".parse().unwrap(), kernel_session: session.clone(), id: 1, sender: None, message }
}

/// A client's messages about widgets, in short form.
fn told(scene: &mut Scene, client: u64) -> Vec<String> {
    let words = scene.seen(client).into_iter().filter_map(|message| match message {
        ServerMessage::Comms { comms, problem, .. } => Some(format!("comms {} {}", comms.len(), problem.is_some())),
        ServerMessage::Comm { changes, .. } => Some(format!("comm {}", changes.len())),
        ServerMessage::CommsWanted { asker, .. } => Some(format!("wanted {}", asker.unwrap_or_default())),
        ServerMessage::SendComm(message) => Some(format!("send {}", message.sender.unwrap_or_default())),
        ServerMessage::Error(error) => Some(format!("{:?}", error.code)),
        _ => None,
    });
    words.collect()
}

#[test]
fn who_follows_gets_all_and_then_each_change_and_others_get_nothing() {
    let (mut scene, session) = with_kernel();
    let written = scene.disk.events.len();
    for (client, name) in [(1, "c1"), (2, "c2"), (3, "c3")] {
        scene.subscribe(client, &named("anna", name), None);
    }
    scene.seen(9);
    follow(&mut scene, 1, &session);
    follow(&mut scene, 2, &session);
    assert_eq!(told(&mut scene, 9), ["wanted c1", "wanted c2"]);
    comms(&mut scene, 9, &session, "c1");
    change(&mut scene, 9, &session);
    comms(&mut scene, 9, &session, "c2");
    comms(&mut scene, 1, &session, "c2");
    change(&mut scene, 1, &session);
    assert_eq!(told(&mut scene, 1), ["comms 1 false", "comm 1"]);
    assert_eq!(
        told(&mut scene, 2),
        ["comms 1 false"],
        "what came before is in there; and only its agent speaks for a kernel"
    );
    assert!(told(&mut scene, 3).is_empty());
    scene.feed(Input::Client(ClientId(1), ClientInput::Unsubscribe));
    scene.feed(Input::Client(ClientId(2), ClientInput::Unsubscribe));
    change(&mut scene, 9, &session);
    assert_eq!(told(&mut scene, 9), ["wanted "], "nobody follows");
    assert_eq!(scene.disk.events.len(), written, "nothing is written");
}

#[test]
fn an_agent_that_comes_back_is_asked_again_and_a_kernel_that_is_none_is_told() {
    let (mut scene, session) = with_kernel();
    scene.subscribe(1, &named("anna", "c1"), None);
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.seen(9);
    follow(&mut scene, 1, &session);
    assert_eq!(told(&mut scene, 1), ["comms 0 true"]);
    scene.subscribe(9, &agent(), None);
    assert_eq!(told(&mut scene, 9), ["wanted c1"]);
    follow(&mut scene, 1, &"none".parse().unwrap());
    assert_eq!(told(&mut scene, 1), ["comms 0 true"]);
}

#[test]
fn only_people_who_may_run_are_heard() {
    let (mut scene, session) = with_kernel();
    scene.execute("anna", r#"{"GrantAccess":{"subject":{"kind":"user","id":"vera"},"role":"viewer"}}"#).unwrap();
    let mut reader = (*named("anna", "c3")).clone();
    reader.authority.scopes = [Scope::Read].into();
    let who = [(1, named("anna", "c1")), (2, named("vera", "c2")), (3, Arc::new(reader)), (4, assistant())];
    for (client, identity) in &who {
        scene.subscribe(*client, identity, None);
        follow(&mut scene, *client, &session);
        scene.seen(*client);
    }
    scene.seen(9);
    let mut send = |client: u64, message: SendCommMessage| {
        scene.feed(Input::Client(ClientId(client), ClientInput::SendComm(message)));
        (told(&mut scene, client), told(&mut scene, 9))
    };
    let nothing = Vec::<String>::new;
    assert_eq!(send(1, moved(&session, 1)), (nothing(), vec!["send c1".to_owned()]));
    for client in [2, 3, 4] {
        assert_eq!(
            send(client, moved(&session, 1)),
            (vec![format!("{:?}", ErrorCode::Forbidden)], nothing()),
            "{client}"
        );
    }
    let large = format!("{:?}", ErrorCode::FrameTooLarge);
    assert_eq!(send(1, moved(&session, MAX_COMM_BYTES)), (vec![large], nothing()));
    let unknown = format!("{:?}", ErrorCode::Forbidden);
    assert_eq!(send(1, moved(&"none".parse().unwrap(), 1)), (vec![unknown], nothing()));
}
