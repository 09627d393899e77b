//! Tests of reactive notebooks on the command line.

use super::support::{EchoAgent, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_brings_what_hangs_together_with_it_up_to_date_and_it_is_shown() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Chain", "x = 1").await;
    let add = async |id: &str, source: &str| {
        world.run(&["cell", "add", "Chain", "--id", id, "--source", source]).await.ok();
    };
    add("second", "y = [x for _ in range(3)]").await;
    add("third", "print(sum(y))").await;
    add("again", "y = 2").await;
    add("bad", "y = (").await;
    assert_eq!(world.run(&["reactive", "Chain"]).await.ok(), "off");
    world.run(&["reactive", "Chain", "lazy"]).await.ok();
    assert_eq!(world.run(&["reactive", "Chain"]).await.ok(), "lazy");

    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    assert_eq!(world.run(&["exec", "Chain", "third"]).await.ok(), "print(sum(y))");
    let log = world.run(&["log", "Chain"]).await.ok();
    assert!(log.contains("because") && log.contains("made it reactive (lazy)"), "{log}");
    let runs = world.run(&["runs", "Chain", "--json"]).await.json();
    let ran: Vec<&str> = runs
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .filter_map(|run| run["execution"]["subject"]["source"].as_str())
        .collect();
    assert_eq!(ran, ["x = 1", "y = [x for _ in range(3)]", "print(sum(y))"], "{runs:#}");

    world.run(&["edit", "Chain", "second", "--source", "y = [x, 2]"]).await.ok();
    let shown = world.run(&["show", "Chain"]).await.ok();
    assert!(shown.contains("reactive (lazy)"), "{shown}");
    assert!(shown.contains("stale: its text has changed since it ran"), "{shown}");
    assert!(shown.contains("stale: cell second, from which it reads, is not up to date"), "{shown}");
    let graph = world.run(&["graph", "Chain"]).await.ok();
    for expected in [
        "reads y from second",
        "leaves x to second",
        "its text does not parse",
        "`y` is defined in several cells: second, again",
    ] {
        assert!(graph.contains(expected), "{expected}: {graph}");
    }
    let dot = world.run(&["graph", "Chain", "--dot"]).await.ok();
    assert!(dot.starts_with("digraph notebook {") && dot.contains(r#""second" -> "third" [label="y"];"#), "{dot}");
    let json = world.run(&["graph", "Chain", "--json"]).await.json();
    assert_eq!(json["cells"][2]["because_of"], "second", "{json:#}");
    assert_eq!(json["cells"][2]["reason"]["cell_id"], "second", "{json:#}");

    world.run(&["edit", "Chain", "second", "--source", "y = x + z"]).await.ok();
    add("circle", "z = y").await;
    world.run(&["cell", "move", "Chain", "circle", "--after", "second"]).await.ok();
    let refused = world.run(&["exec", "Chain", "third"]).await.fails(1);
    assert!(refused.contains("second (`y`) → circle (`z`) → second"), "{refused}");
    world.run(&["cell", "delete", "Chain", "circle"]).await.ok();
    world.run(&["reactive", "Chain", "off"]).await.ok();
    let shown = world.run(&["show", &notebook]).await.ok();
    assert!(shown.contains("changed since it ran") && !shown.contains("reactive"), "{shown}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_templates_and_files_stay_reactive() {
    let world = World::start().await;
    world.notebook("Chain", "x = 1").await;
    world.run(&["reactive", "Chain", "lazy"]).await.ok();
    let file = world.folder.path().join("chain.ipynb");
    let file = file.to_str().unwrap();
    world.run(&["export", "Chain", "-o", file]).await.ok();
    world.run(&["import", file, "--title", "Imported"]).await.ok();
    world.run(&["fork", "Chain", "--title", "Forked"]).await.ok();
    world.run(&["template", "Chain"]).await.ok();
    world.run(&["new", "Made", "--template", "Chain"]).await.ok();
    for title in ["Imported", "Forked", "Made"] {
        assert_eq!(world.run(&["reactive", title]).await.ok(), "lazy", "{title}");
    }
    world.run(&["new", "Example", "--template", "example"]).await.ok();
    assert_eq!(world.run(&["reactive", "Example"]).await.ok(), "eager");
}
