//! Judgements of code: the code for which a judgement counts, and refusals without one.

use crate::support::*;
use notarium_core::{Event, Risk, decide, required_judgement};

#[test]
fn code_that_deletes_files_asks_and_says_why() {
    let mut world = talking();
    world.step(&user("ann"), insert("rm", "code", "import os\nos.remove('x')"));
    let version = world.cell("rm").cell_version;
    for (id, function, arguments) in [
        ("one", "execute_cell", json!({"cell_id": "rm", "cell_version": version})),
        ("all", "run_all", json!({})),
        ("new", "create_cells", json!({"run": true, "cells": [{"source": "import os; os.remove('y')"}]})),
    ] {
        let (events, _) = world.try_do(&assistant_of("ann"), &call(id, function, arguments)).unwrap();
        let [Event::ToolCallRequested(event)] = &events[..] else { panic!("{function}: {events:?}") };
        assert_eq!(event.risk, Risk::Destructive, "{function}");
        assert!(!event.reasons.is_empty(), "{function}");
        assert!(event.gate.waits());
    }
}

#[test]
fn a_name_that_another_cell_bound_is_seen_through() {
    let mut world = talking();
    world.step(&user("ann"), insert("import", "code", "from os import remove as tidy"));
    world.step(&user("ann"), insert("use", "code", "tidy('x')"));
    let version = world.cell("use").cell_version;
    let run = call("one", "execute_cell", json!({"cell_id": "use", "cell_version": version}));
    let (events, _) = world.try_do(&assistant_of("ann"), &run).unwrap();
    let [Event::ToolCallRequested(event)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.risk, Risk::Destructive, "{:?}", event.reasons);
}

/// Risk and reasons of a call by Ann's assistant.
fn judged(world: &mut World, function: &str, arguments: serde_json::Value) -> (Risk, Vec<String>) {
    let (events, _) = world.try_do(&assistant_of("ann"), &call("judged", function, arguments)).unwrap();
    let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
    (event.risk.judged(), event.reasons.clone())
}

fn speaking(kernelspec: &str, language: Option<&str>) -> World {
    let mut world = with_cells();
    let session = world.step(&user("ann"), json!({"LaunchKernel": {"kernelspec": kernelspec}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    if let Some(name) = language {
        let told = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {"name": name}}});
        world.step(&agent("gpu"), told);
    }
    world.with(&user("ann"), turn())
}

fn turn() -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "go"}})
}

/// In kernels that hold no effects: there every run asks, and code that cannot be read asks as destructive.
#[test]
fn code_that_is_not_known_to_be_python_asks() {
    let named = |metadata: serde_json::Value| {
        let set = json!({"SetNotebookMetadata": {"metadata": metadata}});
        with_cells().with(&user("ann"), set).with(&user("ann"), turn())
    };
    let (asks, passes) = (Risk::Destructive, Risk::Sensitive);
    for (mut world, expected) in [
        (with_cells().with(&user("ann"), turn()), passes),
        (named(json!({"kernelspec": {"name": "python3.12"}})), passes),
        (named(json!({"kernelspec": {"name": "ir"}})), asks),
        (named(json!({"kernelspec": {"name": "ir", "language": "python"}})), asks),
        (named(json!({"kernelspec": {"name": "ir", "language": "R"}})), asks),
        (speaking("ir", None), asks),
        (speaking("ir", Some("R")), asks),
        (speaking("ir", Some("python")), passes),
        (speaking("python3", None), passes),
    ] {
        let run = |source: &str| json!({"cells": [{"source": source}], "run": true});
        let case = world.notebook.metadata.get().to_owned();
        world.holding_kernelspecs.clear();
        assert_eq!(judged(&mut world.clone(), "create_cells", run("x = 1")).0, expected, "{case}");
        assert_eq!(judged(&mut world, "create_cells", run("os.remove('x')")).0, asks, "{case}");
    }
}

#[test]
fn a_new_notebook_is_judged_as_python_whatever_this_one_speaks() {
    let world = speaking("ir", Some("R"));
    let judged = |source: &str| {
        let arguments = json!({"title": "New", "run": true, "cells": [{"source": source}]});
        judged(&mut world.clone(), "create_notebook", arguments).0
    };
    assert_eq!(judged("os.remove('x')"), Risk::Destructive);
    assert_eq!(judged("x = 1"), Risk::Edit);
}

#[test]
fn sql_cells_are_judged_with_the_line_that_makes_them_sql() {
    let mut world = talking();
    world.step(&user("ann"), insert("sql", "sql", "-- > t\nSELECT 1"));
    let version = world.cell("sql").cell_version;
    for (function, arguments) in [
        ("execute_cell", json!({"cell_id": "sql", "cell_version": version})),
        ("run_all", json!({})),
        ("create_cells", json!({"run": true, "cells": [{"cell_type": "sql", "source": "-- > t\nSELECT 1"}]})),
    ] {
        let asked = world.command(&call("one", function, arguments));
        let query = required_judgement(&world.notebook, &asked).expect("it is judged");
        assert!(query.codes.contains(&"%%notarium_sql\n-- > t\nSELECT 1".to_owned()), "{function}: {query:?}");
    }
    let asked = world.command(&call("one", "execute_cell", json!({"cell_id": "a"})));
    let query = required_judgement(&world.notebook, &asked).expect("it is judged");
    assert!(query.earlier.contains(&"%%notarium_sql\n-- > t\nSELECT 1".to_owned()), "{query:?}");
}

#[test]
fn code_that_was_not_judged_as_it_is_asks_and_starts_nothing() {
    let run = |world: &World| json!({"cell_id": "a", "cell_version": world.cell("a").cell_version});
    let mut world = talking();
    let asked = world.command(&call("run", "execute_cell", run(&world)));
    let mut context = world.context(&assistant_of("ann"), None);
    context.history.judgement = required_judgement(&world.notebook, &asked).map(judgement);
    world.step(&user("ann"), insert("more", "code", "import os"));
    let decision = decide(&world.notebook, &mut context, asked).unwrap();
    let Event::ToolCallRequested(event) = &decision.events[0].event else { panic!("{decision:?}") };
    assert_eq!((event.risk.judged(), event.reasons.len()), (Risk::Destructive, 1), "another notebook was judged");
    assert!(event.gate.waits());

    let cells = json!({"cells": [{"source": "x = 1"}], "run": true, "after": "a"});
    world.step(&user("ann"), json!({"SetPolicy": {"policy": "ask_for_every_edit"}}));
    world.step(&assistant_of("ann"), call("new", "create_cells", cells));
    let hash = world.notebook.tool_calls[&"new".parse().unwrap()].arguments_hash;
    world.step(&user("ann"), json!({"ConfirmToolCall": {"call_id": "new", "arguments_hash": hash}}));
    let mut context = world.context(&reactor_of("ann"), None);
    let command = world.command(&start("new"));
    let decision = decide(&world.notebook, &mut context, command).unwrap();
    assert!(matches!(decision.events[0].event, Event::ToolCallVoided(_)), "{decision:?}");
}

#[test]
fn a_confirmation_is_of_the_reasons_that_were_shown() {
    let ends = |meanwhile: Option<&str>| {
        let mut world = talking().with(&user("ann"), insert("use", "code", "import os\nos.remove('x')\ntidy('y')"));
        world.step(&user("ann"), insert("names", "code", "pass"));
        world.step(&assistant_of("ann"), call("run", "execute_cell_async", json!({"cell_id": "use"})));
        let hash = world.notebook.tool_calls.values().next().unwrap().arguments_hash;
        world.step(&user("ann"), json!({"ConfirmToolCall": {"call_id": "run", "arguments_hash": hash}}));
        if let Some(source) = meanwhile {
            world.step(&user("ann"), insert("more", "code", source));
        }
        let (events, outcome) = world.try_do(&reactor_of("ann"), &start("run")).unwrap();
        (types(&events), outcome.notices.concat())
    };
    let started = ["ToolCallStarted", "ExecutionRequested", "ExecutionAssigned", "ToolCallExecuted"];
    assert_eq!(ends(None).0, started);
    assert_eq!(ends(Some("tidy = print")).0, started);
    let (events, notice) = ends(Some("from subprocess import run as tidy"));
    assert_eq!(events, ["ToolCallVoided"]);
    assert!(notice.contains("more now than when it was confirmed: Line 3"), "{notice}");
}

/// Sources that the judge is told to be a person's, for a call of Ann's assistant.
fn people_ran(world: &World, function: &str, arguments: serde_json::Value) -> Vec<String> {
    let asked = world.command(&call("one", function, arguments));
    let query = required_judgement(&world.notebook, &asked).expect("it is judged");
    query.people_ran.iter().map(|place| query.earlier[*place].clone()).collect()
}

#[test]
fn sources_that_a_person_ran_in_the_present_kernel_are_told() {
    let world = finished().with(&user("ann"), turn());
    let new = || json!({"run": true, "cells": [{"source": "x = 2"}]});
    assert_eq!(people_ran(&world, "create_cells", new()), ["x = 1"]);
    assert_eq!(people_ran(&world, "execute_cell", json!({"cell_id": "c"})), ["x = 1"]);
    let none: [String; 0] = [];
    assert_eq!(people_ran(&world, "execute_cell", json!({"cell_id": "a"})), none, "its own");
    assert_eq!(people_ran(&world, "run_all", json!({})), none, "each cell makes its own again");
    assert_eq!(people_ran(&talking(), "create_cells", new()), none, "nothing ran");

    let mut edited = world.clone();
    edited.name("a", edited.cell("a").cell_version);
    let replace = json!({"ReplaceSource": {"cell_id": "a", "source": "x = 3", "cell_version": "$a"}});
    let edited = edited.with(&user("ann"), replace);
    assert_eq!(people_ran(&edited, "execute_cell", json!({"cell_id": "a"})), ["x = 1"], "the text that ran");
    let ended = world.with(&agent("gpu"), end_kernel());
    assert_eq!(people_ran(&ended, "create_cells", new()), none, "the variables are gone");
}

#[test]
fn a_cell_that_a_person_ran_as_it_is_replaces_its_own_variables() {
    let world = finished().with(&user("ann"), request("c", "run-c"));
    let world = world.with(&agent("gpu"), report("run-c", 1, json!({"started": {}}))).with(&user("ann"), turn());
    let none: [String; 0] = [];
    assert_eq!(people_ran(&world, "execute_cell", json!({"cell_id": "c"})), none);
    let new = json!({"run": true, "cells": [{"source": "x = 2"}]});
    assert_eq!(people_ran(&world, "create_cells", new), ["x = 1", "y = 2"]);
}
