//! Reports for auditors, and the verification of all notebooks at once.

use serde_json::Value;

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_report_tells_who_did_what_and_is_safe_to_open() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("<b>Work</b>", "x = 1").await;
    let from = world.run(&["head", &notebook]).await.ok();
    let from = from.split_once(':').unwrap().0.to_owned();
    world.run(&["edit", &notebook, &cell, "--source", "x = 2"]).await.ok();
    world.run(&["rename", &notebook, "<script>alert(1)</script>"]).await.ok();
    world.run(&["share", "new", &notebook, "--role", "viewer"]).await.ok();
    world.run(&["report", &notebook, "-o", "whole.html"]).await.ok();
    let read = |name: &str| std::fs::read_to_string(world.folder.path().join(name)).unwrap();
    let page = read("whole.html");
    assert!(page.contains("Every hash of the record was followed, from version 1 to 5"), "{page}");
    assert!(page.contains("<td>Ann</td><td>2</td>"), "two edits: {page}");
    for told in ["edited cell", "renamed it from", "share link", "notarium head 1", "No assistant asked for anything."]
    {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("<b>Work"), "{page}");

    world.run(&["report", &notebook, "--from", &from, "--to", "4", "-o", "part.html"]).await.ok();
    let page = read("part.html");
    assert!(page.contains("Events 3 to 4"), "{page}");
    assert!(page.contains("edited cell") && !page.contains("made the notebook"), "{page}");
    let nothing = world.run(&["report", &notebook, "--from", "4", "--to", "3", "-o", "none.html"]).await.fails(2);
    assert!(nothing.contains("nothing between --from and --to"), "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_notebooks_are_verified_at_once() {
    let world = World::start().await;
    let none = world.run(&["verify", "--all"]).await.fails(1);
    assert!(none.contains("there is nothing to verify"), "{none}");
    let (one, _) = world.notebook("One", "x").await;
    let (two, _) = world.notebook("Two", "y").await;
    world.run(&["archive", &two]).await.ok();
    world.run(&["head", "--all", "-o", "heads.txt"]).await.ok();
    let told = world.run(&["verify", "--all", "--against", "heads.txt"]).await.ok();
    for id in [&one, &two] {
        assert!(told.lines().any(|line| line.starts_with("whole") && line.contains(id.as_str())), "{told}");
    }
    let json = world.run(&["verify", "--all", "--json"]).await.ok();
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines.iter().all(|line| line["proof"]["ok"] == true && line["proof"]["state_is_replayed"] == true),
        "{json}"
    );

    let nothing = world.run(&["verify"]).await.fails(2);
    assert!(nothing.contains("name a notebook, or a file"), "{nothing}");
}
