//! Tests of comments on the command line.

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn comments_are_written_listed_changed_and_settled() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Talk", "total = 1").await;
    let thread = world.run(&["comment", "Talk", &cell, "Of what?", "--range", "0:5", "--mention", "ann"]).await.ok();
    world.run(&["comment", "Talk", "--reply", &thread, "Of the losses."]).await.ok();
    world.run(&["comment", "Talk", &cell, "Fine."]).await.ok();
    let listed = world.run(&["comments", "Talk"]).await.ok();
    for expected in
        [thread.as_str(), "0:5, “total”", "Ann", "to Ann", "    Of what?", "    Of the losses.", "    Fine."]
    {
        assert!(listed.contains(expected), "{expected}: {listed}");
    }
    let json = world.run(&["comments", "Talk", "--json"]).await.json();
    let comment = json["threads"][&thread]["comments"][0]["comment_id"].as_str().unwrap().to_owned();
    world.run(&["comment", "Talk", "--edit", &comment, "Total of what?"]).await.ok();
    world.run(&["comment", "Talk", "--resolve", &thread]).await.ok();
    assert!(!world.run(&["comments", "Talk"]).await.ok().contains("Total of what?"));
    let all = world.run(&["comments", "Talk", "--all"]).await.ok();
    assert!(
        all.contains("resolved by Ann") && all.contains("Total of what?") && all.contains(", edited, to Ann"),
        "{all}"
    );
    world.run(&["comment", "Talk", "--reopen", &thread]).await.ok();
    world.run(&["comment", "Talk", "--delete", &comment]).await.ok();
    assert!(!world.run(&["comments", "Talk"]).await.ok().contains("Total of what?"));

    let log = world.run(&["log", "Talk", "--since", "0"]).await.ok();
    for expected in ["began thread", "on “total”", ": Of the losses.", "resolved thread", "took a comment"] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert!(world.run(&["replay", "Talk"]).await.ok().contains("the server shows state"));
    let exported = world.run(&["export", "Talk", "-o", "out.ipynb"]).await;
    assert!(exported.code == 0 && exported.err.contains("leaves the comments out (2 threads)"), "{exported:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_that_says_nothing_or_names_nobody_is_refused_with_what_to_do() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Talk", "total = 1").await;
    let refused = world.run(&["comment", "Talk", &cell]).await.fails(2);
    assert!(refused.contains("notarium comment NOTEBOOK CELL TEXT"), "{refused}");
    let nobody = world.run(&["comment", "Talk", &cell, "x", "--mention", "nobody"]).await.fails(1);
    assert!(nobody.contains("nobody has the login 'nobody'"), "{nobody}");
    let far = world.run(&["comment", "Talk", &cell, "x", "--range", "3:99"]).await.fails(1);
    assert!(far.contains("does not fit the cell's text"), "{far}");
    let unknown = world.run(&["comment", "Talk", "--resolve", "nothing"]).await.fails(1);
    assert!(unknown.contains("notarium comments --all"), "{unknown}");
    world.run(&["comment", "Talk", &cell, "x", "--range", "3"]).await.fails(2);
}
