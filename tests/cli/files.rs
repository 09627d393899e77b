//! Tests of working files on the command line, with a real runtime agent and its folder.

use std::path::PathBuf;

use notarium_agent::agent::{AgentOptions, STOP_TIMEOUT};
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::session::KernelSessionLimits;
use notarium_client::ConnectOptions;

use super::support::{PATIENCE, World};

/// Starts an agent that offers a kernel; its folder is `work` in the world's folder.
async fn agent(world: &World) -> (tokio::task::JoinHandle<()>, PathBuf) {
    let (spec, work) = (world.folder.path().join("share/jupyter/kernels/fake"), world.folder.path().join("work"));
    std::fs::create_dir_all(&spec).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    let text = r#"{"argv": ["true"], "display_name": "Fake", "language": "none"}"#;
    std::fs::write(spec.join("kernel.json"), text).unwrap();
    let token = world.run(&["agent-token", "new", "--all", "--name", "Big GPU"]).await.ok();
    let options = AgentOptions {
        labels: Default::default(),
        connect: ConnectOptions::new(world.url(), token, "test"),
        kernel_paths: vec![world.folder.path().to_owned()],
        launch: LaunchOptions { working_dir: work.clone(), ..LaunchOptions::default() },
        limits: KernelSessionLimits::default(),
        state_dir: None,
        displaced_patience: PATIENCE,
        stop_timeout: STOP_TIMEOUT,
    };
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let mut ready = Some(ready);
    let running = tokio::spawn(async move {
        let notify = |notice| {
            if notice == notarium_agent::agent::AgentNotice::Ready {
                ready.take().map(|ready| ready.send(()));
            }
        };
        let _ = notarium_agent::agent::run(options, std::future::pending(), notify).await;
    });
    tokio::time::timeout(PATIENCE, is_ready).await.unwrap().unwrap();
    (running, work)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_up_and_down_and_nothing_is_replaced_unasked() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Notes", "1").await;
    let none = world.run(&["files", "Notes"]).await.fails(1);
    assert!(none.contains("notarium agent"), "{none}");
    let (agent, work) = agent(&world).await;
    // Repeats until the agent's offer arrives.
    let empty = loop {
        let ran = world.run(&["files", "Notes"]).await;
        if ran.code == 0 {
            break ran;
        }
    };
    assert!(format!("{}{}", empty.err, empty.out).contains("no files"), "{empty:?}");

    world.file("losses.csv", "1,2\n");
    let stored = world.run(&["upload", "Notes", "losses.csv"]).await;
    assert!(stored.err.contains("stored losses.csv"), "{stored:?}");
    assert_eq!(std::fs::read_to_string(work.join("losses.csv")).unwrap(), "1,2\n");
    world.run(&["upload", "Notes", "losses.csv", "--to", "data/2026/"]).await.ok();
    world.run(&["upload", &notebook, "losses.csv", "--to", "data"]).await.ok();
    world.run(&["upload", "Notes", "losses.csv", "--to", "renamed.csv"]).await.ok();
    assert!(work.join("data/2026/losses.csv").exists() && work.join("data/losses.csv").exists());
    let listed = world.run(&["files", "Notes"]).await.ok();
    assert!(listed.contains("losses.csv") && listed.contains("folder") && listed.contains("renamed.csv"), "{listed}");
    let listed = world.run(&["files", "Notes", "data", "--json"]).await.json();
    assert_eq!((listed[0]["name"].as_str(), listed[1]["kind"].as_str()), (Some("2026"), Some("file")), "{listed:#}");

    // File name that contains `nt_`, as tokens do.
    world.file("patient_data.csv", "3,4\n");
    world.run(&["upload", "Notes", "patient_data.csv", "--to", "client_list/"]).await.ok();
    assert_eq!(world.run(&["download", "Notes", "client_list/patient_data.csv", "-o", "-"]).await.ok(), "3,4");
    assert!(world.run(&["files", "Notes", "client_list"]).await.ok().contains("patient_data.csv"));

    world.file("losses.csv", "newer\n");
    let refused = world.run(&["upload", "Notes", "losses.csv"]).await.fails(1);
    assert!(refused.contains("--overwrite"), "{refused}");
    assert_eq!(std::fs::read_to_string(work.join("losses.csv")).unwrap(), "1,2\n");
    world.run(&["upload", "Notes", "losses.csv", "--overwrite"]).await.ok();

    let refused = world.run(&["download", "Notes", "losses.csv"]).await.fails(1);
    assert!(refused.contains("--overwrite"), "{refused}");
    world.run(&["download", "Notes", "losses.csv", "-o", "fetched.csv"]).await.ok();
    assert_eq!(std::fs::read_to_string(world.folder.path().join("fetched.csv")).unwrap(), "newer\n");
    assert_eq!(world.run(&["download", "Notes", "data/losses.csv", "-o", "-"]).await.ok(), "1,2");
    let refused = world.run(&["download", "Notes", "../secret"]).await.fails(1);
    assert!(refused.contains("'..'"), "{refused}");
    assert!(!world.folder.path().join("secret").exists());
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_get_other_names_and_come_back_from_the_trash() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Notes", "1").await;
    let (agent, work) = agent(&world).await;
    while world.run(&["files", "Notes"]).await.code != 0 {}
    std::fs::create_dir(work.join("data")).unwrap();
    std::fs::write(work.join("a.csv"), "1").unwrap();
    std::fs::write(work.join("b.csv"), "2").unwrap();
    let refused = world.run(&["files", "mv", "Notes", "a.csv", "b.csv"]).await.fails(1);
    assert!(refused.contains("exists"), "{refused}");
    world.run(&["files", "mv", "Notes", "a.csv", "c.csv"]).await.ok();
    world.run(&["files", "mv", &notebook, "b.csv", "c.csv", "data"]).await.ok();
    assert_eq!(std::fs::read_to_string(work.join("data/c.csv")).unwrap(), "1");
    world.run(&["files", "mv", "Notes", "data/b.csv", "./"]).await.ok();
    assert!(work.join("b.csv").exists());

    let removed = world.run(&["files", "rm", "Notes", "data", "b.csv"]).await;
    assert!(removed.err.contains("notarium files restore"), "{removed:?}");
    assert!(!work.join("data").exists() && !work.join("b.csv").exists());
    let trash = world.run(&["files", "trash", "Notes", "--json"]).await.json();
    let id =
        trash.as_array().unwrap().iter().find(|it| it["path"] == "b.csv").unwrap()["id"].as_str().unwrap().to_owned();
    world.run(&["files", "restore", "Notes", "data"]).await.ok();
    world.run(&["files", "restore", "Notes", &id, "--to", "again.csv"]).await.ok();
    assert_eq!(std::fs::read_to_string(work.join("again.csv")).unwrap(), "2");
    let gone = world.run(&["files", "restore", "Notes", &id]).await.fails(1);
    assert!(gone.contains("not in the trash"), "{gone}");

    world.run(&["files", "rm", "Notes", "again.csv"]).await;
    let refused = world.run(&["files", "trash", "Notes", "--empty"]).await.fails(2);
    assert!(refused.contains("--yes"), "{refused}");
    let emptied = world.run(&["files", "trash", "Notes", "--empty", "--yes"]).await;
    assert!(emptied.err.contains("0 entries"), "{emptied:?}");
    agent.abort();
}
