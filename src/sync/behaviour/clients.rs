//! Tests of subscriptions, catch-up, presence, and loss of access.

use std::sync::Arc;

use notarium_core::{AccountStatus, AccountStatuses, Role, Scope, required_account_status};
use notarium_wire::{
    ActivityKind, CommandMessage, ErrorCode, LastEvent, PresenceState, ServerMessage, SubscribeMessage, TurnActivity,
    UnconfirmedText,
};

use super::{CREATE, INSERT, Scene, edit, error, user, with_role, without_scopes};
use crate::io::{ClientId, ClientInput, Identity, Input, Output, OutsideFacts, ReplyTo, Submission};
use crate::simulation::context_notebook;
use crate::{DecodedCommand, RoomConfig};

/// Anna's notebook at `version`; every event after 2 is an edit of cell `a`.
fn with_edits(config: RoomConfig, version: u64) -> Scene {
    let mut scene = Scene::new(config);
    for base in 2..version {
        let keep = if base == 2 { String::new() } else { format!(",{}", base - 2) };
        scene.execute("anna", &edit(base, &format!(r#"[[0,"x"]{keep}]"#))).unwrap();
    }
    scene
}

#[test]
fn a_client_that_knows_a_version_gets_what_it_misses() {
    let mut scene = with_edits(RoomConfig { max_tail_events: 5, ..RoomConfig::default() }, 10);
    let anna = user("anna");
    scene.subscribe(1, &anna, Some(7));
    assert_eq!(scene.durable(1), ["subscribed 7", "events 8..10"]);
    scene.subscribe(2, &anna, Some(10));
    assert_eq!(scene.durable(2), ["subscribed 10"]);
    scene.subscribe(3, &anna, Some(4));
    assert_eq!(scene.durable(3), ["subscribed 10 with state"]);
    scene.subscribe(4, &anna, Some(11));
    assert_eq!(scene.durable(4), ["subscribed 10 with state, diverged"]);
}

/// After a restore from a backup: the client has an event that this log never had, at an existing version.
#[test]
fn a_client_of_another_branch_gets_the_state_and_is_told() {
    for max_recent_events in [100, 0] {
        for version in [3, 9, 10] {
            let mut scene =
                with_edits(RoomConfig { max_recent_events, max_tail_events: 5, ..RoomConfig::default() }, 10);
            scene.advance(10_000);
            let since = Some(LastEvent { version, event_id: "of-another-branch".parse().unwrap() });
            let unconfirmed = vec![UnconfirmedText { cell_id: "a".parse().unwrap(), base: version }];
            let message = SubscribeMessage { notebook: context_notebook(), since, unconfirmed };
            scene.feed(Input::Client(ClientId(1), ClientInput::Subscribe { identity: user("anna"), message }));
            let seen = scene.seen(1);
            let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
            assert!(subscribed.diverged && subscribed.snapshot.is_some(), "{max_recent_events} {version}");
            assert_eq!(subscribed.event_id, scene.last_event(10).event_id);
            assert_eq!(subscribed.base_too_old[0].as_str(), "a", "its base means nothing here");
        }
    }
}

#[test]
fn what_memory_has_forgotten_comes_from_the_store() {
    let mut scene = with_edits(RoomConfig { max_recent_events: 2, ..RoomConfig::default() }, 10);
    scene.is_held = true;
    scene.subscribe(1, &user("anna"), Some(3));
    // The room continues meanwhile; no event is missing or duplicated.
    let Some(question) = scene.held.pop() else { panic!("the tail is read") };
    scene.is_held = false;
    scene.execute("anna", &edit(10, r#"[[0,"y"],8]"#)).unwrap();
    let Output::ReadTail { ticket, after, limit } = question else { panic!("{question:?}") };
    let events: Vec<_> = scene.disk.read(after, limit).into_iter().filter(|it| it.envelope.version <= 10).collect();
    scene.feed(Input::Past { ticket, past: Ok(events.into()) });
    assert_eq!(scene.durable(1), ["subscribed 3", "events 4..10", "events 11..11"]);
}

#[test]
fn unconfirmed_cells_bring_their_changes_with_the_state() {
    for max_recent_events in [100, 0] {
        let config = RoomConfig { max_recent_events, max_tail_events: 0, ..RoomConfig::default() };
        let mut scene = with_edits(config, 8);
        scene.subscribe_with(1, &user("anna"), Some(5), &[("a", 5)]);
        let seen = scene.seen(1);
        let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
        let versions: Vec<u64> = subscribed.unconfirmed_events.iter().map(|event| event.version).collect();
        assert_eq!((versions, subscribed.version), (vec![6, 7, 8], 8));
        assert!(subscribed.base_too_old.is_empty() && subscribed.snapshot.is_some());
    }
}

#[test]
fn text_with_a_base_too_far_back_becomes_a_copy() {
    let config = RoomConfig { max_tail_events: 0, max_unconfirmed_events: 2, ..RoomConfig::default() };
    let mut scene = with_edits(config, 8);
    scene.subscribe_with(1, &user("anna"), Some(5), &[("a", 5)]);
    let seen = scene.seen(1);
    let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
    assert_eq!(subscribed.base_too_old[0].as_str(), "a");
}

#[test]
fn strangers_and_tokens_without_read_see_nothing() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("eve"), None);
    assert_eq!(scene.words(1), error(ErrorCode::UnknownNotebook));
    scene.subscribe(2, &without_scopes("bob", &[Scope::Edit]), None);
    assert_eq!(scene.words(2), error(ErrorCode::Forbidden));
    let mut empty = Scene::empty(RoomConfig::default());
    empty.subscribe(1, &user("anna"), None);
    assert_eq!(empty.words(1), error(ErrorCode::UnknownNotebook));
}

#[test]
fn who_creates_and_subscribes_in_one_breath_is_in() {
    let mut scene = Scene::empty(RoomConfig::default());
    let anna = user("anna");
    scene.is_held = true;
    scene.send(1, &anna, CREATE);
    scene.send(1, &anna, INSERT);
    scene.subscribe(1, &anna, None);
    while scene.release() > 0 {}
    assert_eq!(scene.durable(1), ["ack 1", "ack 2", "subscribed 2 with state"]);
}

#[test]
fn a_slow_client_is_caught_up_and_the_others_notice_nothing() {
    let mut scene = Scene::new(RoomConfig::default());
    let anna = user("anna");
    scene.subscribe(1, &anna, None);
    scene.subscribe(2, &anna, None);
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    scene.seen(1);
    scene.seen(2);
    scene.feed(Input::Lagging { client: ClientId(1), from: 3 });
    scene.execute("anna", &edit(3, r#"[[0,"x"],1]"#)).unwrap();
    assert!(scene.durable(1).is_empty());
    assert_eq!(scene.durable(2), ["events 4..4"]);
    scene.feed(Input::CaughtUp { client: ClientId(1) });
    assert_eq!(scene.durable(1), ["resync", "subscribed 2", "events 3..4"]);
    scene.execute("anna", &edit(4, r#"[[0,"x"],2]"#)).unwrap();
    assert_eq!(scene.durable(1), ["events 5..5"]);
}

#[test]
fn events_of_a_busy_notebook_share_frames_and_senders_do_not_wait() {
    let mut scene = Scene::new(RoomConfig::default());
    let anna = user("anna");
    scene.subscribe(1, &anna, None);
    scene.subscribe(2, &anna, None);
    scene.advance(1_000);
    scene.seen(1);
    scene.seen(2);
    for base in 2..6 {
        let keep = if base == 2 { String::new() } else { format!(",{}", base - 2) };
        scene.send(1, &anna, &edit(base, &format!(r#"[[0,"x"]{keep}]"#)));
    }
    let own = ["events 3..3", "ack 3", "events 4..4", "ack 4", "events 5..5", "ack 5", "events 6..6", "ack 6"];
    assert_eq!(scene.durable(1), own);
    assert_eq!(scene.durable(2), ["events 3..3"]);
    scene.advance(20);
    assert_eq!(scene.durable(2), ["events 4..6"]);
}

#[test]
fn presence_is_told_at_once_then_coalesced_and_forgotten() {
    let mut scene = Scene::new(RoomConfig::default());
    let (anna, bob) = (user("anna"), with_role("bob", Role::Viewer));
    scene.subscribe(1, &anna, None);
    scene.advance(1_000);
    scene.seen(1);
    scene.subscribe(2, &bob, None);
    assert_eq!(scene.words(1), [r#"presence ["bob"] left []"#]);
    let seen = scene.seen(2);
    let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
    assert_eq!(subscribed.peers[0].name, "anna");
    for anchor in 0..5 {
        let state = PresenceState { selection: Some([anchor, anchor]), ..PresenceState::default() };
        scene.feed(Input::Client(ClientId(2), ClientInput::Presence(state)));
    }
    assert!(scene.words(1).is_empty());
    scene.advance(50);
    assert_eq!(scene.words(1), [r#"presence ["bob"] left []"#]);
    scene.advance(29_000);
    assert!(scene.words(1).is_empty());
    scene.advance(2_000);
    let seen = scene.seen(1);
    let [ServerMessage::Presence { peers, .. }] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(peers[0].state, PresenceState::default());
    scene.feed(Input::Client(ClientId(2), ClientInput::Unsubscribe));
    scene.advance(50);
    assert_eq!(scene.words(1), [r#"presence [] left ["bob-1"]"#]);
}

#[test]
fn what_an_assistant_writes_is_told_at_once_then_coalesced_and_never_after_what_it_came_to() {
    let mut scene = Scene::new(RoomConfig::default());
    let write = |scene: &mut Scene, text: &str| scene.feed(Input::Activity(delta(text)));
    write(&mut scene, "nobody follows yet");
    scene.advance(1_000);
    scene.subscribe(1, &user("anna"), None);
    scene.seen(1);
    write(&mut scene, "He");
    assert_eq!(told(&mut scene), ["He"]);
    write(&mut scene, "ll");
    write(&mut scene, "o");
    assert!(told(&mut scene).is_empty(), "it waits for the next frame");
    scene.advance(30);
    assert_eq!(told(&mut scene), ["llo"]);
    write(&mut scene, "!");
    // An event for assistants is preceded by all activity before it.
    scene.execute("anna", r#"{"SetPolicy":{"policy":"trusted"}}"#).unwrap();
    let seen = scene.seen(1);
    let [ServerMessage::Activity { activity, .. }, ServerMessage::Events(_)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(activity, &[delta("!")]);
    let before = scene.room.version();
    scene.advance(1_000);
    assert_eq!((scene.room.version(), told(&mut scene)), (before, vec![]), "nothing of it is kept");
}

fn delta(text: &str) -> TurnActivity {
    TurnActivity {
        conversation_id: "talk".parse().unwrap(),
        turn_id: "turn".parse().unwrap(),
        model_call: 1,
        attempt: 1,
        what: ActivityKind::TextDelta { block: 0, text: text.to_owned() },
    }
}

/// Texts that client 1 received.
fn told(scene: &mut Scene) -> Vec<String> {
    let activity = scene.seen(1).into_iter().flat_map(|message| match message {
        ServerMessage::Activity { activity, .. } => activity,
        other => panic!("{other:?}"),
    });
    let texts = activity.map(|activity| match activity.what {
        ActivityKind::TextDelta { text, .. } => text,
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn a_right_that_is_taken_away_ends_at_once() {
    let mut scene = Scene::new(RoomConfig::default());
    let bob = user("bob");
    let grant = |role: &str| format!(r#"{{"GrantAccess":{{"subject":{{"kind":"user","id":"bob"}},"role":"{role}"}}}}"#);
    scene.execute("anna", &grant("editor")).unwrap();
    scene.subscribe(1, &bob, None);
    scene.seen(1);
    scene.execute("anna", &grant("viewer")).unwrap();
    assert_eq!(scene.durable(1), ["access Some(Viewer)", "events 4..4"]);
    assert_eq!(scene.refused("bob", INSERT), notarium_core::RejectionCode::Forbidden);
    scene.execute("anna", r#"{"RevokeAccess":{"subject":{"kind":"user","id":"bob"}}}"#).unwrap();
    assert_eq!(scene.durable(1), ["access None"]);
    scene.execute("anna", &edit(2, r#"[[0,"secret"]]"#)).unwrap();
    scene.advance(1_000);
    assert!(scene.words(1).is_empty());
}

#[test]
fn a_grant_that_expires_and_a_token_that_is_revoked_end_the_subscription() {
    let mut scene = Scene::new(RoomConfig::default());
    let expires_at = scene.now + 60_000;
    let grant = format!(
        r#"{{"GrantAccess":{{"subject":{{"kind":"user","id":"bob"}},"role":"viewer","expires_at":{expires_at}}}}}"#
    );
    scene.execute("anna", &grant).unwrap();
    scene.subscribe(1, &user("bob"), None);
    scene.subscribe(2, &with_role("carl", Role::Viewer), None);
    scene.advance(1_000);
    scene.seen(1);
    scene.seen(2);
    scene.advance(60_000);
    assert_eq!(scene.durable(1), ["access None"]);
    scene.feed(Input::Client(ClientId(2), ClientInput::IdentityChanged(user("carl"))));
    assert_eq!(scene.durable(2), ["access None"]);
}

impl Submission {
    /// Creates a submission for which all named subjects are active, and kernels of Python hold effects.
    pub(crate) fn where_all_are_active(identity: Arc<Identity>, message: CommandMessage, reply_to: ReplyTo) -> Self {
        let decoded = DecodedCommand::decode(message).expect("a command");
        let named = required_account_status(&decoded.command);
        let active = named.into_iter().map(|subject| (subject, AccountStatus::Active));
        let facts = OutsideFacts {
            account_status: AccountStatuses::new(active),
            holding_kernelspecs: ["python3".to_owned()].into(),
            ..OutsideFacts::default()
        };
        Self { facts, ..Self::new(identity, decoded, reply_to) }
    }
}
