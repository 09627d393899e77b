//! Chat events of a turn are sent once, in order and complete, whenever a follower joins.

mod calls;
mod cursor;
mod halves;

use std::collections::BTreeMap;

use notarium_core::{
    Actor, CallAnswer, Envelope, Event, MessageBlock, MessagePosted, MessageRole, Open, Passed, RawObject, Recorded,
    StopReason, ToolCallEnd, TurnFailure, Usage, Version, VoidCause, WithdrawalCause,
};
use notarium_core::{
    ToolCallConfirmed, ToolCallDenied, ToolCallExecuted, ToolCallExpired, ToolCallRequested, ToolCallStarted,
    ToolCallVoided, ToolCallWithdrawn, TurnFinished, TurnModelCallFinished, TurnModelCallStarted, TurnStarted,
};
use notarium_wire::{ActivityKind, TurnActivity};

use super::TurnCursor;
use super::transcript::{FollowerEvent, Transcript};
use notarium_wire::rest::ChatEvent;

/// One step of a story.
#[derive(Clone)]
enum Happens {
    Event(Box<Event>),
    Activity(TurnActivity),
    /// The server restarts: live activity is lost.
    Restart,
}

fn event(event: impl Into<Event>) -> Happens {
    Happens::Event(Box::new(event.into()))
}

fn activity(model_call: u32, attempt: u32, what: ActivityKind) -> Happens {
    let (conversation_id, turn_id) = ("talk".parse().unwrap(), "t".parse().unwrap());
    Happens::Activity(TurnActivity { conversation_id, turn_id, model_call, attempt, what })
}

fn writes(model_call: u32, attempt: u32, block: usize, text: &str) -> Happens {
    activity(model_call, attempt, ActivityKind::TextDelta { block, text: text.to_owned() })
}

fn recorded(version: Version, event: &Event) -> Recorded {
    let envelope = Envelope {
        id: format!("e{version}").parse().unwrap(),
        notebook_id: "n".parse().unwrap(),
        version,
        event_type: String::new(),
        schema: 1,
        actor: Actor::User { id: "ann".parse().unwrap() },
        command_id: "c".parse().unwrap(),
        correlation_id: "c".parse().unwrap(),
        causation_id: None,
        undoes: None,
        recorded_at: version * 1_000,
    };
    Recorded { envelope, event: event.clone() }
}

fn started() -> Happens {
    event(TurnStarted {
        turn_id: "t".parse().unwrap(),
        conversation_id: "talk".parse().unwrap(),
        message_id: "m".parse().unwrap(),
        cell_id: None,
        model: None,
        scopes: Default::default(),
        is_bound: false,
        token: None,
    })
}

fn model_call(number: u32, attempt: u32) -> Happens {
    let (provider, model) = ("scripted".to_owned(), "one".to_owned());
    let (turn_id, claimant) = ("t".parse().unwrap(), "instance".parse().unwrap());
    event(TurnModelCallStarted { turn_id, claimant, number, attempt, provider, model })
}

fn model_call_ended(number: u32, attempt: u32, failure: Option<&str>) -> Happens {
    let (failure, detail) = (failure.map(|_| TurnFailure::Unavailable.into()), failure.map(str::to_owned));
    event(TurnModelCallFinished {
        turn_id: "t".parse().unwrap(),
        number,
        attempt,
        failure,
        detail,
        usage: Usage::default(),
    })
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

fn call(id: &str, function: &str) -> MessageBlock {
    MessageBlock::ToolCall {
        provider_id: format!("p{id}"),
        call_id: id.parse().unwrap(),
        function: function.to_owned(),
        arguments: "{}".to_owned(),
        extra: None,
    }
}

fn posts(role: MessageRole, blocks: &[MessageBlock]) -> Happens {
    event(posted(role, blocks))
}

fn posted(role: MessageRole, blocks: &[MessageBlock]) -> MessagePosted {
    MessagePosted {
        conversation_id: "talk".parse().unwrap(),
        message_id: "m2".parse().unwrap(),
        turn_id: Some("t".parse().unwrap()),
        role: role.into(),
        blocks: blocks.iter().cloned().map(Open::Known).collect(),
        reply_units: None,
        is_partial: false,
    }
}

fn finished() -> Happens {
    event(TurnFinished { turn_id: "t".parse().unwrap(), stop_reason: StopReason::EndTurn.into() })
}

/// A deletion that waits for a person, and that takes long.
fn gated_call(id: &str) -> Vec<Happens> {
    let call_id: notarium_core::ToolCallId = id.parse().unwrap();
    let arguments = RawObject::parse(r#"{"cell_id":"c"}"#).unwrap();
    let arguments_hash = notarium_core::arguments_hash("delete_cell", &arguments);
    let request = ToolCallRequested {
        call_id: call_id.clone(),
        turn_id: Some("t".parse().unwrap()),
        function: "delete_cell".to_owned(),
        arguments,
        arguments_hash,
        risk: notarium_core::Risk::Destructive.into(),
        reasons: Vec::new(),
        targets: Vec::new(),
        gate: notarium_core::Gate::WaitsForPerson { until: 99 }.into(),
        after: None,
        token: None,
    };
    let update = ActivityKind::ToolUpdate { call_id: call_id.clone(), message: "still at it".to_owned() };
    vec![
        event(request),
        event(ToolCallConfirmed { call_id: call_id.clone(), arguments_hash, by_means: None }),
        event(ToolCallStarted {
            call_id: call_id.clone(),
            passed_by: Passed::Policy.into(),
            claimant: "instance".parse().unwrap(),
        }),
        activity(1, 1, update),
        event(ToolCallExecuted { call_id, end: ToolCallEnd::Ok.into(), result: "gone".to_owned(), duration_ms: 1 }),
    ]
}

/// Two model calls with text; between them a gated call and a refused one.
fn story() -> Vec<Happens> {
    let mut story = vec![
        started(),
        model_call(1, 1),
        activity(1, 1, ActivityKind::TextStart { block: 0 }),
        writes(1, 1, 0, "Grüß "),
        writes(1, 1, 0, "dich"),
        activity(1, 1, ActivityKind::BlockStop { block: 0 }),
        activity(1, 1, ActivityKind::ThinkingDelta { block: 1, text: "hidden thought".to_owned() }),
        activity(1, 1, ActivityKind::BlockStop { block: 1 }),
        activity(1, 1, ActivityKind::ToolStart { block: 2, provider_id: "pd".into(), function: "delete_cell".into() }),
        activity(1, 1, ActivityKind::BlockStop { block: 2 }),
        model_call_ended(1, 1, None),
        posts(MessageRole::Assistant, &[text("Grüß dich"), call("d", "delete_cell"), call("x", "fly")]),
    ];
    story.extend(gated_call("d"));
    let result = |id: &str, text: &str, is_error| MessageBlock::ToolResult {
        provider_id: format!("p{id}"),
        call_id: id.parse().unwrap(),
        text: Some(text.to_owned()),
        is_error,
    };
    story.extend([
        posts(MessageRole::Tool, &[result("d", "gone", false), result("x", "there is no tool 'fly'", true)]),
        model_call(2, 1),
        writes(2, 1, 0, "All "),
        posts(MessageRole::Assistant, &[text("All done")]),
        model_call_ended(2, 1, None),
        finished(),
    ]);
    story
}

/// A notebook's room at some moment.
#[derive(Default)]
struct World {
    log: Vec<Recorded>,
    /// Activity since the last answer or attempt, as the room keeps it.
    unposted: Vec<TurnActivity>,
    /// Everything that subscribers were sent.
    news: Vec<Happens>,
}

impl World {
    fn happens(&mut self, what: &Happens) {
        self.news.push(what.clone());
        match what {
            Happens::Event(event) => {
                let answers = |event: &MessagePosted| event.role == MessageRole::Assistant;
                if matches!(&**event, Event::MessagePosted(event) if answers(event)) {
                    self.unposted.clear();
                }
                self.log.push(recorded(self.log.len() as Version + 1, event));
            }
            Happens::Activity(activity) => {
                let key = |of: &TurnActivity| (of.model_call, of.attempt);
                self.unposted.retain(|kept| key(kept) == key(activity));
                self.unposted.push(activity.clone());
            }
            Happens::Restart => self.unposted.clear(),
        }
    }
}

/// A follower, and the numbers of events and of news that it has seen.
struct Follower {
    transcript: Transcript,
    read: usize,
    heard: Option<usize>,
}

impl Follower {
    fn new(resume: Option<TurnCursor>) -> Self {
        Self { transcript: Transcript::new("t".parse().unwrap(), resume), read: 0, heard: None }
    }

    /// Reads the log when it joins, and all news since then.
    fn look(&mut self, world: &World) -> Vec<FollowerEvent> {
        match self.heard {
            None => {
                world.log.iter().for_each(|recorded| self.transcript.see(recorded));
                self.read = world.log.len();
                self.transcript.see_anew(&world.unposted);
            }
            Some(heard) => world.news[heard..].iter().for_each(|what| self.hear(world, what)),
        }
        self.heard = Some(world.news.len());
        self.transcript.take()
    }

    fn hear(&mut self, world: &World, what: &Happens) {
        match what {
            Happens::Event(_) => {
                self.transcript.see(&world.log[self.read]);
                self.read += 1;
            }
            Happens::Activity(activity) => self.transcript.see_live(activity),
            // Its connection was cut: it comes back to the new server.
            Happens::Restart => self.transcript.see_anew(&[]),
        }
    }
}

/// Each piece in words; consecutive text of one block is joined.
fn in_words<'a>(events: impl IntoIterator<Item = &'a ChatEvent>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for event in events {
        let json = serde_json::to_value(event).unwrap();
        match event {
            ChatEvent::TextDelta { model_call, block, text } => {
                let head = format!("text {model_call}.{block} ");
                match words.last_mut().filter(|last| last.starts_with(&head)) {
                    Some(last) => last.push_str(text),
                    None => words.push(format!("{head}{text}")),
                }
            }
            ChatEvent::TextStart { model_call, block } => words.push(format!("start {model_call}.{block}")),
            ChatEvent::ContentBlockStop { model_call, block } => words.push(format!("stop {model_call}.{block}")),
            ChatEvent::ToolStart { model_call, block, tool_id, tool_name } => {
                words.push(format!("tool_start {model_call}.{block} {tool_id} {tool_name}"));
            }
            ChatEvent::ToolConfirmation { call, .. } => words.push(format!("asked {}", call.arguments.get())),
            ChatEvent::ToolResult { tool_name, result, is_error, .. } => {
                words.push(format!("result {tool_name} {result} {is_error}"));
            }
            ChatEvent::Done { stop_reason } => words.push(format!("done {stop_reason}")),
            ChatEvent::Error { error } => words.push(format!("error {error}")),
            other => {
                words.push(format!("{} {}", other.name(), json.get("call_id").map_or("", |id| id.as_str().unwrap())))
            }
        }
    }
    words
}

fn events(pieces: &[FollowerEvent]) -> impl Iterator<Item = &ChatEvent> {
    pieces.iter().map(|piece| &piece.event)
}

/// Chat events for a follower that looks after each step from the beginning.
fn told(story: &[Happens]) -> Vec<FollowerEvent> {
    let (mut world, mut follower) = (World::default(), Follower::new(None));
    let looks = story.iter().flat_map(|what| {
        world.happens(what);
        follower.look(&world)
    });
    looks.collect()
}

const EXPECTED: &[&str] = &[
    "turn ",
    "start 1.0",
    "text 1.0 Grüß dich",
    "stop 1.0",
    "tool_start 1.1 pd delete_cell",
    "stop 1.1",
    "tool_start 1.2 px fly",
    "stop 1.2",
    r#"asked {"cell_id":"c"}"#,
    "tool_decision d",
    "tool_execute d",
    "tool_update d",
    "result delete_cell gone false",
    "result fly there is no tool 'fly' true",
    "turn_start ",
    "start 2.0",
    "text 2.0 All done",
    "stop 2.0",
    "done end_turn",
];

fn expected() -> Vec<String> {
    EXPECTED.iter().map(|words| (*words).to_owned()).collect()
}

#[test]
fn each_thing_is_told_once_and_in_order() {
    let story = story();
    assert_eq!(in_words(events(&told(&story))), expected());
}

#[test]
fn who_joins_late_or_reads_the_record_is_told_the_same() {
    let story = story();
    for joins in 0..=story.len() {
        let mut world = World::default();
        story[..joins].iter().for_each(|what| world.happens(what));
        let mut late = Follower::new(None);
        let mut pieces = late.look(&world);
        for what in &story[joins..] {
            world.happens(what);
            pieces.extend(late.look(&world));
        }
        let mut words = in_words(events(&pieces));
        let mut expected = expected();
        // Slow-call notices are not recorded; late followers do not see them.
        for words in [&mut words, &mut expected] {
            words.retain(|words| !words.starts_with("tool_update"));
        }
        assert_eq!(words, expected, "joined after {joins} things");
        assert!(late.transcript.is_over());
    }
}

#[test]
fn who_comes_back_with_any_id_at_any_time_gets_exactly_the_rest() {
    let story = story();
    // Pieces sent up to each step.
    let (mut world, mut follower, mut pieces) = (World::default(), Follower::new(None), Vec::new());
    for back_at in 0..story.len() {
        world.happens(&story[back_at]);
        pieces.extend(follower.look(&world));
        for left_after in 1..=pieces.len() {
            let kept = &pieces[..left_after];
            let resume = TurnCursor::parse(&kept[left_after - 1].at.to_string()).unwrap();
            let mut rest = Vec::new();
            let mut again = World::default();
            story[..=back_at].iter().for_each(|what| again.happens(what));
            let mut back = Follower::new(Some(resume));
            rest.extend(back.look(&again));
            for what in &story[back_at + 1..] {
                again.happens(what);
                rest.extend(back.look(&again));
            }
            let mut words = in_words(events(kept).chain(events(&rest)));
            let mut expected = expected();
            for words in [&mut words, &mut expected] {
                words.retain(|words| !words.starts_with("tool_update"));
            }
            assert_eq!(words, expected, "left with {resume}, back after {back_at}");
        }
    }
}

/// Replies as a client shows them: a block that starts again replaces itself and all later ones.
fn shown(pieces: &[FollowerEvent]) -> BTreeMap<(u32, usize), String> {
    let mut blocks: BTreeMap<(u32, usize), String> = BTreeMap::new();
    for event in events(pieces) {
        match event {
            ChatEvent::TextStart { model_call, block } | ChatEvent::ToolStart { model_call, block, .. } => {
                blocks.retain(|(call, other), _| call != model_call || other < block);
                blocks.insert((*model_call, *block), String::new());
            }
            ChatEvent::TextDelta { model_call, block, text } => {
                blocks.get_mut(&(*model_call, *block)).expect("it began").push_str(text);
            }
            ChatEvent::AttemptFailed { model_call, .. } => blocks.retain(|(call, _), _| call != model_call),
            _ => {}
        }
    }
    blocks
}

#[test]
fn a_reply_that_is_written_anew_replaces_what_was_shown() {
    let cut = ActivityKind::AttemptFailed { cause: "the connection broke".to_owned() };
    let end = [posts(MessageRole::Assistant, &[text("Good morning")]), finished()];
    let within = [started(), model_call(1, 1), writes(1, 1, 0, "Good evening"), writes(1, 1, 1, "bye")];
    let failed = model_call_ended(1, 1, Some("the connection broke"));
    let again = [activity(1, 1, cut), failed, model_call(1, 2), writes(1, 2, 0, "Good mor")];
    let lost = [
        Happens::Restart,
        model_call_ended(1, 1, Some("the server stopped")),
        model_call(1, 2),
        writes(1, 2, 0, "Good m"),
    ];
    let silent = [Happens::Restart, model_call_ended(1, 1, Some("the server stopped")), model_call(1, 2)];
    // A live reply that a follower joined in the middle is not the beginning of the message.
    let from_middle: Vec<Happens> = [&within[..], &end[..]].concat();
    assert_eq!(shown(&told(&from_middle)), [((1, 0), "Good morning".to_owned())].into());
    for middle in [&again[..], &lost[..], &silent[..]] {
        let story: Vec<Happens> = [&within[..], middle, &end[..]].concat();
        let pieces = told(&story);
        assert_eq!(shown(&pieces), [((1, 0), "Good morning".to_owned())].into());
        for left_after in 1..pieces.len() {
            let mut world = World::default();
            story.iter().for_each(|what| world.happens(what));
            let mut kept = told(&story);
            kept.truncate(left_after);
            let mut back = Follower::new(Some(kept[left_after - 1].at));
            kept.extend(back.look(&world));
            assert_eq!(shown(&kept), [((1, 0), "Good morning".to_owned())].into(), "left after {left_after}");
        }
    }
}

#[test]
fn the_end_of_a_turn_is_the_end_of_its_story() {
    let cancelled = notarium_core::TurnCancelled { turn_id: "t".parse().unwrap() };
    let failed = notarium_core::TurnFailed {
        turn_id: "t".parse().unwrap(),
        cause: TurnFailure::WrongKey.into(),
        detail: Some("no key".to_owned()),
    };
    for (end, words) in [(event(cancelled), "done cancelled"), (event(failed), "error no key")] {
        let story = [started(), model_call(1, 1), writes(1, 1, 0, "I be"), end, writes(1, 1, 0, "gin")];
        let told = in_words(events(&told(&story)));
        assert_eq!(told, ["turn ", "start 1.0", "text 1.0 I be", words]);
    }
}
