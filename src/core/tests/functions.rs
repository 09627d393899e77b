//! Functions that users register: kept with the notebook, offered while their kernel lives, called through the gate.

use crate::support::*;
use notarium_core::tools::{Executor, offered};
use notarium_core::{Event, ExecutionSubject, Open, RejectionCode as Code, Risk, Target};

fn function(name: &str, risk: &str) -> serde_json::Value {
    let schema = json!({"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]});
    json!({"name": name, "version": "1", "description": "Loads the table.\nMore.", "schema": schema, "risk": risk})
}

fn register(functions: serde_json::Value) -> serde_json::Value {
    json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": functions}})
}

fn registration() -> serde_json::Value {
    register(json!([function("load", "edit"), function("wipe", "destructive")]))
}

/// A world whose kernel has `load` (edit) and `wipe` (destructive).
pub fn registered() -> World {
    talking().with(&agent("gpu"), registration())
}

fn kernel_gone() -> World {
    registered().with(&agent("gpu"), end_kernel())
}

/// A world with a new kernel in place of the ended one.
pub fn again() -> World {
    let mut world = kernel_gone();
    let session = world.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    world.step(&agent("gpu"), json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": {"effects": "held"}}}));
    world.name("fence", world.version());
    world
}

fn load(rows: serde_json::Value) -> serde_json::Value {
    call("tool", "load", json!({"rows": rows}))
}

fn wiping() -> World {
    let mut world = registered().with(&assistant_of("ann"), call("tool", "wipe", json!({"rows": 1})));
    let hash = world.notebook.tool_calls.values().next().unwrap().arguments_hash;
    world.name("hash", format!("\"{hash}\""));
    world
}

fn grant_of(name: &str) -> serde_json::Value {
    json!({"IssueGrant": {"grant_id": "g", "conversation_id": "talk", "functions": [name], "expires_at": 2_000_000}})
}

pub fn cases() -> Vec<Case> {
    let (gpu, it, mcp) = (|| agent("gpu"), || reactor_of("ann"), || assistant_of("ann"));
    let one = |function: serde_json::Value| register(json!([function]));
    let with = |field: &str, value: serde_json::Value| {
        let mut function = function("load", "read");
        function[field] = value;
        register(json!([function]))
    };
    let stale = json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": 1, "functions": []}});
    let many = register((0..65).map(|number| function(&format!("f{number}"), "read")).collect());
    let large = json!({"type": "object", "description": "x".repeat(16 << 10)});
    let takes_notebook = json!({"type": "object", "properties": {"notebook": {"type": "string"}}});
    vec![
        case(talking, gpu(), registration(), events(["KernelFunctionsRegistered"])),
        case(registered, gpu(), registration(), nothing()),
        case(registered, gpu(), register(json!([])), events(["KernelFunctionsRegistered"])),
        case(talking, gpu(), register(json!([])), nothing()),
        case(again, gpu(), registration(), events(["KernelFunctionsRegistered"])),
        // An unknown risk: in the record it would count as destructive; commands must not have it.
        case(talking, gpu(), with("risk", json!("odd")), rejected(Code::InvalidValue)),
        // by its own agent alone
        case(talking, user("ann"), registration(), rejected(Code::Forbidden)),
        case(talking, mcp(), registration(), rejected(Code::Forbidden)),
        case(talking, it(), registration(), rejected(Code::Forbidden)),
        case(talking, agent("other"), registration(), rejected(Code::StaleFence)),
        case(talking, gpu(), stale, rejected(Code::StaleFence)),
        case(kernel_gone, gpu(), registration(), rejected(Code::UnknownKernelSession)),
        // invalid functions
        case(talking, gpu(), one(function("delete_cell", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function("await_confirmation", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function("", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function("a b", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function("1a", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function("_a", "read")), rejected(Code::InvalidValue)),
        case(talking, gpu(), one(function(&"a".repeat(65), "read")), rejected(Code::InvalidValue)),
        case(
            talking,
            gpu(),
            register(json!([function("a", "read"), function("a", "edit")])),
            rejected(Code::InvalidValue),
        ),
        case(talking, gpu(), with("schema", json!({})), rejected(Code::InvalidValue)),
        case(talking, gpu(), with("schema", json!({"type": "object", "properties": []})), rejected(Code::InvalidValue)),
        case(talking, gpu(), with("schema", takes_notebook), rejected(Code::InvalidValue)),
        case(talking, gpu(), with("schema", large), rejected(Code::LimitExceeded)),
        case(talking, gpu(), with("description", json!("x".repeat(4_001))), rejected(Code::LimitExceeded)),
        case(talking, gpu(), many, rejected(Code::LimitExceeded)),
        // calls
        case(registered, mcp(), load(json!(3)), events(["ToolCallRequested"])),
        case(registered, mcp(), load(json!("3")), rejected(Code::InvalidArguments)),
        case(registered, mcp(), call("tool", "load", json!({})), rejected(Code::InvalidArguments)),
        case(registered, mcp(), call("tool", "load", json!({"rows": 1, "x": 2})), rejected(Code::InvalidArguments)),
        case(registered, assistant_of("viewer"), load(json!(3)), rejected(Code::TurnState)),
        case(talking, mcp(), load(json!(3)), rejected(Code::UnknownTool)),
        case(kernel_gone, mcp(), load(json!(3)), rejected(Code::UnknownTool)),
        case(wiping, it(), start("tool"), rejected(Code::ToolCallState)),
        case(wiping, user("editor"), confirm("tool"), events(["ToolCallConfirmed"])),
        case(wiping, user("author"), confirm("tool"), rejected(Code::Forbidden)),
        // grants
        case(registered, user("ann"), grant_of("load"), events(["GrantIssued"])),
        case(registered, user("ann"), grant_of("wipe"), rejected(Code::InvalidValue)),
        case(talking, user("ann"), grant_of("load"), rejected(Code::UnknownTool)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("functions", &cases());
}

#[test]
fn a_call_is_a_recorded_run_on_the_kernel_that_has_the_function() {
    let mut world = registered();
    let big = "12345678901234567890123";
    let mut request = load(json!("$big"));
    world.name("big", big);
    request["RequestToolCall"]["call_id"] = json!("tool");
    let (events, _) = world.try_do(&assistant_of("ann"), &request).unwrap();
    let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(event.risk, Risk::Edit);
    assert!(
        matches!(&event.targets[..], [Open::Known(Target::Function { name, .. })] if name == "load"),
        "{:?}",
        event.targets
    );
    let (events, _) = world.try_do(&reactor_of("ann"), &start("tool")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJK00000000000161R8", "subject": {"kind": "tool", "tool": "call_function", "digest": "e84befde683558c4519f2a0d8a01dbf90d27faa85a4121dbe710572b509019ba", "call_id": "tool"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel"}},
            {"ExecutionAssigned": {"execution_id": "000000YGJK00000000000161R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
    let Event::ExecutionRequested(event) = &events[1] else { panic!("{events:?}") };
    let ExecutionSubject::Tool { tool, .. } = &event.subject else { panic!("{event:?}") };
    assert_eq!((tool.as_str(), event.timeout_ms), ("call_function", None));
    let call = &world.notebook.tool_calls[&"tool".parse().unwrap()];
    assert!(call.arguments.get().contains(big), "big numbers survive: {}", call.arguments.get());
    assert_eq!(event.kernel_session, world.notebook.functions["load"].kernel_session);
}

#[test]
fn a_function_that_went_or_changed_voids_the_call() {
    let requested = || registered().with(&assistant_of("ann"), load(json!(1)));
    let mut changed = function("load", "edit");
    changed["version"] = json!("2");
    let dropped = register(json!([function("wipe", "destructive")]));
    let names = offered(&requested().with(&agent("gpu"), dropped.clone()).notebook).into_iter().map(|tool| tool.name);
    let unknown = format!("there is no tool 'load': there are {}", names.collect::<Vec<_>>().join(", "));
    for (change, cause, detail) in [
        (end_kernel(), "tool_changed", "the kernel that had load has ended: run the cell that registers it again"),
        (dropped, "tool_changed", &unknown),
        (register(json!([changed])), "target_changed", "load was registered anew, and is not what it was"),
    ] {
        let mut world = requested().with(&agent("gpu"), change);
        let (events, _) = world.try_do(&reactor_of("ann"), &start("tool")).unwrap();
        let voided = json!({"call_id": "tool", "cause": cause, "detail": detail});
        assert_eq!(world.whole(&events), json!([{ "ToolCallVoided": voided }]));
    }
    let mut same = requested().with(&agent("gpu"), register(json!([function("load", "edit")])));
    let (events, _) = same.try_do(&reactor_of("ann"), &start("tool")).unwrap();
    assert_eq!(
        same.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJM00000000000181R8", "subject": {"kind": "tool", "tool": "call_function", "digest": "e84befde683558c4519f2a0d8a01dbf90d27faa85a4121dbe710572b509019ba", "call_id": "tool"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel"}},
            {"ExecutionAssigned": {"execution_id": "000000YGJM00000000000181R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
}

#[test]
fn a_changed_function_voids_what_waits_for_a_person() {
    let mut world = wiping();
    world.step(&agent("gpu"), end_kernel());
    assert_eq!(notarium_core::sweep_due(&world.notebook), Some(0));
    let (events, _) = world.try_do(&reactor_of("ann"), &json!({"SweepToolCalls": {}})).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallVoided": {"call_id": "tool", "cause": "target_changed", "detail": "the kernel that had wipe has ended: run the cell that registers it again"}},
        ])
    );
}

#[test]
fn functions_stay_with_the_notebook_and_return_with_a_kernel() {
    let names = |world: &World| {
        let functions = offered(&world.notebook).into_iter().filter(|tool| tool.version.is_some());
        functions.map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&registered()), ["load", "wipe"]);
    let gone = kernel_gone();
    assert!(names(&gone).is_empty() && gone.notebook.functions.len() == 2);
    let refused = gone.clone().try_do(&assistant_of("ann"), &load(json!(1))).unwrap_err();
    assert!(refused.message.contains("run the cell that registers it again"), "{refused}");
    let mut world = again();
    let version = world.notebook.functions["load"].registered_version;
    world.step(&agent("gpu"), register(json!([function("load", "edit")])));
    assert_eq!(names(&world), ["load"]);
    assert_eq!(world.notebook.functions["load"].registered_version, version, "it is what it was");
    assert_eq!(world.notebook.functions["wipe"].kernel_session, None);
    let ending = world.with(&user("ann"), json!({"RestartKernel": {"kernel_session": "$kernel"}}));
    assert!(names(&ending).is_empty(), "a kernel that is asked to end takes no calls");
}

#[test]
fn what_is_offered_is_all_that_a_model_needs() {
    let world = registered();
    let tools = offered(&world.notebook);
    assert_eq!(tools.len(), notarium_core::tools::TOOLS.len() + 2);
    let load = tools.iter().find(|tool| tool.name == "load").unwrap();
    assert_eq!((load.risk, load.executor, load.version.as_deref()), (Risk::Edit, Executor::Agent, Some("1")));
    assert_eq!(load.schema["required"], json!(["rows"]));
    assert_eq!(load.summary, "Call the function load of this notebook: Loads the table.");
}

#[test]
fn many_kernels_leave_a_bounded_number_of_functions() {
    let mut world = registered();
    for round in 0..4 {
        let functions = (0..60).map(|number| function(&format!("f{round}_{number}"), "read")).collect();
        world.step(&agent("gpu"), register(functions));
        world = {
            let mut next = world.with(&agent("gpu"), end_kernel());
            let session = next.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
            next.name("kernel", format!("\"{session}\""));
            next.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
            next.step(
                &agent("gpu"),
                json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": {"effects": "held"}}}),
            );
            next.name("fence", next.version());
            next
        };
    }
    assert_eq!(world.notebook.functions.len(), 128);
    assert!(world.notebook.functions.contains_key("f3_0") && !world.notebook.functions.contains_key("f0_0"));
}

/// Runs the cell `load` in the kernel, for Ann or for her assistant.
fn while_running(mut world: World, by_assistant: bool, source: &str) -> World {
    world.step(&user("ann"), insert("load", "code", source));
    match by_assistant {
        true => _ = world.step(&assistant_of("ann"), call("go", "execute_cell_async", json!({"cell_id": "load"}))),
        false => _ = world.step(&user("ann"), request("load", "run-load")),
    }
    let run = world.notebook.latest[&"load".parse().unwrap()].to_string();
    world.with(&agent("gpu"), report(&run, 1, json!({"started": {}})))
}

fn risk_of(world: &World, name: &str) -> Risk {
    world.notebook.functions[name].function.risk.judged()
}

#[test]
fn what_an_assistants_run_registers_is_destructive_until_a_persons_run_does() {
    let new = || register(json!([function("fetch", "read")]));
    let asked = while_running(talking(), true, "fetch = 1").with(&agent("gpu"), new());
    assert_eq!(risk_of(&asked, "fetch"), Risk::Destructive);
    let own = while_running(talking(), false, "def fetch(): pass").with(&agent("gpu"), new());
    assert_eq!(risk_of(&own, "fetch"), Risk::Read);
}

#[test]
fn a_risk_that_a_person_gave_is_of_the_text_that_the_person_ran() {
    let own = "def load(): pass";
    let same = || register(json!([function("load", "edit")]));
    let by_ann = || while_running(talking(), false, own).with(&agent("gpu"), same());
    assert_eq!(risk_of(&by_ann(), "load"), Risk::Edit);
    let next = |mut world: World, id: &str, by_assistant: bool, source: &str| {
        let run = world.notebook.latest[&"load".parse().unwrap()].to_string();
        world.step(&agent("gpu"), report(&run, 2, json!({"completed": {"outcome": "ok"}})));
        world.step(&user("ann"), json!({"ReplaceSource": {"cell_id": "load", "source": source, "cell_version": world.notebook.cells[&"load".parse().unwrap()].cell_version}}));
        match by_assistant {
            true => _ = world.step(&assistant_of("ann"), call(id, "execute_cell_async", json!({"cell_id": "load"}))),
            false => _ = world.step(&user("ann"), request("load", id)),
        }
        let run = world.notebook.latest[&"load".parse().unwrap()].to_string();
        world.with(&agent("gpu"), report(&run, 1, json!({"started": {}}))).with(&agent("gpu"), same())
    };
    let again = next(by_ann(), "again", true, own);
    assert_eq!(risk_of(&again, "load"), Risk::Edit, "the person's own text");
    let other = next(by_ann(), "other", true, "def load(): wipe()");
    assert_eq!(risk_of(&other, "load"), Risk::Destructive, "nothing but the body differs");
    let rewritten = next(by_ann(), "rewrite", false, "def load(): more()");
    assert_eq!(risk_of(&next(rewritten, "rerun", true, "def load(): more()"), "load"), Risk::Edit);
    let returned = next(next(by_ann(), "other", true, "def load(): wipe()"), "return", false, own);
    assert_eq!(risk_of(&returned, "load"), Risk::Edit, "a person's run gives it again");
}

#[test]
fn an_assistants_run_lowers_no_risk() {
    let lower = || register(json!([function("load", "read"), function("wipe", "read")]));
    let world = while_running(registered(), true, "1").with(&agent("gpu"), lower());
    assert_eq!((risk_of(&world, "load"), risk_of(&world, "wipe")), (Risk::Edit, Risk::Destructive));
    let unnamed = while_running(registered(), false, "def load(): pass").with(&agent("gpu"), lower());
    assert_eq!((risk_of(&unnamed, "load"), risk_of(&unnamed, "wipe")), (Risk::Read, Risk::Destructive));
}
