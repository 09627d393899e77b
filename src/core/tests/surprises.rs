//! People's runs in a kernel that ran an assistant's code: the kinds of effects that their texts lead to, and no others.

use crate::support::*;
use notarium_core::{Effect, Effects, Event, Open, RejectionCode as Code, decide, required_judgement};
use serde_json::Value;

/// The kernel has started with this sandbox. The assistant's turn is open.
fn with_sandbox(sandbox: &Value) -> World {
    let mut world = claimed();
    let report = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": sandbox}});
    world.step(&agent("gpu"), report);
    world.name("fence", world.version());
    world.with(&user("ann"), json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Count"}}))
}

/// A clean kernel that asks about surprises.
fn clean() -> World {
    with_sandbox(&json!({"effects": "held", "surprises": "ask"}))
}

/// The assistant's run of cell `c`: under way, or queued if a run is.
fn its_run(world: World) -> World {
    world
        .with(&assistant_of("ann"), call("its", "execute_cell", json!({"cell_id": "c"})))
        .with(&reactor_of("ann"), start("its"))
}

fn mixed() -> World {
    its_run(clean())
}

fn scratch(id: &str, source: &str) -> Value {
    json!({"RequestExecution": {"execution_id": id, "target": {"scratch": {"source": source, "purpose": "test"}}}})
}

fn effects(world: &World, id: &str) -> Effects {
    world.execution(id).unwrap().effects.judged()
}

fn of_scratch(mut world: World, source: &str) -> Effects {
    world.step(&user("ann"), scratch("mine", source));
    effects(&world, "mine")
}

#[test]
fn a_person_s_run_in_a_clean_kernel_is_free() {
    assert_eq!(of_scratch(clean(), "os.remove('x')"), Effects::Free);
    assert_eq!(of_scratch(clean(), "1 + 1"), Effects::Free);
    let world = clean().with(&user("ann"), scratch("first", "1"));
    assert_eq!(required_judgement(&world.notebook, &world.command(&scratch("mine", "1"))), None);
}

#[test]
fn a_person_s_run_after_an_assistant_s_has_the_kinds_of_its_text() {
    assert_eq!(of_scratch(mixed(), "1 + 1"), Effects::expected([]));
    assert_eq!(of_scratch(mixed(), "open('x')"), Effects::expected([Effect::Write]));
    assert_eq!(of_scratch(mixed(), "os.remove('x')"), Effects::expected([Effect::Remove]));
    let world = mixed().with(&user("ann"), request("a", "cell"));
    assert_eq!(effects(&world, "cell"), Effects::expected([]));
    let world = mixed().with(&guest("link"), scratch("theirs", "1"));
    assert_eq!(effects(&world, "theirs"), Effects::expected([]), "a guest is a person");
}

#[test]
fn a_queued_run_of_an_assistant_counts_until_it_is_cancelled() {
    let mut world = its_run(clean().with(&user("ann"), scratch("long", "sleep")));
    assert_eq!(of_scratch(world.clone(), "1"), Effects::expected([]));
    let its = world.notebook.executions.iter().find(|(_, run)| run.effects.judged().are_held()).unwrap().0.clone();
    world.step(&user("ann"), json!({"CancelExecution": {"execution_id": its}}));
    assert_eq!(of_scratch(world, "1"), Effects::Free, "none of its code ran");
}

#[test]
fn a_kernel_stays_mixed_when_the_run_is_over() {
    let mut world = mixed();
    let its = world.notebook.executions.keys().next().unwrap().to_string();
    world.step(&agent("gpu"), report(&its, 1, json!({"started": {}})));
    world.step(&agent("gpu"), report(&its, 2, completed(true)));
    assert_eq!(of_scratch(world.clone(), "1"), Effects::expected([]));
    let next =
        world.step(&user("ann"), json!({"RestartKernel": {"kernel_session": "$kernel"}})).kernel_session.unwrap();
    assert_eq!(of_scratch(world.clone(), "1"), Effects::Free, "another kernel runs it: {next}");
    assert_eq!(replay(&world.log), world.notebook);
}

#[test]
fn a_kernel_that_holds_nothing_or_does_not_ask_leaves_people_free() {
    let held = json!({"effects": "held"});
    let off = json!({"effects": "held", "surprises": "off"});
    let unheld = json!({"effects": {"not_held": {"cause": "switched_off"}}, "surprises": "ask"});
    for sandbox in [held, off] {
        assert_eq!(of_scratch(its_run(with_sandbox(&sandbox)), "1"), Effects::Free, "{sandbox}");
    }
    let policy = json!({"SetPolicy": {"policy": "trusted"}});
    assert_eq!(of_scratch(its_run(with_sandbox(&unheld).with(&user("ann"), policy)), "1"), Effects::Free);
}

#[test]
fn allow_starts_the_run_with_all_effects() {
    let free = |id: &str| {
        let target = json!({"cell": {"cell_id": "a"}});
        json!({"RequestExecution": {"execution_id": id, "target": target, "effects": "free"}})
    };
    let mut world = mixed().with(&user("ann"), free("again"));
    assert_eq!(effects(&world, "again"), Effects::Free);
    assert_eq!(effects(&clean().with(&user("ann"), free("again")), "again"), Effects::Free);
    assert_eq!(world.try_do(&user("viewer"), &free("no")).unwrap_err().code, Code::Forbidden);
    let rejection = world.try_do(&assistant_of("ann"), &free("no")).unwrap_err();
    assert_eq!(rejection.code, Code::Forbidden, "{rejection}");
}

#[test]
fn all_runs_of_a_batch_are_judged_by_their_own_texts() {
    let mut world = mixed().with(&user("ann"), insert("tidy", "code", "os.remove('x')"));
    let runs = json!({"Batch": {"commands": [request("a", "one"), request("tidy", "two")]}});
    world.step(&user("ann"), runs);
    assert_eq!(effects(&world, "one"), Effects::expected([]));
    assert_eq!(effects(&world, "two"), Effects::expected([Effect::Remove]));
}

#[test]
fn runs_that_follow_in_a_reactive_notebook_have_the_kinds_of_their_texts() {
    let mut world = mixed();
    world.step(&user("ann"), json!({"SetReactivity": {"reactivity": "eager"}}));
    world.step(&user("ann"), insert("reads", "code", "z = x os.remove"));
    let (events, _) = world.try_do(&user("ann"), &request("a", "mine")).unwrap();
    let of: Vec<(String, Effects)> = events
        .iter()
        .filter_map(|event| match event {
            Event::ExecutionRequested(event) => {
                Some((event.subject.cell_id().unwrap().to_string(), event.effects.judged()))
            }
            _ => None,
        })
        .collect();
    let of: Vec<(&str, Effects)> = of.iter().map(|(cell, effects)| (cell.as_str(), effects.clone())).collect();
    assert_eq!(of, [("a", Effects::expected([])), ("reads", Effects::expected([Effect::Remove]))]);
    // A run that only removes variables leads to no effects.
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "reads"}}));
    let removal = world.notebook.executions.values().find(|run| run.subject.source().contains("globals().pop"));
    assert!(removal.is_none_or(|run| run.effects.judged() == Effects::expected([])), "{removal:?}");
}

#[test]
fn a_text_that_was_not_judged_may_do_everything() {
    let mut world = mixed();
    let command = world.command(&scratch("mine", "1"));
    let mut context = world.context(&user("ann"), None);
    let decision = decide(&world.notebook, &mut context, command).unwrap();
    let Event::ExecutionRequested(event) = &decision.events[0].event else { panic!("{decision:?}") };
    assert_eq!(event.effects, Open::Known(Effects::expected(Effect::ALL)));
}

#[test]
fn another_language_is_not_read() {
    let mut world = claimed();
    let sandbox = json!({"effects": "held", "surprises": "ask"});
    let language = json!({"name": "R"});
    let report =
        json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": language, "sandbox": sandbox}});
    world.step(&agent("gpu"), report);
    world.name("fence", world.version());
    let turn = json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Count"}});
    let world = its_run(world.with(&user("ann"), turn));
    assert_eq!(of_scratch(world, "1"), Effects::expected(Effect::ALL));
}

#[test]
fn definitions_are_read_from_what_people_ran() {
    let mut world = mixed();
    let has = |world: &World, source: &str| {
        let query = required_judgement(&world.notebook, &world.command(&scratch("run", "tidy()"))).unwrap();
        assert_eq!(query.codes, ["tidy()"]);
        query.earlier.contains(&source.to_owned())
    };
    world.step(&user("ann"), insert("mine", "code", "def tidy(): pass"));
    assert!(!has(&world, "def tidy(): pass"), "the kernel does not have it");
    world.step(&user("ann"), request("mine", "run-mine"));
    assert!(has(&world, "def tidy(): pass"));
    // A person's code stays known while its cell shows that run.
    let version = world.cell("mine").cell_version;
    let other = json!({"ReplaceSource": {"cell_id": "mine", "cell_version": version, "source": "other = 1"}});
    world.step(&user("ann"), other);
    assert!(has(&world, "def tidy(): pass") && !has(&world, "other = 1"));
    // An assistant's code is none of hers, though she sees it, until she runs it.
    assert!(!has(&world, "y = 2"));
    world.step(&user("ann"), request("c", "run-its"));
    assert!(has(&world, "y = 2"));
}

/// True for the request of a run that may do what its text leads to.
pub fn requests_expected(event: &Event) -> bool {
    matches!(event, Event::ExecutionRequested(event) if matches!(event.effects.judged(), Effects::Expected { .. }))
}

/// A person's run wants what its text does not say, and is allowed to.
pub fn surprised() -> World {
    let mut world = mixed();
    let its = world.notebook.executions.keys().next().unwrap().to_string();
    world.step(&agent("gpu"), report(&its, 1, json!({"started": {}})));
    world.step(&agent("gpu"), report(&its, 2, completed(true)));
    world.step(&user("ann"), insert("dumps", "code", "json.dumps({})"));
    world.step(&user("ann"), request("dumps", "mine"));
    world.step(&agent("gpu"), report("mine", 1, json!({"started": {}})));
    let refused = json!({"ReportEffectRefused": {"execution_id": "mine", "fence": "$fence", "kind": "remove", "target": "/data/a.csv", "count": 1}});
    world.step(&agent("gpu"), refused);
    world.step(&agent("gpu"), report("mine", 2, completed(true)));
    let target = json!({"cell": {"cell_id": "dumps"}});
    world.step(
        &user("ann"),
        json!({"RequestExecution": {"execution_id": "again", "target": target, "effects": "free"}}),
    );
    world
}

#[test]
fn refusals_of_a_person_s_run_are_recorded_as_those_of_others() {
    let refused = surprised().recorded.into_iter().find_map(|recorded| match recorded.event {
        Event::ExecutionEffectRefused(event) => Some((event.execution_id.to_string(), event.target)),
        _ => None,
    });
    assert_eq!(refused.unwrap(), ("mine".to_owned(), "/data/a.csv".to_owned()));
    assert_eq!(effects(&surprised(), "again"), Effects::Free);
}
