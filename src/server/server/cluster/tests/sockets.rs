//! Client sockets and runtime agents at any node.

use std::time::{Duration, Instant};

use notarium_core::{
    Command, ExecutionOutcome, ExecutionReport, ExecutionStatus, KernelSessionId, NotebookId, Output, RawJson,
    RawObject,
};
use notarium_store::accounts::AccountChange;
use notarium_wire::{ClientMessage, OfferMessage, OfferedKernelspec, PresenceState, ServerMessage};
use serde_json::json;

use super::scene::{Scene, TestNode};
use super::support::TestClient;
use crate::auth::TokenText;
use crate::cluster::{Cluster, Leases};

fn create(title: &str) -> Command {
    Command::CreateNotebook { title: title.to_owned(), metadata: RawObject::default(), forked_from: None }
}

fn rename(title: &str) -> Command {
    Command::RenameNotebook { title: title.to_owned() }
}

async fn shows(client: &mut TestClient, notebook: &str, title: &str) {
    client.until(|client| (client.state(notebook).title == title).then_some(())).await;
}

/// Two notebooks, one of each node, and a client at the first node that follows both.
async fn two_owners(scene: &Scene, nodes: &[TestNode]) -> ([String; 2], TestClient) {
    let notebooks = [scene.notebook_of(&nodes[0]).await, scene.notebook_of(&nodes[1]).await];
    let mut client = scene.connect(&nodes[0]).await;
    for notebook in &notebooks {
        client.run(notebook, &create("New")).await.unwrap();
        client.subscribe(notebook).await;
    }
    (notebooks, client)
}

#[tokio::test]
async fn one_socket_has_notebooks_of_two_owners_and_others_hear_of_it() {
    let (scene, nodes) = Scene::of(2).await;
    let (notebooks, mut ann) = two_owners(&scene, &nodes).await;
    let mut other = scene.connect(&nodes[1]).await;
    for notebook in &notebooks {
        other.subscribe(notebook).await;
        ann.run(notebook, &rename("By Ann")).await.unwrap();
        shows(&mut other, notebook, "By Ann").await;
        other.run(notebook, &rename("By the other")).await.unwrap();
        shows(&mut ann, notebook, "By the other").await;
        let presence = ClientMessage::Presence { notebook: notebook.parse().unwrap(), state: PresenceState::default() };
        ann.send(&presence).await;
        let own = ann.welcome.as_ref().unwrap().connection.clone();
        other.until(|other| other.replica(notebook).peers.contains_key(&own).then_some(())).await;
    }
    assert!(ann.errors.is_empty() && ann.rejects.is_empty() && ann.replica(&notebooks[1]).resyncs == 0);
    ann.send_text(r#"{"sudo":{}}"#).await;
    assert!(ann.error("an unknown message").await.message.contains("sudo"));
}

#[tokio::test]
async fn after_a_kill_the_notebook_opens_elsewhere_and_nothing_acked_is_lost() {
    let (scene, mut nodes) = Scene::of(2).await;
    let (notebooks, mut ann) = two_owners(&scene, &nodes).await;
    let lost = &notebooks[1];
    ann.run(lost, &rename("Acked")).await.unwrap();
    let killed_at = Instant::now();
    nodes[1].kill();
    let sent = ann.command(lost, &rename("Sent after the kill")).await;
    ann.answer(&sent).await.unwrap();
    assert!(killed_at.elapsed() < Duration::from_secs(5), "{:?}", killed_at.elapsed());
    shows(&mut ann, lost, "Sent after the kill").await;
    let replica = ann.replica(lost);
    assert_eq!((replica.resyncs, replica.snapshots), (1, 1), "it went on from its position");
    assert!(replica.events.iter().any(|event| event.payload.get().contains("Acked")));
    assert!(ann.errors.is_empty() && ann.rejects.is_empty() && !ann.is_closed);
    ann.run(&notebooks[0], &rename("Not touched")).await.unwrap();
    assert_eq!(ann.replica(&notebooks[0]).resyncs, 0);
}

#[tokio::test]
async fn work_that_began_just_before_a_kill_is_taken_up_though_nobody_asks_for_its_notebook() {
    let (scene, mut nodes) = Scene::of(2).await;
    let (notebooks, mut ann) = two_owners(&scene, &nodes).await;
    let lost: NotebookId = notebooks[1].parse().unwrap();
    let launch: Command = serde_json::from_value(json!({"LaunchKernel": {}})).unwrap();
    ann.run(&notebooks[1], &launch).await.unwrap();
    drop(ann);
    nodes[1].kill();
    nodes[0].sees(1).await;
    let mut took_over = nodes[0].running().app().rooms.is_open(&lost);
    let until = Instant::now() + Duration::from_secs(10);
    while !took_over && Instant::now() < until {
        tokio::task::yield_now().await;
        took_over = nodes[0].running().app().rooms.is_open(&lost);
    }
    assert!(took_over, "the launch waits in a notebook that nobody has opened");
}

#[tokio::test]
async fn a_paused_node_is_refused_by_the_store_and_drops_the_room() {
    let (scene, nodes) = Scene::of(2).await;
    let (notebooks, mut ann) = two_owners(&scene, &nodes).await;
    let (mine, id): (_, NotebookId) = (&notebooks[0], notebooks[0].parse().unwrap());
    // While the node slept, the other one has taken the notebook over.
    super::scene::MemoryLeases(scene.nodes.clone()).take(&id, nodes[1].cluster.instance()).await.unwrap();
    let mut other = scene.connect(&nodes[1]).await;
    nodes[1].cluster.forget(&id);
    other.run(mine, &rename("By the new owner")).await.unwrap();
    ann.run(mine, &rename("By Ann")).await.unwrap();
    shows(&mut ann, mine, "By Ann").await;
    let titles: Vec<_> = ann.replica(mine).events.iter().map(|event| event.payload.get().to_owned()).collect();
    assert!(titles.iter().any(|payload| payload.contains("By the new owner")), "{titles:?}");
    assert!(ann.errors.is_empty() && ann.rejects.is_empty() && ann.replica(mine).resyncs == 1);
    assert_eq!(nodes[0].running().app().rooms.open_ids(), [], "the room that lost its lease is gone");
}

#[tokio::test]
async fn a_node_without_beats_owns_nothing_until_it_beats_again() {
    let (scene, nodes) = Scene::of(2).await;
    let (notebooks, _) = two_owners(&scene, &nodes).await;
    let (mine, path) = (&notebooks[0], format!("/api/notebooks/{}", notebooks[0]));
    let mut other = scene.connect(&nodes[1]).await;
    other.subscribe(mine).await;
    scene.nodes.freeze(&nodes[0], true);
    nodes[1].sees(1).await;
    other.run(mine, &rename("Elsewhere")).await.unwrap();
    assert!(nodes[0].cluster.is_cut_off());
    assert_eq!(scene.http(&nodes[0]).get(&path).await.refused(503), "unavailable");
    let ready = scene.http(&nodes[0]).get("/readyz").await;
    assert_eq!(ready.refused(503), "unavailable");
    assert!(ready.text.contains("others may take its notebooks over"), "{}", ready.text);
    assert!(other.errors.is_empty() && other.rejects.is_empty());
    scene.nodes.freeze(&nodes[0], false);
    nodes[0].beats_again().await;
    let read = scene.http(&nodes[0]).get(&path).await.ok();
    assert_eq!(read["notebook"]["title"], "Elsewhere");
    assert_eq!(scene.nodes.holder(&mine.parse().unwrap()).as_ref(), Some(nodes[1].cluster.instance()));
}

#[tokio::test]
async fn a_node_that_drains_gives_its_notebooks_away_without_an_error() {
    let (scene, mut nodes) = Scene::of(2).await;
    let (notebooks, mut ann) = two_owners(&scene, &nodes).await;
    let moving = &notebooks[1];
    let (http, path) = (scene.http(&nodes[0]), format!("/api/notebooks/{moving}"));
    let before = ann.command(moving, &rename("Before")).await;
    let stopping = nodes[1].stop();
    let (_, ()) = tokio::join!(stopping, async {
        ann.answer(&before).await.unwrap();
        for number in 0..20 {
            ann.run(moving, &rename(&format!("Meanwhile {number}"))).await.unwrap();
            http.patch(&path, json!({"title": format!("By REST {number}")})).await.ok();
        }
    });
    nodes[0].sees(1).await;
    ann.run(moving, &rename("After")).await.unwrap();
    shows(&mut ann, moving, "After").await;
    assert!(ann.errors.is_empty() && ann.rejects.is_empty() && !ann.is_closed);
    assert!(ann.replica(moving).resyncs >= 1);
    assert_eq!(scene.nodes.holder(&moving.parse().unwrap()).as_ref(), Some(nodes[0].cluster.instance()));
}

#[tokio::test]
async fn a_revocation_at_one_node_closes_sockets_at_the_other_within_a_second() {
    let (scene, nodes) = Scene::of(2).await;
    let mut there = scene.connect(&nodes[1]).await;
    let token = TokenText::parse(&scene.token).unwrap().id;
    scene.http(&nodes[1]).get("/api/me").await.ok();
    let revoked_at = Instant::now();
    let subject = token.to_string();
    nodes[0].change(AccountChange::RevokeToken { token, at: 1 }, "token.revoke", &subject).await;
    there.until_closed().await;
    assert!(revoked_at.elapsed() < Duration::from_secs(1), "{:?}", revoked_at.elapsed());
    assert_eq!(there.errors[0].code, notarium_wire::ErrorCode::Unauthenticated);
    assert_eq!(scene.http(&nodes[1]).get("/api/me").await.refused(401), "token_revoked");
}

async fn offer(agent: &mut TestClient) {
    let offered = OfferedKernelspec {
        name: "python3".to_owned(),
        display_name: "Python".to_owned(),
        language: "python".to_owned(),
        effects: None,
    };
    agent.send(&ClientMessage::Offer(OfferMessage { kernelspecs: vec![offered], ..OfferMessage::default() })).await;
}

async fn work(agent: &mut TestClient, wanted: &str) -> KernelSessionId {
    agent
        .until(|agent| {
            agent.others.iter().find_map(|message| match message {
                ServerMessage::Work { notebook, kernel_session, .. } if notebook.as_str() == wanted => {
                    Some(kernel_session.clone())
                }
                _ => None,
            })
        })
        .await
}

async fn run_cell(agent: &mut TestClient, notebook: &str) {
    let (execution_id, fence) = agent
        .until(|agent| {
            let mut executions = agent.state(notebook).executions.iter();
            let (id, execution) = executions.find(|(_, execution)| execution.status == ExecutionStatus::Assigned)?;
            Some((id.clone(), execution.fence?))
        })
        .await;
    let content = RawJson::of(&json!({"output_type": "stream", "name": "stdout", "text": "2\n"})).unwrap();
    let reports = [
        ExecutionReport::Started {},
        ExecutionReport::Output { outputs: vec![Output { content, blobs: Vec::new(), display_id: None }] },
        ExecutionReport::Completed { outcome: ExecutionOutcome::Ok, execution_count: Some(1), notice: None },
    ];
    for (seq, report) in (1..).zip(reports) {
        let command = Command::ReportExecution { execution_id: execution_id.clone(), fence, seq, report };
        agent.run(notebook, &command).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_at_one_node_serves_a_notebook_of_another_also_after_its_death() {
    let (scene, mut nodes) = Scene::of(2).await;
    let http = scene.http(&nodes[0]);
    let notebook = scene.notebook_of(&nodes[1]).await;
    let path = format!("/api/notebooks/{notebook}");
    http.post("/api/notebooks", json!({"id": notebook, "title": "Runs"})).await.ok();
    http.post(&format!("{path}/cells"), json!({"cell_id": "c", "cell_type": "code", "source": "1+1"})).await.ok();
    let mut agent = TestClient::connect(nodes[0].address, &scene.agent_token(&nodes[0]).await).await;
    offer(&mut agent).await;
    http.post(&format!("{path}/runs"), json!({"cells": ["c"]})).await.ok();
    let kernel_session = work(&mut agent, &notebook).await;
    agent.subscribe(&notebook).await;
    agent.run(&notebook, &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
    let started = Command::ReportKernelStarted {
        kernel_session: kernel_session.clone(),
        language_info: RawObject::default(),
        sandbox: RawObject::default(),
        environment: None,
    };
    agent.run(&notebook, &started).await.unwrap();
    run_cell(&mut agent, &notebook).await;
    nodes[1].kill();
    nodes[0].sees(1).await;
    http.post(&format!("{path}/runs"), json!({"cells": ["c"]})).await.ok();
    // Does what an agent does after each `subscribed`.
    agent.until(|agent| (agent.replica(&notebook).resyncs == 1).then_some(())).await;
    agent.run(&notebook, &Command::ReconcileKernels { alive: vec![kernel_session] }).await.unwrap();
    run_cell(&mut agent, &notebook).await;
    let cell = http.get(&format!("{path}/cells/c")).await.ok();
    assert_eq!(cell["execution"]["outputs"][0]["content"]["text"], "2\n");
    assert!(agent.errors.is_empty() && agent.rejects.is_empty());
}

#[tokio::test]
async fn an_agent_is_connected_to_a_node_that_comes_later() {
    let (scene, mut nodes) = Scene::of(1).await;
    let mut agent = TestClient::connect(nodes[0].address, &scene.agent_token(&nodes[0]).await).await;
    offer(&mut agent).await;
    nodes.push(scene.start().await);
    nodes[0].sees(2).await;
    nodes[1].sees(2).await;
    let notebook = scene.notebook_of(&nodes[1]).await;
    let http = scene.http(&nodes[1]);
    http.post("/api/notebooks", json!({"id": notebook, "title": "Later"})).await.ok();
    http.post(&format!("/api/notebooks/{notebook}/kernels"), json!({"kernelspec": "python3"})).await.ok();
    work(&mut agent, &notebook).await;
}
