//! Effects of registered functions: those that the registration names and its risk allows.

use crate::effects::{asked, confirmed_call, effects_of, granted};
use crate::support::*;
use notarium_core::{Effect, Effects, Event, RejectionCode as Code};
use serde_json::Value;

fn with_function(who: &Who, risk: &str, effects: Option<Value>) -> World {
    let mut world = talking().with(&user("ann"), insert("f", "code", "@tool\ndef wipe(): ..."));
    let run = match &who.actor {
        notarium_core::Actor::Assistant { .. } => {
            let call = call("defines", "execute_cell_async", json!({"cell_id": "f"}));
            let (events, _) = world.try_do(who, &call).unwrap();
            events.iter().find_map(Event::execution_id).unwrap().to_string()
        }
        _ => {
            world.step(who, request("f", "defines"));
            "defines".to_owned()
        }
    };
    let mut function = json!({"name": "wipe", "description": "Wipes.", "schema": {"type": "object"}, "risk": risk});
    if let Some(effects) = effects {
        function["effects"] = effects;
    }
    let gpu = agent("gpu");
    world.step(&gpu, report(&run, 1, json!({"started": {}})));
    world.step(
        &gpu,
        json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": [function]}}),
    );
    world.with(&gpu, report(&run, 2, completed(true)))
}

fn effects_of_function(mut world: World) -> Vec<Effects> {
    let (.., waits) = asked(&mut world, call("it", "wipe", json!({})));
    if waits {
        confirmed_call(&mut world, "it");
    }
    effects_of(&mut world, "it")
}

#[test]
fn a_function_has_the_effects_that_its_risk_allows() {
    let of = |risk: &str, effects: Option<Value>| effects_of_function(with_function(&user("ann"), risk, effects));
    let all = || Some(json!(Effect::ALL));
    assert_eq!(of("read", all()), [Effects::held([])]);
    assert_eq!(of("edit", all()), [Effects::held([])]);
    assert_eq!(of("sensitive", all()), [Effects::held(Effect::ALL)]);
    assert_eq!(of("destructive", all()), [Effects::held(Effect::ALL)]);
    assert_eq!(of("destructive", None), [Effects::held([])]);
    assert_eq!(of("sensitive", Some(json!(["network"]))), [Effects::held([Effect::Network])]);
    assert_eq!(of("destructive", Some(json!([]))), [Effects::held([])]);
}

#[test]
fn a_function_that_an_assistant_s_run_registers_has_none_until_a_person_s_run_does() {
    let mut world = with_function(&assistant_of("ann"), "sensitive", Some(json!(Effect::ALL)));
    assert_eq!(effects_of_function(world.clone()), [Effects::held([])]);
    world.step(&user("ann"), request("f", "again"));
    let mut function =
        json!({"name": "wipe", "description": "Wipes.", "schema": {"type": "object"}, "risk": "sensitive"});
    function["effects"] = json!(Effect::ALL);
    world.step(&agent("gpu"), report("again", 1, json!({"started": {}})));
    world.step(
        &agent("gpu"),
        json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": [function]}}),
    );
    assert_eq!(effects_of_function(world), [Effects::held(Effect::ALL)]);
}

#[test]
fn a_grant_covers_a_function_with_its_named_effects_alone() {
    let waits = |effects: Option<Value>, kinds: &[&str]| {
        let mut world = with_function(&user("ann"), "sensitive", effects);
        world.step(&user("ann"), granted(&["wipe"], kinds));
        asked(&mut world, call("it", "wipe", json!({}))).2
    };
    assert!(waits(Some(json!(Effect::ALL)), &["network", "create", "open"]));
    assert!(waits(Some(json!(["network"])), &[]));
    assert!(!waits(Some(json!(["network"])), &["network"]));
    assert!(!waits(Some(json!([])), &[]));
}

#[test]
fn an_unknown_effect_of_a_function_is_refused() {
    let function = json!({"name": "f", "schema": {"type": "object"}, "risk": "sensitive", "effects": ["moon"]});
    let register =
        json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": [function]}});
    assert_eq!(talking().try_do(&agent("gpu"), &register).unwrap_err().code, Code::InvalidValue);
}
