//! Functions by their places: calls by people, restoration in a new kernel, clashes of one name.

use crate::support::*;
use notarium_core::{Event, Open, Risk};

const CODE: &str = "@notarium.tool(risk=\"edit\")\ndef load(rows: int): ...";

fn function(name: &str, risk: &str) -> serde_json::Value {
    let schema = json!({"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]});
    json!({"name": name, "version": "1", "description": "Loads.", "schema": schema, "risk": risk})
}

fn register(functions: &[serde_json::Value], places: &serde_json::Value) -> serde_json::Value {
    json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": functions, "places": places}})
}

fn place(name: &str, cell: &str) -> serde_json::Value {
    json!({"name": name, "cell_id": cell, "line": 2})
}

/// Runs the cell for Ann, or for her assistant, until the kernel has begun it.
fn run(world: &mut World, cell: &str, by_assistant: bool) -> String {
    let id = format!("run-{cell}-{}", world.version());
    match by_assistant {
        true => _ = world.step(&assistant_of("ann"), call(&id, "execute_cell_async", json!({"cell_id": cell}))),
        false => _ = world.step(&user("ann"), request(cell, &id)),
    }
    let run = world.notebook.latest[&cell.parse().unwrap()].to_string();
    world.step(&agent("gpu"), report(&run, 1, json!({"started": {}})));
    run
}

fn ended(world: &mut World, run: &str) {
    world.step(&agent("gpu"), report(run, 2, json!({"completed": {"outcome": "ok"}})));
}

/// A world in which Ann has run the cell `define`, which registered `load`.
fn defined(by_assistant: bool) -> World {
    let mut world = talking().with(&user("ann"), insert("define", "code", CODE));
    let id = run(&mut world, "define", by_assistant);
    world.step(&agent("gpu"), register(&[function("load", "edit")], &json!([place("load", "define")])));
    ended(&mut world, &id);
    world
}

/// Restarts the kernel; returns the events of its start.
fn restarted(world: &mut World) -> Vec<Event> {
    let next =
        world.step(&user("ann"), json!({"RestartKernel": {"kernel_session": "$kernel"}})).kernel_session.unwrap();
    world.step(&agent("gpu"), end_kernel());
    world.name("kernel", format!("\"{next}\""));
    world.name("fence", world.version() + 1);
    let start = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": {"effects": "held"}}});
    world.try_do(&agent("gpu"), &start).unwrap().0
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::event_type).collect()
}

fn missing(events: &[Event]) -> serde_json::Value {
    let Event::KernelSessionStarted(started) = &events[0] else { panic!("{events:?}") };
    serde_json::to_value(&started.missing_functions).unwrap()
}

fn calling(arguments: serde_json::Value, confirmed: bool) -> serde_json::Value {
    let target = json!({"function": {"name": "load", "arguments": arguments, "confirmed": confirmed}});
    json!({"RequestExecution": {"execution_id": "call", "target": target}})
}

// --- calls by people ---

#[test]
fn a_person_calls_a_function_as_a_recorded_run_on_its_kernel() {
    let mut world = defined(false);
    let (events, _) = world.try_do(&user("ann"), &calling(json!({"rows": 3}), false)).unwrap();
    let Event::ExecutionRequested(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(
        event.subject.source(),
        "__import__(\"notarium\").call_function(\"load\", {\"rows\":3}, as_json=False, version=\"1\")\n"
    );
    assert_eq!(event.kernel_session, world.notebook.functions["load"].kernel_session);
    assert_eq!(kinds(&events), ["ExecutionRequested", "ExecutionAssigned"]);
}

#[test]
fn arguments_and_names_are_checked_before_anything_runs() {
    let refused = |command: serde_json::Value| defined(false).try_do(&user("ann"), &command).unwrap_err().message;
    assert_eq!(refused(calling(json!({}), false)), "Missing required parameters: rows");
    assert_eq!(refused(calling(json!({"rows": "3"}), false)), "load: rows must be integer, not string");
    let named = |name: &str| {
        let target = json!({"function": {"name": name, "arguments": {"cell_id": "define"}}});
        refused(json!({"RequestExecution": {"target": target}}))
    };
    assert!(named("nothing").starts_with("there is no tool 'nothing'"));
    assert!(named("delete_cell").contains("is a tool of assistants"));
    let mut elsewhere = calling(json!({"rows": 1}), false);
    elsewhere["RequestExecution"]["kernel_session"] = json!("other");
    assert!(refused(elsewhere).contains("is a function of kernel session"));
    let assistant = defined(false).try_do(&assistant_of("ann"), &calling(json!({"rows": 1}), true));
    assert!(assistant.is_err(), "an assistant calls through the gate");
}

#[test]
fn what_destroys_is_called_only_by_who_means_it() {
    let mut world = defined(true);
    assert_eq!(world.notebook.functions["load"].function.risk.judged(), Risk::Destructive);
    let refused = world.try_do(&user("ann"), &calling(json!({"rows": 1}), false)).unwrap_err();
    assert!(refused.message.contains("confirmed: true"), "{refused}");
    world.step(&user("ann"), calling(json!({"rows": 1}), true));
}

// --- a new kernel ---

#[test]
fn a_new_kernel_runs_the_cells_again_that_register_functions_and_nothing_else() {
    let mut world = defined(false).with(&user("ann"), insert("other", "code", "x = 1"));
    let events = restarted(&mut world);
    assert_eq!(kinds(&events), ["KernelSessionStarted", "ExecutionRequested", "ExecutionAssigned"]);
    assert_eq!(missing(&events), json!([]));
    let Event::ExecutionRequested(event) = &events[1] else { panic!("{events:?}") };
    assert_eq!(event.subject.cell_id().unwrap().as_str(), "define");
    assert_eq!(serde_json::to_value(&event.cause).unwrap(), "functions_restored");
    let id = event.execution_id.to_string();
    world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
    world.step(&agent("gpu"), register(&[function("load", "edit")], &json!([place("load", "define")])));
    let load = &world.notebook.functions["load"];
    assert_eq!((load.function.risk.judged(), load.kernel_session.is_some()), (Risk::Edit, true));
}

#[test]
fn a_run_that_no_person_asked_for_lowers_no_risk() {
    let mut world = defined(false);
    let events = restarted(&mut world);
    let Event::ExecutionRequested(event) = &events[1] else { panic!("{events:?}") };
    let id = event.execution_id.to_string();
    world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
    let changed =
        json!({"name": "load", "version": "2", "description": "", "schema": {"type": "object"}, "risk": "read"});
    world.step(&agent("gpu"), register(&[changed], &json!([])));
    assert_eq!(world.notebook.functions["load"].function.risk, Open::Known(Risk::Destructive));
}

#[test]
fn a_cell_that_is_not_what_a_person_ran_does_not_run_by_itself() {
    let replace =
        |source: &str| json!({"ReplaceSource": {"cell_id": "define", "source": source, "cell_version": "$cell"}});
    let told = |mut world: World| {
        let events = restarted(&mut world);
        assert_eq!(kinds(&events), ["KernelSessionStarted"]);
        missing(&events)
    };
    let by = |reason: &str| json!([{"names": ["load"], "cell_id": "define", "reason": reason}]);
    let other = by("it is not the text by which a person registered them");
    let mut edited = defined(false);
    edited.name("cell", edited.notebook.cells[&"define".parse().unwrap()].cell_version);
    assert_eq!(told(edited.with(&user("ann"), replace("def load(rows): wipe()"))), other);
    assert_eq!(told(defined(true)), other, "an assistant's run registered it");
    let deleted = defined(false).with(&user("ann"), json!({"DeleteCell": {"cell_id": "define"}}));
    assert_eq!(told(deleted), json!([{"names": ["load"], "reason": "the cell that registered them is in the trash"}]));
}

#[test]
fn what_the_judge_does_not_pass_is_told_and_the_rest_runs() {
    let mut world = defined(false).with(&user("ann"), insert("harm", "code", "def load2(): pass\nos.remove('x')"));
    let id = run(&mut world, "harm", false);
    let both = [function("load", "edit"), function("load2", "read")];
    world.step(&agent("gpu"), register(&both, &json!([place("load", "define"), place("load2", "harm")])));
    ended(&mut world, &id);
    let events = restarted(&mut world);
    assert_eq!(
        missing(&events),
        json!([{"names": ["load2"], "cell_id": "harm", "reason": "a person is asked before its code runs"}])
    );
    assert_eq!(kinds(&events), ["KernelSessionStarted", "ExecutionRequested", "ExecutionAssigned"]);
}

#[test]
fn a_call_says_which_cell_registers_the_function_that_its_kernel_lost() {
    let mut world = defined(false).with(&agent("gpu"), end_kernel());
    let refused = world.try_do(&user("ann"), &calling(json!({"rows": 1}), false)).unwrap_err();
    assert_eq!(refused.message, "the kernel that had load has ended: run cell define, which registers it again");
}

// --- clashes ---

fn refusal(world: &mut World, place: &serde_json::Value) -> String {
    world.try_do(&agent("gpu"), &register(&[function("load", "edit")], &json!([place]))).unwrap_err().message
}

/// The notices about a registration of these functions.
fn notices(world: &mut World, names: &[&str], places: &serde_json::Value) -> Vec<String> {
    let functions: Vec<serde_json::Value> = names.iter().map(|name| function(name, "edit")).collect();
    world.step(&agent("gpu"), register(&functions, places)).notices
}

#[test]
fn of_two_cells_with_one_function_both_are_named_and_the_other_functions_stay() {
    let mut world = defined(false).with(&user("ann"), insert("again", "code", CODE));
    run(&mut world, "again", false);
    let places = json!([place("load", "again"), place("save", "again")]);
    let told = "two functions are called load: one in cell define line 2, one in cell again line 2. \
         The first one stays. Give one another name, or take one out and run what is left";
    assert_eq!(notices(&mut world, &["load", "save"], &places), [told]);
    let names: Vec<&String> = world.notebook.functions.keys().collect();
    assert_eq!(names, ["load", "save"]);
    // The same report again is the same clash, and changes nothing.
    let version = world.version();
    assert_eq!(notices(&mut world, &["load", "save"], &places), [told]);
    assert_eq!(world.version(), version);
}

#[test]
fn a_function_that_moved_to_another_cell_is_no_clash_and_neither_is_its_own_cell() {
    let mut world = defined(false).with(&user("ann"), insert("again", "code", CODE));
    let version = world.notebook.cells[&"define".parse().unwrap()].cell_version;
    world.step(
        &user("ann"),
        json!({"ReplaceSource": {"cell_id": "define", "source": "x = 1", "cell_version": version}}),
    );
    run(&mut world, "again", false);
    world.step(&agent("gpu"), register(&[function("load", "edit")], &json!([place("load", "again")])));
    let mut same = defined(false);
    run(&mut same, "define", false);
    let mut changed = function("load", "edit");
    changed["version"] = json!("2");
    same.step(&agent("gpu"), register(&[changed], &json!([place("load", "define")])));
}

#[test]
fn two_kernels_with_functions_of_two_modules_are_told_apart() {
    let of = |module: &str| json!({"name": "load", "module": module, "line": 7});
    let mut world = talking().with(&agent("gpu"), register(&[function("load", "edit")], &json!([of("tools")])));
    let first = world.notebook.functions["load"].kernel_session.clone().unwrap();
    let session = world.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    world.step(&agent("gpu"), json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": {"effects": "held"}}}));
    world.name("fence", world.version());
    let told = notices(&mut world, &["load"], &json!([of("others")]));
    assert!(
        told[0].contains("one in the module tools line 7, one in the module others line 7, on two kernels"),
        "{told:?}"
    );
    assert_eq!(world.notebook.functions["load"].kernel_session, Some(first));
    world.step(&agent("gpu"), register(&[function("load", "edit")], &json!([of("tools")])));
}

#[test]
fn places_are_of_functions_that_are_registered() {
    let mut world = talking();
    assert!(refusal(&mut world, &place("other", "define")).contains("places has 'other'"));
    let long = json!({"name": "load", "module": "m".repeat(256)});
    assert!(refusal(&mut world, &long).contains("at most 255 characters"));
}
