//! Tests of kernels on the command line, with an agent that disconnects; and of commands that only the page had before.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{EchoAgent, Lines, World, ended};

/// Maximum time until people are notified, on a busy machine.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

/// Starts with a server that reports an absent agent soon.
async fn hasty_world() -> World {
    World::start_as(|config| config.rooms.room.unreachable_after_ms = 100).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_gone_is_told_everywhere_and_work_goes_on_elsewhere() {
    let world = hasty_world().await;
    let (notebook, _) = world.notebook("Gone", "forever").await;
    let token = world.run(&["agent-token", "new", "--all", "--name", "Big GPU"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let mut running = world.spawn(&["exec", "Gone", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    let mut remarks = Lines::of(running.stderr.take().unwrap());
    let mut watch = world.spawn(&["watch", "Gone"]);
    let mut watched = Lines::of(watch.stdout.take().unwrap());
    watched.until("Ann").await;

    agent.abort();
    let gone = Instant::now();
    let told = remarks.until("unreachable since").await;
    assert!(gone.elapsed() < TOLD_WITHIN, "{:?}", gone.elapsed());
    assert!(told.contains("kernels give-up") && told.contains("restart") && told.contains("--elsewhere"), "{told}");
    watched.until("unreachable since").await;
    watch.kill().await.unwrap();
    for command in [["show", "Gone"], ["runs", "Gone"]] {
        let shown = world.run(&command).await.ok();
        assert!(shown.contains("unreachable since"), "{command:?}: {shown}");
    }
    let kernels = world.run(&["kernels", "ls", "Gone"]).await.ok();
    assert!(kernels.contains("Big GPU") && kernels.contains("unreachable since"), "{kernels}");
    let runs = world.run(&["runs", "Gone", "--json"]).await.json();
    assert!(runs[0]["unreachable_since"].is_u64(), "{runs:#}");

    let other = world.run(&["agent-token", "new", "--all"]).await.ok();
    let other = EchoAgent::start(&world.url(), &other).await;
    world.run(&["restart", "Gone", "--elsewhere"]).await.ok();
    let lost = ended(running).await;
    assert_eq!(lost.code, 1, "{lost:#?}");
    assert_eq!(world.run(&["exec", &notebook, "--code", "elsewhere"]).await.ok(), "elsewhere");
    let kernels = world.run(&["kernels", "ls", "Gone", "--json"]).await.json();
    assert_eq!(kernels["status"][0]["reachable"], true, "{kernels:#}");
    other.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_is_given_up_frees_its_queue() {
    let world = hasty_world().await;
    world.notebook("Gone", "forever").await;
    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let mut running = world.spawn(&["exec", "Gone", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    let refused = world.run(&["kernels", "give-up", "Gone"]).await.fails(1);
    assert!(refused.contains("its agent is there") || refused.contains("agent is there"), "{refused}");
    agent.abort();
    Lines::of(running.stderr.take().unwrap()).until("unreachable since").await;
    let mut queued = world.spawn(&["exec", "Gone", "--code", "behind"]);
    Lines::of(queued.stderr.take().unwrap()).until("unreachable since").await;
    world.run(&["kernels", "give-up", "Gone"]).await.ok();
    assert_eq!((ended(running).await.code, ended(queued).await.code), (1, 1));
    let runs = world.run(&["runs", "Gone", "--json"]).await.json();
    let ends: Vec<&str> =
        runs.as_array().unwrap().iter().filter_map(|run| run["execution"]["status"].as_str()).collect();
    assert_eq!(ends, ["cancelled", "lost"], "{runs:#}");
    let other = EchoAgent::start(&world.url(), &world.run(&["agent-token", "new", "--all"]).await.ok()).await;
    assert_eq!(world.run(&["exec", "Gone", "--code", "next"]).await.ok(), "next");
    other.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_run_after_a_lost_kernel_says_that_its_variables_are_gone() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Lost", "forever").await;
    let agent = EchoAgent::start(&world.url(), &world.run(&["agent-token", "new", "--all"]).await.ok()).await;
    let mut running = world.spawn(&["exec", "Lost", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    agent.abort();
    Lines::of(running.stderr.take().unwrap()).until("unreachable since").await;
    // Only the run is given up, without an end of the kernel, so the loss is not recorded yet.
    let run = world.run(&["runs", "Lost", "--json"]).await.json()[0]["id"].as_str().unwrap().to_owned();
    let address = format!("{}/api/notebooks/{notebook}/runs/{run}/give-up", world.url());
    let given_up = crate::support::client().post(address).bearer_auth(world.token()).send().await.unwrap();
    given_up.error_for_status().unwrap();
    assert_eq!(ended(running).await.code, 1);
    let other = EchoAgent::start(&world.url(), &world.run(&["agent-token", "new", "--all"]).await.ok()).await;
    let next = world.run(&["exec", "Lost", "--code", "next"]).await;
    assert!(next.err.contains("its variables are gone"), "{next:#?}");
    assert_eq!(next.ok(), "next");
    other.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn kernels_are_launched_interrupted_and_shut_down_and_runs_cancelled() {
    let world = World::start().await;
    world.notebook("Kernels", "forever").await;
    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let none = world.run(&["kernels", "interrupt", "Kernels"]).await.fails(1);
    assert!(none.contains("no kernel"), "{none}");
    world.run(&["kernels", "launch", "Kernels"]).await.ok();
    let mut running = world.spawn(&["exec", "Kernels", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    let queued = world.spawn(&["exec", "Kernels", "--code", "queued"]);
    let id = loop {
        let runs = world.run(&["runs", "Kernels", "--json"]).await.json();
        if runs.as_array().is_some_and(|runs| runs.len() == 2) {
            break runs[0]["id"].as_str().unwrap().to_owned();
        }
    };
    world.run(&["cancel", "Kernels", &id]).await.ok();
    assert!(ended(queued).await.fails(1).contains("the code was cancelled: Ann cancelled it"));
    world.run(&["kernels", "interrupt", "Kernels"]).await.ok();
    assert!(ended(running).await.fails(1).contains("failed: Ann interrupted it"));
    world.run(&["kernels", "shutdown", "Kernels"]).await.ok();
    let kernels = world.run(&["kernels", "ls", "Kernels", "--json"]).await.json();
    assert_eq!(kernels["kernels"].as_object().unwrap().values().next().unwrap()["phase"], "ending", "{kernels:#}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_restarted_a_kernel_is_named_to_those_whose_runs_it_ended() {
    let world = World::start().await;
    world.notebook("Deaf", "forever").await;
    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let mut running = world.spawn(&["exec", "Deaf", "--all"]);
    Lines::of(running.stdout.take().unwrap()).until("begun").await;
    world.run(&["restart", "Deaf"]).await.ok();
    assert!(ended(running).await.fails(1).contains("was cancelled: Ann restarted the kernel"));
    let log = world.run(&["log", "Deaf"]).await.ok();
    assert!(log.contains("ended the kernel: Ann restarted the kernel"), "{log}");
    let runs = world.run(&["runs", "Deaf"]).await.ok();
    assert!(runs.contains("cancelled") && runs.contains("Ann restarted the kernel"), "{runs}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_asks_where_nobody_answers_fails_with_a_sentence() {
    let world = World::start().await;
    world.notebook("Asks", "ask").await;
    let token = world.run(&["agent-token", "new", "--all"]).await.ok();
    let agent = EchoAgent::start(&world.url(), &token).await;
    let waiting = world.spawn(&["exec", "Asks", "--all"]);
    let run = loop {
        let runs = world.run(&["runs", "Asks", "--json"]).await.json();
        if runs[0]["execution"]["cancel_requested"] == true {
            break runs[0]["id"].as_str().unwrap().to_owned();
        }
    };
    agent.abort();
    // The echo agent does not interrupt a run that asks for input, so a person gives it up.
    let http = crate::support::client();
    let address = format!(
        "{}/api/notebooks/{}/runs/{run}/give-up",
        world.url(),
        world.run(&["ls", "--json"]).await.json()[0]["id"].as_str().unwrap()
    );
    http.post(address).bearer_auth(world.token()).send().await.unwrap().error_for_status().unwrap();
    let failed = ended(waiting).await;
    assert!(
        failed.code == 1
            && failed.err.contains("asks 'name? '")
            && failed.err.contains("nobody is here who could answer"),
        "{failed:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_versions_and_workspaces_are_managed_from_the_command_line() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Looks", "text").await;
    let state = async |world: &World| world.run(&["show", "Looks", "--json"]).await.json()["notebook"].clone();
    world.run(&["cell", "type", "Looks", &cell, "markdown"]).await.ok();
    world
        .run(&["cell", "flag", "Looks", &cell, "--set", "pinned", "--set", "source-hidden", "--bookmark", "3"])
        .await
        .ok();
    world.run(&["cell", "flag", "Looks", &cell, "--clear", "pinned"]).await.ok();
    let shown = state(&world).await["cells"][&cell].to_string();
    assert!(
        shown.contains("markdown") && shown.contains("\"source_hidden\":true") && !shown.contains("pinned\":true"),
        "{shown}"
    );
    assert_eq!(world.run(&["cell", "flag", "Looks", &cell]).await.code, 2);
    world.run(&["cell", "clear", "Looks", &cell]).await.ok();

    world.run(&["versions", "Looks", "--name", "first", "--at", "1"]).await.ok();
    assert!(world.run(&["versions", "Looks"]).await.ok().contains("first"));
    assert_eq!(world.run(&["conversations", "Looks", "--json"]).await.json(), Value::Array(vec![]));

    let workspace = world.run(&["workspace", "new", "Lab"]).await.ok();
    world.run(&["workspace", "rename", &workspace, "Labor"]).await.ok();
    assert!(world.run(&["workspace", "ls"]).await.ok().contains("Labor"));
    assert!(world.run(&["workspace", "members", &workspace]).await.ok().contains("Ann"));
    world.run(&["workspace", "place", &notebook, &workspace]).await.ok();
    assert!(world.run(&["ls", "--workspace", &workspace]).await.ok().contains("Looks"));
    world.run(&["agent-token", "new", "--workspace", &workspace]).await.ok();
    for list in [["usage", "--all"], ["agent-token", "ls"]] {
        let shown = world.run(&list).await.ok();
        assert!(shown.contains("workspace \"Labor\"") && !shown.contains(&workspace), "{list:?}: {shown}");
    }
    world.run(&["workspace", "place", &notebook]).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_listed_and_their_tables_want_a_kernel() {
    let world = World::start().await;
    world.notebook("Sales", "forever").await;
    let listed = world.run(&["connections", "Sales"]).await.ok();
    assert!(listed.contains("CONNECTION") && listed.contains("all: it is in the kernel's memory"), "{listed}");
    let listed = world.run(&["connections", "Sales", "--json"]).await.json();
    assert_eq!(listed, serde_json::json!([{"name": "duckdb", "kind": "duckdb", "writes": true}]));
    let told = world.run(&["connections", "Sales", "duckdb", "--matching", "orders"]).await.fails(1);
    assert!(told.contains("no kernel runs in this notebook: run a cell"), "{told}");
    world.run(&["connections", "Sales", "--matching", "orders"]).await.fails(2);
}
