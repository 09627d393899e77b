//! Signed heads: made, kept, compared with records that were cut, rewritten or are others'.

use notarium_server::{Server, ServerConfig};

use super::support::World;

/// A notebook with some versions; a signed head of it in `head.txt`, and the server's key.
async fn signed(world: &World) -> (String, String) {
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    world.run(&["cell", "add", &notebook, "--source", "y = 2"]).await.ok();
    world.run(&["head", &notebook, "--sign", "-o", "head.txt"]).await.ok();
    (notebook, key(world).await)
}

async fn key(world: &World) -> String {
    let listed = reqwest::get(format!("{}/.well-known/notarium-keys", world.url())).await.unwrap();
    let listed: serde_json::Value = listed.error_for_status().unwrap().json().await.unwrap();
    listed["keys"].as_array().unwrap().last().unwrap()["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_agrees_with_its_signed_head_also_when_it_has_grown() {
    let world = World::start().await;
    let (notebook, key) = signed(&world).await;
    let head = world.run(&["head", &notebook]).await.ok();
    let (version, _) = head.trim().split_once(':').unwrap();
    for more in [false, true] {
        if more {
            world.run(&["cell", "add", &notebook, "--source", "z = 3"]).await.ok();
        }
        let said = world.run(&["verify", &notebook, "--against", "head.txt"]).await.ok();
        assert!(said.contains(&format!("it agrees with the head of version {version} that notarium-")), "{said}");
    }
    let record = world.run(&["log", &notebook, "--since", "0", "--json"]).await.ok();
    world.file("record.jsonl", &record);
    let offline = ["verify", "--file", "record.jsonl", "--against", "head.txt", "--key", &key];
    assert!(world.run(&offline).await.ok().contains("it agrees with the head of version"));
    let json: serde_json::Value = world.run(&[&offline[..], &["--json"]].concat()).await.json();
    assert_eq!(json["signed_heads"][0]["version"].to_string(), version);
    let without_key = world.run(&offline[..5]).await.fails(2);
    assert!(without_key.contains("give the server's key (--key)"), "{without_key}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_a_rewritten_and_another_record_are_told_apart_from_the_signed_head() {
    let world = World::start().await;
    let (notebook, key) = signed(&world).await;
    let record = world.run(&["log", &notebook, "--since", "0", "--json"]).await.ok();
    let lines: Vec<&str> = record.lines().collect();
    world.file("cut.jsonl", &lines[..lines.len() - 1].join("\n"));
    let check = async |file: &str, head: &str, key: &str| {
        world.run(&["verify", "--file", file, "--against", head, "--key", key]).await
    };
    let said = check("cut.jsonl", "head.txt", &key).await.fails(1);
    assert!(said.contains("before the expected"), "{said}");

    // The same notebook with another past: a chain that is whole in itself.
    let other = World::start().await;
    let (elsewhere, other_key) = signed(&other).await;
    let forged = other.run(&["log", &elsewhere, "--since", "0", "--json"]).await.ok();
    world.file("other.jsonl", &forged);
    let said = check("other.jsonl", "head.txt", &key).await.fails(1);
    assert!(said.contains("none of the signed heads is of this notebook"), "{said}");
    let said = check("cut.jsonl", "head.txt", &other_key).await.fails(1);
    assert!(said.contains("none of the known keys has signed this head"), "{said}");

    let note = std::fs::read_to_string(world.file("probe", "").with_file_name("head.txt")).unwrap();
    let (before, after) = note.split_once("version ").unwrap();
    let older = format!("{before}version 1{}", &after[after.find('\n').unwrap()..]);
    world.file("changed.txt", &older);
    let said = check("cut.jsonl", "changed.txt", &key).await.fails(1);
    assert!(said.contains("the head was changed after it was signed"), "{said}");
    for (name, text) in [("empty.txt", ""), ("words.txt", "notarium head 1\nand nothing more\n")] {
        world.file(name, text);
        assert!(check("cut.jsonl", name, &key).await.fails(1).contains("no signed head"));
    }
    let wrong = world.run(&["verify", &notebook, "--against", "head.txt", "--key", "x+00000000+AA=="]).await.fails(2);
    assert!(wrong.contains("this is no key of a server"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_heads_of_all_notebooks_are_one_file() {
    let world = World::start().await;
    let (one, _) = world.notebook("One", "1").await;
    let (two, _) = world.notebook("Two", "2").await;
    world.run(&["archive", &two]).await.ok();
    let notes = world.run(&["head", "--all"]).await.ok();
    assert_eq!(notes.matches("notarium head 1\n").count(), 2, "{notes}");
    world.file("heads.txt", &format!("{notes}\n"));
    for notebook in [&one, &two] {
        assert!(world.run(&["verify", notebook, "--against", "heads.txt"]).await.ok().contains("it agrees"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_outlives_a_restart_and_a_lost_one_is_followed_by_another() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    let (notebook, first) = signed(&world).await;
    let file = data.path().join("signing-key.pk8");
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
    assert_eq!(mode & 0o777, 0o600);
    for lose in [false, true] {
        let server = world.server.take().unwrap();
        let listen = server.local_addr;
        server.shut_down().await;
        if lose {
            std::fs::remove_file(&file).unwrap();
        }
        let config = ServerConfig { listen, ..ServerConfig::in_folder(data.path()) };
        world.server = Some(Server::start(config).await.unwrap());
        assert_eq!(key(&world).await == first, !lose);
        // The old key is still listed.
        assert!(world.run(&["verify", &notebook, "--against", "head.txt"]).await.ok().contains("it agrees"));
    }
    let server = world.server.take().unwrap();
    server.shut_down().await;
    std::fs::write(&file, "no key").unwrap();
    let refused = Server::start(ServerConfig::in_folder(data.path())).await.err().unwrap().to_string();
    assert!(refused.contains("signing-key.pk8 is damaged: move the file away"), "{refused}");
}
