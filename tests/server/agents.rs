//! Tests of runtime agents over the wire: launches, runs, and late agents.

use notarium_core::{
    Command, ExecutionId, ExecutionOutcome, ExecutionReport, ExecutionStatus, Hash, KernelEnvironment, KernelPhase,
    KernelSessionId, Output, RawJson, RawObject, RejectionCode, Version,
};
use notarium_wire::{ClientMessage, ErrorCode, OfferMessage, OfferedKernelspec, ServerMessage};
use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::{Person, TestClient, TestServer};

/// Connects an agent that offers this kernelspec.
async fn agent(server: &TestServer, by: &Person, name: &str, kernelspec: &str) -> TestClient {
    let mut agent = server.connect_as(&server.agent_token(by, name).await).await;
    offer(&mut agent, kernelspec).await;
    agent
}

async fn offer(agent: &mut TestClient, kernelspec: &str) {
    let offered = OfferedKernelspec {
        name: kernelspec.to_owned(),
        display_name: kernelspec.to_owned(),
        language: "python".to_owned(),
        effects: None,
    };
    agent.send(&ClientMessage::Offer(OfferMessage { kernelspecs: vec![offered], ..OfferMessage::default() })).await;
}

/// Waits for work; returns the session.
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

async fn start(agent: &mut TestClient, session: &KernelSessionId) {
    let kernel_session = session.clone();
    agent.run("n", &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
    agent
        .run(
            "n",
            &Command::ReportKernelStarted {
                kernel_session,
                language_info: RawObject::default(),
                sandbox: RawObject::default(),
                environment: None,
            },
        )
        .await
        .unwrap();
}

/// Waits for an assigned execution; returns it with its fence.
async fn assigned(agent: &mut TestClient) -> (ExecutionId, Version) {
    agent
        .until(|agent| {
            let mut executions = agent.state("n").executions.iter();
            let (id, execution) = executions.find(|(_, execution)| execution.status == ExecutionStatus::Assigned)?;
            Some((id.clone(), execution.fence?))
        })
        .await
}

fn report(execution_id: &ExecutionId, fence: Version, seq: u64, report: ExecutionReport) -> Command {
    Command::ReportExecution { execution_id: execution_id.clone(), fence, seq, report }
}

async fn run_to_its_end(agent: &mut TestClient, id: &ExecutionId, fence: Version) {
    let piece = |text: &str| {
        let content = RawJson::of(&json!({"output_type": "stream", "name": "stdout", "text": text})).unwrap();
        Output { content, blobs: Vec::new(), display_id: None }
    };
    let outputs = vec![piece("2"), piece("\n")];
    let reports = [
        ExecutionReport::Started {},
        ExecutionReport::Output { outputs },
        ExecutionReport::Completed { outcome: ExecutionOutcome::Ok, execution_count: Some(1), notice: None },
    ];
    for (seq, message) in (1..).zip(reports) {
        agent.run("n", &report(id, fence, seq, message)).await.unwrap();
    }
}

async fn notebook(server: &TestServer, ann: &Person) -> crate::support::Http {
    let http = server.http(ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    http.post("/api/notebooks/n/cells", json!({"cell_id": "c", "cell_type": "code", "source": "1+1"})).await.ok();
    http
}

#[tokio::test]
async fn an_environment_is_uploaded_before_it_is_named() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    http.post("/api/notebooks/n/kernels", json!({})).await.ok();
    let kernel_session = work(&mut gpu).await;
    gpu.subscribe("n").await;
    gpu.run("n", &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
    let text = "# Python 3.11.2\n# Linux\n";
    let sha256 = Hash(Sha256::digest(text).into());
    let started = Command::ReportKernelStarted {
        kernel_session,
        language_info: RawObject::default(),
        sandbox: RawObject::default(),
        environment: Some(KernelEnvironment { sha256, size_bytes: text.len() as u64 }),
    };
    assert_eq!(gpu.run("n", &started).await.unwrap_err().code, RejectionCode::InvalidValue);
    let upload = http.request(Method::PUT, &format!("/api/notebooks/n/blobs/{sha256}")).body(text);
    http.send(upload).await.ok();
    gpu.run("n", &started).await.unwrap();
}

#[tokio::test]
async fn a_run_finds_an_agent_and_is_recorded() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut other = agent(&server, &ann, "r-machine", "ir").await;
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    let run = http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    gpu.subscribe("n").await;
    start(&mut gpu, &session).await;
    let (id, fence) = assigned(&mut gpu).await;
    assert_eq!(run["outcome"]["executions"][0], id.as_str());
    run_to_its_end(&mut gpu, &id, fence).await;
    let read = http.get(&format!("/api/notebooks/n/runs/{id}")).await.ok();
    assert_eq!((&read["execution"]["status"], &read["execution"]["execution_count"]), (&json!("ok"), &json!(1)));
    assert_eq!(read["execution"]["outputs"][0]["content"]["text"], "2\n", "a stream is one text for readers");
    let cell = http.get("/api/notebooks/n/cells/c").await.ok();
    assert_eq!(cell["execution"]["outputs"], read["execution"]["outputs"]);
    assert_eq!(cell["execution"]["outputs"].as_array().unwrap().len(), 1);
    let kernels = http.get("/api/notebooks/n/kernels").await.ok();
    assert_eq!(kernels["kernelspecs"].as_array().unwrap().len(), 2);
    // A repeated write changes nothing; a stale fence and another agent are refused.
    let again = report(&id, fence, 2, ExecutionReport::Clear { wait: false });
    gpu.run("n", &again).await.unwrap();
    let stale = report(&id, fence - 1, 9, ExecutionReport::Clear { wait: false });
    assert_eq!(gpu.run("n", &stale).await.unwrap_err().code, RejectionCode::StaleFence);
    let claim = Command::ClaimKernelLaunch { kernel_session: session };
    assert_eq!(other.run("n", &claim).await.unwrap_err().code, RejectionCode::AlreadyClaimed);
    assert!(other.others.is_empty(), "work for others: {:?}", other.others);
}

#[tokio::test]
async fn old_runs_stay_and_can_be_compared() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    gpu.subscribe("n").await;
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    start(&mut gpu, &session).await;
    let (first, fence) = assigned(&mut gpu).await;
    run_to_its_end(&mut gpu, &first, fence).await;
    let cell = http.get("/api/notebooks/n/cells/c").await.ok();
    let edit = json!({"source": "2+2", "cell_version": cell["cell"]["cell_version"]});
    http.patch("/api/notebooks/n/cells/c", edit).await.ok();
    assert_eq!(http.get("/api/notebooks/n/cells/c").await.ok()["stale"], true);
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let (second, fence) = assigned(&mut gpu).await;
    run_to_its_end(&mut gpu, &second, fence).await;
    let old = http.get(&format!("/api/notebooks/n/runs/{first}")).await.ok();
    assert_eq!(old["execution"]["subject"]["source"], "1+1");
    assert_eq!(old["execution"]["outputs"][0]["content"]["text"], "2\n");
    let compared = http.get(&format!("/api/notebooks/n/runs/{first}/compare/{second}")).await.ok();
    assert_eq!((&compared["same_source"], &compared["same_outputs"]), (&json!(false), &json!(true)));
    assert!(compared["source_diff"].as_str().unwrap().contains("+2+2"), "{compared}");
}

#[tokio::test]
async fn a_run_that_nobody_could_take_waits_for_an_agent_across_a_restart() {
    let mut server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    server.stop().await;
    server.start_again().await;
    // The agent gets the work although no client opens the notebook.
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    let session = work(&mut gpu).await;
    gpu.subscribe("n").await;
    assert_eq!(gpu.state("n").kernels[&session].phase, KernelPhase::Requested);
    start(&mut gpu, &session).await;
    let (id, fence) = assigned(&mut gpu).await;
    // The kernel survives a restart of the server, and the run continues.
    let started = report(&id, fence, 1, ExecutionReport::Started {});
    gpu.run("n", &started).await.unwrap();
    let token = server.agent_token(&ann, "gpu").await;
    server.stop().await;
    gpu.until_closed().await;
    server.start_again().await;
    gpu.reconnect(server.address(), &token).await;
    offer(&mut gpu, "python3").await;
    gpu.run("n", &Command::ReconcileKernels { alive: vec![session.clone()] }).await.unwrap();
    gpu.run("n", &started).await.unwrap();
    let completed =
        ExecutionReport::Completed { outcome: ExecutionOutcome::Ok, execution_count: Some(1), notice: None };
    gpu.run("n", &report(&id, fence, 2, completed)).await.unwrap();
    let read = server.http(&ann).get(&format!("/api/notebooks/n/runs/{id}")).await.ok();
    assert_eq!(read["execution"]["status"], "ok");
}

#[tokio::test]
async fn two_agents_race_and_one_wins() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut one = agent(&server, &ann, "one", "python3").await;
    let mut other = agent(&server, &ann, "other", "python3").await;
    http.post("/api/notebooks/n/kernels", json!({})).await.ok();
    let session = work(&mut one).await;
    assert_eq!(work(&mut other).await, session);
    let claim = Command::ClaimKernelLaunch { kernel_session: session };
    let (first, second) = tokio::join!(one.run("n", &claim), other.run("n", &claim));
    let losers: Vec<RejectionCode> =
        [first, second].into_iter().filter_map(|answer| answer.err()).map(|it| it.code).collect();
    assert_eq!(losers, [RejectionCode::AlreadyClaimed]);
}

#[tokio::test]
async fn an_agent_that_falls_silent_is_shown_as_unreachable() {
    let server = TestServer::with(|config| config.rooms.room.unreachable_after_ms = 100).await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    gpu.subscribe("n").await;
    let mut watcher = server.connect(&ann).await;
    watcher.subscribe("n").await;
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    start(&mut gpu, &session).await;
    let status = ClientMessage::KernelStatus { notebook: "n".parse().unwrap(), kernel_session: session, busy: true };
    gpu.send(&status).await;
    watcher.until(|watcher| watcher.replica("n").kernels.iter().any(|it| it.reachable && it.busy).then_some(())).await;
    drop(gpu);
    watcher.until(|watcher| watcher.replica("n").kernels.iter().any(|it| !it.reachable).then_some(())).await;
    assert_eq!(watcher.replica("n").kernels[0].agent_name.as_deref(), Some("test"), "the label of its token");
    let status = http.get("/api/notebooks/n/kernels").await.ok()["status"].take();
    assert_eq!((&status[0]["agent_name"], &status[0]["reachable"]), (&json!("test"), &json!(false)));
    let since = &status[0]["unreachable_since"];
    assert!(since.is_u64(), "{status:#}");
    assert_eq!(&http.get("/api/notebooks/n/runs").await.ok()["runs"][0]["unreachable_since"], since);
}

#[tokio::test]
async fn a_password_goes_to_the_kernel_and_never_into_the_log() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut gpu = agent(&server, &ann, "gpu", "python3").await;
    gpu.subscribe("n").await;
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    start(&mut gpu, &session).await;
    let (id, fence) = assigned(&mut gpu).await;
    gpu.run("n", &report(&id, fence, 1, ExecutionReport::Started {})).await.unwrap();
    let question = ExecutionReport::InputRequest { prompt: "Password:".to_owned(), password: true };
    gpu.run("n", &report(&id, fence, 2, question)).await.unwrap();
    http.post(&format!("/api/notebooks/n/runs/{id}/input"), json!({"value": "tr0ub4dor"})).await.ok();
    let value = gpu
        .until(|gpu| {
            gpu.others.iter().find_map(|message| match message {
                ServerMessage::InputValue { value, .. } => Some(value.clone()),
                _ => None,
            })
        })
        .await;
    assert_eq!(value, "tr0ub4dor");
    assert!(!http.get("/api/notebooks/n/events?limit=1000").await.text.contains("tr0ub4dor"));
}

#[tokio::test]
async fn a_second_process_of_one_token_is_refused_and_ends_no_kernel() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let token = server.agent_token(&ann, "gpu").await;
    let mut gpu = TestClient::connect_agent(server.address(), &token, "first").await;
    offer(&mut gpu, "python3").await;
    gpu.subscribe("n").await;
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    start(&mut gpu, &session).await;
    let (id, fence) = assigned(&mut gpu).await;

    let mut second = TestClient::connect_agent(server.address(), &token, "second").await;
    let error = second.error("the place is taken").await;
    assert_eq!((error.code, error.fatal), (ErrorCode::AgentConnected, true));
    assert!(error.message.contains("token of its own"), "{}", error.message);
    second.until_closed().await;
    run_to_its_end(&mut gpu, &id, fence).await;

    // The first process reconnects while its old connection looks alive, and keeps its kernel.
    let mut back = TestClient::connect_agent(server.address(), &token, "first").await;
    assert_eq!(gpu.error("the place was taken over").await.code, ErrorCode::AgentConnected);
    gpu.until_closed().await;
    back.run("n", &Command::ReconcileKernels { alive: vec![session.clone()] }).await.unwrap();
    back.subscribe("n").await;
    assert!(back.state("n").kernels.contains_key(&session));

    // After it has disconnected, another process may be this agent.
    drop(back);
    let third = async {
        loop {
            let third = TestClient::connect_agent(server.address(), &token, "third").await;
            if third.welcome.is_some() {
                return third;
            }
        }
    };
    let mut third = tokio::time::timeout(crate::support::PATIENCE, third).await.unwrap();
    third.run("n", &Command::ReconcileKernels { alive: Vec::new() }).await.unwrap();
    third.subscribe("n").await;
    assert!(third.state("n").kernels.is_empty());
}

#[tokio::test]
async fn an_agent_that_writes_too_much_in_an_hour_is_held_back_in_all_its_runs() {
    let server = TestServer::with(|config| config.limits.max_agent_output_bytes_per_hour = 200_000).await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let token = server.agent_token(&ann, "gpu").await;
    let mut gpu = server.connect_as(&token).await;
    offer(&mut gpu, "python3").await;
    gpu.subscribe("n").await;
    let content = format!(r#"{{"output_type":"stream","name":"stdout","text":"{}"}}"#, "x".repeat(150_000));
    let large = || {
        let outputs = vec![Output { content: RawJson::parse(&content).unwrap(), blobs: Vec::new(), display_id: None }];
        ExecutionReport::Output { outputs }
    };
    let end = || ExecutionReport::Completed { outcome: ExecutionOutcome::Ok, execution_count: None, notice: None };
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut gpu).await;
    start(&mut gpu, &session).await;
    let (first, fence) = assigned(&mut gpu).await;
    for (seq, message) in [(1, ExecutionReport::Started {}), (2, large()), (3, large())] {
        gpu.run("n", &report(&first, fence, seq, message)).await.unwrap();
    }
    let refused = gpu.run("n", &report(&first, fence, 4, large())).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::OutputLimit);
    assert!(refused.message.contains("--max-output-per-agent"), "{}", refused.message);
    gpu.run("n", &report(&first, fence, 4, end())).await.unwrap();

    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let (second, fence) = assigned(&mut gpu).await;
    gpu.run("n", &report(&second, fence, 1, ExecutionReport::Started {})).await.unwrap();
    let refused = gpu.run("n", &report(&second, fence, 2, large())).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::OutputLimit);
    gpu.run("n", &report(&second, fence, 2, end())).await.unwrap();
    // Large outputs are uploaded as blobs, and count too.
    let blob = format!("/api/notebooks/n/blobs/{}", hex::encode(Sha256::digest("large")));
    let as_agent = server.http_as(&token);
    assert_eq!(as_agent.send(as_agent.request(Method::PUT, &blob).body("large")).await.refused(413), "output_limit");
    http.send(http.request(Method::PUT, &blob).body("large")).await.ok();
}

#[tokio::test]
async fn an_agent_that_hangs_is_unreachable_while_who_may_be_silent_for_longer_stays() {
    // Long enough for a healthy agent to answer in time, even on a busy machine.
    let heartbeat = std::time::Duration::from_secs(1);
    let server = TestServer::with(|config| config.limits.agent_heartbeat = heartbeat).await;
    let ann = server.person("Ann").await;
    let http = notebook(&server, &ann).await;
    let mut page = server.connect(&ann).await;
    page.subscribe("n").await;
    let mut quiet = server.connect(&ann).await;
    quiet.subscribe("n").await;
    let mut hanging = agent(&server, &ann, "gpu", "python3").await;
    assert_eq!(hanging.welcome.as_ref().unwrap().heartbeat_ms, 1_000);
    http.post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let session = work(&mut hanging).await;
    hanging.subscribe("n").await;
    start(&mut hanging, &session).await;
    let is_so =
        |page: &TestClient, reachable| page.replica("n").kernels.iter().any(|kernel| kernel.reachable == reachable);
    page.until(|page| is_so(page, true).then_some(())).await;
    // The test reads neither `hanging` nor `quiet`, so neither answers a ping.
    page.until(|page| is_so(page, false).then_some(())).await;
    let name = quiet.welcome.as_ref().unwrap().connection.clone();
    assert!(page.replica("n").peers.contains_key(&name), "only agents are cut so soon");
    hanging.until_closed().await;
}
