//! Tests of names on the command line, of the filters of the log, and of what is said where nothing is found.

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_are_named_by_their_names() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Plan", "x = 1").await;
    let id = world.run(&["workspace", "new", "Lab"]).await.ok();
    world.run(&["user", "new", "bob"]).await.ok();
    world.run(&["workspace", "add", "lab", "bob", "editor"]).await.ok();
    assert!(world.run(&["workspace", "members", "Lab"]).await.ok().contains("bob"));
    world.run(&["workspace", "place", "Plan", "Lab"]).await.ok();
    assert!(world.run(&["ls", "--workspace", "Lab"]).await.ok().contains(&notebook));
    world.run(&["workspace", "remove", "Lab", "bob"]).await.ok();
    world.run(&["token", "new", "--workspace", "Lab"]).await.ok();
    world.run(&["agent-token", "new", "--workspace", "Lab"]).await.ok();
    world.run(&["access", "grant", "Plan", "workspace:Lab", "viewer"]).await.ok();
    assert!(world.run(&["access", "ls", "Plan"]).await.ok().contains(&format!("workspace:{id}")));
    world.run(&["workspace", "rename", "Lab", "Team"]).await.ok();
    world.run(&["workspace", "members", &id]).await.ok();

    let unknown = world.run(&["workspace", "place", "Plan", "Lab"]).await.fails(1);
    assert!(unknown.contains("'Lab'") && unknown.contains("notarium workspace ls"), "{unknown}");
    let twin = world.run(&["workspace", "new", "Team"]).await.ok();
    let both = world.run(&["workspace", "members", "Team"]).await.fails(2);
    assert!(both.contains(&id) && both.contains(&twin), "{both}");
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_are_made_and_unmade() {
    let world = World::start().await;
    world.run(&["user", "new", "bob"]).await.ok();
    let remarks = async || {
        let list = world.run(&["user", "ls"]).await.ok();
        list.lines().filter(|line| line.contains("administrator")).count()
    };
    world.run(&["user", "admin", "bob"]).await.ok();
    assert_eq!(remarks().await, 2);
    world.run(&["user", "admin", "bob", "--off"]).await.ok();
    assert_eq!(remarks().await, 1);
    let last = world.run(&["user", "admin", "ann", "--off"]).await.fails(1);
    assert!(last.contains("administrator"), "{last}");
    assert_eq!(remarks().await, 1);
    let nobody = world.run(&["user", "admin", "carl"]).await.fails(1);
    assert!(nobody.contains("notarium user ls"), "{nobody}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_filtered_by_author_type_and_cell() {
    let world = World::start().await;
    let (notebook, first) = world.notebook("Kept", "one").await;
    let made = world.run(&["user", "new", "bob", "--name", "Bob B", "--json"]).await.json();
    let bob = World::empty();
    let input = format!("{}\ncorrect horse battery\n", made["invitation"]["token"].as_str().unwrap());
    bob.run_with(&["login", "--server", &world.url(), "--one-time"], &input).await.ok();
    world.run(&["access", "grant", "Kept", "bob", "editor"]).await.ok();
    let second = bob.run(&["cell", "add", &notebook, "--source", "two"]).await.ok();
    bob.run(&["edit", &notebook, &first, "--source", "1"]).await.ok();
    world.run(&["cell", "delete", "Kept", &first]).await.ok();

    let types = async |arguments: &[&str]| {
        let arguments = [&["log", "Kept", "--json"], arguments].concat();
        let log = world.run(&arguments).await.ok();
        let event_type = |line: &str| -> String {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        };
        log.lines().map(event_type).collect::<Vec<_>>()
    };
    for who in ["bob", "Bob B"] {
        assert_eq!(types(&["--actor", who]).await, ["CellInserted", "CellSourceEdited"], "{who}");
    }
    assert_eq!(types(&["--actor", "people", "--type", "cellinserted"]).await, ["CellInserted"; 2]);
    assert_eq!(types(&["--actor", "bob", "--since", "0", "--limit", "1"]).await, ["CellInserted"]);
    assert_eq!(types(&["--actor", "bob", "--limit", "1"]).await, ["CellSourceEdited"], "the last ones");
    // The cell is in the trash, and has its past.
    assert_eq!(types(&["--cell", &first]).await, ["CellInserted", "CellSourceEdited", "CellDeleted"]);
    assert_eq!(types(&["--cell", &second, "--type", "CellInserted", "--type", "CellDeleted"]).await, ["CellInserted"]);

    let more = world.run(&["log", "Kept", "--since", "0", "--cell", &first, "--limit", "1"]).await;
    assert!(more.err.contains("more follow: --since 2") && more.code == 0, "{more:?}");
    let none = world.run(&["log", "Kept", "--actor", "carl"]).await;
    assert!(none.code == 0 && none.out.is_empty() && none.err.contains("--actor carl"), "{none:?}");
    let unknown = world.run(&["log", "Kept", "--type", "CellDelete"]).await.fails(2);
    assert!(unknown.contains("CellDeleted"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redo_is_logged_as_one_where_its_undo_is_not_shown() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Steps", "one").await;
    world.run(&["edit", "Steps", &cell, "--source", "two"]).await.ok();
    world.run(&["undo", "Steps"]).await.ok();
    world.run(&["redo", "Steps"]).await.ok();
    world.run(&["undo", "Steps"]).await.ok();
    let mark = |log: &str| log.lines().last().unwrap().rsplit_once(" (").unwrap().1.to_owned();
    // 3 is the edit, 4 its undo, 5 the redo, 6 the undo of that.
    assert_eq!(mark(&world.run(&["log", "Steps", "--since", "4", "--limit", "1"]).await.ok()), "redo)");
    assert_eq!(mark(&world.run(&["log", "Steps", "--limit", "1"]).await.ok()), "undo)");
    assert_eq!(mark(&world.run(&["log", "Steps", "--type", "CellSourceEdited", "--limit", "1"]).await.ok()), "undo)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trashed_cell_is_said_to_be_in_the_trash() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Bin", "kept = 1").await;
    let other = world.run(&["cell", "add", "Bin", "--source", "2"]).await.ok();
    world.run(&["cell", "delete", "Bin", &cell]).await.ok();
    let restores = format!("notarium cell restore {notebook} {cell}");
    let refused: [&[&str]; 6] = [
        &["cell", "delete", "Bin", &cell],
        &["cell", "delete", "Bin", &cell[..cell.len() - 1]],
        &["edit", "Bin", &cell, "--source", "x"],
        &["cell", "move", "Bin", &other, "--after", &cell],
        &["exec", "Bin", &cell],
        &["comment", "Bin", &cell, "why?"],
    ];
    for command in refused {
        let said = world.run(command).await.fails(1);
        assert!(said.contains("is in the trash") && said.contains(&restores), "{command:?}: {said}");
    }
    let blame = world.run(&["blame", "Bin", &cell]).await;
    assert!(blame.code == 0 && blame.out.contains("kept = 1") && blame.err.contains(&restores), "{blame:?}");
    let never = world.run(&["cell", "delete", "Bin", "nowhere"]).await.fails(1);
    assert!(never.contains("no cell has that id"), "{never}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_a_result_and_a_backward_diff_say_so() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Words", "one").await;
    world.run(&["edit", "Words", &cell, "--source", "two"]).await.ok();
    let none = world.run(&["ls", "--search", "elsewhere"]).await;
    assert!(none.code == 0 && none.out.is_empty() && none.err.contains("'elsewhere'"), "{none:?}");
    assert!(!none.err.contains("notarium new"), "{none:?}");
    let archive = world.run(&["ls", "--archived"]).await;
    assert!(archive.err.contains("archived"), "{archive:?}");

    let backward = world.run(&["diff", "Words", "3", "2"]).await;
    assert!(backward.err.contains("backwards") && backward.out.contains("+one"), "{backward:?}");
    let forward = world.run(&["diff", "Words", "2", "3"]).await;
    assert!(forward.err.is_empty() && forward.out.contains("+two"), "{forward:?}");
}
