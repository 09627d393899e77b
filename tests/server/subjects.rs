//! Tests of valid subjects of rights, and of the notebooks of deactivated people.

use notarium_core::{Command, RejectionCode, Role, Subject};
use notarium_server::Clock;
use notarium_store::accounts::AccountChange;
use serde_json::{Value, json};

use super::socket::{create, insert};
use crate::support::{Person, TestServer};

async fn deactivate(server: &TestServer, person: &Person) {
    server.apply(AccountChange::DeactivateUser { user: person.id.clone(), at: Clock::system().now() }).await;
}

pub async fn administrator(server: &TestServer, name: &str) -> Person {
    let person = server.person(name).await;
    server.apply(AccountChange::SetAdmin { user: person.id.clone(), is_admin: true }).await;
    person
}

fn grant(kind: &str, id: &str, role: &str) -> Value {
    json!({"subject": {"kind": kind, "id": id}, "role": role})
}

#[tokio::test]
async fn a_role_goes_to_somebody_who_can_use_it_whichever_way_it_comes() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    deactivate(&server, &bob).await;
    let http = server.http(&ann);
    let mut socket = server.connect(&ann).await;
    socket.run("n", &create("Notes")).await.unwrap();
    for (person, status, code) in [(bob.id.as_str(), 409, "subject_ended"), ("nobody", 404, "unknown_subject")] {
        let granted = http.put("/api/notebooks/n/access", grant("user", person, "owner")).await;
        assert_eq!(granted.refused(status), code);
        let handed = http.post("/api/notebooks/n/owner", json!({"user": person})).await;
        assert_eq!(handed.refused(status), code);
    }
    let told = http.put("/api/notebooks/n/access", grant("user", bob.id.as_str(), "viewer")).await;
    assert!(told.json()["detail"].as_str().unwrap().contains("account of Bob is deactivated"), "{}", told.text);
    let subject = Subject::User { id: bob.id.clone() };
    let over_socket = socket.run("n", &Command::GrantAccess { subject, role: Role::Editor, expires_at: None }).await;
    assert_eq!(over_socket.unwrap_err().code, RejectionCode::SubjectEnded);
    assert_eq!(http.get("/api/notebooks/n/access").await.ok()["access"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn links_agents_and_workspaces_are_looked_up_too() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    for id in ["n", "other"] {
        http.post("/api/notebooks", json!({"id": id, "title": "Notes"})).await.ok();
    }
    let link = http.post("/api/notebooks/other/share-links", json!({"role": "viewer", "label": "class"})).await.ok();
    let link = link["id"].as_str().unwrap();
    let put = async |id: &str, body: Value| http.put(&format!("/api/notebooks/{id}/access"), body).await;
    assert_eq!(put("n", grant("share_link", link, "editor")).await.refused(404), "unknown_subject");
    put("other", grant("share_link", link, "editor")).await.ok();
    assert!(http.delete(&format!("/api/notebooks/other/share-links/{link}")).await.status.is_success());
    assert_eq!(put("other", grant("share_link", link, "viewer")).await.refused(409), "subject_ended");
    assert_eq!(put("n", grant("workspace", "nowhere", "viewer")).await.refused(404), "unknown_subject");
    assert_eq!(put("n", grant("agent", "gpu", "agent")).await.refused(404), "unknown_subject");
    server.agent_token(&ann, "gpu").await;
    put("n", grant("agent", "gpu", "agent")).await.ok();
    let workspace = http.post("/api/workspaces", json!({"name": "Team"})).await.ok();
    let workspace = workspace["id"].as_str().unwrap();
    put("n", grant("workspace", workspace, "viewer")).await.ok();
    let bob = server.person("Bob").await;
    deactivate(&server, &bob).await;
    let member = format!("/api/workspaces/{workspace}/members/{}", bob.id);
    assert_eq!(http.put(&member, json!({"role": "viewer"})).await.refused(400), "invalid_value");
}

#[tokio::test]
async fn an_administrator_takes_over_the_notebooks_of_who_has_left() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let root = administrator(&server, "Root").await;
    let (theirs, admin) = (server.http(&ann), server.http(&root));
    theirs.post("/api/notebooks", json!({"id": "n", "title": "Left behind"})).await.ok();
    theirs.put("/api/notebooks/n/access", grant("user", bob.id.as_str(), "viewer")).await.ok();
    let mut watching = server.connect(&bob).await;
    watching.subscribe("n").await;
    let over = json!({"from": ann.id.as_str()});
    assert_eq!(admin.post("/api/notebooks/n/take-over", over.clone()).await.refused(403), "forbidden");
    deactivate(&server, &ann).await;
    let refused = server.http(&bob).post("/api/notebooks/n/take-over", over.clone()).await;
    assert_eq!(refused.refused(403), "forbidden");
    let owned = admin.get(&format!("/api/users/{}/notebooks", ann.id)).await.ok();
    assert_eq!(owned["notebooks"], json!([{"id": "n", "title": "Left behind", "archived": false}]));
    admin.post("/api/notebooks/n/take-over", over).await.ok();
    assert_eq!(admin.get("/api/notebooks/n").await.ok()["role"], "owner");
    // Participants get the event, and the record has it.
    watching.until(|client| (client.state("n").version == 4).then_some(())).await;
    let record = admin.get("/api/notebooks/n/events?after=2").await.ok();
    let told = &record["events"][0];
    assert_eq!((&told["type"], &told["actor"]["id"]), (&json!("AccessGranted"), &json!(root.id.as_str())));
    assert_eq!(told["payload"]["taken_over_from"], ann.id.as_str());
    let mut socket = server.connect(&root).await;
    socket.run("n", &insert("c", "1")).await.unwrap();
}
