//! Random walk against the gate: people, assistants, agents, the reactor and forgers try everything. [`Judge`], which
//! does not use `decide`, judges the log.

use std::collections::BTreeMap;

use crate::gate_judge::{Judge, MEMBER, WORKSPACE};
use crate::support::*;
use notarium_core::{Actor, DelegatedAuthority, EXPIRY_MS, Event, KernelPhase, ReplyStatus, Scope};
use serde_json::Value;

/// Steps of the walk in `make test`; `NOTARIUM_GATE_STEPS` sets another number (`make soak`: a million).
const STEPS: usize = 10_000;
/// Steps after which a world is discarded, so that logs stay short.
const STEPS_OF_A_WORLD: usize = 500;
/// Minimum count of each in 100,000 steps, and at least once in any walk. A walk that never passes the gate would prove
/// nothing.
const AT_LEAST: &[(&str, usize)] = &[
    ("accepted", 10_000),
    ("ToolCallDenied", 100),
    ("ToolCallExpired", 100),
    ("ToolCallVoided", 100),
    ("ToolCallWithdrawn", 100),
    ("ToolCallExecuted", 1_000),
    ("Edit by policy", 500),
    ("Edit by a grant", 25),
    ("Edit by a confirmation", 50),
    ("Sensitive by policy", 10),
    ("Sensitive by a grant", 5),
    ("Sensitive by a confirmation", 25),
    ("Destructive by a confirmation", 100),
    ("started after another one", 25),
    ("a held run without kinds", 100),
    ("a held run with kinds", 5),
    ("a run in a kernel that holds nothing", 5),
    ("a prompt cell shows a reply", 1_000),
];

/// A small random generator, so that the walk is the same every time.
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

fn anybody(dice: &mut Dice) -> Who {
    let people = ["ann", "editor", "author", "runner", "viewer", "nobody"];
    match dice.roll(12) {
        0..6 => person(dice.pick(&people)),
        6 | 7 => assistant_of(dice.pick(&people)),
        8 | 9 => reactor_of(dice.pick(&["ann", "ann", "editor"])),
        10 => guest("link"),
        _ => agent("gpu"),
    }
}

fn rightful(dice: &mut Dice, command: &Value) -> Who {
    match command.as_object().and_then(|tagged| tagged.keys().next()).map_or("", String::as_str) {
        "StartToolCall" | "ReportToolCall" | "SweepToolCalls" | "EndTurn" | "PostReply" => reactor_of("ann"),
        "RequestToolCall" if dice.roll(4) > 0 => reactor_of("ann"),
        "RequestToolCall" => assistant_of("ann"),
        "ReportKernelStarted" | "ReportKernelEnded" | "RegisterFunctions" => agent("gpu"),
        _ => user(dice.pick(&["ann", "editor"])),
    }
}

fn person(name: &str) -> Who {
    if name == MEMBER { user(name).member_of(WORKSPACE) } else { user(name) }
}

/// Brings people's authority along, as the server does. Sometimes one is missing, because an account was closed.
fn delegate(dice: &mut Dice, who: &mut Who) {
    let Some(DelegatedAuthority(people)) = &mut who.authority.reactor else { return };
    for (actor, authority) in people.iter_mut() {
        if matches!(actor, Actor::User { id } if id.as_str() == MEMBER) {
            *authority = person(MEMBER).authority;
        }
    }
    if dice.roll(8) == 0 {
        people.swap_remove(dice.roll(people.len()));
    }
}

fn anything(dice: &mut Dice, world: &World) -> Value {
    match dice.roll(28) {
        0..13 => on_a_call(dice, world),
        13..15 => of_the_turn(dice, world),
        15..18 => of_rules(dice, world),
        18 => of_cells(dice, world),
        19 => of_the_kernel(dice, world),
        _ => a_request(dice, world),
    }
}

/// A call of the state, sometimes another one.
fn some_call(dice: &mut Dice, world: &World) -> String {
    let known: Vec<String> = world.notebook.tool_calls.keys().map(ToString::to_string).collect();
    match known.is_empty() || dice.roll(8) == 0 {
        true => format!("call{}", dice.roll(80)),
        false => dice.pick(&known),
    }
}

fn some_cell(dice: &mut Dice, world: &World) -> String {
    let cells = world.order();
    match cells.is_empty() || dice.roll(4) == 0 {
        true => dice.pick(&["a", "b", "c", "gone", "ask", "use", "use"]).to_owned(),
        false => dice.pick(&cells).to_owned(),
    }
}

fn on_a_call(dice: &mut Dice, world: &World) -> Value {
    let id = some_call(dice, world);
    let hash = world.notebook.tool_calls.get(&id.parse().unwrap()).map(|call| call.arguments_hash.to_string());
    let hash = hash.filter(|_| dice.roll(6) > 0).unwrap_or_else(|| "0".repeat(64));
    match dice.roll(11) {
        0..4 => json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": hash}}),
        4..7 => start(&id),
        7 => json!({"DenyToolCall": {"call_id": id}}),
        8 => json!({"WithdrawToolCall": {"call_id": id}}),
        9 => json!({"ReportToolCall": {"call_id": id, "end": "ok", "result": ""}}),
        _ => json!({"SweepToolCalls": {}}),
    }
}

fn of_the_turn(dice: &mut Dice, world: &World) -> Value {
    let posted = world.recorded.iter().find_map(|recorded| match &recorded.event {
        Event::MessagePosted(event) => Some(event.message_id.clone()),
        _ => None,
    });
    match dice.roll(12) {
        0..3 => json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "again"}}),
        3..6 => json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "cell_id": "ask"}}),
        6 => json!({"CancelTurn": {"turn_id": "turn"}}),
        7 => json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}}),
        8..10 => json!({"FlagMessage": {"conversation_id": "talk", "message_id": posted,
            "pinned": dice.roll(2) == 0, "skipped": dice.roll(2) == 0}}),
        _ => json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [{"text": {"text": "so"}}]}}),
    }
}

fn of_rules(dice: &mut Dice, world: &World) -> Value {
    if world.notebook.archived && dice.roll(2) == 0 {
        return json!({"UnarchiveNotebook": {}});
    }
    let soon = world.now + 1_000 * dice.roll(100) as u64;
    match dice.roll(20) {
        0 => json!({"ArchiveNotebook": {}}),
        1..6 => json!({"SetPolicy": {"policy": dice.pick(&["guarded", "ask_for_every_edit", "trusted"])}}),
        6..10 => json!({"IssueGrant": {"conversation_id": dice.pick(&["talk", "talk", "talk", "other"]),
            "functions": dice.pick(&[vec![], vec![], vec!["create_cells"], vec!["save_data", "run_all"]]),
            "kinds": dice.pick(&[vec![], vec!["network", "create"], vec!["network", "create"]]), "expires_at": soon + 500_000}}),
        10 => match world.notebook.grants.keys().next() {
            Some(grant_id) => json!({"RevokeGrant": {"grant_id": grant_id}}),
            None => json!({"SweepToolCalls": {}}),
        },
        _ => {
            let (name, roles) = match dice.roll(4) {
                0 => ("ann", ["owner", "owner", "editor", "viewer"]),
                1 | 2 => ("editor", ["owner", "editor", "author", "viewer"]),
                _ => ("author", ["editor", "author", "author", "viewer"]),
            };
            let expires_at = (dice.roll(4) == 0).then_some(soon);
            json!({"GrantAccess": {"subject": {"kind": "user", "id": name}, "role": dice.pick(&roles),
                "expires_at": expires_at}})
        }
    }
}

fn of_cells(dice: &mut Dice, world: &World) -> Value {
    let cell = some_cell(dice, world);
    let sources = ["y = 1", "import os\nos.remove('x')", "from os import remove as tidy"];
    match dice.roll(9) {
        0..3 => json!({"DeleteCell": {"cell_id": cell}}),
        3..6 => json!({"RestoreCell": {"cell_id": cell}}),
        _ => json!({"InsertCell": {"cell_type": "code", "source": dice.pick(&sources)}}),
    }
}

/// Report of the kernel's agent: the old kernel ends, the next one starts, functions are registered.
fn of_the_kernel(dice: &mut Dice, world: &World) -> Value {
    let Some((id, session)) = world.notebook.kernels.iter().next() else { return json!({"LaunchKernel": {}}) };
    match session.phase {
        KernelPhase::Claimed => {
            let sandbox = if dice.roll(3) > 0 { json!({"effects": "held"}) } else { json!({}) };
            json!({"ReportKernelStarted": {"kernel_session": id, "language_info": {}, "sandbox": sandbox}})
        }
        KernelPhase::Requested => json!({"ClaimKernelLaunch": {"kernel_session": id}}),
        KernelPhase::Ending => json!({"ReportKernelEnded": {"kernel_session": id, "cause": "shut_down"}}),
        KernelPhase::Started if dice.roll(8) == 0 => {
            json!({"ReportKernelEnded": {"kernel_session": id, "cause": "died"}})
        }
        KernelPhase::Started => {
            let double = json!({"name": "double", "version": dice.pick(&["1", "2"]), "description": "Twice.",
                "schema": {"type": "object"}, "risk": dice.pick(&["edit", "sensitive"]), "effects": kinds(dice)});
            let functions = if dice.roll(6) == 0 { json!([]) } else { json!([double]) };
            json!({"RegisterFunctions": {"kernel_session": id, "fence": session.fence, "functions": functions}})
        }
    }
}

/// Kinds of effects: mostly none.
fn kinds(dice: &mut Dice) -> Vec<&'static str> {
    dice.pick(&[vec![], vec![], vec![], vec!["network"], vec!["create", "network"], vec!["remove"]])
}

fn a_request(dice: &mut Dice, world: &World) -> Value {
    let cell = some_cell(dice, world);
    let version = world.notebook.cells.get(&cell_id(&cell)).map_or(1, |cell| cell.cell_version);
    let removes = "import os\nos.remove('x')";
    let (function, arguments) = match dice.roll(15) {
        0..3 => ("delete_cell", json!({"cell_id": cell, "cell_version": version})),
        3 => ("modify_cell", json!({"cell_id": cell, "cell_version": version, "source": removes})),
        4..6 => ("execute_cell", json!({"cell_id": cell, "cell_version": version, "effects": kinds(dice)})),
        6 => ("create_cell", json!({"source": "x = 1"})),
        7 => ("create_cells", json!({"cells": [{"source": "x = 1"}], "run": dice.roll(2) == 0})),
        8 => ("restart_kernel", json!({})),
        9 => ("get_variables", json!({})),
        10 => ("undo", json!({"turn_id": "turn"})),
        11 | 14 => ("save_data", json!({"path": dice.pick(&["x.csv", "x.py", "x.py"]), "content": ""})),
        12 => ("double", json!({})),
        _ => ("run_all", json!({"effects": kinds(dice)})),
    };
    let turn = (dice.roll(3) > 0).then_some("turn");
    let after = (dice.roll(3) == 0).then(|| some_call(dice, world));
    json!({"RequestToolCall": {"call_id": format!("call{}", dice.roll(80)), "turn_id": turn, "after": after,
        "function": function, "arguments": arguments}})
}

/// Checks that a reply is shown as running exactly while its turn is open. Returns whether the prompt cell shows a
/// reply.
fn has_true_reply(world: &World) -> bool {
    let cell = world.notebook.cells.get(&cell_id("ask"));
    let Some(reply) = cell.and_then(|cell| cell.reply.as_ref()) else { return false };
    let turn = world.notebook.turns.values().find(|turn| turn.cell_id.as_ref() == Some(&cell_id("ask")));
    assert_eq!(reply.status == ReplyStatus::Running, turn.is_some(), "{reply:?}");
    true
}

#[test]
fn no_gated_call_starts_without_a_valid_decision_and_each_ends_once() {
    let mut dice = Dice(20_261_122);
    let mut tally = BTreeMap::<String, usize>::new();
    #[expect(clippy::disallowed_methods, reason = "the test takes its length from the environment")]
    let steps = std::env::var("NOTARIUM_GATE_STEPS").map_or(STEPS, |steps| steps.parse().expect("a number of steps"));
    for _ in 0..steps / STEPS_OF_A_WORLD {
        let judge = walk(&mut dice);
        judge.tally.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count);
    }
    let least = |often: usize| (often * steps / 100_000).max(1);
    let missed = AT_LEAST.iter().find(|(what, often)| tally.get(*what).copied().unwrap_or_default() < least(*often));
    assert_eq!(missed, None, "{tally:#?}");
}

/// Walks through one world.
fn walk(dice: &mut Dice) -> Judge {
    // Every fourth world begins with a kernel that holds nothing.
    let begin = if dice.roll(4) == 0 { crate::effects::unheld } else { talking };
    let mut world = begin().with(&user("ann"), insert("ask", "prompt", "What is x?"));
    world.step(&user("ann"), grant("workspace", WORKSPACE, "runner"));
    world.step(&user("ann"), insert("use", "code", "tidy('x')"));
    let mut judge = Judge::default();
    for _ in 0..STEPS_OF_A_WORLD {
        if dice.roll(200) == 0 {
            world.now += EXPIRY_MS / 4 * (1 + dice.roll(4) as u64);
        }
        world.now += 1_000 * dice.roll(8) as u64;
        let command = anything(dice, &world);
        // Half of the steps are by an actor who may do it, so that the walk advances.
        let mut who = if dice.roll(2) == 0 { rightful(dice, &command) } else { anybody(dice) };
        delegate(dice, &mut who);
        if command.get("StartTurn").is_some() && dice.roll(3) == 0 {
            who = who.with_scopes(&[Scope::Read, Scope::Edit]);
        }
        let (before, seen) = (world.notebook.clone(), world.recorded.len());
        if world.try_do(&who, &command).is_ok() {
            judge.count("accepted");
        }
        let delegated: Vec<Actor> =
            who.authority.reactor.iter().flat_map(|delegated| &delegated.0).map(|(actor, _)| actor.clone()).collect();
        world.recorded[seen..].iter().for_each(|recorded| judge.see(&before, recorded, &delegated));
        if has_true_reply(&world) {
            judge.count("a prompt cell shows a reply");
        }
    }
    judge.close(&world.notebook);
    assert_eq!(replay(&world.log), world.notebook);
    judge
}
