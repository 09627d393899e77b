//! Tests of machines over the wire: agents with labels, launches for one of them, the reason for which a launch waits.

use notarium_core::{AgentId, Command, KernelSessionId, Labels, RejectionCode};
use notarium_wire::{
    AGENT_MACHINES, ClientMessage, GpuLoad, MachineLoad, OfferMessage, OfferedGpu, OfferedKernelspec, OfferedMachine,
    ServerMessage,
};
use serde_json::{Value, json};

use crate::support::{Http, Person, TestClient, TestServer};

/// Connects an agent that offers `python3`, with a label and a machine.
async fn machine(server: &TestServer, by: &Person, name: &str, gpu: Option<&str>) -> TestClient {
    let mut agent = server.connect_as(&server.agent_token(by, name).await).await;
    let kernelspec = OfferedKernelspec {
        name: "python3".to_owned(),
        display_name: "Python 3".to_owned(),
        language: "python".to_owned(),
        effects: None,
    };
    let labels: Labels = gpu.map(|gpu| ("gpu".to_owned(), gpu.to_owned())).into_iter().collect();
    let gpus = vec![OfferedGpu { name: "A100".to_owned(), memory_bytes: 80 << 30 }];
    let machine = Some(OfferedMachine { cores: 8, memory_bytes: 32 << 30, gpus });
    let offer = OfferMessage { kernelspecs: vec![kernelspec], labels, machine, ..OfferMessage::default() };
    agent.send(&ClientMessage::Offer(offer)).await;
    agent
}

async fn notebook(server: &TestServer, ann: &Person) -> Http {
    let http = server.http(ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    http.post("/api/notebooks/n/cells", json!({"cell_id": "c", "cell_type": "code", "source": "1+1"})).await.ok();
    http
}

async fn work(agent: &mut TestClient) -> KernelSessionId {
    agent
        .until(|agent| {
            agent.others.iter().find_map(|message| match message {
                ServerMessage::Work { kernel_session, .. } => Some(kernel_session.clone()),
                _ => None,
            })
        })
        .await
}

async fn kernels(http: &Http) -> Value {
    http.get("/api/notebooks/n/kernels").await.ok()
}

/// The agent of this id in the list, once it has made its offer and shows this.
async fn listed_with(http: &Http, id: &str, shows: impl Fn(&Value) -> bool) -> Value {
    let find = |there: &Value| {
        let mut agents = there["agents"].as_array()?.iter();
        agents.find(|agent| agent["id"] == id && agent["connected"] == true && shows(agent)).cloned()
    };
    let there = http.until("/api/notebooks/n/kernels", |there| find(there).is_some()).await;
    find(&there).unwrap()
}

async fn listed(http: &Http, id: &str) -> Value {
    listed_with(http, id, |_| true).await
}

fn reason(there: &Value, session: &KernelSessionId) -> Value {
    there["waiting"][session.as_str()]["cause"].clone()
}

fn launched(answer: &Value) -> KernelSessionId {
    answer["outcome"]["kernel_session"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_launch_goes_to_the_agent_that_it_names_and_no_other_can_claim_it() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut laptop = machine(&server, &ann, "laptop", None).await;
    let mut gpu2 = machine(&server, &ann, "gpu2", Some("a100")).await;
    listed(&http, "gpu2").await;
    listed(&http, "laptop").await;
    let session = launched(&http.post("/api/notebooks/n/kernels", json!({"agent": "gpu2"})).await.ok());
    assert_eq!(work(&mut gpu2).await, session);
    assert_eq!(reason(&kernels(&http).await, &session), Value::Null, "it is there");
    let claim = Command::ClaimKernelLaunch { kernel_session: session };
    assert_eq!(laptop.run("n", &claim).await.unwrap_err().code, RejectionCode::AgentNotWanted);
    assert!(laptop.others.is_empty(), "it is asked for nothing: {:?}", laptop.others);
    gpu2.run("n", &claim).await.unwrap();
}

#[tokio::test]
async fn a_launch_with_labels_waits_for_a_machine_that_has_them() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let settings = "/api/notebooks/n/kernel-settings";
    http.put(settings, json!({"labels": {"gpu": "a100"}})).await.ok();
    assert_eq!(http.get(settings).await.ok(), json!({"replacement": "ask", "labels": {"gpu": "a100"}}));
    let mut laptop = machine(&server, &ann, "laptop", None).await;
    listed(&http, "laptop").await;
    let run = http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = launched(&run);
    let there = kernels(&http).await;
    assert_eq!(reason(&there, &session), "no_such_labels");
    assert_eq!(there["waiting"][session.as_str()]["detail"], "no connected agent has gpu=a100");
    let claim = Command::ClaimKernelLaunch { kernel_session: session.clone() };
    assert_eq!(laptop.run("n", &claim).await.unwrap_err().code, RejectionCode::AgentNotWanted);
    let mut gpu2 = machine(&server, &ann, "gpu2", Some("a100")).await;
    assert_eq!(work(&mut gpu2).await, session, "it comes, and is asked");
    gpu2.run("n", &claim).await.unwrap();
    assert_eq!(kernels(&http).await.get("waiting"), None);
}

#[tokio::test]
async fn a_machine_that_is_not_there_is_waited_for_with_the_reason() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let gone: AgentId = "01JCK4Z2V5R1M0N4PQ6S8T0A2B".parse().unwrap();
    let session = launched(&http.post("/api/notebooks/n/kernels", json!({"agent": gone})).await.ok());
    assert_eq!(reason(&kernels(&http).await, &session), "agent_not_connected");
    let mut laptop = machine(&server, &ann, "laptop", None).await;
    listed(&http, "laptop").await;
    let restart = format!("/api/notebooks/n/kernels/{session}/restart");
    let next = launched(&http.post(&restart, json!({"labels": {}})).await.ok());
    assert_eq!(work(&mut laptop).await, next, "another is chosen");
    let odd = http.post("/api/notebooks/n/kernels", json!({"labels": {"gpu": "a 100"}})).await;
    assert_eq!(odd.refused(400), "invalid_value");
}

#[tokio::test]
async fn machines_are_listed_with_their_load() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut gpu2 = machine(&server, &ann, "gpu2", Some("a100")).await;
    assert!(gpu2.welcome.as_ref().unwrap().features.iter().any(|feature| feature == AGENT_MACHINES));
    let gpus = vec![GpuLoad { busy_percent: Some(35), memory_used_bytes: 1 << 30 }];
    let load = MachineLoad { cpu_percent: Some(12), memory_used_bytes: 8 << 30, gpus };
    gpu2.send(&ClientMessage::MachineLoad { load }).await;
    let listed = listed_with(&http, "gpu2", |agent| agent.get("load").is_some()).await;
    assert_eq!(listed["machine"]["cores"], 8);
    assert_eq!(listed["machine"]["gpus"][0]["name"], "A100");
    assert_eq!((&listed["load"]["cpu_percent"], &listed["load"]["gpus"][0]["busy_percent"]), (&json!(12), &json!(35)));
    assert_eq!(listed["labels"], json!({"gpu": "a100"}));
}
