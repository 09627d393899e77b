//! Effects of runs: people's are free, an assistant's are held, and calls ask by the kinds that their code may have.

use std::collections::BTreeSet;

use crate::support::*;
use notarium_core::{
    Effect, Effects, Event, Execution, ExecutionId, ExecutionStatus as Status, Open, RejectionCode as Code, Risk,
    Version, VoidCause, effects_in_words,
};
use serde_json::Value;

const NOT_HELD: &str =
    "this kernel cannot hold what an assistant's code does: the code can do all that the kernel's sandbox lets it do";

fn execute(id: &str, effects: &[&str]) -> Value {
    call(id, "execute_cell", json!({"cell_id": "a", "effects": effects}))
}

fn policy(policy: &str) -> Value {
    json!({"SetPolicy": {"policy": policy}})
}

pub fn granted(functions: &[&str], kinds: &[&str]) -> Value {
    json!({"IssueGrant": {"grant_id": "g", "conversation_id": "talk", "functions": functions, "kinds": kinds, "expires_at": 2_000_000}})
}

fn turn() -> Value {
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Count"}})
}

/// The kernel has started, and its agent holds no effects.
pub fn unheld() -> World {
    let mut world = claimed();
    world.step(&agent("gpu"), json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}}}));
    world.name("fence", world.version());
    world.with(&user("ann"), turn())
}

/// No kernel was launched.
fn without_kernel(holding: &[&str]) -> World {
    let mut world = with_cells().with(&user("ann"), turn());
    world.holding_kernelspecs = holding.iter().map(|name| (*name).to_owned()).collect();
    world
}

fn call_of<'a>(world: &'a World, id: &str) -> &'a notarium_core::ToolCall {
    &world.notebook.tool_calls[&id.parse().unwrap()]
}

/// Requests the call; returns its risk and reasons, and whether it waits for a person.
pub fn asked(world: &mut World, command: Value) -> (Risk, Vec<String>, bool) {
    let id = command["RequestToolCall"]["call_id"].as_str().unwrap().to_owned();
    world.step(&reactor_of("ann"), command);
    let call = call_of(world, &id);
    (call.risk.judged(), call.reasons.clone(), call.gate.waits())
}

pub fn confirmed_call(world: &mut World, id: &str) {
    let hash = call_of(world, id).arguments_hash.to_string();
    world.step(&user("editor"), json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": hash}}));
}

/// Starts the call; returns the effects of the runs that it requests.
pub fn effects_of(world: &mut World, id: &str) -> Vec<Effects> {
    let (events, _) = world.try_do(&reactor_of("ann"), &start(id)).unwrap();
    let requested = events.iter().filter_map(|event| match event {
        Event::ExecutionRequested(event) => Some(event.effects.judged()),
        _ => None,
    });
    requested.collect()
}

fn refused(kind: &str, target: &str, count: u64) -> Value {
    json!({"ReportEffectRefused": {"execution_id": "run-a", "fence": "$fence", "kind": kind, "target": target, "count": count}})
}

fn refused_once() -> World {
    running().with(&agent("gpu"), refused("write", "/data/a.csv", 1))
}

/// A report on a run: its refused effect if it has a kind, else its next step.
pub fn either_report(id: &ExecutionId, fence: Version, seq: u64, report: &Value) -> Value {
    match (report.get("kind"), report.get("count")) {
        (Some(kind), Some(count)) => json!({"ReportEffectRefused": {"execution_id": id, "fence": fence, "kind": kind,
            "target": "t", "count": count}}),
        _ => json!({"ReportExecution": {"execution_id": id, "fence": fence, "seq": seq, "report": report}}),
    }
}

/// Checks that a run has one entry for each kind of refused effects.
pub fn check_refused(execution: &Execution) {
    let kinds: BTreeSet<String> = execution.refused.iter().map(|refused| refused.kind.to_string()).collect();
    assert_eq!(kinds.len(), execution.refused.len(), "{:?}", execution.refused);
    assert!(execution.refused.iter().all(|refused| refused.count > 0));
}

pub fn cases() -> Vec<Case> {
    let gpu = || agent("gpu");
    let stale = json!({"ReportEffectRefused": {"execution_id": "run-a", "fence": 3, "kind": "write", "target": "", "count": 1}});
    let told_last = || refused_once().with(&agent("gpu"), refused("write", "/data/b.csv", 4));
    let refusal = || events(["ExecutionEffectRefused"]);
    let holds_open = report("run-a", 2, json!({"holds_open": {"open": ["sales.db"]}}));
    vec![
        case(started, gpu(), refused("write", "x", 1), rejected(Code::UnknownExecution)),
        case(running, gpu(), refused("write", "x", 1), refusal()),
        case(running, gpu(), refused("write", "x", 0), rejected(Code::InvalidValue)),
        case(running, gpu(), stale, rejected(Code::StaleFence)),
        case(running, agent("tpu"), refused("write", "x", 1), rejected(Code::StaleFence)),
        case(running, user("ann"), refused("write", "x", 1), rejected(Code::Forbidden)),
        case(refused_once, gpu(), refused("write", "x", 1), nothing()),
        case(refused_once, gpu(), refused("write", "x", 7), refusal()),
        case(refused_once, gpu(), refused("network", "x", 1), refusal()),
        case(told_last, gpu(), refused("write", "x", 9), nothing()),
        case(finished, gpu(), refused("remove", "x", 1), refusal()),
        case(running, gpu(), holds_open, events(["ExecutionCancelled"])),
        // grants
        case(talking, user("ann"), granted(&[], &["network", "create", "open"]), events(["GrantIssued"])),
        case(talking, user("ann"), granted(&[], &["network", "write"]), rejected(Code::InvalidValue)),
        case(talking, user("ann"), granted(&[], &["remove"]), rejected(Code::InvalidValue)),
        case(talking, user("ann"), granted(&[], &["signal"]), rejected(Code::InvalidValue)),
        case(talking, user("ann"), granted(&[], &["database"]), rejected(Code::InvalidValue)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("effects", &cases());
}

#[test]
fn a_person_s_run_is_free_and_an_assistant_s_is_held() {
    let mut world = talking().with(&user("ann"), request("a", "mine"));
    assert_eq!(world.execution("mine").unwrap().effects, Open::Known(Effects::Free));
    assert_eq!(asked(&mut world, execute("its", &[])), (Risk::Edit, vec![], false));
    assert_eq!(effects_of(&mut world, "its"), [Effects::held([])]);
    world.step(&assistant_of("ann"), call("all", "run_all", json!({})));
    assert_eq!(effects_of(&mut world, "all"), [Effects::held([]), Effects::held([])]);
    let cells = json!({"cells": [{"source": "1"}, {"source": "2"}], "run": true});
    world.step(&assistant_of("ann"), call("new", "create_cells", cells));
    assert_eq!(effects_of(&mut world, "new"), [Effects::held([]), Effects::held([])]);
    world.step(&assistant_of("ann"), call("vars", "get_variables", json!({})));
    assert_eq!(effects_of(&mut world, "vars"), [Effects::held([])]);
}

#[test]
fn kinds_that_destroy_nothing_are_sensitive_and_the_others_destructive() {
    for kind in Effect::ALL {
        let mut world = talking();
        let (risk, reasons, waits) = asked(&mut world, execute("it", &[kind.word()]));
        let expected = match kind {
            Effect::Create | Effect::Network | Effect::Open => Risk::Sensitive,
            Effect::Write | Effect::Remove | Effect::Signal | Effect::Database => Risk::Destructive,
        };
        assert_eq!((risk, waits), (expected, true), "{kind:?}");
        assert_eq!(reasons, [format!("it may {}", kind.phrase())]);
    }
}

#[test]
fn a_confirmed_run_has_exactly_the_confirmed_kinds() {
    let mut world = talking();
    let (risk, reasons, waits) = asked(&mut world, execute("it", &["remove", "create", "remove"]));
    assert_eq!((risk, reasons.len(), waits), (Risk::Destructive, 2, true));
    confirmed_call(&mut world, "it");
    assert_eq!(effects_of(&mut world, "it"), [Effects::held([Effect::Create, Effect::Remove])]);
    // The kinds belong to this call alone.
    asked(&mut world, execute("next", &[]));
    assert_eq!(effects_of(&mut world, "next"), [Effects::held([])]);
}

#[test]
fn other_kinds_are_other_arguments() {
    let mut world = talking();
    asked(&mut world, execute("it", &["remove"]));
    let hash = notarium_core::arguments_hash(
        "execute_cell",
        &call_of(&talking().with(&assistant_of("ann"), execute("it", &["write"])), "it").arguments,
    );
    let confirm = json!({"ConfirmToolCall": {"call_id": "it", "arguments_hash": hash}});
    assert_eq!(world.try_do(&user("editor"), &confirm).unwrap_err().code, Code::Conflict);
}

#[test]
fn an_unknown_kind_is_refused() {
    let rejection = talking().try_do(&assistant_of("ann"), &execute("it", &["moon"])).unwrap_err();
    assert_eq!(rejection.code, Code::InvalidArguments, "{rejection}");
}

#[test]
fn a_grant_covers_its_kinds_and_no_destructive_one() {
    let waits = |kinds: &[&str], asks: &[&str]| {
        let mut world = talking().with(&user("ann"), granted(&[], kinds));
        asked(&mut world, execute("it", asks)).2
    };
    assert!(waits(&[], &["network"]));
    assert!(waits(&["create"], &["network"]));
    assert!(!waits(&["network"], &["network"]));
    assert!(!waits(&["network", "create"], &["create", "network"]));
    assert!(waits(&["network", "create", "open"], &["write"]));
    assert!(waits(&["network"], &["network", "remove"]));
    let mut world = talking().with(&user("ann"), granted(&[], &["network"]));
    asked(&mut world, execute("it", &["network"]));
    assert_eq!(effects_of(&mut world, "it"), [Effects::held([Effect::Network])]);
}

#[test]
fn policies_stay_what_they_are() {
    let waits = |named: &str, asks: &[&str]| {
        let mut world = talking().with(&user("ann"), policy(named));
        asked(&mut world, execute("it", asks)).2
    };
    assert!(waits("ask_for_every_edit", &[]));
    assert!(!waits("trusted", &[]));
    assert!(!waits("trusted", &["create", "network", "open"]));
    assert!(waits("trusted", &["write"]));
}

#[test]
fn in_a_kernel_that_holds_nothing_every_run_asks() {
    let mut world = unheld();
    assert_eq!(asked(&mut world, execute("it", &[])), (Risk::Sensitive, vec![NOT_HELD.to_owned()], true));
    confirmed_call(&mut world, "it");
    assert_eq!(effects_of(&mut world, "it"), [Effects::Free]);
    assert!(!asked(&mut world, call("vars", "get_variables", json!({}))).2);
    let mut trusted = unheld().with(&user("ann"), policy("trusted"));
    assert!(!asked(&mut trusted, execute("it", &[])).2);
    assert_eq!(effects_of(&mut trusted, "it"), [Effects::Free]);
    let mut grantee = unheld().with(&user("ann"), granted(&["execute_cell"], &[]));
    assert!(!asked(&mut grantee, execute("it", &[])).2);
    assert!(asked(&mut grantee, call("all", "run_all", json!({}))).2);
}

#[test]
fn without_a_kernel_the_offers_decide() {
    assert!(!asked(&mut without_kernel(&["python3"]), execute("it", &[])).2);
    assert_eq!(asked(&mut without_kernel(&[]), execute("it", &[])).1, [NOT_HELD]);
    assert!(asked(&mut without_kernel(&["julia"]), execute("it", &[])).2);
}

#[test]
fn a_call_is_void_if_its_kernel_holds_nothing_by_then() {
    let mut world = without_kernel(&["python3"]);
    assert!(!asked(&mut world, execute("it", &[])).2);
    world.holding_kernelspecs.clear();
    let (events, _) = world.try_do(&reactor_of("ann"), &start("it")).unwrap();
    let [Event::ToolCallVoided(event)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(event.cause, VoidCause::RiskGrew);
    assert!(event.sentence().contains(NOT_HELD), "{}", event.sentence());
}

#[test]
fn a_kernel_that_holds_nothing_never_gets_a_held_run() {
    let mut world = without_kernel(&["python3"]);
    let (events, _) =
        world.try_do(&assistant_of("ann"), &call("it", "execute_cell_async", json!({"cell_id": "a"}))).unwrap();
    let id = events.iter().find_map(Event::execution_id).unwrap().clone();
    world.step(&user("ann"), request("c", "mine"));
    let session = world.notebook.kernels.keys().next().unwrap().to_string();
    world.name("kernel", format!("\"{session}\""));
    world.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    let started = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}}});
    let (events, _) = world.try_do(&agent("gpu"), &started).unwrap();
    assert_eq!(types(&events), ["KernelSessionStarted", "ExecutionCancelled", "ExecutionAssigned"]);
    let run = &world.notebook.executions[&id];
    assert_eq!(run.status, Status::Cancelled);
    assert_eq!(run.end_sentence().unwrap(), "its kernel cannot hold the effects of an assistant's code");
    assert_eq!(effects_in_words(run).unwrap(), "The run did not begin. Ask for it again: then a person is asked.");
    assert_eq!(world.status("mine"), Status::Assigned);
}

#[test]
fn code_in_another_language_runs_held_and_asks_where_nothing_is_held() {
    let r = |sandbox: Value| {
        let mut world = claimed();
        let report = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {"name": "R"}, "sandbox": sandbox}});
        world.step(&agent("gpu"), report);
        world.with(&user("ann"), turn())
    };
    assert_eq!(asked(&mut r(json!({"effects": "held"})), execute("it", &[])), (Risk::Edit, vec![], false));
    let unheld = json!({"effects": {"not_held": {"cause": "switched_off"}}});
    assert_eq!(asked(&mut r(unheld), execute("it", &[])).0, Risk::Destructive);
}

// --- refusals ---

#[test]
fn refusals_are_kept_with_the_run_and_come_back_with_its_cell() {
    let mut world = refused_once()
        .with(&agent("gpu"), refused("network", "10.0.0.1:443", 1))
        .with(&agent("gpu"), refused("write", "later", 3))
        .with(&agent("gpu"), report("run-a", 2, completed(true)));
    let before = world.execution("run-a").unwrap().clone();
    let of = |index: usize| {
        (before.refused[index].kind.to_string(), before.refused[index].target.clone(), before.refused[index].count)
    };
    assert_eq!(of(0), ("write".to_owned(), "/data/a.csv".to_owned(), 3));
    assert_eq!(of(1), ("network".to_owned(), "10.0.0.1:443".to_owned(), 1));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    assert!(world.execution("run-a").is_none());
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    assert_eq!(*world.execution("run-a").unwrap(), before);
    assert_eq!(replay(&world.log).document, world.notebook.document);
}

#[test]
fn a_target_is_cut_where_a_character_begins() {
    let mut world = running();
    world.step(&agent("gpu"), refused("create", &format!("x{}", "ä".repeat(2_000)), 1));
    assert_eq!(world.execution("run-a").unwrap().refused[0].target.len(), 1_023);
}

#[test]
fn a_key_in_a_target_of_an_assistant_s_run_is_masked() {
    let mut world = talking();
    let (events, _) =
        world.try_do(&assistant_of("ann"), &call("it", "execute_cell_async", json!({"cell_id": "a"}))).unwrap();
    let id = events.iter().find_map(Event::execution_id).unwrap().clone();
    let key = format!("gh{}_{}", "p", "a1".repeat(18));
    world.step(&agent("gpu"), json!({"ReportEffectRefused": {"execution_id": id, "fence": "$fence", "kind": "network", "target": key, "count": 1}}));
    assert_eq!(world.notebook.executions[&id].refused[0].target, notarium_core::mask::MASK);
}

#[test]
fn the_answer_says_what_was_refused_and_how_to_ask() {
    let world = refused_once().with(&agent("gpu"), refused("write", "x", 3));
    assert_eq!(
        effects_in_words(world.execution("run-a").unwrap()).unwrap(),
        "Effects outside the kernel were refused, and the code went on without them: write (/data/a.csv, and 2 more). If \
         they are needed, ask for them with effects: [\"write\"]. The run begins again from the top; variables stay as they \
         are."
    );
    assert_eq!(effects_in_words(running().execution("run-a").unwrap()), None);
}

#[test]
fn what_a_kernel_holds_open_is_asked_about_by_name() {
    let mut world = talking();
    let (events, _) =
        world.try_do(&assistant_of("ann"), &call("it", "execute_cell_async", json!({"cell_id": "a"}))).unwrap();
    let id = events.iter().find_map(Event::execution_id).unwrap().clone();
    let open = json!({"holds_open": {"open": ["sales.db", "db.example:5432"]}});
    world.step(
        &agent("gpu"),
        json!({"ReportExecution": {"execution_id": id, "fence": "$fence", "seq": 1, "report": open}}),
    );
    let run = &world.notebook.executions[&id];
    let sentence = "this kernel holds open: sales.db, db.example:5432; code can change them";
    assert_eq!((run.status, run.end_sentence().as_deref()), (Status::Cancelled, Some(sentence)));
    assert!(effects_in_words(run).unwrap().contains("effects: [\"open\"]"));
    assert_eq!(asked(&mut world, execute("again", &["open"])), (Risk::Sensitive, vec![sentence.to_owned()], true));
    confirmed_call(&mut world, "again");
    assert_eq!(effects_of(&mut world, "again"), [Effects::held([Effect::Open])]);
    world.step(&user("ann"), granted(&[], &["open"]));
    assert!(!asked(&mut world, execute("third", &["open"])).2);
}

#[test]
fn a_tool_asks_about_what_a_kernel_holds_open_until_a_person_s_next_run() {
    let mut world = talking();
    let look = |id: &str| call(id, "inspect_variable", json!({"name": "x"}));
    assert_eq!(asked(&mut world, look("look")), (Risk::Read, vec![], false));
    let (events, _) = world.try_do(&reactor_of("ann"), &start("look")).unwrap();
    let id = events.iter().find_map(Event::execution_id).unwrap().clone();
    assert_eq!(world.notebook.executions[&id].effects, Open::Known(Effects::held([])));
    let open = report(id.as_str(), 1, json!({"holds_open": {"open": ["sales.db"]}}));
    world.step(&agent("gpu"), open);
    let sentence = "this kernel holds open: sales.db; code can change them";
    assert_eq!(asked(&mut world, look("again")), (Risk::Sensitive, vec![sentence.to_owned()], true));
    confirmed_call(&mut world, "again");
    assert_eq!(effects_of(&mut world, "again"), [Effects::held([Effect::Open])]);
    let save = call("save", "save_data", json!({"path": "run.sh", "content": ""}));
    let (risk, reasons, waits) = asked(&mut world, save);
    assert_eq!((risk, reasons.len(), reasons.last().unwrap().as_str(), waits), (Risk::Sensitive, 2, sentence, true));
    // A person's run may have closed it.
    world.step(&user("ann"), request("a", "mine"));
    assert_eq!(asked(&mut world, look("third")), (Risk::Read, vec![], false));
}

#[test]
fn a_query_that_writes_may_change_the_database_once_it_is_confirmed() {
    let mut world = talking();
    for (id, source) in [("reads", "SELECT 1"), ("writes", "-- os.remove(\nDELETE FROM t")] {
        world.step(&user("ann"), insert(id, "sql", source));
    }
    let query = |id: &str| call(id, "execute_cell", json!({"cell_id": id}));
    assert!(!asked(&mut world, query("reads")).2);
    assert_eq!(effects_of(&mut world, "reads"), [Effects::held([])]);
    assert!(asked(&mut world, query("writes")).2);
    confirmed_call(&mut world, "writes");
    assert_eq!(effects_of(&mut world, "writes"), [Effects::held([Effect::Database])]);
}

// --- tools, plans, restored functions ---

#[test]
fn a_saved_file_is_a_new_one_unless_a_person_confirmed_another() {
    let mut world = talking();
    asked(&mut world, call("new", "save_data", json!({"path": "a.csv", "content": "1"})));
    assert_eq!(effects_of(&mut world, "new"), [Effects::held([Effect::Create])]);
    let over = json!({"path": "a.csv", "content": "1", "overwrite": "0".repeat(64)});
    assert!(asked(&mut world, call("over", "save_data", over)).2);
    confirmed_call(&mut world, "over");
    assert_eq!(effects_of(&mut world, "over"), [Effects::held([Effect::Create, Effect::Write, Effect::Remove])]);
}

/// In a reactive notebook an assistant's run takes no other cells along, so its kinds go no further.
#[test]
fn runs_that_follow_from_a_person_s_run_are_free() {
    let mut world = talking().with(&user("ann"), insert("reads", "code", "w = x"));
    world.step(&user("editor"), json!({"SetReactivity": {"reactivity": "eager"}}));
    asked(&mut world, execute("it", &["network"]));
    confirmed_call(&mut world, "it");
    assert_eq!(effects_of(&mut world, "it"), [Effects::held([Effect::Network])]);
    let (events, _) = world.try_do(&user("ann"), &request("a", "mine")).unwrap();
    let free = |event: &Event| matches!(event, Event::ExecutionRequested(event) if event.effects == Effects::Free);
    assert_eq!(events.iter().filter(|event| free(event)).count(), 2, "{events:?}");
}

/// Variables of a cell that an assistant deletes are removed by a held run.
#[test]
fn a_removal_that_an_assistant_causes_is_held() {
    let mut world = talking().with(&user("ann"), insert("reads", "code", "w = x"));
    world.step(&user("editor"), json!({"SetReactivity": {"reactivity": "eager"}}));
    world.step(&user("ann"), request("a", "mine"));
    assert_eq!(world.execution("mine").unwrap().subject.cell_id(), Some(&cell_id("a")));
    world.step(&agent("gpu"), report("mine", 1, json!({"started": {}})));
    world.step(&agent("gpu"), report("mine", 2, completed(true)));
    let version = world.cell("a").cell_version;
    asked(&mut world, call("del", "delete_cell", json!({"cell_id": "a", "cell_version": version})));
    confirmed_call(&mut world, "del");
    assert_eq!(effects_of(&mut world, "del"), [Effects::held([])]);
}
