//! The tree of heads: proofs of inclusion offline, checkpoints that are published, a past that was changed.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::World;

async fn keys(world: &World) -> serde_json::Value {
    let listed = reqwest::get(format!("{}/.well-known/notarium-keys", world.url())).await.unwrap();
    listed.error_for_status().unwrap().json().await.unwrap()
}

async fn key(world: &World) -> String {
    keys(world).await["keys"][0]["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_is_proven_to_be_in_the_tree_without_the_server() {
    let world = World::start().await;
    for title in ["One", "Two", "Three"] {
        world.notebook(title, "x = 1").await;
    }
    let (notebook, _) = world.notebook("Work", "y = 2").await;
    world.run(&["head", &notebook, "--sign", "--inclusion", "-o", "head.txt"]).await.ok();
    let kept = std::fs::read_to_string(world.file("probe", "").with_file_name("head.txt")).unwrap();
    assert!(kept.starts_with("notarium head 1\n") && kept.contains("\nc2sp.org/tlog-proof@v1\nindex "), "{kept}");
    let record = world.run(&["log", &notebook, "--since", "0", "--json"]).await.ok();
    world.file("record.jsonl", &record);
    let key = key(&world).await;
    let offline = ["verify", "--file", "record.jsonl", "--against", "head.txt", "--key", &key];
    let said = world.run(&offline).await.ok();
    assert!(said.contains("; that head is in the server's tree of 4 heads"), "{said}");

    // Another head before the same proof.
    let (_, proof) = kept.split_once("c2sp.org").unwrap();
    let other = world.run(&["head", "One", "--sign"]).await.ok();
    world.file("head.txt", &format!("{other}\nc2sp.org{proof}"));
    let said = world.run(&offline).await.fails(1);
    assert!(said.contains("the head is not in the tree of the checkpoint"), "{said}");

    // A head that is there already is no new leaf; a changed notebook is.
    for (more, size) in [(false, 4), (true, 5)] {
        if more {
            world.run(&["cell", "add", &notebook, "--source", "z = 3"]).await.ok();
        }
        let text = world.run(&["head", &notebook, "--sign", "--inclusion"]).await.ok();
        assert!(text.contains(&format!("\n{size}\n")), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn published_checkpoints_continue_each_other_or_are_refused() {
    let world = World::start().await;
    world.notebook("One", "x = 1").await;
    let publish = ["head", "--all", "--publish", "log.txt"];
    world.run(&publish).await.ok();
    let file = world.file("probe", "").with_file_name("log.txt");
    let first = std::fs::read_to_string(&file).unwrap();
    assert!(first.starts_with("notarium-log-"), "{first}");
    world.run(&publish).await.ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first, "nothing is new");
    for title in ["Two", "Three"] {
        world.notebook(title, "x = 1").await;
        world.run(&publish).await.ok();
    }
    let all = std::fs::read_to_string(&file).unwrap();
    assert!(all.starts_with(&first) && all.matches("notarium-log-").count() == 6, "{all}");

    world.file("words.txt", "no checkpoint\n");
    let said = world.run(&["head", "--all", "--publish", "words.txt"]).await.fails(1);
    assert!(said.contains("words.txt"), "{said}");

    // Its own key again, and a tree that is not the same: the folder of an older backup.
    let tree = world.data_folder().join("blobs/tree.log");
    let origin = std::fs::read_dir(&tree).unwrap().next().unwrap().unwrap().path();
    std::fs::write(origin.join("checkpoint"), &first).unwrap();
    let said = world.run(&publish).await.fails(1);
    assert!(said.contains("damaged"), "the database knows of more leaves: {said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), all);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_of_another_past_is_not_published_over_the_first() {
    let world = World::start().await;
    world.notebook("One", "x = 1").await;
    world.run(&["head", "--all", "--publish", "log.txt"]).await.ok();
    world.notebook("Two", "x = 1").await;
    // The server seems to have begun its tree anew with the same key.
    let origin = std::fs::read_dir(world.data_folder().join("blobs/tree.log")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_dir_all(&origin).unwrap();
    let database = world.data_folder().join("notarium.db");
    let forget =
        "import sqlite3, sys; it = sqlite3.connect(sys.argv[1]); it.execute('DELETE FROM logged_heads'); it.commit()";
    let forgotten = std::process::Command::new("python3").args(["-c", forget]).arg(&database).status().unwrap();
    assert!(forgotten.success());
    let said = world.run(&["head", "--all", "--publish", "log.txt"]).await.fails(1);
    assert!(said.contains("does not continue the one of size 1"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_is_sent_by_https_or_where_it_is_allowed() {
    let world = World::start().await;
    world.notebook("One", "x = 1").await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/add", listener.local_addr().unwrap());
    let witness = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        while !request.ends_with("=\n") {
            let mut bytes = [0; 4096];
            let length = socket.read(&mut bytes).await.unwrap();
            request.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
        socket.write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        request
    });
    let said = world.run(&["head", "--all", "--publish", &address]).await.fails(2);
    assert!(said.contains("by https"), "{said}");
    let said = world.run(&["head", "--all", "--publish", "https://127.0.0.1:1/add"]).await.fails(2);
    assert!(said.contains("--allow-private"), "{said}");
    world.run(&["head", "--all", "--publish", &address, "--allow-private"]).await.ok();
    let request = witness.await.unwrap();
    assert!(request.starts_with("POST /add HTTP/1.1\r\n") && request.contains("\r\n\r\nnotarium-log-"), "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_is_for_administrators_unless_it_is_public() {
    for is_public in [false, true] {
        let world = World::start_as(|config| config.limits.is_tree_public = is_public).await;
        world.notebook("One", "x = 1").await;
        world.run(&["head", "--all", "--publish", "log.txt"]).await.ok();
        let get = async |path: &str| {
            reqwest::get(format!("{}/.well-known/notarium-log/{path}", world.url())).await.unwrap().status().as_u16()
        };
        let expected = if is_public { (200, 200, 200, 404) } else { (401, 401, 401, 401) };
        let entries = get("tile/entries/000.p/1").await;
        assert_eq!((get("checkpoint").await, get("tile/0/000.p/1").await, entries, get("tile/0/001").await), expected);
        assert!(keys(&world).await["keys"][0]["log_key"].as_str().unwrap().starts_with("notarium-log-"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_notebook_is_proven_by_what_is_left() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    world.run(&["head", &notebook, "--sign", "-o", "head.txt"]).await.ok();
    let refused = world.run_with(&["erase", &notebook, "--reason", "a test"], "Other\n").await.fails(2);
    assert!(refused.contains("that is not its title"), "{refused}");
    world.run_with(&["erase", &notebook, "--reason", "a test"], "Work\n").await.ok();
    assert!(!world.run(&["ls"]).await.ok().contains("Work"));
    let said = world.run(&["show", &notebook]).await.fails(1);
    assert!(said.contains("the notebook was erased on") && said.contains("a test"), "{said}");
    let said = world.run(&["verify", &notebook, "--against", "head.txt"]).await.ok();
    assert!(
        said.contains("nothing before is here (a test)") && said.contains("that is the head that notarium-"),
        "{said}"
    );
    let said = world.run(&["erase", &notebook, "--reason", "twice", "--yes"]).await.fails(1);
    assert!(said.contains("was erased on"), "{said}");
}
