//! Tests of comments through REST and the socket.

use notarium_core::Actor;
use notarium_server::Clock;
use notarium_store::accounts::AccountChange;
use serde_json::{Value, json};

use crate::support::{Http, Person, TestServer};

/// Creates Ann's notebook `n` with the cell `c`, and people who may comment and read.
async fn shared() -> (TestServer, [Person; 3]) {
    let server = TestServer::start().await;
    let [ann, bob, cy] = [server.person("Ann").await, server.person("Bob").await, server.person("Cy").await];
    let http = server.http(&ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    http.post("/api/notebooks/n/cells", json!({"cell_id": "c", "cell_type": "code", "source": "total = 1"})).await.ok();
    for (person, role) in [(&bob, "commenter"), (&cy, "viewer")] {
        let subject = json!({"kind": "user", "id": person.id.as_str()});
        http.put("/api/notebooks/n/access", json!({"subject": subject, "role": role})).await.ok();
    }
    (server, [ann, bob, cy])
}

/// Posts a comment; returns the ids of thread and comment.
async fn post(http: &Http, path: &str, body: Value) -> (String, String) {
    let outcome = http.post(path, body).await.ok()["outcome"].take();
    let id = |name: &str| outcome[name].as_str().unwrap().to_owned();
    (id("thread"), id("comment"))
}

#[tokio::test]
async fn a_thread_is_begun_answered_changed_settled_and_followed() {
    let (server, [ann, bob, cy]) = shared().await;
    let (owner, commenter, viewer) = (server.http(&ann), server.http(&bob), server.http(&cy));
    let mut watching = server.connect(&cy).await;
    watching.subscribe("n").await;

    let new = json!({"text": "Of what?", "range": [0, 5], "mentions": [ann.id.as_str()]});
    let (thread, first) = post(&commenter, "/api/notebooks/n/cells/c/threads", new).await;
    let of = format!("/api/notebooks/n/threads/{thread}");
    let (same, reply) = post(&owner, &format!("{of}/comments"), json!({"text": "Of the losses."})).await;
    assert_eq!(same, thread);
    commenter.patch(&format!("{of}/comments/{first}"), json!({"text": "Total of what?"})).await.ok();
    owner.post(&format!("{of}/resolve"), json!({})).await.ok();
    owner.patch("/api/notebooks/n/cells/c", json!({"source": "grand_total = 1", "cell_version": 2})).await.ok();

    let answer = viewer.get("/api/notebooks/n/threads").await.ok();
    let shown = &answer["threads"][&thread];
    assert_eq!((&shown["range"], &shown["quote"]), (&json!([6, 11]), &json!("total")));
    let texts: Vec<&str> =
        shown["comments"].as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(texts, ["Total of what?", "Of the losses."]);
    assert_eq!(shown["resolved"]["by"]["id"], ann.id.as_str());
    assert_eq!(shown["comments"][0].get("mentions"), None, "all that it names now");

    owner.post(&format!("{of}/reopen"), json!({})).await.ok();
    assert!(owner.delete(&format!("{of}/comments/{first}")).await.status.is_success(), "an owner takes anybody's away");
    assert!(owner.delete(&format!("{of}/comments/{reply}")).await.status.is_success());
    let version = owner.get("/api/notebooks/n/threads").await.ok()["version"].as_u64();
    assert_eq!(owner.get("/api/notebooks/n/threads").await.ok()["threads"], json!({}));

    // A follower on the socket has the same state.
    watching.until(|client| (Some(client.state("n").version) == version).then_some(())).await;
    assert!(watching.state("n").threads.is_empty());
    let first = watching.replica("n").events.iter().find(|event| event.event_type == "CommentPosted").unwrap();
    assert_eq!(first.actor, Actor::User { id: bob.id.clone() });
}

#[tokio::test]
async fn who_may_not_comment_and_whom_a_comment_cannot_name() {
    let (server, [ann, bob, cy]) = shared().await;
    let (owner, commenter, viewer) = (server.http(&ann), server.http(&bob), server.http(&cy));
    let path = "/api/notebooks/n/cells/c/threads";
    let new = |mention: &str| json!({"text": "x", "mentions": [mention]});
    assert_eq!(viewer.post(path, json!({"text": "x"})).await.refused(403), "forbidden");
    let nobody = commenter.post(path, new("nobody")).await;
    assert_eq!(nobody.refused(404), "unknown_subject");
    server.apply(AccountChange::DeactivateUser { user: cy.id.clone(), at: Clock::system().now() }).await;
    let left = commenter.post(path, new(cy.id.as_str())).await;
    assert_eq!(left.refused(409), "subject_ended");
    assert!(left.json()["detail"].as_str().unwrap().contains("account of Cy is deactivated"), "{}", left.text);
    let many: Vec<String> = (0..1_001).map(|number| format!("u{number}")).collect();
    let flood = json!({"text": "x", "mentions": many});
    assert_eq!(commenter.post(path, flood).await.refused(413), "limit_exceeded");

    let (thread, comment) = post(&owner, path, json!({"text": "x"})).await;
    let of = format!("/api/notebooks/n/threads/{thread}");
    let theirs = format!("{of}/comments/{comment}");
    assert_eq!(commenter.patch(&theirs, json!({"text": "y"})).await.refused(403), "forbidden");
    assert_eq!(commenter.delete(&theirs).await.refused(403), "forbidden");
    let place = json!({"place": {"cell_id": "c", "range": [0, 1]}});
    assert_eq!(commenter.post(&format!("{of}/move"), place.clone()).await.refused(403), "forbidden");
    owner.post(&format!("{of}/move"), place).await.ok();
    let unknown = owner.post("/api/notebooks/n/threads/nothing/resolve", json!({})).await;
    assert_eq!(unknown.refused(404), "unknown_thread");
    let unknown = owner.delete(&format!("{of}/comments/nothing")).await;
    assert_eq!(unknown.refused(404), "unknown_comment");
    // A mention grants no right.
    let outsider = server.person("Di").await;
    post(&owner, path, new(outsider.id.as_str())).await;
    assert_eq!(server.http(&outsider).get("/api/notebooks/n/threads").await.refused(404), "unknown_notebook");
}
