//! Tests of in-process subscribers: they get positions, commits and live activity as values.

use notarium_core::{Actor, Role};
use notarium_wire::{ActivityKind, TurnActivity};

use super::unposted::{act, activity, call_model, calling, calling_in, text};
use super::*;

fn follow(scene: &mut Scene, client: u64, identity: &Arc<Identity>) {
    scene.feed(Input::Client(ClientId(client), ClientInput::Follow(identity.clone())));
}

fn pieces(activity: &[TurnActivity]) -> String {
    let piece = |activity: &TurnActivity| match &activity.what {
        ActivityKind::TextDelta { block, text } => format!("{}.{block} {text}", activity.attempt),
        other => format!("{}.{other:?}", activity.attempt),
    };
    activity.iter().map(piece).collect::<Vec<_>>().join(", ")
}

/// Values since the last call, in short words.
fn values(scene: &mut Scene, client: u64) -> Vec<String> {
    let client = ClientId(client);
    let in_words = |output: Output| match output {
        Output::Following { client: other, version, activity } if other == client => {
            Some(format!("position {version}: {}", pieces(&activity)))
        }
        Output::Committed { clients, events, .. } if clients.contains(&client) => {
            let types: Vec<&str> = events.iter().map(|recorded| recorded.event.event_type()).collect();
            Some(format!("{}: {}", events[0].envelope.version, types.join(", ")))
        }
        Output::Activity { clients, activity } if clients.contains(&client) => Some(pieces(&activity)),
        _ => None,
    };
    std::mem::take(&mut scene.others).into_iter().filter_map(in_words).collect()
}

#[test]
fn a_follower_gets_what_is_on_disk_until_its_right_ends() {
    let mut scene = Scene::new(RoomConfig::default());
    let bob = with_role("bob", Role::Viewer);
    follow(&mut scene, 1, &bob);
    follow(&mut scene, 2, &user("carol"));
    assert_eq!(values(&mut scene, 1), ["position 2: "]);
    assert_eq!((values(&mut scene, 2), scene.words(2)), (vec![], error(ErrorCode::UnknownNotebook)));
    scene.is_held = true;
    scene.send(9, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    assert_eq!(values(&mut scene, 1), [""; 0]);
    scene.is_held = false;
    scene.release();
    assert_eq!(values(&mut scene, 1), ["3: CellSourceEdited"]);
    scene.feed(Input::Client(ClientId(1), ClientInput::IdentityChanged(user("bob"))));
    scene.execute("anna", r#"{"RenameNotebook":{"title":"Later"}}"#).unwrap();
    assert_eq!(values(&mut scene, 1), [""; 0]);
    assert_eq!(scene.words(1), ["access None"], "it got no frames");
}

#[test]
fn a_late_follower_gets_an_unfinished_answer_from_its_beginning() {
    let mut scene = calling();
    let version = scene.room.version();
    for input in [text(1, 0, "Hel"), activity(1, ActivityKind::ThinkingDelta { block: 1, text: "hm".into() })] {
        scene.feed(input);
    }
    scene.feed(text(1, 0, "lo"));
    follow(&mut scene, 1, &user("anna"));
    assert_eq!(values(&mut scene, 1), [format!("position {version}: 1.0 Hello")]);
    scene.feed(text(1, 0, "!"));
    scene.advance(1_000);
    assert_eq!(values(&mut scene, 1), ["1.0 !"]);
    scene.feed(activity(1, ActivityKind::AttemptFailed { cause: "cut".into() }));
    act(&mut scene, r#"{"ReportModelCall":{"turn_id":"turn","failure":"unavailable"}}"#);
    call_model(&mut scene);
    scene.feed(text(2, 0, "Hi"));
    follow(&mut scene, 2, &user("anna"));
    assert_eq!(values(&mut scene, 2), [format!("position {}: 2.0 Hi", scene.room.version())]);
    scene.execute("anna", r#"{"CancelTurn":{"turn_id":"turn"}}"#).unwrap();
    follow(&mut scene, 3, &user("anna"));
    assert_eq!(values(&mut scene, 3), [format!("position {}: ", scene.room.version())]);
}

#[test]
fn an_answer_beyond_the_limit_is_cut_without_a_gap() {
    let mut config = RoomConfig::default();
    config.limits.max_message_bytes = 200;
    let (long, more) = ("x".repeat(190), "y".repeat(20));
    let mut scene = calling_in(config);
    follow(&mut scene, 1, &user("anna"));
    values(&mut scene, 1);
    for piece in [long.as_str(), more.as_str(), "z"] {
        scene.feed(text(1, 0, piece));
    }
    scene.advance(1_000);
    assert_eq!(values(&mut scene, 1), [format!("1.0 {long}")]);
    follow(&mut scene, 2, &user("anna"));
    assert_eq!(values(&mut scene, 2), [format!("position {}: 1.0 {long}", scene.room.version())]);
}

#[test]
fn a_slow_follower_gets_a_new_position() {
    let mut scene = calling();
    follow(&mut scene, 1, &user("anna"));
    values(&mut scene, 1);
    scene.feed(text(1, 0, "Hel"));
    scene.feed(Input::Lagging { client: ClientId(1), from: Version::MAX });
    values(&mut scene, 1);
    scene.feed(text(1, 0, "lo"));
    scene.execute("anna", r#"{"RenameNotebook":{"title":"Later"}}"#).unwrap();
    assert_eq!(values(&mut scene, 1), [""; 0]);
    scene.feed(Input::CaughtUp { client: ClientId(1) });
    let version = scene.room.version();
    assert_eq!(values(&mut scene, 1), [format!("position {version}: 1.0 Hello")]);
    // The log has moved on in a reload.
    scene.failure = Some(AppendFailure::Unavailable { reason: "full".into() });
    scene.execute("anna", r#"{"RenameNotebook":{"title":"Last"}}"#).unwrap_err();
    assert_eq!(values(&mut scene, 1), [format!("position {version}: 1.0 Hello")]);
}

#[test]
fn the_server_follows_unseen() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.advance(1_000);
    scene.words(1);
    let server = Identity { actor: Actor::System, ..(*user("server")).clone() };
    follow(&mut scene, 2, &Arc::new(server));
    assert_eq!(values(&mut scene, 2), ["position 2: "]);
    scene.advance(1_000);
    scene.feed(Input::Client(ClientId(2), ClientInput::Unsubscribe));
    scene.advance(1_000);
    assert_eq!(scene.words(1), [""; 0]);
}
