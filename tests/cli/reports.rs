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
    let served = served_report(&world, &notebook, "from=2&to=4").await;
    assert!(
        served.contains("Events 3 to 4") && served.contains("edited cell") && !served.contains("<script"),
        "{served}"
    );
    assert!(page.contains("Events 3 to 4"), "{page}");
    assert!(page.contains("edited cell") && !page.contains("made the notebook"), "{page}");
    let nothing = world.run(&["report", &notebook, "--from", "4", "--to", "3", "-o", "none.html"]).await.fails(2);
    assert!(nothing.contains("nothing between --from and --to"), "{nothing}");
}

/// The page of `GET …/report`.
async fn served_report(world: &World, notebook: &str, query: &str) -> String {
    let address = format!("{}/api/notebooks/{notebook}/report?{query}", world.url());
    let answer = reqwest::Client::new().get(address).bearer_auth(world.token()).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
    answer.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_is_a_page_with_the_words_that_differ() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Work & more", "x = 1\ny = '<b>'").await;
    world.run(&["edit", &notebook, &cell, "--source", "x = 22\ny = '<b>'"]).await.ok();
    world.run(&["cell", "add", &notebook, "--source", "<script>alert(1)</script>"]).await.ok();
    world.run(&["cell", "delete", &notebook, &cell]).await.ok();
    let page = world.run(&["diff", &notebook, "2", "4", "--html"]).await.ok();
    assert!(page.starts_with("<!doctype html>") && page.contains("Work &amp; more: versions 2 and 4"), "{page}");
    assert!(
        page.contains("<pre class=\"diff\">x = <del>1</del><ins>22</ins>\ny = &#39;&lt;b&gt;&#39;</pre>"),
        "{page}"
    );
    assert!(page.contains("<ins>&lt;script&gt;alert(1)&lt;/script&gt;</ins>") && !page.contains("<script"), "{page}");
    world.run(&["diff", &notebook, "4", "--html", "-o", "changes.html"]).await.ok();
    let page = std::fs::read_to_string(world.folder.path().join("changes.html")).unwrap();
    assert!(page.contains("Cell 1: deleted") && page.contains("1 cell differs"), "{page}");
    let refused = world.run(&["diff", &notebook, "2", "-o", "changes.html"]).await.fails(2);
    assert!(refused.contains("--html"), "{refused}");
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
