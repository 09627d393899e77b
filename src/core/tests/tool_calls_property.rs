//! The promise of the gate, walked at random: people, assistants, agents, the reactor and forgers try everything, and the
//! log is judged by a model of its own that knows nothing of `decide`.

use std::collections::BTreeMap;

use crate::support::*;
use notarium_core::{
    Actor, EXPIRY_MS, Event, Notebook, Passed, Recorded, ReplyStatus, Risk, Role, Subject, ToolCallStarted,
    granted_role,
};

const STEPS: usize = 100_000;
/// A world is thrown away after so many steps, so that logs stay short.
const STEPS_OF_A_WORLD: usize = 500;

/// A small generator of its own: the same walk every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())].clone()
    }
}

/// What the log says of one call.
#[derive(Debug, Default)]
struct Call {
    risk: Option<Risk>,
    needs_person: bool,
    confirmed_by: Option<Actor>,
    started: u32,
    ends: u32,
    /// The call that it comes after, and whether that one was still open when it was requested.
    after: Option<String>,
}

/// Judges each event as it is recorded, on the state before it.
#[derive(Default)]
struct Judge {
    calls: BTreeMap<String, Call>,
    gated_starts: usize,
    held_starts: usize,
    granted_starts: usize,
    /// Who issued which grant, and when it ends.
    grants: BTreeMap<String, (Actor, u64)>,
}

impl Judge {
    /// `vouched`: those for whom the sender vouches.
    fn see(&mut self, before: &Notebook, recorded: &Recorded, vouched: &[Actor]) {
        self.see_grant(before, recorded, vouched);
        let actor = &recorded.envelope.actor;
        let Some(id) = recorded.event.tool_call_id() else { return self.see_other(recorded) };
        self.see_order(&recorded.event);
        let call = self.calls.entry(id.to_string()).or_default();
        assert_eq!(call.ends, 0, "{id} is over, yet {}", recorded.envelope.event_type);
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                assert!(call.risk.replace(event.risk).is_none(), "{id} is requested twice");
                assert!(matches!(actor, Actor::Assistant { .. }));
                call.needs_person = event.risk == Risk::Destructive;
            }
            Event::ToolCallConfirmed(_) => {
                let role =
                    granted_role(before, &subject_of_person(actor), recorded.envelope.recorded_at).expect("a role");
                let enough = match call.risk {
                    Some(Risk::Read | Risk::Edit) => matches!(role, Role::Author | Role::Editor | Role::Owner),
                    _ => matches!(role, Role::Editor | Role::Owner),
                };
                assert!(enough, "{role:?} confirmed {id}, which is {:?}", call.risk);
                assert!(call.confirmed_by.replace(actor.clone()).is_none(), "{id} is confirmed twice");
            }
            Event::ToolCallStarted(_) => {
                call.started += 1;
                assert_eq!(call.started, 1, "{id} starts twice");
                if call.needs_person {
                    assert!(call.confirmed_by.is_some(), "{id} starts, and nobody has confirmed it");
                    self.gated_starts += 1;
                }
            }
            Event::ToolCallExecuted(_) => {
                assert_eq!(call.started, 1, "{id} ends before it starts");
                call.ends += 1;
            }
            _ => {
                assert_eq!(call.started, 0, "{id} has started: it cannot be taken back");
                call.ends += 1;
            }
        }
    }

    /// A call that passes by a grant passes while who issued it could still confirm it: an editor or owner, vouched for.
    fn see_grant(&mut self, before: &Notebook, recorded: &Recorded, vouched: &[Actor]) {
        let (actor, at) = (&recorded.envelope.actor, recorded.envelope.recorded_at);
        match &recorded.event {
            Event::GrantIssued(event) => {
                self.grants.insert(event.grant_id.to_string(), (actor.clone(), event.expires_at));
            }
            Event::GrantRevoked(event) => _ = self.grants.remove(event.grant_id.as_str()),
            Event::ToolCallStarted(ToolCallStarted { call_id, passed_by: Passed::Grant { grant_id } }) => {
                let (issuer, until) = self.grants.get(grant_id.as_str()).expect("a grant that was not revoked");
                assert!(at < *until, "grant {grant_id} has ended");
                assert!(vouched.contains(issuer), "nobody vouches for {issuer:?}");
                let role = granted_role(before, &subject_of_person(issuer), at);
                assert!(matches!(role, Some(Role::Editor | Role::Owner)), "{role:?} stands for {call_id}");
                self.granted_starts += 1;
            }
            _ => {}
        }
    }

    /// A call that comes after another one starts when that one has ended.
    fn see_order(&mut self, event: &Event) {
        match event {
            Event::ToolCallRequested(event) => {
                let Some(after) = event.wait_for.as_ref().map(ToString::to_string) else { return };
                assert!(self.calls.get(&after).is_some_and(|call| call.ends == 0), "{after} had ended, or never was");
                self.calls.entry(event.call_id.to_string()).or_default().after = Some(after);
            }
            Event::ToolCallStarted(event) => {
                let Some(after) = &self.calls[event.call_id.as_str()].after else { return };
                assert_eq!(self.calls[after].ends, 1, "{} starts before {after} has ended", event.call_id);
                self.held_starts += 1;
            }
            _ => {}
        }
    }

    /// Whatever an assistant does stands inside a call that has started and not ended.
    fn see_other(&self, recorded: &Recorded) {
        let is_own = matches!(
            recorded.event,
            Event::ConversationStarted(_)
                | Event::MessagePosted(_)
                | Event::TurnStarted(_)
                | Event::ModelCallStarted(_)
                | Event::ModelCallFinished(_)
                | Event::TurnFinished(_)
                | Event::TurnFailed(_)
        );
        if is_own || !matches!(recorded.envelope.actor, Actor::Assistant { .. }) || recorded.envelope.undoes.is_some() {
            return;
        }
        let call = self.calls.get(recorded.envelope.correlation_id.as_str()).expect("an assistant acts in a call");
        assert_eq!((call.started, call.ends), (1, 0), "{} outside of its call", recorded.envelope.event_type);
    }
}

fn subject_of_person(actor: &Actor) -> Subject {
    match actor {
        Actor::User { id } => Subject::User { id: id.clone() },
        Actor::Guest { share_link } => Subject::ShareLink { id: share_link.clone() },
        other => panic!("{other:?} decides, and is no person"),
    }
}

fn anybody(dice: &mut Dice) -> Who {
    let people = ["ann", "editor", "author", "runner", "viewer", "nobody"];
    match dice.roll(12) {
        0..6 => user(dice.pick(&people)),
        6 | 7 => assistant_of(dice.pick(&people)),
        8 | 9 => reactor_of(dice.pick(&["ann", "ann", "editor"])),
        10 => guest("link"),
        _ => agent("gpu"),
    }
}

fn rightful(dice: &mut Dice, command: &serde_json::Value) -> Who {
    match command.as_object().and_then(|tagged| tagged.keys().next()).map_or("", String::as_str) {
        "StartToolCall" | "ReportToolCall" | "SweepToolCalls" | "EndTurn" | "PostReply" => reactor_of("ann"),
        "RequestToolCall" if dice.roll(4) > 0 => reactor_of("ann"),
        "RequestToolCall" => assistant_of("ann"),
        _ => user(dice.pick(&["ann", "editor"])),
    }
}

fn anything(dice: &mut Dice, world: &World) -> serde_json::Value {
    let call_ids: Vec<String> = world.notebook.tool_calls.keys().map(ToString::to_string).collect();
    let known = |dice: &mut Dice| match call_ids.is_empty() || dice.roll(8) == 0 {
        true => format!("call{}", dice.roll(40)),
        false => dice.pick(&call_ids),
    };
    let id = known(dice);
    let hash = world.notebook.tool_calls.get(&id.parse().unwrap()).map(|call| call.arguments_hash.to_string());
    let hash = hash.filter(|_| dice.roll(6) > 0).unwrap_or_else(|| "0".repeat(64));
    let cells: Vec<&str> = world.order();
    let cell = dice.pick(&["a", "b", "c", "gone", "ask"]).to_owned();
    let cell = if cells.is_empty() || dice.roll(4) == 0 { cell } else { dice.pick(&cells).to_owned() };
    let version = world.notebook.cells.get(&cell_id(&cell)).map_or(1, |cell| cell.cell_version);
    match dice.roll(25) {
        0..3 => json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": hash}}),
        3..6 => start(&id),
        6 => json!({"DenyToolCall": {"call_id": id}}),
        7 => json!({"WithdrawToolCall": {"call_id": id}}),
        8 => json!({"ReportToolCall": {"call_id": id, "end": "ok", "result": ""}}),
        9 => json!({"SweepToolCalls": {}}),
        10 => json!({"SetPolicy": {"policy": dice.pick(&["guarded", "ask_for_every_edit", "trusted"])}}),
        11 => json!({"IssueGrant": {"conversation_id": "talk", "expires_at": world.now + 50_000}}),
        12 => json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "again"}}),
        13 => json!({"CancelTurn": {"turn_id": "turn"}}),
        22 => json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "cell_id": "ask"}}),
        24 => match world.recorded.iter().find_map(|recorded| match &recorded.event {
            Event::MessagePosted(event) => Some(&event.message_id),
            _ => None,
        }) {
            Some(message) => json!({"FlagMessage": {"conversation_id": "talk", "message_id": message,
                "pinned": dice.roll(2) == 0, "skipped": dice.roll(2) == 0}}),
            None => json!({"SweepToolCalls": {}}),
        },
        23 => json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [{"text": {"text": "so"}}]}}),
        14 if dice.roll(2) == 0 => json!({"InsertCell": {"cell_type": "code", "source": "y = 1"}}),
        14 => json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}}),
        15 => grant("user", dice.pick(&["editor", "author", "viewer"]), dice.pick(&["editor", "author", "viewer"])),
        16 => json!({"DeleteCell": {"cell_id": cell}}),
        17 => json!({"RestoreCell": {"cell_id": cell}}),
        number => {
            let (function, arguments) = match number {
                18 => ("delete_cell", json!({"cell_id": cell, "cell_version": version})),
                19 => (
                    "modify_cell",
                    json!({"cell_id": cell, "cell_version": version, "source": "import os\nos.remove('x')"}),
                ),
                20 => ("execute_cell", json!({"cell_id": cell, "cell_version": version})),
                _ => match dice.roll(5) {
                    0 => ("create_cell", json!({"source": "x = 1"})),
                    1 => ("restart_kernel", json!({})),
                    2 => ("get_variables", json!({})),
                    3 => ("undo", json!({"turn_id": "turn"})),
                    _ => ("run_all", json!({})),
                },
            };
            let turn = (dice.roll(3) > 0).then_some("turn");
            let after = (dice.roll(3) == 0).then_some(id);
            json!({"RequestToolCall": {"call_id": format!("call{}", dice.roll(40)), "turn_id": turn, "wait_for": after,
                "function": function, "arguments": arguments}})
        }
    }
}

/// A reply is shown as running exactly while its turn goes on. Whether the prompt cell shows one.
fn has_true_reply(world: &World) -> bool {
    let cell = world.notebook.cells.get(&cell_id("ask"));
    let Some(reply) = cell.and_then(|cell| cell.content.reply.as_ref()) else { return false };
    let turn = world.notebook.turns.values().find(|turn| turn.cell_id.as_ref() == Some(&cell_id("ask")));
    assert_eq!(reply.status == ReplyStatus::Running, turn.is_some(), "{reply:?}");
    true
}

#[test]
fn no_gated_call_starts_without_a_valid_decision_and_each_ends_once() {
    let mut dice = Dice(20_261_122);
    let (mut gated_starts, mut held_starts, mut granted_starts, mut accepted, mut calls, mut replies) =
        (0, 0, 0, 0, 0, 0);
    for _ in 0..STEPS / STEPS_OF_A_WORLD {
        let mut world = talking().with(&user("ann"), insert("ask", "prompt", "What is x?"));
        let mut judge = Judge::default();
        for _ in 0..STEPS_OF_A_WORLD {
            if dice.roll(400) == 0 {
                world.now += EXPIRY_MS;
            }
            world.now += 1_000 * dice.roll(8) as u64;
            let command = anything(&mut dice, &world);
            // Half of the steps by who may do it, so that the walk gets somewhere.
            let who = if dice.roll(2) == 0 { rightful(&mut dice, &command) } else { anybody(&mut dice) };
            let (before, seen) = (world.notebook.clone(), world.recorded.len());
            accepted += usize::from(world.try_do(&who, &command).is_ok());
            let vouched: Vec<Actor> =
                who.authority.reactor.iter().flat_map(|vouched| &vouched.0).map(|(actor, _)| actor.clone()).collect();
            world.recorded[seen..].iter().for_each(|recorded| judge.see(&before, recorded, &vouched));
            replies += usize::from(has_true_reply(&world));
        }
        let waiting = world.notebook.tool_calls.len();
        let open = judge.calls.values().filter(|call| call.ends == 0).count();
        assert_eq!(open, waiting, "every request has ended, or is in the state");
        assert_eq!(serde_json::to_string(&replay(&world.log)).unwrap(), world.json());
        gated_starts += judge.gated_starts;
        held_starts += judge.held_starts;
        granted_starts += judge.granted_starts;
        calls += judge.calls.len();
    }
    // A walk that never gets through the gate would prove nothing.
    let seen = format!("{gated_starts} {held_starts} {calls} {accepted} {replies} {granted_starts}");
    assert!(gated_starts > 100 && held_starts > 25 && calls > 2_000 && accepted > STEPS / 10, "{seen}");
    assert!(replies > 1_000 && granted_starts > 25, "{seen}");
}
