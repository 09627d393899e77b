//! Tool calls: validated, gated, bound to what the person saw, started once, ended once.

use crate::support::*;
use notarium_core::tools::{TOOLS, Tool};
use notarium_core::{
    CallAnswer, EXPIRY_MS, Event, Hash, MAX_CALLS_PER_MINUTE, Open, Passed, RejectionCode as Code, Risk, Scope,
    TargetChange, arguments_hash, target_change,
};

fn delete(version: u64) -> serde_json::Value {
    call("del", "delete_cell", json!({"cell_id": "a", "cell_version": version}))
}

fn deny() -> serde_json::Value {
    json!({"DenyToolCall": {"call_id": "del", "detail": "I need it"}})
}

fn withdraw(id: &str) -> serde_json::Value {
    json!({"WithdrawToolCall": {"call_id": id, "detail": "never mind"}})
}

fn reported(id: &str) -> serde_json::Value {
    json!({"ReportToolCall": {"call_id": id, "end": "ok", "result": "x: int"}})
}

fn sweep() -> serde_json::Value {
    json!({"SweepToolCalls": {}})
}

fn grant_until(at: u64, functions: &[&str]) -> serde_json::Value {
    json!({"IssueGrant": {"grant_id": "g", "conversation_id": "talk", "functions": functions, "expires_at": at}})
}

fn policy(policy: &str) -> serde_json::Value {
    json!({"SetPolicy": {"policy": policy}})
}

fn expired() -> World {
    let mut world = waiting();
    world.now += EXPIRY_MS;
    world
}

fn edited_meanwhile() -> World {
    let mut world = waiting();
    let version = world.version();
    world.step(&user("author"), crate::edits::edit("a", version, json!([[0, "# mine "], 5])));
    world
}

fn asking_for_edits() -> World {
    talking().with(&user("ann"), policy("ask_for_every_edit"))
}

fn with_grant() -> World {
    let mut world = asking_for_edits();
    let until = world.now + 3_600_000;
    world.step(&user("editor"), grant_until(until, &["create_cell"]));
    world
}

fn issuer_left() -> World {
    with_grant().with(&user("ann"), grant("user", "editor", "viewer"))
}

/// Ann is a viewer now, so her assistant may only read.
fn demoted() -> World {
    confirmed()
        .with(&user("ann"), grant("user", "editor", "owner"))
        .with(&user("editor"), grant("user", "ann", "viewer"))
}

fn decider_left() -> World {
    confirmed().with(&user("ann"), grant("user", "editor", "viewer"))
}

/// The confirmed call `run` is running in the kernel.
fn executing() -> World {
    let mut world = talking().with(&user("ann"), insert("rm", "code", "import os\nos.remove('x')"));
    world.step(&assistant_of("ann"), call("run", "execute_cell", json!({"cell_id": "rm"})));
    let hash = world.notebook.tool_calls.values().next().unwrap().arguments_hash;
    world.name("hash", format!("\"{hash}\""));
    world.with(&user("editor"), confirm("run")).with(&reactor_of("ann"), start("run"))
}

fn confirm_unasked(id: &str) -> serde_json::Value {
    json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": Hash::ZERO}})
}

fn cancelled() -> World {
    waiting().with(&user("ann"), json!({"CancelTurn": {"turn_id": "turn"}}))
}

fn withdrawn() -> World {
    waiting().with(&assistant_of("ann"), withdraw("del"))
}

fn archive(world: World) -> World {
    world.with(&user("ann"), json!({"ArchiveNotebook": {}}))
}

fn done() -> World {
    confirmed().with(&reactor_of("ann"), start("del"))
}

const RUN: [&str; 4] = ["ToolCallRequested", "ToolCallStarted", "CellInserted", "ToolCallExecuted"];

fn create() -> serde_json::Value {
    call("new", "create_cell", json!({"source": "print('hello world')"}))
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let (ann, mcp, it) = (|| user("ann"), || assistant_of("ann"), || reactor_of("ann"));
    let version = waiting().cell("a").cell_version;
    let wrong = json!({"ConfirmToolCall": {"call_id": "del", "arguments_hash": Hash::ZERO}});
    let no_confirm = || user("editor").with_scopes(&[notarium_core::Scope::Read, notarium_core::Scope::Edit]);
    let big = json!({"ReportToolCall": {"call_id": "vars", "end": "ok", "result": "x".repeat((256 << 10) + 1)}});
    vec![
        // requests, by kind of sender
        case(talking, mcp(), create(), events(RUN)),
        case(talking, ann(), create(), rejected(Code::Forbidden)),
        case(talking, agent("gpu"), create(), rejected(Code::Forbidden)),
        case(talking, assistant_of("viewer"), create(), rejected(Code::TurnState)),
        case(talking, mcp(), insert("direct", "code", "1"), rejected(Code::Forbidden)),
        case(
            talking,
            mcp(),
            json!({"Batch": {"commands": [insert("direct", "code", "1")]}}),
            rejected(Code::Forbidden),
        ),
        case(talking, mcp(), json!({"Batch": {"commands": [create()]}}), rejected(Code::Forbidden)),
        case(talking, mcp(), call("x", "fly", json!({})), rejected(Code::UnknownTool)),
        case(talking, mcp(), call("x", "delete_cell", json!({})), rejected(Code::InvalidArguments)),
        case(
            talking,
            mcp(),
            call("x", "create_cell", json!({"source": "", "colour": 1})),
            rejected(Code::InvalidArguments),
        ),
        case(talking, mcp(), call("x", "create_cell", json!({"source": 5})), rejected(Code::InvalidArguments)),
        case(talking, mcp(), delete(version + 1), rejected(Code::Conflict)),
        case(
            talking,
            mcp(),
            call("x", "delete_cell", json!({"cell_id": "gone", "cell_version": 1})),
            rejected(Code::CellDeleted),
        ),
        case(waiting, mcp(), delete(version), rejected(Code::InvalidValue)),
        case(done, mcp(), call("del", "create_cell", json!({"source": ""})), rejected(Code::InvalidValue)),
        case(archived, mcp(), create(), rejected(Code::NotebookArchived)),
        case(|| archive(waiting()), ann(), confirm("del"), rejected(Code::NotebookArchived)),
        case(|| archive(waiting()), it(), start("del"), rejected(Code::ToolCallState)),
        case(|| archive(confirmed()), it(), start("del"), events(["ToolCallVoided"])),
        case(|| archive(calling()), it(), start("vars"), rejected(Code::AlreadyClaimed)),
        case(
            talking,
            mcp(),
            call("new", "create_cell", json!({"source": "x", "after": "nowhere"})),
            events(["ToolCallRequested", "ToolCallStarted", "ToolCallExecuted"]),
        ),
        // the gate
        case(talking, mcp(), delete(version), events(["ToolCallRequested"])),
        case(talking, mcp(), call("r", "restart_kernel", json!({})), events(["ToolCallRequested"])),
        case(asking_for_edits, mcp(), create(), events(["ToolCallRequested"])),
        case(with_grant, it(), create(), events(RUN)),
        case(with_grant, mcp(), create(), events(["ToolCallRequested"])),
        case(issuer_left, it(), create(), events(["ToolCallRequested"])),
        case(with_grant, it(), call("m", "move_cell", json!({"cell_id": "a"})), events(["ToolCallRequested"])),
        case(with_grant, it(), delete(version), events(["ToolCallRequested"])),
        // a person decides
        case(waiting, user("editor"), confirm("del"), events(["ToolCallConfirmed"])),
        case(waiting, ann(), confirm("del"), events(["ToolCallConfirmed"])),
        case(waiting, guest("link"), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, user("author"), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, user("runner"), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, user("viewer"), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, user("nobody"), confirm("del"), rejected(Code::UnknownNotebook)),
        case(waiting, mcp(), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, it(), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, agent("gpu"), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, system(), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, no_confirm(), confirm("del"), rejected(Code::Forbidden)),
        case(waiting, ann(), wrong, rejected(Code::Conflict)),
        case(waiting, ann(), confirm("other"), rejected(Code::UnknownToolCall)),
        case(confirmed, ann(), confirm("del"), rejected(Code::ToolCallState)),
        case(done, ann(), confirm("del"), rejected(Code::ToolCallState)),
        case(expired, ann(), confirm("del"), rejected(Code::ToolCallState)),
        case(executing, ann(), confirm("run"), rejected(Code::ToolCallState)),
        case(calling, ann(), confirm_unasked("vars"), rejected(Code::ToolCallState)),
        case(cancelled, ann(), confirm("del"), rejected(Code::ToolCallState)),
        case(withdrawn, ann(), confirm("del"), rejected(Code::ToolCallState)),
        case(cancelled, it(), start("del"), rejected(Code::ToolCallState)),
        case(edited_meanwhile, ann(), confirm("del"), events(["ToolCallVoided"])),
        case(waiting, ann(), deny(), events(["ToolCallDenied"])),
        case(waiting, mcp(), deny(), rejected(Code::Forbidden)),
        case(confirmed, ann(), deny(), rejected(Code::ToolCallState)),
        // start, once
        case(confirmed, it(), start("del"), events(["ToolCallStarted", "CellDeleted", "ToolCallExecuted"])),
        case(waiting, it(), start("del"), rejected(Code::ToolCallState)),
        case(confirmed, mcp(), start("del"), rejected(Code::Forbidden)),
        case(confirmed, ann(), start("del"), rejected(Code::Forbidden)),
        case(confirmed, reactor_of("editor"), start("del"), rejected(Code::Forbidden)),
        case(done, it(), start("del"), rejected(Code::ToolCallState)),
        case(calling, it(), start("vars"), rejected(Code::AlreadyClaimed)),
        case(demoted, it(), start("del"), events(["ToolCallVoided"])),
        case(decider_left, it(), start("del"), events(["ToolCallVoided"])),
        // and end, once
        case(calling, it(), reported("vars"), events(["ToolCallExecuted"])),
        case(calling, mcp(), reported("vars"), rejected(Code::Forbidden)),
        case(calling, ann(), reported("vars"), rejected(Code::Forbidden)),
        case(calling, it(), big, rejected(Code::LimitExceeded)),
        case(confirmed, it(), reported("del"), rejected(Code::ToolCallState)),
        case(done, it(), reported("del"), rejected(Code::ToolCallState)),
        case(waiting, mcp(), withdraw("del"), events(["ToolCallWithdrawn"])),
        case(waiting, user("author"), withdraw("del"), events(["ToolCallWithdrawn"])),
        case(waiting, mcp().with_scopes(&[Scope::Read]), withdraw("del"), rejected(Code::Forbidden)),
        case(waiting, user("viewer"), withdraw("del"), rejected(Code::Forbidden)),
        case(waiting, assistant_of("viewer"), withdraw("del"), rejected(Code::Forbidden)),
        case(calling, mcp(), withdraw("vars"), rejected(Code::ToolCallState)),
        case(expired, it(), sweep(), events(["ToolCallExpired"])),
        case(edited_meanwhile, it(), sweep(), events(["ToolCallVoided"])),
        case(waiting, it(), sweep(), nothing()),
        case(expired, ann(), sweep(), rejected(Code::Forbidden)),
        // grants
        case(talking, ann(), grant_until(2_000_000, &["create_cell"]), events(["GrantIssued"])),
        case(talking, ann(), grant_until(1, &[]), rejected(Code::InvalidValue)),
        case(talking, ann(), grant_until(u64::MAX >> 12, &[]), rejected(Code::InvalidValue)),
        case(talking, ann(), grant_until(2_000_000, &["delete_cell"]), rejected(Code::InvalidValue)),
        case(talking, ann(), grant_until(2_000_000, &["fly"]), rejected(Code::UnknownTool)),
        case(talking, mcp(), grant_until(2_000_000, &[]), rejected(Code::Forbidden)),
        case(talking, user("runner"), grant_until(2_000_000, &[]), rejected(Code::Forbidden)),
        case(talking, user("author"), grant_until(2_000_000, &[]), rejected(Code::Forbidden)),
        case(with_grant, ann(), json!({"RevokeGrant": {"grant_id": "g"}}), events(["GrantRevoked"])),
        case(talking, ann(), json!({"RevokeGrant": {"grant_id": "g"}}), nothing()),
        case(talking, user("viewer"), json!({"RevokeGrant": {"grant_id": "g"}}), rejected(Code::Forbidden)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("tool_calls", &cases());
}

#[test]
fn a_refusal_of_arguments_names_what_is_missing_or_unknown() {
    let mut world = talking();
    let mut message =
        |arguments| world.try_do(&assistant_of("ann"), &call("x", "modify_cell", arguments)).unwrap_err().message;
    assert_eq!(message(json!({"source": "x"})), "Missing required parameters: cell_id, cell_version");
    let unknown = message(json!({"cell_id": "a", "cell_version": 1, "source": "x", "index": 3}));
    assert_eq!(unknown, "Unknown parameters: index. modify_cell takes: cell_id, cell_version, source");
}

#[test]
fn a_call_for_a_cell_in_the_trash_is_told_so() {
    let mut world = confirmed().with(&reactor_of("ann"), start("del"));
    let mut told = |function, arguments| {
        let refused = world.try_do(&assistant_of("ann"), &call("x", function, arguments)).unwrap_err();
        (refused.code, refused.message)
    };
    let in_the_trash = (Code::CellDeleted, "cell a is in the trash: restore it first".to_owned());
    assert_eq!(told("modify_cell", json!({"cell_id": "a", "cell_version": 1, "source": "x"})), in_the_trash);
    assert_eq!(told("delete_cell", json!({"cell_id": "a", "cell_version": 1})), in_the_trash);
    assert_eq!(told("execute_cell", json!({"cell_id": "a"})), in_the_trash);
    assert_eq!(told("execute_cell", json!({"cell_id": "never"})).0, Code::UnknownCell);
}

#[test]
fn the_second_person_is_told_in_words_that_another_was_first() {
    let mut world = confirmed();
    let refused = world.try_do(&user("ann"), &confirm("del")).unwrap_err();
    assert_eq!(refused.message, "a person has confirmed call del already: the call's record says who");
    let again = world.try_do(&user("editor"), &confirm("del")).unwrap_err();
    assert_eq!(again.message, "you have confirmed call del already");
    world.step(&reactor_of("ann"), start("del"));
    let refused = world.try_do(&user("ann"), &confirm("del")).unwrap_err();
    assert_eq!(refused.message, "call del is over: it was done");
}

#[test]
fn the_end_of_a_call_is_told_in_words_that_say_what_to_do() {
    let told = |mut world: World, who: Who, command: serde_json::Value| {
        let (events, _) = world.try_do(&who, &command).unwrap();
        let answers: Vec<_> = events.iter().filter_map(CallAnswer::of).collect();
        let [answer] = &answers[..] else { panic!("{answers:?}") };
        (answer.text.clone(), answer.is_error)
    };
    let refused = |text: &str| (text.to_owned(), true);
    let ann = || user("ann");
    assert_eq!(told(waiting(), ann(), deny()), refused("A person said no: I need it"));
    assert_eq!(told(waiting(), ann(), json!({"DenyToolCall": {"call_id": "del"}})), refused("A person said no."));
    assert_eq!(told(waiting(), ann(), withdraw("del")), refused("Taken back: never mind"));
    let (void, _) = told(edited_meanwhile(), ann(), confirm("del"));
    assert!(void.starts_with("Not done, because cell a is at version"), "{void}");
    let late = told(expired(), reactor_of("ann"), sweep());
    assert_eq!(late, refused("Nobody answered in time. Ask again if it is still wanted."));
    assert_eq!(told(calling(), reactor_of("ann"), reported("vars")), ("x: int".to_owned(), false));
}

#[test]
fn the_record_says_what_opened_the_gate() {
    let mut world = confirmed();
    let (events, _) = world.try_do(&reactor_of("ann"), &start("del")).unwrap();
    let Event::ToolCallStarted(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(event.passed_by, Passed::Confirmation { by: user("editor").actor });
    assert_eq!(event.claimant.as_str(), "instance");
    let (events, _) = with_grant().try_do(&reactor_of("ann"), &create()).unwrap();
    let Event::ToolCallStarted(event) = &events[1] else { panic!("{events:?}") };
    assert!(matches!(&event.passed_by, Open::Known(Passed::Grant { grant_id }) if grant_id.as_str() == "g"));
}

#[test]
fn a_grant_ends_at_its_time() {
    let mut world = with_grant();
    world.now += 3_600_000;
    let (events, _) = world.try_do(&reactor_of("ann"), &create()).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallRequested": {"call_id": "new", "turn_id": "turn", "function": "create_cell", "arguments": {"source": "print('hello world')"}, "arguments_hash": "3e629795e100a5b0ecf47c88500546c99c7205cc89acc2cf53c469596be14aab", "risk": "edit", "gate": {"kind": "waits_for_person", "until": 91000019}}},
        ])
    );
}

#[test]
fn a_grant_ends_with_its_issuers_right_to_confirm_also_for_what_has_not_started() {
    let mut world = asking_for_edits();
    let until = world.now + 3_600_000;
    world.step(&user("editor"), grant_until(until, &[]));
    world.step(&reactor_of("ann"), call("save", "create_cells", json!({"cells": [{"source": "1"}], "run": true})));
    world.step(&user("ann"), grant("user", "editor", "author"));
    let (events, _) = world.try_do(&reactor_of("ann"), &start("save")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([{"ToolCallVoided": {"call_id": "save", "cause": "gate_closed"}}]),
        "an author runs nothing"
    );
}

#[test]
fn a_policy_that_was_tightened_holds_for_what_has_not_started() {
    let mut world =
        talking().with(&assistant_of("ann"), call("save", "save_data", json!({"path": "x.csv", "content": ""})));
    world.step(&user("ann"), policy("ask_for_every_edit"));
    let (events, _) = world.try_do(&reactor_of("ann"), &start("save")).unwrap();
    assert_eq!(world.whole(&events), json!([{"ToolCallVoided": {"call_id": "save", "cause": "gate_closed"}}]));
}

#[test]
fn a_result_names_the_call_so_that_it_can_be_undone() {
    let mut world = talking();
    let (events, _) = world.try_do(&assistant_of("ann"), &create()).unwrap();
    let Some(Event::ToolCallExecuted(event)) = events.last() else { panic!("{events:?}") };
    let result: serde_json::Value = serde_json::from_str(&event.result).unwrap();
    assert_eq!(result["call_id"], "new");
}

#[test]
fn harmless_code_runs_at_once() {
    let mut world = talking();
    let version = world.cell("a").cell_version;
    let run = call("run", "execute_cell_async", json!({"cell_id": "a", "cell_version": version}));
    let (events, outcome) = world.try_do(&assistant_of("ann"), &run).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallRequested": {"call_id": "run", "turn_id": "turn", "function": "execute_cell_async", "arguments": {"cell_id": "a", "cell_version": 8}, "arguments_hash": "23992e4672995e00e61e49e7c59b78c4eb16f94695beb8bc7c2791d95a235b34", "risk": "edit", "targets": [{"kind": "cell", "cell_id": "a", "cell_version": 8}], "gate": {"kind": "passes"}}},
            {"ToolCallStarted": {"call_id": "run", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJH00000000000121R8", "subject": {"kind": "cell", "cell_id": "a", "cell_version": 8, "source": "x = 1"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "stop_on_error": true}},
            {"ExecutionAssigned": {"execution_id": "000000YGJH00000000000121R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
            {"ToolCallExecuted": {"call_id": "run", "end": "ok", "result": "{\"executions\":[\"000000YGJH00000000000121R8\"],\"kernel_session\":\"000000YGJD000000000000T1R8\",\"call_id\":\"run\",\"cells\":[]}", "duration_ms": 0}},
        ])
    );
    assert_eq!(outcome.executions.len(), 1);
}

#[test]
fn a_conversation_has_twenty_calls_a_minute() {
    let mut world = talking();
    for number in 0..MAX_CALLS_PER_MINUTE {
        world.step(&assistant_of("ann"), call(&format!("c{number}"), "get_notebook_state", json!({})));
    }
    let refused = world.try_do(&assistant_of("ann"), &create()).unwrap_err();
    assert_eq!(refused.code, Code::RateLimited);
    assert!(refused.message.contains("wait 60 s"), "{refused}");
    world.now += 60_000;
    world.step(&assistant_of("ann"), create());
}

#[test]
fn a_turn_or_a_call_is_undone_by_whoever_may_edit_after_others_wrote() {
    let mut world = talking();
    for id in ["one", "two"] {
        world.step(&assistant_of("ann"), call(id, "create_cell", json!({"source": id})));
    }
    let version = world.cell("a").cell_version;
    world.step(
        &assistant_of("ann"),
        call("three", "modify_cell", json!({"cell_id": "a", "cell_version": version, "source": "x = 12"})),
    );
    let version = world.version();
    world.step(&user("editor"), crate::edits::edit("a", version, json!([6, [0, " # keep"]])));
    let cells = world.notebook.cells.len();
    let mut one = world.clone();
    one.step(&user("author"), json!({"Undo": {"correlation_id": "one"}}));
    assert_eq!(one.notebook.cells.len(), cells - 1);
    world.step(&user("author"), json!({"Undo": {"turn_id": "turn"}}));
    assert_eq!(world.notebook.cells.len(), cells - 2);
    assert_eq!(world.source("a"), "x = 1 # keep");
    assert_eq!(replay(&world.log), world.notebook);
}

#[test]
fn the_hash_is_of_what_the_arguments_say_not_of_how_they_are_written() {
    let object = |text: &str| serde_json::from_str(text).unwrap();
    let one = arguments_hash("f", &object(r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#));
    assert_eq!(one, arguments_hash("f", &object(r#"{"b":{"y":null,"x":[1,2]},"a":1}"#)));
    assert_ne!(one, arguments_hash("g", &object(r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#)));
    assert_ne!(one, arguments_hash("f", &object(r#"{"a": 1, "b": {"x": [2, 1], "y": null}}"#)));
}

#[test]
fn every_tool_has_a_schema_that_names_its_parameters_and_words_for_people_and_models() {
    assert_eq!(TOOLS.len(), 29);
    for tool in TOOLS {
        let schema = tool.schema();
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert!(schema["properties"].is_object(), "{}", tool.name);
        assert!(!schema.to_string().contains("$ref"), "{}: models want it in one piece", tool.name);
        assert!(tool.summary.len() > 5 && tool.description.len() > 20, "{}", tool.name);
        assert_eq!(Tool::find(tool.name).map(|found| found.name), Some(tool.name));
        let destroys = ["delete_cell", "clear_outputs", "restart_kernel"].contains(&tool.name);
        assert_eq!(tool.risk == Risk::Destructive, destroys, "{}", tool.name);
    }
}

#[test]
fn a_changed_target_is_told_with_its_cell_and_versions() {
    let change = |world: &World| {
        let call = &world.notebook.tool_calls[&"del".parse().unwrap()];
        call.targets.iter().find_map(|target| target_change(&world.notebook, target))
    };
    assert_eq!(change(&waiting()), None);
    let world = edited_meanwhile();
    let edited = change(&world).unwrap();
    let Some(TargetChange::CellChanged { cell_id: id, cell_version, requested_version }) = change(&world) else {
        panic!("{edited:?}")
    };
    assert_eq!((id, cell_version), (cell_id("a"), world.cell("a").cell_version));
    assert!(requested_version < cell_version);
    assert_eq!(edited.to_string(), format!("cell a is at version {cell_version}, not {requested_version}"));
    let deleted = waiting().with(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    assert_eq!(
        serde_json::to_value(change(&deleted).unwrap()).unwrap(),
        json!({"kind": "cell_deleted", "cell_id": "a"})
    );
}
