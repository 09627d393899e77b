//! Tests of the built program against a server: commands that users type, and output that they see.

mod assistants;
mod attached;
mod backup;
#[cfg(feature = "s3")]
mod buckets;
#[cfg(unix)]
mod chat;
mod comments;
mod damage;
mod doors;
mod exports;
mod files;
mod heads;
mod invitations;
mod kernels;
mod machines;
mod moments;
mod names;
mod owner;
mod provenance;
mod reactive;
mod records;
mod reports;
mod spending;
mod starts;
mod support;
mod tampered;
mod templates;
mod tls;
mod tree;
mod words;

use notarium_server::{Server, ServerConfig};
use serde_json::Value;
use support::{EchoAgent, Lines, World, ended, fixture, interrupt};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_in_is_edited_and_comes_out() {
    let world = World::start().await;
    let file = fixture("test4.5.ipynb");
    let notebook = world.run(&["import", file.to_str().unwrap(), "--title", "Analysis"]).await.ok();

    let list = world.run(&["ls"]).await.ok();
    assert!(list.contains(&notebook) && list.contains("Analysis"), "{list}");
    let state = world.run(&["show", "analysis", "--json"]).await.json();
    assert_eq!(state["notebook"]["title"], "Analysis");
    let cell = state["notebook"]["order"][1].as_str().unwrap().to_owned();
    let read = state["notebook"]["cells"][&cell]["cell_version"].to_string();

    world.run(&["edit", "Analysis", &cell, "--source", "changed = 'ü'"]).await.ok();
    let shown = world.run(&["show", "Analysis"]).await.ok();
    assert!(shown.contains("    changed = 'ü'") && shown.contains("you are owner"), "{shown}");

    let stale = ["edit", "Analysis", &cell, "--source", "mine", "--cell-version", &read];
    let refused = world.run(&stale).await.fails(1);
    assert!(refused.contains("somebody was faster") && refused.contains("changed = 'ü'"), "{refused}");
    assert!(refused.contains("--cell-version"), "{refused}");
    assert!(world.run(&["show", "Analysis"]).await.ok().contains("changed = 'ü'"), "a refusal changes nothing");

    let log = world.run(&["log", "Analysis", "--since", "0"]).await.ok();
    assert!(log.contains("Ann made the notebook \"Analysis\"") && log.contains("Ann edited cell"), "{log}");
    assert!(log.lines().all(|line| line.contains("+00:00")), "times say their zone: {log}");
    assert!(world.run(&["verify", "Analysis"]).await.ok().starts_with("the record is whole"));
    assert!(world.run(&["replay", "Analysis"]).await.ok().contains("the server shows state"));

    world.run(&["export", "Analysis", "-o", "out.ipynb"]).await.ok();
    let out = std::fs::read_to_string(world.folder.path().join("out.ipynb")).unwrap();
    let out: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(out["nbformat_minor"], 5);
    assert_eq!(out["cells"][1]["source"], serde_json::json!(["changed = 'ü'"]));
    let past = world.run(&["export", "Analysis", "--at", &read]).await.ok();
    assert!(!past.contains("changed"), "an old version is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_added_moved_deleted_restored_and_undone() {
    let world = World::start().await;
    let (_, first) = world.notebook("Cells", "one").await;
    let order = async |world: &World| {
        let state = world.run(&["show", "Cells", "--json"]).await.json();
        let ids: Vec<String> = serde_json::from_value(state["notebook"]["order"].clone()).unwrap();
        ids
    };
    let arguments = ["cell", "add", "Cells", "--type", "markdown", "--stdin", "--start"];
    let second = world.run_with(&arguments, "# Title\r\ntext\n").await.ok();
    assert_eq!(order(&world).await, [second.clone(), first.clone()]);
    assert!(world.run(&["show", "Cells"]).await.ok().contains("    # Title\n    text\n"), "line breaks became LF");

    world.run(&["cell", "move", "Cells", &second, "--after", &first]).await.ok();
    assert_eq!(order(&world).await, [first.clone(), second.clone()]);
    let nowhere = world.run(&["cell", "move", "Cells", &second]).await.fails(2);
    assert!(nowhere.contains("--before CELL"), "{nowhere}");

    world.run(&["cell", "delete", "Cells", &first]).await.ok();
    assert_eq!(world.run(&["cell", "trash", "Cells", "--json"]).await.json()["cells"][0]["cell_id"], first.as_str());
    world.run(&["cell", "restore", "Cells", &first]).await.ok();
    assert_eq!(order(&world).await, [first.clone(), second.clone()]);

    world.run(&["undo", "Cells", "--steps", "2"]).await.ok();
    assert_eq!(order(&world).await.len(), 2, "the deletion and its restoration are undone");
    world.run(&["edit", "Cells", &first, "--change", r#"[3,[0," two"]]"#, "--base", "2"]).await.ok();
    let undone = world.run(&["undo", "Cells"]).await;
    let says_what = undone.err.contains("edited ") && undone.err.contains("(undo)");
    assert!(undone.code == 0 && says_what, "{undone:?}");
    assert!(!world.run(&["show", "Cells"]).await.ok().contains("one two"));
    let redone = world.run(&["redo", "Cells"]).await;
    assert!(redone.code == 0 && redone.err.contains("(redo)"), "{redone:?}");
    assert!(world.run(&["show", "Cells"]).await.ok().contains("one two"));
    let log = world.run(&["log", "Cells"]).await.ok();
    let marks: Vec<&str> = log.lines().filter_map(|line| line.rsplit_once(" (")).map(|(_, mark)| mark).collect();
    assert!(marks.ends_with(&["undo)", "redo)"]), "{log}");
    let nothing = world.run(&["redo", "Cells"]).await.fails(1);
    assert!(nothing.contains("redo"), "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_past_is_compared_and_every_line_has_its_author() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Past", "one\ntwo").await;
    world.run(&["edit", "Past", &cell, "--source", "one\n2\nthree"]).await.ok();
    world.run(&["rename", "Past", "Later"]).await.ok();

    let diff = world.run(&["diff", "Later", "2"]).await.ok();
    for expected in ["title: \"Past\" became \"Later\"", "edited", "-two", "+2", "+three"] {
        assert!(diff.contains(expected), "{expected}: {diff}");
    }
    let lines = world.run(&["blame", "Later", &cell, "--json"]).await.json();
    let versions: Vec<u64> = lines.as_array().unwrap().iter().map(|line| line["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, [2, 3, 3], "{lines:#}");
    assert!(world.run(&["blame", "Later", &cell]).await.ok().contains("Ann"));
    let fork = world.run(&["fork", "Later", "--at", "2", "--title", "Fork"]).await.ok();
    assert!(world.run(&["show", &fork]).await.ok().contains("    two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_record_is_found_out() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Proof", "print('paid 100')").await;
    world.run(&["edit", "Proof", &cell, "--source", "print('paid 900')"]).await.ok();
    let proven = world.run(&["verify", "Proof", "--json"]).await.json();
    let noted = format!("{}:{}", proven["version"], proven["hash"].as_str().unwrap());
    world.run(&["rename", "Proof", "Proof 2"]).await.ok();
    world.run(&["verify", "Proof 2", "--expect", &noted]).await.ok();
    let other = noted.replace(&noted[2..6], if &noted[2..6] == "0000" { "1111" } else { "0000" });
    let rewritten = world.run(&["verify", "Proof 2", "--expect", &other]).await.fails(1);
    assert!(rewritten.contains("rewritten"), "{rewritten}");

    let record = world.run(&["log", "Proof 2", "--since", "0", "--json"]).await.ok();
    world.file("record.jsonl", &record);
    let end = world.run(&["verify", "Proof 2", "--json"]).await.json();
    let end = format!("{}:{}", end["version"], end["hash"].as_str().unwrap());
    let alone = world.run(&["verify", "--file", "record.jsonl"]).await.ok();
    assert!(alone.contains("whether more events followed a signed head tells") && alone.contains(&end), "{alone}");
    let noted_end = world.run(&["verify", "--file", "record.jsonl", "--expect", &end]).await.ok();
    assert!(noted_end.contains("the record is whole"), "{noted_end}");
    world.run(&["replay", "--file", "record.jsonl"]).await.ok();
    let begin: Vec<&str> = record.lines().take(2).collect();
    world.file("begin.jsonl", &begin.join("\n"));
    let begin = world.run(&["verify", "--file", "begin.jsonl"]).await.ok();
    assert!(!begin.contains("the record is whole"), "{begin}");
    world.run(&["verify", "--file", "begin.jsonl", "--expect", &end]).await.fails(1);
    let as_json = world.run(&["verify", "--file", "begin.jsonl", "--json"]).await.json();
    assert_eq!(as_json["end_is_proven"], false, "{as_json}");

    world.file("forged.jsonl", &record.replace("paid 100", "paid 900"));
    let forged = world.run(&["verify", "--file", "forged.jsonl"]).await.fails(1);
    assert!(forged.contains("the payload of version 2"), "{forged}");
    let without_third: Vec<&str> =
        record.lines().enumerate().filter(|(index, _)| *index != 2).map(|(_, line)| line).collect();
    world.file("cut.jsonl", &without_third.join("\n"));
    let cut = world.run(&["verify", "--file", "cut.jsonl"]).await.fails(1);
    assert!(cut.contains("version 4 follows version 2"), "{cut}");
    world.file("half.jsonl", &record[..record.len() - 20]);
    let half = world.run(&["verify", "--file", "half.jsonl"]).await.fails(1);
    assert!(half.contains("is cut or damaged in line 4") && half.contains("proven up to version 3"), "{half}");
    let nonsense = world.run(&["verify", "--file", "config.json"]).await.fails(2);
    assert!(nonsense.contains("is no record"), "{nonsense}");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_lists_or_shows_has_json() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Json", "x = 1").await;
    let nb = notebook.as_str();
    let commands: &[&[&str]] = &[
        &["ls", "--json"],
        &["ls", "--json", "--search", "js"],
        &["show", nb, "--json", "--at", "1"],
        &["runs", nb, "--json"],
        &["diff", nb, "1", "2", "--json"],
        &["blame", nb, &cell, "--json"],
        &["verify", nb, "--json"],
        &["replay", nb, "--json"],
        &["cell", "trash", nb, "--json"],
        &["access", "ls", nb, "--json"],
        &["share", "new", nb, "--role", "viewer", "--expires", "7d", "--json"],
        &["share", "ls", nb, "--json"],
        &["token", "new", "--label", "ci", "--json"],
        &["token", "ls", "--json"],
        &["agent-token", "new", "--all", "--json"],
        &["agent-token", "ls", "--json"],
        &["user", "new", "bob", "--json"],
        &["user", "reset", "bob", "--json"],
        &["user", "ls", "--json"],
        &["whoami", "--json"],
        &["fork", nb, "--json"],
        &["new", "Other", "--json"],
    ];
    for command in commands {
        let value = world.run(command).await.json();
        assert!(value.is_object() || value.is_array(), "{command:?}: {value}");
    }
    for line in world.run(&["log", nb, "--since", "0", "--json"]).await.ok().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(event["type"].is_string() && event["hash"].is_string(), "{line}");
    }
    assert_eq!(world.run(&["ls", "--json", "--search", "nowhere"]).await.json(), serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_let_in_and_sent_away() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Shared", "x = 1").await;
    let made = world.run(&["user", "new", "bob", "--name", "Bob B", "--json"]).await.json();
    let invitation = made["invitation"]["token"].as_str().unwrap();

    let bob = World::empty();
    let input = format!("{invitation}\ncorrect horse battery\n");
    bob.run_with(&["login", "--server", &world.url(), "--one-time"], &input).await.ok();
    assert!(bob.run(&["whoami"]).await.ok().contains("Bob B"));
    bob.run(&["show", &notebook]).await.fails(1);

    world.run(&["access", "grant", "Shared", "bob", "viewer"]).await.ok();
    bob.run(&["show", "shared"]).await.ok();
    let refused = bob.run(&["edit", &notebook, &cell, "--source", "y"]).await.fails(1);
    assert!(refused.contains("role") || refused.contains("may"), "{refused}");
    let list = world.run(&["access", "ls", "Shared"]).await.ok();
    assert!(list.contains("Bob B") && list.contains("viewer"), "{list}");
    world.run(&["access", "revoke", "Shared", "bob"]).await.ok();
    bob.run(&["show", &notebook]).await.fails(1);

    bob.run(&["logout"]).await.ok();
    let out = bob.run(&["whoami"]).await.fails(3);
    assert!(out.contains("notarium login"), "{out}");
    bob.run_with(&["login", "--login", "bob"], "wrong password\n").await.fails(3);
    bob.run_with(&["login", "--login", "bob"], "correct horse battery\n").await.ok();
    world.run(&["user", "deactivate", "bob"]).await.ok();
    bob.run(&["whoami"]).await.fails(3);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_say_what_to_do_and_have_their_codes() {
    let world = World::empty();
    let unknown = world.run(&["ls"]).await.fails(2);
    assert!(unknown.contains("--server"), "{unknown}");
    world.run(&["ls", "--bogus"]).await.fails(2);
    let wrong = world.run(&["ls", "--server", "ftp://x"]).await.fails(2);
    assert!(wrong.contains("http://host:port"), "{wrong}");

    // A port without a listener, reserved for this test.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let silent = format!("http://{}", taken.local_addr().unwrap());
    let commands: [&[&str]; 2] = [&["ls"], &["watch", "nb"]];
    for command in commands {
        let command = [command, &["--server", &silent, "--token", "x"]].concat();
        let nobody = world.run(&command).await.fails(3);
        assert!(nobody.contains(&silent), "{nobody}");
    }

    let world = World::start().await;
    let url = world.url();
    let bad = world.run(&["ls", "--token", "nt_nonsense"]).await.fails(3);
    assert!(bad.contains("notarium login"), "{bad}");
    let elsewhere = world.run(&["ls", "--server", &silent]).await.fails(3);
    assert!(elsewhere.contains("no token for"), "a stored token goes to no other server: {elsewhere}");
    world.run(&["ls", "--server", &url.replace("http://", "ws://")]).await.ok();

    let missing = world.run(&["show", "nothing"]).await.fails(1);
    assert!(missing.contains("notarium ls"), "{missing}");
    let (one, two) = (world.run(&["new", "Twin"]).await.ok(), world.run(&["new", "Twin"]).await.ok());
    let twins = world.run(&["show", "Twin"]).await.fails(2);
    assert!(twins.contains(&one) && twins.contains(&two), "{twins}");
    let cell = world.run(&["edit", &one, "zz", "--source", "x"]).await.fails(1);
    assert!(cell.contains("notarium show"), "{cell}");
    world.run(&["edit", &one, "zz"]).await.fails(2);
    let file = world.file("bad.ipynb", "{\"cells\": 3");
    let bad = world.run(&["import", file.to_str().unwrap()]).await.fails(1);
    assert!(bad.contains("bad.ipynb") && bad.contains("JSON"), "{bad}");
    world.run(&["import", "absent.ipynb"]).await.fails(2);
    let both = world.run(&["import", "bad.ipynb", "absent.ipynb"]).await.fails(1);
    assert!(both.contains("2 of 2 files") && both.matches("absent.ipynb").count() == 1, "{both}");
    let nothing = world.run(&["exec", &one]).await.fails(2);
    assert!(nothing.contains("--all"), "{nothing}");
    world.run(&["exec", &one, "--all", "--timeout", "0"]).await.fails(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_refused_before_anything_is_done() {
    let world = World::empty();
    world.file("good.ipynb", r#"{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}"#);
    world.file("empty.jsonl", "");
    let refused: [(&[&str], &str); 9] = [
        (&["run", "absent.ipynb"], "there is no such file"),
        (&["run", "."], "it is a folder"),
        (&["run", "good.ipynb", "-o", "absent/out.ipynb"], "its folder does not exist"),
        (&["run", "good.ipynb", "-o", "."], "it is a folder"),
        (&["run", "good.ipynb", "-p", "alpha"], "name=value"),
        (&["run", "good.ipynb", "--kernel-path", "absent"], "there is no such folder"),
        (&["serve", "--listen", "8787"], "127.0.0.1:8787"),
        (&["verify", "--file", "empty.jsonl"], "it has no events"),
        (&["ls"], "notarium up"),
    ];
    for (command, says) in refused {
        let said = world.run(command).await.fails(2);
        assert!(said.contains(says), "{command:?}: {said}");
    }
    assert!(!world.folder.path().join("good.out.ipynb").exists());
    let data = world.run(&["serve", "--listen", "localhost:0", "--data", "good.ipynb"]).await.fails(1);
    assert!(data.contains("it is a file") && data.contains("--data"), "{data}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_stored_token_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start().await;
    let mode = std::fs::metadata(world.config_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    world.run(&["logout"]).await.ok();
    assert!(!std::fs::read_to_string(world.config_file()).unwrap().contains("token"));
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_text_does_not_drive_the_terminal() {
    let world = World::start().await;
    let (_, _) = world.notebook("Escape", "print('\u{1b}]0;owned\u{7}')").await;
    let shown = world.run(&["show", "Escape"]).await.ok();
    assert!(shown.contains("owned") && !shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
}

// --- live ---

#[tokio::test(flavor = "multi_thread")]
async fn watch_tells_what_happens_and_misses_nothing_over_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    let (notebook, cell) = world.notebook("Live", "x = 1").await;

    let mut human = world.spawn(&["watch", "Live", "--since", "0"]);
    let mut lines = Lines::of(human.stdout.take().unwrap());
    let mut remarks = Lines::of(human.stderr.take().unwrap());
    lines.until("Ann made the notebook").await;
    let mut machine = world.spawn(&["watch", &notebook, "--json", "--since", "0"]);
    let mut events = Lines::of(machine.stdout.take().unwrap());
    let first: Value = serde_json::from_str(&events.until("NotebookCreated").await).unwrap();
    assert_eq!(first["version"], 1);
    world.run(&["edit", "Live", &cell, "--source", "x = 2"]).await.ok();
    lines.until("Ann edited cell").await;
    events.until("CellSourceEdited").await;

    let server = world.server.take().unwrap();
    let (listen, token) = (server.local_addr, world.token());
    server.shut_down().await;
    remarks.until("connecting again").await;
    let again =
        Server::start(ServerConfig { listen, ..ServerConfig::in_folder(data.path()) }).await.expect("it starts again");
    world.server = Some(again);
    assert_eq!(world.token(), token);
    world.run(&["rename", "Live", "Alive"]).await.ok();
    lines.until("renamed it from \"Live\" to \"Alive\"").await;
    let renamed: Value = serde_json::from_str(&events.until("NotebookRenamed").await).unwrap();
    assert_eq!(renamed["version"], 4, "gapless");

    interrupt(&human);
    assert_eq!(ended(human).await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_compares_its_state_with_the_servers() {
    let world = World::start().await;
    let (_, cell) = world.notebook("Checked", "x = 1").await;
    let mut watch = world.spawn(&["watch", "Checked", "--check"]);
    let mut lines = Lines::of(watch.stdout.take().unwrap());
    let mut remarks = Lines::of(watch.stderr.take().unwrap());
    remarks.until("watching \"Checked\"").await;
    world.run(&["edit", "Checked", &cell, "--source", "x = 2"]).await.ok();
    lines.until("Ann edited cell").await;
    interrupt(&watch);
    remarks.until("0 differences").await;
    assert_eq!(ended(watch).await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn exec_streams_outputs_and_its_exit_code_tells_how_it_went() {
    let world = World::start().await;
    let (notebook, good) = world.notebook("Runs", "hello").await;
    let bad = world.run(&["cell", "add", "Runs", "--source", "boom"]).await.ok();
    world.run(&["cell", "add", "Runs", "--source", "after"]).await.ok();
    let token = world.run(&["agent-token", "new", "--name", "echo", "--notebook", "Runs"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;

    assert_eq!(world.run(&["exec", "Runs", &good]).await.ok(), "hello");
    assert_eq!(world.run(&["exec", "Runs", "--code", "from no cell"]).await.ok(), "from no cell");
    let failed = world.run(&["exec", "Runs", "--all"]).await;
    assert_eq!((failed.code, failed.out.as_str()), (1, "hello\n"), "{failed:#?}");
    assert!(failed.err.contains("ValueError: boom") && failed.err.contains("failed"), "{failed:#?}");
    assert!(!failed.err.contains('\u{1b}'), "no colours where there is no terminal");
    let allowed = world.run(&["exec", "Runs", "--all", "--allow-errors"]).await;
    assert_eq!((allowed.code, allowed.out.as_str()), (0, "hello\nafter\n"), "{allowed:#?}");
    assert_eq!(world.run_with(&["exec", &notebook, "--code", "ask"], "Ann\n").await.ok(), "Ann");

    let runs = world.run(&["runs", "Runs", "--json"]).await.json();
    assert_eq!(runs.as_array().unwrap().len(), 9, "{runs:#}");
    let of_bad = world.run(&["runs", "Runs", "--cell", &bad]).await.ok();
    assert!(of_bad.contains("error") && of_bad.contains("Ann"), "{of_bad}");
    let run = runs[0]["id"].as_str().unwrap();
    assert!(world.run(&["runs", "Runs", run]).await.ok().contains("    ask"));
    let compared = world.run(&["runs", "Runs", run, "--compare", runs[1]["id"].as_str().unwrap()]).await.ok();
    assert!(compared.contains("source: not the same"), "{compared}");
    let shown = world.run(&["show", "Runs"]).await.ok();
    assert!(shown.contains("│ hello") && shown.contains("│ ValueError: boom"), "{shown}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_cancels_what_runs_and_what_waits() {
    let world = World::start().await;
    world.notebook("Long", "forever").await;
    world.run(&["cell", "add", "Long", "--source", "after"]).await.ok();

    let mut waiting = world.spawn(&["exec", "Long", "--all"]);
    Lines::of(waiting.stderr.take().unwrap()).until("no runtime agent offers the kernel python3").await;
    interrupt(&waiting);
    assert_eq!(ended(waiting).await.code, 1);

    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let mut running = world.spawn(&["exec", "Long", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    interrupt(&running);
    let ran = ended(running).await;
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("cancelling"), "{ran:#?}");
    let runs = world.run(&["runs", "Long", "--json"]).await.json();
    let ends: Vec<&str> =
        runs.as_array().unwrap().iter().filter_map(|run| run["execution"]["status"].as_str()).collect();
    assert_eq!(ends, ["cancelled"; 4], "{runs:#}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn exec_goes_on_after_the_server_was_away() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    world.notebook("Cut", "forever").await;
    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let mut running = world.spawn(&["exec", "Cut", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    let mut remarks = Lines::of(running.stderr.take().unwrap());

    let server = world.server.take().unwrap();
    let listen = server.local_addr;
    server.shut_down().await;
    remarks.until("connecting again").await;
    let again =
        Server::start(ServerConfig { listen, ..ServerConfig::in_folder(data.path()) }).await.expect("it starts again");
    world.server = Some(again);
    remarks.until("connected again").await;

    world.run(&["stop", "Cut"]).await.ok();
    remarks.until("was cancelled").await;
    assert_eq!(ended(running).await.code, 1);
    agent.abort();
}
